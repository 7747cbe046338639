"""What a study is about: systems with scores on the same topics, of which some may be named as baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_riskguard.data import TopicScores
from pytest_riskguard.errors import UsageError
from pytest_riskguard.reports import Table, clean, counted
from pytest_riskguard.risk.checks import FloatArray, mean

#: With more systems, tables of all pairs are of no use to a reader.
MIN_SYSTEMS, MAX_SYSTEMS = 2, 200
#: So many systems have a chart of their own.
FEW = 8


class Pool:
    """Systems on the same topics, the best by mean score first.

    ``UsageError`` for too few systems or too many, for two of the same name, and for a single topic.

    Attributes
    ----------
    systems, topics : tuple of str
    scores : array, shape (n_systems, n_topics)
        In units of the measure.
    means : array, shape (n_systems,)
    baselines, candidates : list of int
        The places of the systems that are named as baselines; those of all but the first of these.
    names : list of str
        The candidates' names.
    differences : array, shape (n_candidates, n_topics)
        Candidates less the first baseline.
    alphas : tuple of float
        Extra weights of a loss.
    """

    def __init__(
        self, measure: str, systems: Sequence[TopicScores], *, baselines: Sequence[str], alphas: tuple[float, ...]
    ) -> None:
        if not MIN_SYSTEMS <= len(systems) <= MAX_SYSTEMS:
            raise UsageError(f"a study is of {MIN_SYSTEMS} to {MAX_SYSTEMS} systems; found {len(systems)}")
        ordered = sorted(systems, key=lambda system: -mean(system.values))
        self.measure, self.alphas = measure, alphas
        self.systems, topics = tuple(system.name for system in ordered), ordered[0].topics
        columns = sorted(range(len(topics)), key=lambda place: (len(topics[place]), topics[place]))  # 9 before 10
        self.topics = tuple(topics[place] for place in columns)
        if len(topics) < 2:
            raise UsageError("a study needs at least 2 topics; found 1")
        if twice := [name for name in self.systems if self.systems.count(name) > 1]:
            raise UsageError(f"two systems are called {twice[0]!r:.60}; NAME=RUN gives one of them another name")
        self.scores: FloatArray = np.array([system.values[columns] for system in ordered])
        self.means: FloatArray = np.array(list(map(mean, self.scores)))
        self.baselines = [self.systems.index(name) for name in baselines]
        self.candidates = [place for place in range(len(ordered)) if place not in self.baselines[:1]]
        self.names = [self.systems[place] for place in self.candidates]
        self.differences: FloatArray = self.scores[self.candidates] - self.scores[self.baselines[:1]].sum(axis=0)
        self.title = f"{clean(measure)}, {counted(len(ordered), 'system')}, {counted(len(self.topics), 'topic')}"
        if baselines:
            self.title += f", against {clean(baselines[0], limit=60)}"
        self.warnings = [
            f"{clean(system.name, limit=60)} did not answer {counted(len(system.unanswered), 'topic')}; they score 0."
            for system in ordered
            if system.unanswered
        ]


def places(values: FloatArray) -> FloatArray:
    """Places from the highest value (1) to the lowest; values equal to 12 decimals share their mean place."""
    from scipy.stats import rankdata  # takes 0.8 s to import

    return np.asarray(rankdata(-np.round(values, 12), nan_policy="omit"))


def ranked(title: str, names: Sequence[str], figures: Mapping[str, tuple[str, FloatArray]]) -> Table:
    """A row for each system: figures, each with its format and, where the format begins with R, the places by it."""
    columns, parts = {"system": "name"}, list[Sequence[object]]([names])
    for label, (form, values) in figures.items():
        columns[label] = form.lstrip("R")
        parts.append(_known(values))
        if form[0] == "R":
            columns[f"R {label.replace('Risk', '')}"] = "g"
            parts.append(_known(places(values)))
    return Table(title, columns, [*zip(*parts, strict=True)], none="-")


def matrix(title: str, names: Sequence[str], columns: Sequence[str], form: str, values: FloatArray) -> Table:
    """A table with a row for each system and a column for each of anything else."""
    rows = [(name, *_known(row)) for name, row in zip(names, values, strict=True)]
    return Table(title, {"system": "name", **dict.fromkeys(columns, form)}, rows, none="-")


def _known(values: FloatArray) -> list[float | None]:
    """The values as a table has them, None for NaN."""
    return [None if np.isnan(value) else float(value) for value in values]
