"""The outcome of each mutant, in the files that mutmut keeps, and the explanations of those that survive."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

#: A table: ``mutant, before, after, why``.
EXPLANATIONS = "docs/data/mutation/survivors.csv"
EXPLANATIONS_FILE = Path(__file__).resolve().parents[2] / EXPLANATIONS
#: Exit statuses as mutmut keeps them.
_STATUSES = {"killed": 1, "survived": 0, "timed out": 36, "refused": 37}
#: Columns of the table, and the outcomes that they count.
_COLUMNS = {
    "refused by mypy": "refused",
    "killed by tests": "killed",
    "timed out": "timed out",
    "survived": "survived",
    "not run": "not run",
}


@dataclass(frozen=True)
class Result:
    """One mutant.

    Attributes
    ----------
    name : str
        As ``mutmut show`` takes it, without the package's name: ``risk.urisk.x_urisk__mutmut_3``.
    outcome : str
        ``killed``, ``timed out``, ``refused`` by the types, ``survived``, or ``not run``.
    """

    name: str
    outcome: str

    @property
    def package(self) -> str:
        """The package below ``pytest_riskguard``."""
        return self.name.split(".")[0]

    @property
    def is_noticed(self) -> bool:
        """Whether a test, a limit of time or a type noticed it."""
        return self.outcome in ("killed", "timed out", "refused")


def results_of(copy: Path) -> list[Result]:
    """Every mutant of a copy in which mutmut ran."""
    return list(_results(copy / "mutants" / "pytest_riskguard"))


def record(copy: Path, outcomes: dict[str, str]) -> None:
    """Keep outcomes by the full names of mutants, so that ``mutmut results`` and ``mutmut show`` know them."""
    for meta in (copy / "mutants" / "pytest_riskguard").rglob("*.meta"):
        kept = json.loads(meta.read_text(encoding="utf-8"))
        statuses = kept["exit_code_by_key"]
        statuses |= {name: _STATUSES[outcomes[name]] for name in statuses if name in outcomes}
        meta.write_text(json.dumps(kept), encoding="utf-8")


def table(results: Iterable[Result]) -> list[str]:
    """Counts by package, in Markdown."""
    results = list(results)
    heads = ("package", "mutants", *_COLUMNS, "noticed")
    packages = sorted({result.package for result in results})
    rows = [_row(package, [result for result in results if result.package == package]) for package in packages]
    lines = [heads, ("---", *["---:"] * (len(heads) - 1)), *rows, _row("all", results)]
    return [f"| {' | '.join(line)} |" for line in lines]


def share_noticed(results: Iterable[Result]) -> float:
    """The share of the mutants that were noticed, of those that were run; 1 if none was."""
    run = [result for result in results if result.outcome != "not run"]
    return sum(result.is_noticed for result in run) / len(run) if run else 1.0


def explanations() -> list[dict[str, str]]:
    """Every mutant that is known to survive, with the line before and after, and why no test notices."""
    with EXPLANATIONS_FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _row(name: str, results: list[Result]) -> tuple[str, ...]:
    outcomes = [result.outcome for result in results]
    counts = [outcomes.count(outcome) for outcome in _COLUMNS.values()]
    return (name, f"{len(results):,}", *(f"{count:,}" for count in counts), f"{share_noticed(results):.1%}")


def _results(folder: Path) -> Iterator[Result]:
    outcomes = {status: outcome for outcome, status in _STATUSES.items()}
    for meta in sorted(folder.rglob("*.meta")):
        for name, status in json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"].items():
            yield Result(name.removeprefix("pytest_riskguard."), outcomes.get(status, "not run"))
