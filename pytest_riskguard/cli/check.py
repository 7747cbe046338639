"""``riskguard check``: the gates of riskguard.yaml, outside pytest."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_riskguard import live
from pytest_riskguard.cli.options import (
    Command,
    NamedPath,
    config_option,
    is_config_given,
    repeated,
    system,
    the_config,
)
from pytest_riskguard.cli.output import Detail, Outputs, detail_options, output_options, present, typed_command
from pytest_riskguard.config.load import CONFIG_NAME, configs_below, load_gates
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.errors import UsageError
from pytest_riskguard.live.importing import importable_from
from pytest_riskguard.text import did_you_mean, listed

if TYPE_CHECKING:
    from pytest_riskguard.config.items import GateItem
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.engine import Engine
    from pytest_riskguard.engine.declared_gates import DeclaredGates
    from pytest_riskguard.gates.verdict import Verdict


def judged_options(command: Command) -> Command:
    """Which riskguard.yaml is judged, and runs in the place of those that it names."""
    candidate = click.option(
        "--candidate", type=system, metavar="RUN", help="Judge this run instead of those of the file."
    )
    against = repeated(
        "--baseline",
        "baselines",
        type=system,
        metavar="NAME=RUN",
        help="Compare with this run where a gate names the stored baseline NAME.",
    )
    decorated: Command = config_option(candidate(against(command)))
    return decorated


@click.command()
@click.argument("asked", nargs=-1, metavar="[FILE|GATE]...")
@judged_options
@output_options("the report", ".md", ".xml (JUnit)")
@detail_options
def check(
    asked: tuple[str, ...],
    candidate: NamedPath | None,
    baselines: tuple[NamedPath, ...],
    outputs: Outputs,
    detail: Detail,
) -> int:
    """Judge the gates of riskguard.yaml, as pytest does.

    FILE is a riskguard.yaml, a folder with some in it or below, or a pattern such as 'services/*': the gates of
    all of them are judged, in one report. GATE is the name of a gate, or of one of its items, such as no-risk[AP-5];
    without any, all gates are judged. A gate of a family is judged with the whole family.
    """
    from pytest_riskguard.config.items import all_items
    from pytest_riskguard.engine.advice import Reader
    from pytest_riskguard.reports.comparisons import KnownGate

    outputs.withdraw()
    files, names = sorted_out(asked)
    if len(files) > 1 and (candidate or baselines):
        raise UsageError(f"--candidate and --baseline are about one riskguard.yaml, found {len(files)}; name one")
    every = [(settings, all_items(settings)) for settings in map(load_gates, files or [the_config()])]
    wanted = {item.id for item in asked_for([item for _, items in every for item in items], names)}
    declared = [
        declared_gates(settings, candidate, baselines, report=bool(outputs.paths), keep_in=outputs.kept_in)
        for settings, _ in every
    ]
    outputs.check(*(path for _, _, read in declared for path in read))
    verdicts: list[Verdict] = []
    gates: list[KnownGate] = []
    for (settings, items), (questions, _, _) in zip(every, declared, strict=True):
        file = Path(os.path.relpath(settings.path)).as_posix()
        reader = Reader.of_config(settings.path, Path.cwd(), report=outputs.report)
        for item in items:
            places: tuple[int, ...] = ()
            if item.id in wanted:
                with code_from(settings):
                    verdict = questions.verdict(item)
                places = (len(verdicts),)
                verdicts.append(questions.advised(verdict, item, reader))
            became, line = "judged" if places else "deselected", settings.line_of(item.settings)
            gates.append(KnownGate(f"{file}::{item.id}", line, became, 0, places, typed_command()))
    configs = [settings.path for settings, _ in every]
    return present(verdicts, outputs=outputs, gates=gates, configs=configs, detail=detail)


def sorted_out(asked: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The files among the arguments of ``check``, those in folders and of patterns too, and the names of gates."""
    found = {word: _files(word) for word in asked}
    files = [file for of_word in found.values() for file in of_word]
    if files and is_config_given():
        files.insert(0, the_config())
    each_once = {os.path.realpath(file): Path(os.path.abspath(file)) for file in files}  # noqa: PTH100 - links stay
    return list(each_once.values()), [word for word, of_word in found.items() if not of_word]


def _files(word: str) -> list[Path]:
    """The riskguard.yaml that a word means; none for the name of a gate."""
    is_pattern, is_path = any(sign in word for sign in "*?"), any(sign in word for sign in "/\\")
    paths = [Path(path) for path in sorted(glob(word, recursive=True))]  # noqa: PTH207 - also from the root
    if is_pattern and not word.endswith((".yaml", ".yml")):
        paths = [path for path in paths if path.is_dir() or path.name == CONFIG_NAME]
    found = [file for path in paths for file in (configs_below(path) if path.is_dir() else [path])]
    if found or not (is_pattern or is_path or word.endswith((".yaml", ".yml"))):
        return found
    raise UsageError(f"{word}: expected {CONFIG_NAME}, or folders with gates in them or below; found none")


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
    settings: Config,
    candidate: NamedPath | None,
    baselines: Sequence[NamedPath],
    *,
    report: bool = False,
    keep_in: Sequence[Path] = (),
) -> tuple[DeclaredGates, Engine, list[Path]]:
    """The gates of a file, with runs in the place of its candidates and stored baselines; and all files they read."""
    from pytest_riskguard.cli.inputs import files_of, once
    from pytest_riskguard.engine.declared_gates import engine_of
    from pytest_riskguard.engine.question import RunFile

    stored = {name for gate in settings.gates for name in gate.stored}
    for run in baselines:
        if run.name not in stored:
            hint = did_you_mean(run.name or "", stored) or ", the name that gates use"
            raise UsageError(f"--baseline {run.text}: expected NAME=RUN, found a name that no gate has{hint}")
    once("--baseline", [str(run.name) for run in baselines])
    named = {run: RunFile(GivenFile.of(run.text), run.name) for run in (candidate, *baselines) if run is not None}
    runs = {str(run.name): named[run] for run in baselines}
    tested = None if candidate is None else named[candidate]
    engine = engine_of(settings, report=report, keep_in=keep_in)
    declared = live.declared_gates(settings, engine, candidate=tested, runs=runs)
    return declared, engine, [*files_of(settings), *(run.path for run in named.values())]


@contextmanager
def code_from(settings: Config) -> Iterator[None]:
    """Import code as for this riskguard.yaml; it prints to standard error: standard output may be the JSON's."""
    with importable_from(settings.path.parent), redirect_stdout(sys.stderr):
        yield
