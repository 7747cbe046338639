"""``riskguard check``: the gates of riskguard.yaml, outside pytest."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard import live
from pytest_riskguard.cli.options import NamedPath, config_option, repeated, system, the_config
from pytest_riskguard.cli.output import Outputs, detail_options, output_options, present, typed_command
from pytest_riskguard.config.load import load_gates
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.errors import UsageError
from pytest_riskguard.text import did_you_mean, listed

if TYPE_CHECKING:
    from pytest_riskguard.config.items import GateItem
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.engine import Engine
    from pytest_riskguard.engine.declared_gates import DeclaredGates


@click.command()
@click.argument("gate", nargs=-1)
@config_option
@click.option("--candidate", type=system, metavar="RUN", help="Judge this run instead of those of the file.")
@repeated(
    "--baseline",
    "baselines",
    type=system,
    metavar="NAME=RUN",
    help="Compare with this run where a gate names the stored baseline NAME.",
)
@output_options("the report", ".md", ".xml (JUnit)")
@detail_options
def check(
    gate: tuple[str, ...],
    candidate: NamedPath | None,
    baselines: tuple[NamedPath, ...],
    outputs: Outputs,
    **detail: Any,
) -> int:
    """Judge the gates of riskguard.yaml, as pytest does.

    GATE is the name of a gate, or of one of its items, such as no-risk[AP-5]; without any, all gates are judged. A
    gate of a family is judged with the whole family.
    """
    from pytest_riskguard.config.items import all_items
    from pytest_riskguard.reports.comparisons import KnownGate

    outputs.withdraw()
    settings = load_gates(the_config())
    every = all_items(settings)
    items = asked_for(every, gate)
    declared, _, files = declared_gates(settings, candidate, baselines, outputs=outputs)
    outputs.check(*files)
    with code_from(settings.path.parent):
        verdicts = [declared.verdict(item) for item in items]
    reader = outputs.reader
    verdicts = [declared.advised(verdict, item, reader) for verdict, item in zip(verdicts, items, strict=True)]
    file = Path(os.path.relpath(settings.path)).as_posix()
    asked = {item.id: place for place, item in enumerate(items)}
    gates = [
        KnownGate(
            id=f"{file}::{item.id}",
            line=settings.line_of(item.settings),
            became="judged" if item.id in asked else "deselected",
            failures=0,
            verdicts=(asked[item.id],) if item.id in asked else (),
            command=typed_command(),
        )
        for item in every
    ]
    return present(
        verdicts,
        outputs=outputs,
        gates=gates,
        config=settings.path,
        **detail,
    )


def asked_for(items: Sequence[GateItem], names: Sequence[str], *, also: Sequence[str] = ()) -> list[GateItem]:
    """The items that are named, or whose gates are, in the order of the file; all without names.

    ``also`` are other words that the name might have been meant for.
    """
    known = {name: None for item in items for name in (item.settings.name, item.id)}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, [*known, *also]) or f"; there are {listed(tuple(known), most=10)}"
            raise UsageError(f"there is no gate {name!r}{hint}")
    return [item for item in items if not names or {item.id, item.settings.name} & {*names}]


def declared_gates(
    settings: Config, candidate: NamedPath | None, baselines: Sequence[NamedPath], *, outputs: Outputs
) -> tuple[DeclaredGates, Engine, list[Path]]:
    """The gates of a file, with runs in the place of its candidates and stored baselines; and all files they read."""
    from pytest_riskguard.cli.inputs import files_of
    from pytest_riskguard.engine.declared_gates import engine_of
    from pytest_riskguard.engine.question import RunFile

    stored = {name for gate in settings.gates for name in gate.stored}
    for run in baselines:
        if run.name not in stored:
            hint = did_you_mean(run.name or "", stored) or ", the name that gates use"
            raise UsageError(f"--baseline {run.text}: expected NAME=RUN, found a name that no gate has{hint}")
    runs = {str(run.name): RunFile(GivenFile.of(run.text), run.name) for run in baselines}
    if len(runs) < len(baselines):
        raise UsageError("--baseline: expected each name once")
    tested = None if candidate is None else RunFile(GivenFile.of(candidate.text), candidate.name)
    engine = engine_of(settings, report=bool(outputs.paths), keep_in=outputs.kept_in)
    declared = live.declared_gates(settings, engine, candidate=tested, runs=runs)
    return declared, engine, [*files_of(settings), *(run.path for run in (tested, *runs.values()) if run is not None)]


@contextmanager
def code_from(folder: Path) -> Iterator[None]:
    """Import code from this folder too; it prints to standard error, since standard output may be the JSON's."""
    sys.path.insert(0, str(folder))
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.path.remove(str(folder))
