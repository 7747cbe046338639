"""What is compared with what: each function measures some commands on generated files and returns rows of a table."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.scale.measuring import ROOT, Measured, NotMeasuredError, alternately

SIX = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Bpref")
THREE = ("nDCG@10", "AP", "RR")
#: Peers that may be missing, and what must be importable or on the path for them.
PEERS = ("ir_measures", "pytrec_eval", "ranx", "trec_eval")
#: Those that take too long for more than one round.
SLOW = frozenset({"ranx"})
#: Means of several libraries agree to this; ranx sums in 32 bits here and there.
SAME_MEAN = 2e-4


@dataclass(frozen=True)
class Row:
    """One line of a table: ``size`` is what grows, ratios are to the peer that the table names, if it has one."""

    task: str
    size: str
    contestant: str
    seconds: float
    megabytes: float | None
    time_ratio: float | None = None
    memory_ratio: float | None = None


@dataclass(frozen=True)
class Collection:
    """Generated files of one size."""

    topics: int
    depth: int
    baseline: str
    candidate: str
    qrels: str

    @property
    def size(self) -> str:
        return f"{self.topics:,} x {self.depth:,}"


def generated(folder: Path, topics: int, depth: int) -> Collection:
    """A collection of this size, written unless it is there; by another process, to keep this one small."""
    target = folder / f"{topics}x{depth}"
    if not (target / "judgements.qrels").exists():
        target.mkdir(parents=True)
        made_by([*module_command("tests.benchmarks.scale.generated_runs"), str(target), str(topics), str(depth)])
    names = ("baseline.run", "candidate.run", "judgements.qrels")
    return Collection(topics, depth, *(str(target / name) for name in names))


def available() -> list[str]:
    """The peers that are installed here."""
    return [
        name
        for name in PEERS
        if (shutil.which(name) if name == "trec_eval" else importlib.util.find_spec(name)) is not None
    ]


def scoring(
    collection: Collection,
    measures: Sequence[str],
    *,
    peers: Sequence[str],
    rounds: int,
) -> list[Row]:
    """One run scored by each library; all must compute the same means."""
    measured: dict[str, Measured] = {}
    for place in range(rounds):
        for name in ("riskguard", *peers):
            if place and name in SLOW:
                continue
            command = _contestant(name, collection.baseline, collection.qrels, measures)
            (one,) = alternately({name: command}, rounds=1).values()
            measured[name] = _quicker(measured.get(name), one)
    _check_means({name: one.output for name, one in measured.items()})
    task = "score a run, six measures" if len(measures) > 1 else f"score a run, {measures[0]}"
    return rows_of(task, collection.size, measured, "ir_measures")


def failing_comparison(collection: Collection, *, rounds: int) -> list[Row]:
    """``riskguard compare`` that fails, with JSON and all it explains, beside ir_measures scoring both runs."""
    report = str(Path(collection.qrels).with_name("report.json"))
    runs = f"{collection.baseline},{collection.candidate}"
    commands = {
        "riskguard compare, failing": _compare(collection, report),
        "riskguard, scoring both": _contestant("riskguard", runs, collection.qrels, THREE),
        "ir_measures, scoring both": _contestant("ir_measures", runs, collection.qrels, THREE),
    }
    measured = alternately(commands, rounds=rounds)
    if measured["riskguard compare, failing"].status != 1:
        raise NotMeasuredError(f"expected a comparison of {collection.size} that fails, found one that passes")
    return rows_of("compare two runs, three measures", collection.size, measured, "ir_measures, scoring both")


def _compare(collection: Collection, report: str) -> list[str]:
    measures = [part for measure in THREE for part in ("--measure", measure)]
    paths = [collection.candidate, "--baseline", collection.baseline, "--qrels", collection.qrels]
    return [*riskguard_command(), "compare", *paths, *measures, "-q", "--json", report]


def _contestant(name: str, runs: str, qrels: str, measures: Sequence[str]) -> list[str]:
    return [*module_command("tests.benchmarks.scale.contestants"), name, runs, qrels, *measures]


def module_command(name: str) -> list[str]:
    """How a module of ours is run."""
    return [sys.executable, "-W", "ignore", "-m", name]


def riskguard_command() -> list[str]:
    """``riskguard``, of this checkout."""
    return [sys.executable, "-c", "from pytest_riskguard.cli import main; main()"]


def made_by(command: Sequence[str]) -> str:
    """What a command printed; ``NotMeasuredError`` if it failed."""
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    if ended.returncode:
        raise NotMeasuredError(f"{' '.join(command[:6])} ... ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return ended.stdout


def _quicker(earlier: Measured | None, one: Measured) -> Measured:
    """The quicker of two: what a busy machine adds is never negative."""
    if earlier is None:
        return one
    if earlier.output != one.output:
        raise NotMeasuredError("expected the same means each time, found others")
    return min(earlier, one, key=lambda measured: measured.seconds)


def _check_means(outputs: Mapping[str, str]) -> None:
    """``NotMeasuredError`` unless all libraries computed the same."""
    by_name = {name: json.loads(output) for name, output in outputs.items()}
    first, *others = by_name.items()
    for name, runs in others:
        for one, other in zip(first[1], runs, strict=True):
            different = [measure for measure in one if abs(one[measure] - other[measure]) > SAME_MEAN]
            if different:
                raise NotMeasuredError(f"{name} and {first[0]} disagree on {', '.join(different)}: {other}, {one}")


def rows_of(task: str, size: str, measured: Mapping[str, Measured], peer: str | None) -> list[Row]:
    """A row for each; ratios are to ``peer``."""
    yardstick = measured.get(peer) if peer is not None else None
    return [
        Row(
            task,
            size,
            name,
            one.seconds,
            one.megabytes,
            None if yardstick is None else one.seconds / yardstick.seconds,
            None if yardstick is None else one.megabytes / yardstick.megabytes,
        )
        for name, one in measured.items()
    ]
