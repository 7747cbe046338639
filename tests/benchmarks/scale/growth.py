"""How times grow with topics, baselines and gates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.scale.comparisons import (
    SIX,
    Collection,
    Row,
    made_by,
    module_command,
    riskguard_command,
    rows_of,
)
from tests.benchmarks.scale.measuring import alternately

PYTEST = ("--riskguard", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
#: What pytest is run with besides; ``COLUMNS`` keeps lines whole.
ENVIRONMENT = {"PYTEST_ADDOPTS": "", "COLUMNS": "200"}


def of_verdicts(folder: Path, sizes: Sequence[int], *, rounds: int) -> list[Row]:
    """A comparison of two tables of scores, from the start of the process to the report."""
    rows = []
    for topics in sizes:
        baseline, candidate = generated_scores(folder, topics)
        report = str(Path(baseline).with_name("report.json"))
        measured = alternately({"riskguard compare": _compared(candidate, [baseline], report)}, rounds=rounds)
        rows += rows_of("compare two tables of scores", f"{topics:,}", measured, None)
    return rows


def with_baselines(folder: Path, topics: int, counts: Sequence[int], *, rounds: int) -> list[Row]:
    """A table of scores against so many others: against each of them, and against all as a pool."""
    place = folder / f"systems-{topics}"
    rows = []
    for count in counts:
        candidate, *baselines = generated_systems(place, topics, max(counts) + 1)[: count + 1]
        commands = {"each": _compared(candidate, baselines, str(place / "each.json"))}
        if count > 1:
            pool = _compared(candidate, baselines, str(place / "pool.json"))
            commands["as a pool"] = [*pool, "--gate", "georisk_not_worse"]
        size = f"{count} baseline{'s' * (count > 1)}"
        rows += rows_of(f"compare with several, {topics:,} topics", size, alternately(commands, rounds=rounds), None)
    return rows


def with_gates(folder: Path, collection: Collection, counts: Sequence[int], *, rounds: int) -> list[Row]:
    """A riskguard.yaml with so many gates on the same two runs, without a cache."""
    project = folder / f"many-gates-{collection.topics}x{collection.depth}"
    rows = []
    for count in counts:
        write_project(project, collection, gates=count)
        measured = alternately({"pytest --riskguard": _pytest(project)}, rounds=rounds, environment=ENVIRONMENT)
        task = f"gates on two runs of {collection.size}"
        rows += rows_of(task, f"{count} gate{'s' * (count > 1)}", measured, None)
    return rows


def write_project(folder: Path, collection: Collection, *, gates: int) -> None:
    """A folder with a stored baseline and a riskguard.yaml of so many gates."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "baselines").exists():
        measures = [part for measure in SIX for part in ("--measure", measure)]
        given = [collection.baseline, "--qrels", collection.qrels, "--store", str(folder / "baselines")]
        made_by([*riskguard_command(), "baseline", "add", "prod", *given, *measures])
    lines = [
        f"collection: {{qrels: {json.dumps(collection.qrels)}}}",
        "store: baselines",
        f"candidate: {json.dumps(collection.candidate)}",
        "gates:",
    ]
    lines += [
        f"  - {{name: gate-{place}, kind: not_significantly_risky, baseline: prod, "
        f"measure: {SIX[place % len(SIX)]}, alpha: {1 + place // len(SIX)}}}"
        for place in range(gates)
    ]
    (folder / "riskguard.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def generated_scores(folder: Path, topics: int) -> tuple[str, str]:
    """Two tables of scores per topic."""
    target = folder / f"scores-{topics}"
    if not (target / "candidate.tsv").exists():
        target.mkdir(parents=True)
        made_by([*module_command("tests.benchmarks.scale.generated_runs"), str(target), str(topics)])
    return str(target / "baseline.tsv"), str(target / "candidate.tsv")


def generated_systems(place: Path, topics: int, count: int) -> list[str]:
    """Tables of scores per topic of so many systems."""
    paths = [place / f"system-{number}.tsv" for number in range(count)]
    if not paths[-1].exists():
        place.mkdir(parents=True, exist_ok=True)
        command = module_command("tests.benchmarks.scale.generated_runs")
        made_by([*command, str(place), "systems", str(topics), str(count)])
    return [str(path) for path in paths]


def _compared(candidate: str, baselines: Sequence[str], report: str) -> list[str]:
    given = [part for baseline in baselines for part in ("--baseline", baseline)]
    return [*riskguard_command(), "compare", candidate, *given, "--scores", "-q", "--json", report]


def _pytest(project: Path) -> list[str]:
    return [*module_command("pytest"), *PYTEST, "--rootdir", str(project), str(project)]
