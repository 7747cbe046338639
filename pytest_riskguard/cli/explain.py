"""``riskguard explain``: everything that is known about one query."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_riskguard.cli.check import code_from, declared_gates, judged_options
from pytest_riskguard.cli.main import ExitStatus
from pytest_riskguard.cli.options import FILE, NamedPath, the_config
from pytest_riskguard.cli.output import terminal_width
from pytest_riskguard.errors import UsageError


@click.command()
@click.argument("query")
@click.argument("report", type=FILE, required=False)
@judged_options
def explain(
    query: str, report: Path | None, candidate: NamedPath | None, baselines: tuple[NamedPath, ...]
) -> ExitStatus:
    """Say everything that is known about one query.

    That is its scores, what gates say of it, and where each document is in both rankings. QUERY is its id, its text,
    or a part that no other text has. REPORT is a JSON report; without one the gates of riskguard.yaml are judged
    anew.

    The exit status is 0 if the query is known, whatever the verdicts are.
    """
    from pytest_riskguard.reports.query import explained

    if report is not None:
        if candidate or baselines:
            raise UsageError("--candidate and --baseline are for judging anew: leave them out, or REPORT")
        from pytest_riskguard.reports.json import read

        verdicts = list(read(report).shown.verdicts)
    else:
        from pytest_riskguard.config.items import all_items
        from pytest_riskguard.config.load import load_gates

        settings = load_gates(the_config())
        declared, _, _ = declared_gates(settings, candidate, baselines, report=True)
        with code_from(settings):
            verdicts = [declared.verdict(item) for item in all_items(settings)]
    click.echo(explained(query, verdicts).to_text(terminal_width()))
    return ExitStatus.PASSED
