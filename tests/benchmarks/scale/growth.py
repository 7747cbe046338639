"""How times grow with topics, baselines and gates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.scale.comparisons import (
    Row,
    made_by,
    module_command,
    riskguard_command,
    rows_of,
)
from tests.benchmarks.scale.measuring import alternately


def of_verdicts(folder: Path, sizes: Sequence[int], *, rounds: int) -> list[Row]:
    """A comparison of two tables of scores, from the start of the process to the report."""
    rows = []
    for topics in sizes:
        baseline, candidate = generated_scores(folder, topics)
        report = str(Path(baseline).with_name("report.json"))
        measured = alternately({"riskguard compare": _compared(candidate, [baseline], report)}, rounds=rounds)
        rows += rows_of("compare two tables of scores", f"{topics:,}", measured, None)
    return rows


def generated_scores(folder: Path, topics: int) -> tuple[str, str]:
    """Two tables of scores per topic."""
    target = folder / f"scores-{topics}"
    if not (target / "candidate.tsv").exists():
        target.mkdir(parents=True)
        made_by([*module_command("tests.benchmarks.scale.generated_runs"), str(target), str(topics)])
    return str(target / "baseline.tsv"), str(target / "candidate.tsv")


def _compared(candidate: str, baselines: Sequence[str], report: str) -> list[str]:
    given = [part for baseline in baselines for part in ("--baseline", baseline)]
    return [*riskguard_command(), "compare", candidate, *given, "--scores", "-q", "--json", report]
