"""What became of the mutants of a package, as mutmut wrote it down."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

#: mutmut's exit statuses; every other one is that of a test that failed.
_SURVIVED = (0, 5, 33)
_TIMED_OUT = (24, -24, 36, 152, 255)
_REFUSED = 37


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
    def is_killed(self) -> bool:
        """Whether a test, a limit of time or a type noticed it."""
        return self.outcome in ("killed", "timed out", "refused")


def results_of(copy: Path) -> list[Result]:
    """Every mutant of a copy in which mutmut ran."""
    return list(_results(copy / "mutants" / "pytest_riskguard"))


def table(results: Iterable[Result]) -> list[str]:
    """Counts by package, in Markdown."""
    results = list(results)
    heads = ("package", "mutants", "refused by mypy", "killed by tests", "timed out", "survived", "not run", "noticed")
    rows = [_row(name, [one for one in results if one.package == name]) for name in sorted({r.package for r in results})]
    lines = [heads, ("---", *["---:"] * (len(heads) - 1)), *rows, _row("all", results)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _row(name: str, results: list[Result]) -> tuple[str, ...]:
    outcomes = [result.outcome for result in results]
    counts = [outcomes.count(outcome) for outcome in ("refused", "killed", "timed out", "survived", "not run")]
    noticed = sum(result.is_killed for result in results) / max(len(results), 1)
    return (name, f"{len(results):,}", *(f"{count:,}" for count in counts), f"{noticed:.1%}")


def _results(folder: Path) -> Iterator[Result]:
    for meta in sorted(folder.rglob("*.meta")):
        for name, status in json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"].items():
            yield Result(name.removeprefix("pytest_riskguard."), _outcome(status))


def _outcome(status: int | None) -> str:
    if status is None:
        return "not run"
    if status in _SURVIVED:
        return "survived"
    if status in _TIMED_OUT:
        return "timed out"
    return "refused" if status == _REFUSED else "killed"
