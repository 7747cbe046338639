"""Verdicts about one candidate, its baselines and one measure, which share their topics and documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_riskguard.formats.serialization import to_plain
from pytest_riskguard.gates.verdict import Verdict


@dataclass(frozen=True)
class Comparison:
    """Verdicts about the same scores, failures first; ``places`` are theirs in the report."""

    verdicts: tuple[Verdict, ...]
    places: tuple[int, ...]

    @property
    def candidate(self) -> str:
        """The name of the candidate."""
        return self.verdicts[0].candidate

    @property
    def baselines(self) -> tuple[str, ...]:
        """The names of the baselines."""
        return self.verdicts[0].baselines

    @property
    def measure(self) -> str | None:
        """The measure; None for plain scores."""
        return self.verdicts[0].measure

    @property
    def failed(self) -> bool:
        """Whether one of the verdicts fails a build."""
        return any(not verdict.passed for verdict in self.verdicts)


def comparisons(verdicts: Sequence[Verdict]) -> list[Comparison]:
    """The verdicts by what they compare: the same names, measure and inputs; those with failures first."""
    together: dict[str, list[int]] = {}
    for place, verdict in enumerate(verdicts):
        together.setdefault(_compared(verdict, place), []).append(place)
    found = []
    for places in together.values():
        places.sort(key=lambda place: verdicts[place].passed)
        found.append(Comparison(tuple(verdicts[place] for place in places), tuple(places)))
    return sorted(found, key=lambda comparison: not comparison.failed)


def _compared(verdict: Verdict, place: int) -> str:
    """What a verdict compares, as text. Without digests nothing says that two comparisons are the same."""
    inputs = verdict.inputs
    if inputs is None or inputs.candidate is None or None in inputs.baselines.values():
        return str(place)
    return json.dumps(
        [verdict.candidate, verdict.baselines, verdict.measure, to_plain(inputs), to_plain(verdict.yardstick)],
        sort_keys=True,
    )
