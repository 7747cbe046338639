"""``riskguard retrieve``: the answers of a live candidate, written as a run."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_riskguard.cli.check import code_from
from pytest_riskguard.cli.main import ExitStatus
from pytest_riskguard.cli.options import FILE, config_option, the_config
from pytest_riskguard.cli.output import ensure_apart, unwritable
from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import UsageError
from pytest_riskguard.text import counted


@click.command()
@click.argument("run", type=FILE)
@config_option
def retrieve(run: Path) -> int:
    """Write the answers of the live candidate to RUN.

    The candidate is that of riskguard.yaml. RUN is a TREC run of every judged topic, which the other commands take:
    baseline add stores it, judge-next finds what to judge in it.
    """
    from pytest_riskguard.cli.inputs import files_of
    from pytest_riskguard.data.trec import write_run
    from pytest_riskguard.engine.declared_gates import engine_of
    from pytest_riskguard.live.candidates import live_of_file

    settings = load_config(the_config(), require_gates=False)
    ensure_apart(run, *files_of(settings))
    system = live_of_file(engine_of(settings), settings)
    if system is None:
        line = settings.line("candidate")
        raise UsageError(
            f"{settings.path.name}:{line}: the candidate is not a live system: there is nothing to query"
        )
    with code_from(settings):
        rankings = system.retrieve()
    try:
        write_run(run, rankings)
    except OSError as error:
        raise unwritable(run, error) from None
    click.echo(f"wrote {run}: answers for {counted(len(rankings.topics), 'topic')}")
    return ExitStatus.PASSED
