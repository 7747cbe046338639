"""``riskguard pool``: whether a single baseline is a fair yardstick."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.output import Reports, json_option, show_study, terminal_width
from pytest_riskguard.cli.parameters import Collection, NamedPath, collection_options, gate_options, named_path
from pytest_riskguard.errors import UsageError


@click.command()
@click.argument("systems", type=named_path, nargs=-1, metavar="[[NAME=]SYSTEM]...")
@collection_options("missing")
@gate_options("alpha")
@json_option("the figures")
def pool(
    systems: tuple[NamedPath, ...],
    collection: Collection,
    alphas: tuple[float, ...],
    json_path: str | None,
) -> int:
    """Ask whether one baseline is a fair yardstick.

    Uses each SYSTEM, a run or a stored baseline, as the baseline of all the others, and shows which of them correlate
    over topics and whether their order by risk depends on the baseline. Without SYSTEM, uses all stored baselines.
    """
    from pytest_riskguard.cli.inputs import Inputs, once
    from pytest_riskguard.gates.alignment import on_one_list
    from pytest_riskguard.gates.kinds import OPTIONS, NotSignificantlyRisky
    from pytest_riskguard.pool_study.report import MAX_SYSTEMS, MIN_SYSTEMS, pool_report
    from pytest_riskguard.reports.studies.pool_study import dumps, explain

    if collection.scores and not systems:
        raise UsageError("--scores needs at least two tables of per-topic scores")
    inputs = Inputs(collection, systems, whole=not systems)
    Reports(json_path).check(*inputs.files)
    sources = inputs.systems(systems, option="SYSTEM") if systems else inputs.whole_store()
    alphas = alphas or (OPTIONS["alpha"].default,)
    once("--alpha", [f"{value:g}" for value in alphas])
    if not MIN_SYSTEMS <= len(sources) <= MAX_SYSTEMS:
        where = "given" if systems else "stored"
        raise UsageError(f"a pool has {MIN_SYSTEMS} to {MAX_SYSTEMS} systems; {len(sources)} {where}")
    gate = NotSignificantlyRisky("pool", **collection.options)
    pools = [
        on_one_list(gate, [inputs.engine.scores(source, measure) for source in sources])
        for measure in inputs.measures(Path(systems[0].text) if systems else Path())
    ]
    report = pool_report(pools, alphas=alphas)
    show_study(explain(report, width=terminal_width()), dumps(report), json_path=json_path)
    return ExitStatus.PASSED
