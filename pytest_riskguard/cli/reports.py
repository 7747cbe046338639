"""``riskguard show`` and ``riskguard report``: verdicts that were judged before, read from a JSON report."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_riskguard.cli.exit_status import ExitStatus, status_of
from pytest_riskguard.cli.output import Reports, deliver, detail_options, ensure_apart, report_options, write_text
from pytest_riskguard.cli.output import show as show_verdicts
from pytest_riskguard.cli.parameters import FILE
from pytest_riskguard.errors import FileError, UsageError


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
    deliver(
        lambda: show_verdicts(
            verdicts, verbose=verbose, quiet=quiet, to_stderr=False, gates=gates, policy_changes=changes
        )
    )
    if not verdicts:
        click.echo("no gate was judged")
    return status_of(verdicts) if verdicts and not missing(gates) else ExitStatus.INCOMPARABLE


@click.command()
@click.argument("report", type=FILE)
@report_options
@click.option("--badge", type=FILE, help="Draw how the gates ended here, as SVG.")
@click.option("-o", "--output", type=FILE, help="Write the report here, in the format that the suffix asks for.")
def report(report: Path, reports: Reports, badge: Path | None, output: Path | None) -> int:
    """Write the verdicts of a JSON report in other formats.

    The exit status is 0 if they were written, whatever the verdicts are. A report that cannot be read gives a grey
    badge that says "no verdict", so that an old badge does not stay green, and status 3.
    """
    from pytest_riskguard.reports import files
    from pytest_riskguard.reports.ci.badge import NO_VERDICT, render, state
    from pytest_riskguard.reports.json import read

    if not reports.any and badge is None and output is None:
        raise UsageError("nothing to write: give --html, --markdown, --junit, --json, --badge or --output")
    ensure_apart("--output", output, report)
    if output is not None:
        try:
            files.check(output)
        except UsageError as error:
            raise UsageError(f"--output {output}: {error}") from None
    reports.check(report)
    ensure_apart("--badge", badge, report)
    reports.withdraw()
    try:
        content = read(report)
    except FileError:
        if badge is not None:
            write_text(render(NO_VERDICT), badge, option="--badge")
        raise
    if badge is not None:
        write_text(render(state(content.verdicts, content.gates)), badge, option="--badge")
    reports.write(*content)
    if output is not None:
        files.write(
            output,
            content.verdicts,
            gates=content.gates,
            provenance=content.provenance,
            policy_changes=content.policy_changes,
        )
    return ExitStatus.PASSED
