"""What a study is about: systems with scores on the same topics, of which some may be named as baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_riskguard.data import TopicScores
from pytest_riskguard.errors import UsageError
from pytest_riskguard.reports import Table, clean, counted
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, mean

#: With more systems, tables of all pairs are of no use to a reader.
MIN_SYSTEMS, MAX_SYSTEMS = 2, 200
#: So many systems have a chart of their own, or a line that can be told from others.
FEW = 8


@dataclass(frozen=True, eq=False)
class Pool:
    """Systems on the same topics, the best by mean score first.

    ``scores`` has shape (n_systems, n_topics), in units of the measure. ``baselines`` are the places of the systems
    that are named as such; ``alphas`` are extra weights of a loss. ``missing`` topics, of each system, score 0.
    """

    measure: str
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    scores: FloatArray
    baselines: tuple[int, ...]
    alphas: tuple[float, ...]
    missing: tuple[tuple[str, ...], ...]

    @classmethod
    def of(
        cls,
        systems: Sequence[TopicScores],
        missing: Sequence[tuple[str, ...]],
        *,
        baselines: Sequence[str],
        alphas: tuple[float, ...],
        measure: str,
    ) -> Pool:
        """The pool of systems on one list of topics, of which some are ``baselines``, by their names.

        ``UsageError`` for too few systems or too many, for two of the same name, and for a single topic.
        """
        if not MIN_SYSTEMS <= len(systems) <= MAX_SYSTEMS:
            raise UsageError(f"a study is of {MIN_SYSTEMS} to {MAX_SYSTEMS} systems; found {len(systems)}")
        if len(systems[0].topics) < 2:
            raise UsageError("a study needs at least 2 topics; found 1")
        order = sorted(range(len(systems)), key=lambda place: -mean(systems[place].values))
        names = tuple(systems[place].name for place in order)
        if twice := [name for name in names if names.count(name) > 1]:
            raise UsageError(f"two systems are called {twice[0]!r:.60}; NAME=RUN gives one of them another name")
        return cls(
            measure,
            names,
            systems[0].topics,
            np.array([systems[place].values for place in order]),
            tuple(map(names.index, baselines)),
            alphas,
            tuple(missing[place] for place in order),
        )

    @cached_property
    def means(self) -> FloatArray:
        """The mean score of each system: shape (n_systems,)."""
        return np.array([mean(row) for row in self.scores])

    @property
    def baseline(self) -> int:
        """The place of the baseline: the one that was named first."""
        return self.baselines[0]

    @cached_property
    def candidates(self) -> list[int]:
        """The places of all other systems."""
        return [place for place in range(len(self.systems)) if place != self.baseline]

    @cached_property
    def differences(self) -> FloatArray:
        """Candidates less the baseline: shape (n_candidates, n_topics)."""
        rows: FloatArray = self.scores[self.candidates] - self.scores[self.baseline]
        return rows

    @property
    def title(self) -> str:
        """The measure and the size of the pool."""
        return f"{clean(self.measure)}, {counted(len(self.systems), 'system')}, {counted(len(self.topics), 'topic')}"

    @property
    def warnings(self) -> list[str]:
        """The systems that did not answer all topics."""
        return [
            f"{clean(name, limit=60)} did not answer {counted(len(missing), 'topic')}; they score 0."
            for name, missing in zip(self.systems, self.missing, strict=True)
            if missing
        ]


def places(values: FloatArray) -> FloatArray:
    """Places from the highest value (1) to the lowest; values within 1e-12 of a neighbour share their mean place.

    NaN has none.
    """
    ranked = np.full(values.size, np.nan)
    order = np.argsort(-values, kind="stable")[: np.count_nonzero(~np.isnan(values))]  # NaN comes last
    falling = values[order]
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, and the two are tied
        gaps = (falling[:-1] - falling[1:] > ROUNDING_ERROR) & (falling[:-1] != falling[1:])
    groups = np.concatenate([[0], np.cumsum(gaps)]) if order.size else order
    sizes = np.bincount(groups)
    shared = np.cumsum(sizes) - (sizes - 1) / 2
    ranked[order] = shared[groups]
    return ranked


def ranked(
    title: str, names: Sequence[str], figures: Mapping[str, tuple[str, FloatArray]], *, note: str = ""
) -> Table:
    """A row for each system: figures, each with its format and, where the format begins with R, the places by it."""
    columns, parts = {"system": "name"}, list[Sequence[object]]([names])
    for label, (form, values) in figures.items():
        columns[label] = form.lstrip("R")
        parts.append(known(values))
        if form[0] == "R":
            columns[f"R {label}"] = "g"
            parts.append(known(places(values)))
    return Table(title, columns, [*zip(*parts, strict=True)], note=note, none="-")


def known(values: FloatArray) -> list[float | None]:
    """The values as a table has them, None for NaN."""
    return [None if np.isnan(value) else float(value) for value in values]


def matrix(title: str, names: Sequence[str], columns: Sequence[str], form: str, values: FloatArray) -> Table:
    """A table with a row for each system and a column for each of anything else."""
    rows = [(name, *known(row)) for name, row in zip(names, values, strict=True)]
    return Table(title, {"system": "name", **dict.fromkeys(columns, form)}, rows, none="-")
