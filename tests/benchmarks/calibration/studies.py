"""The simulations behind docs/study: what makes their tables, and from how many data sets those shown were made."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

from tests.benchmarks.calibration import (
    both_sides,
    family_study,
    few_changes,
    interval_study,
    lower_side,
    parts_study,
    plain_cases,
    pool_changes,
    pool_study,
    unequal_sizes,
    year_study,
)
from tests.benchmarks.calibration.tables import Table


class MakesTables(Protocol):
    """All cells of a study, simulated by a pool of processes: tables by the names of their files."""

    def __call__(self, pool: Executor, *, simulations: int, seed: int) -> dict[str, Table]: ...


class Counts(Protocol):
    """On how many of a cell's data sets a column was counted: 0 if it names the cell, None if it holds no share."""

    def __call__(self, table: str, column: str, simulations: int) -> int | None: ...


@dataclass(frozen=True)
class Study:
    """A simulation; the tables shown were made with ``simulations`` data sets for each cell."""

    all_tables: MakesTables
    counted: Counts
    simulations: int


STUDIES: Mapping[str, Study] = {
    "few-changes": Study(few_changes.all_tables, few_changes.counted, 10_000),
    "plain-cases": Study(plain_cases.all_tables, plain_cases.counted, plain_cases.SIMULATIONS),
    "families": Study(family_study.all_tables, family_study.counted, 4000),
    "not-inferior": Study(lower_side.all_tables, lower_side.counted, 2000),
    "equivalent": Study(both_sides.all_tables, both_sides.counted, 4000),
    "unequal-sizes": Study(unequal_sizes.all_tables, unequal_sizes.counted, 1000),
    "georisk": Study(pool_changes.all_tables, pool_changes.counted, 1000),
    "pools": Study(pool_study.all_tables, pool_study.counted, 6000),
    "parts": Study(parts_study.all_tables, parts_study.counted, 1000),
    "year": Study(year_study.years_of_looks, year_study.counted, 1_000_000),
    "no-drift": Study(year_study.drifting, year_study.counted, year_study.YEARS),
    "intervals": Study(interval_study.all_tables, interval_study.counted, 4000),
}
