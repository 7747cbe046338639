"""``riskguard trend``: what the gates said over time, from the JSON reports of several runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.output import Reports, json_option, show_study, terminal_width, write_text
from pytest_riskguard.cli.parameters import FILE
from pytest_riskguard.errors import MissingFileError, UsageError
from pytest_riskguard.formats.input_files import is_folder
from pytest_riskguard.text import counted


@click.command()
@click.argument("reports", type=FILE, nargs=-1, required=True, metavar="REPORTS...")
@json_option("the figures")
@click.option("--html", type=FILE, help="Write the trend as an HTML page here. Needs the extra [report].")
def trend(reports: tuple[Path, ...], json_path: str | None, html: Path | None) -> int:
    """Show verdicts, estimates and weak topics over time.

    REPORTS are JSON reports, or folders that hold some. Runs are ordered by the date in the report, or else by that
    of the file. The exit status is 0 whatever the verdicts are, but 3 if a report cannot be read or compared with the
    others.
    """
    from pytest_riskguard.reports.studies.trend_series import dumps
    from pytest_riskguard.reports.studies.trend_series import trend as trend_of
    from pytest_riskguard.reports.studies.trend_table import explain

    files = _files(reports)
    Reports(json_path, html).check(*files)
    made = trend_of(files)
    show_study(explain(made, width=terminal_width()), dumps(made), json_path=json_path)
    if html is not None:
        from pytest_riskguard.reports.html.trend_page import render

        write_text(render(made), html, option="--html")
    if not made.problems:
        return ExitStatus.PASSED
    click.echo(f"Error: {len(made.problems)} of {counted(len(files), 'report')} cannot be compared", err=True)
    return ExitStatus.INCOMPARABLE


def _files(given: Sequence[Path]) -> list[Path]:
    """The reports, those of a folder by name; each once."""
    from pytest_riskguard.formats.limits import REPORTS

    files: dict[str, Path] = {}
    for path in given:
        inside = _inside(path) if is_folder(path) else [path]
        if not inside:
            raise MissingFileError(path, None, "expected JSON reports (*.json) in this folder, found none")
        for file in inside:
            files.setdefault(os.path.realpath(file), file)
            if len(files) > REPORTS.value:
                raise UsageError(REPORTS.problem(len(files)))
    return list(files.values())


def _inside(folder: Path) -> list[Path]:
    """JSON files in a folder and in those below it; links to folders are not followed."""
    found = [
        Path(root) / name for root, _, names in os.walk(folder) for name in names if name.lower().endswith(".json")
    ]
    return sorted(found)
