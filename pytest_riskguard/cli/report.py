"""``riskguard show`` and ``riskguard report``: verdicts that were judged before, read from a JSON report."""

from __future__ import annotations

import re
from pathlib import Path

import click

from pytest_riskguard.cli.exit_status import ExitStatus, status_of
from pytest_riskguard.cli.output import Outputs, detail_options, ensure_apart, output_options, write_text
from pytest_riskguard.cli.output import show as show_verdicts
from pytest_riskguard.cli.parameters import FILE, file_option
from pytest_riskguard.errors import FileError, ReportFormatError, UsageError
from pytest_riskguard.text import web_address


@click.command()
@click.argument("report", type=FILE)
@detail_options
def show(report: Path, verbose: bool, quiet: bool) -> int:
    """Print the verdicts of a JSON report.

    The exit status is that of the verdicts, as it was when they were judged; 3 if a gate that the run knew was not
    judged, or none was.
    """
    from pytest_riskguard.reports.comparisons import missing
    from pytest_riskguard.reports.json import read

    verdicts, gates, _, changes = read(report)
    show_verdicts(verdicts, verbose=verbose, quiet=quiet, to_stderr=False, gates=gates, policy_changes=changes)
    if not verdicts:
        click.echo("no gate was judged")
    return status_of(verdicts) if verdicts and not missing(gates) else ExitStatus.INCOMPARABLE


@click.command()
@click.argument("report", type=FILE)
@output_options("the report", "html", "markdown", "junit", json=False)
@click.option("--charts", is_flag=True, help="Write the charts of the Markdown report beside it, as SVG.")
@click.option("-o", "--output", type=FILE, help="Write the report here, in the format that the suffix asks for.")
def report(report: Path, outputs: Outputs, output: Path | None) -> int:
    """Write the verdicts of a JSON report in other formats.

    The exit status is 0 if they were written, whatever the verdicts are.
    """
    from pytest_riskguard.reports import files
    from pytest_riskguard.reports.json import read

    if not outputs.any and output is None:
        raise UsageError("nothing to write: give --html, --markdown, --junit or --output")
    ensure_apart("--output", output, report)
    if output is not None:
        try:
            files.check(output)
        except UsageError as error:
            raise UsageError(f"--output {output}: {error}") from None
    outputs.check(report)
    outputs.withdraw()
    content = read(report)
    outputs.write(*content)
    if output is not None:
        files.write(
            output,
            content.verdicts,
            gates=content.gates,
            provenance=content.provenance,
            policy_changes=content.policy_changes,
        )
    return ExitStatus.PASSED


_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")


class Commit(click.ParamType[str]):
    """The SHA of a commit."""

    name = "sha"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check that it is one."""
        if not _COMMIT.fullmatch(value):
            self.fail(f"expected 7 to 64 hexadecimal digits, found {value!r:.200}", param, ctx)
        return value


class Address(click.ParamType[str]):
    """An address that may become a link; empty text, which CI has for what it does not know, is none."""

    name = "url"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check that it is one, and drop the credentials in it."""
        address = web_address(value) if value else ""
        if address is None:
            self.fail(f"expected an address that begins with https:// or http://, found {value!r:.200}", param, ctx)
        return address


@click.command()
@click.argument("report", type=FILE, required=False)
@click.option(
    "--commit",
    type=Commit(),
    required=True,
    help="The commit that was judged.",
)
@click.option("--run-url", type=Address(), help="Address of the CI run.")
@click.option("--report-url", type=Address(), help="Address of the whole report, such as the HTML page.")
@click.option("--ended", metavar="WORD", help="How the CI run ended, such as success, failure or cancelled.")
@file_option("-o", "--output", metavar="PATH", help="Write the comment here instead of to standard output.")
def comment(
    report: Path | None,
    commit: str,
    run_url: str | None,
    report_url: str | None,
    ended: str | None,
    output: Path | None,
) -> int:
    """Write the comment on a pull request, as Markdown.

    With REPORT, a JSON report, it says what to do about the commit and why; without, that the commit is being judged.
    A report that is missing, cannot be read or is about another commit gives "No verdict for" the commit, and
    status 3; otherwise the status is 0, whatever the verdicts are. The first line is an invisible marker, by which a
    script finds the comment again.
    """
    from pytest_riskguard.reports.ci import comment as comments
    from pytest_riskguard.reports.json import read

    run = comments.Run(commit, run_url or None, report_url or None, ended or None)
    if report is None:
        write_text(comments.pending(run), output, option="--output")
        return ExitStatus.PASSED
    ensure_apart("--output", output, report)
    try:
        read_report = read(report)
        if (other := read_report.commit) is not None and not _is_same(other, commit):
            raise ReportFormatError(report, None, f"expected a report on commit {commit}, found one on {other}")
    except FileError as error:
        write_text(comments.no_verdict(run, error.problem), output, option="--output")
        raise
    write_text(comments.verdict(run, read_report), output, option="--output")
    return ExitStatus.PASSED


def _is_same(one: str, other: str) -> bool:
    """Whether two SHAs can be those of one commit: either may be cut."""
    one, other = one.lower(), other.lower()
    return one.startswith(other) or other.startswith(one)
