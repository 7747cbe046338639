"""``riskguard badge``: what CI shows of a report besides the report itself."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.output import ensure_apart, write_text
from pytest_riskguard.cli.parameters import FILE, output_option
from pytest_riskguard.errors import FileError


@click.command()
@click.argument("report", type=FILE)
@click.option("--label", default="riskguard", show_default=True, help="The words on the left.")
@output_option("badge")
def badge(report: Path, label: str, output: Path | None) -> int:
    """Draw a badge that says how the gates of a JSON report ended.

    Writes SVG. The exit status is 0 whatever the verdicts are. A report that cannot be read gives a grey badge that
    says "no verdict", so that an old badge does not stay green, and status 3.
    """
    from pytest_riskguard.reports.ci.badge import NO_VERDICT, render, state
    from pytest_riskguard.reports.json import read

    ensure_apart("--output", output, report)
    try:
        read_report = read(report)
    except FileError:
        write_text(render(NO_VERDICT, label=label), output, option="--output")
        raise
    write_text(render(state(read_report.verdicts, read_report.gates), label=label), output, option="--output")
    return ExitStatus.PASSED
