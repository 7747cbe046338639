"""``riskguard show``, ``report`` and ``comment``: the verdicts of a JSON report, shown or written otherwise."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import click

from pytest_riskguard.cli.main import ExitStatus, status_of
from pytest_riskguard.cli.options import FILE, reader_here
from pytest_riskguard.cli.output import (
    Detail,
    Outputs,
    detail_options,
    ensure_apart,
    output_options,
    typed_command,
    write_text,
)
from pytest_riskguard.cli.output import show as show_verdicts
from pytest_riskguard.errors import FileError, ReportFormatError, UsageError
from pytest_riskguard.text import web_address

_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")


@click.command()
@click.argument("report", type=FILE)
@detail_options
def show(report: Path, detail: Detail) -> int:
    """Print the verdicts of a JSON report.

    The exit status is that of the verdicts, as it was when they were judged; 3 if a gate that the run knew was not
    judged, or none was.
    """
    from pytest_riskguard.engine.advice import explain_command
    from pytest_riskguard.gates.verdict import Commands
    from pytest_riskguard.reports.brief import brief as briefly
    from pytest_riskguard.reports.comparisons import Report, missing
    from pytest_riskguard.reports.json import read

    verdicts, gates, _, changes = read(report)
    status = status_of(verdicts) if verdicts and not missing(gates) else ExitStatus.INCOMPARABLE
    reader = reader_here(str(report))
    verdicts = [
        replace(one, commands=Commands(update=None, explain=explain_command(one, reader))) for one in verdicts
    ]
    if detail.is_brief:
        text = briefly(Report(verdicts, gates, policy_changes=changes), status, command=f"{typed_command()} -v")
        click.echo(text, nl=False)
        return status
    show_verdicts(verdicts, detail, gates=gates, policy_changes=changes)
    if not verdicts:
        click.echo("no gate was judged")
    return status


@click.command()
@click.argument("report", type=FILE)
@output_options("the report", ".md", ".xml (JUnit)")
def report(report: Path, outputs: Outputs) -> int:
    """Write the verdicts of a JSON report in other formats.

    The exit status is 0 if they were written, whatever the verdicts are.
    """
    from pytest_riskguard.reports.json import read

    if not outputs.paths:
        raise UsageError("nothing to write: give --output, such as --output report.html")
    outputs.check(report)
    outputs.withdraw()
    outputs.write(read(report))
    return ExitStatus.PASSED


def _commit(sha: str) -> str:
    if not _COMMIT.fullmatch(sha):
        raise click.BadParameter(f"expected 7 to 64 hexadecimal digits, found {sha!r:.200}")
    return sha


def _address(text: str) -> str | None:
    """An address that may become a link, without credentials; empty text, which CI has for the unknown, is none."""
    address = web_address(text) if text else None
    if text and address is None:
        raise click.BadParameter(f"expected an address that begins with https:// or http://, found {text!r:.200}")
    return address


@click.command()
@click.argument("report", type=FILE, required=False)
@click.option("--commit", metavar="SHA", type=_commit, required=True, help="The commit that was judged.")
@click.option("--run-url", metavar="URL", type=_address, help="Address of the CI run.")
@click.option("--report-url", metavar="URL", type=_address, help="Address of the whole report, such as the page.")
@click.option("--ended", metavar="WORD", help="How the CI run ended, such as success, failure or cancelled.")
@click.option("-o", "--output", type=FILE, metavar="PATH", help="Write the comment here, not to standard output.")
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

    run = comments.Run(commit, run_url, report_url, ended or None)
    if report is None:
        write_text(comments.pending(run), output)
        return ExitStatus.PASSED
    ensure_apart(output, report)
    try:
        content = read(report)
        judged = (content.commit or commit).lower()  # either SHA may be cut
        if not (judged.startswith(commit.lower()) or commit.lower().startswith(judged)):
            raise FileError(report, None, f"expected a report on commit {commit}, found one on {judged}")
    except FileError as error:
        # what a file says that is no report is not posted
        why = f"{report.name} is no report" if isinstance(error, ReportFormatError) else error.problem
        write_text(comments.no_verdict(run, why), output)
        raise
    write_text(comments.verdict(run, content), output)
    return ExitStatus.PASSED
