"""Plain cases: what the default gates say of changes that a search lead would stop or ship without a thought.

Each case is a change as one would tell it to a colleague. It is drawn again and again, with other queries, and judged
by the gates of ``POLICY``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.gates.judge import compare, judge
from pytest_riskguard.gates.kinds import POLICY, Gate, gate_of
from pytest_riskguard.reports.words import line
from pytest_riskguard.risk.checks import FloatArray
from tests.benchmarks.calibration.tables import Place, Study

#: Data sets of a case that should be stopped, for each five of one that should be shipped.
FEWER = 5

Draw = Callable[[np.random.Generator], FloatArray]


@dataclass(frozen=True)
class Case:
    """A change in words, what should become of it, and its differences."""

    words: str
    expected: str
    draw: Draw


def changes(n: int, *groups: tuple[int, float, float]) -> Draw:
    """So many of n queries change by so much, evenly between two bounds; the rest stays."""

    def draw(rng: np.random.Generator) -> FloatArray:
        differences = np.zeros(n)
        begin = 0
        for count, low, high in groups:
            differences[begin : begin + count] = rng.uniform(low, high, count)
            begin += count
        return differences

    return draw


def both_ways(n: int, moved: int, size: float, *, fall: float = 0.0) -> Draw:
    """Some queries move by so much up or down, by the flip of a coin, and all fall a little."""

    def draw(rng: np.random.Generator) -> FloatArray:
        differences = np.full(n, -fall)
        differences[:moved] += rng.choice([-size, size], moved)
        return differences

    return draw


def noise(n: int, spread: float, *, fall: float = 0.0) -> Draw:
    """Every query moves by a normal amount around a fall, as far as scores from 0 to 1 go."""
    return lambda rng: np.clip(rng.normal(-fall, spread, n), -1.0, 1.0)


CASES = (
    Case("one query in ten is ruined: 10 of 100 lose 0.4 to 0.9, 70 gain 0.05 to 0.19", "stop",
         changes(100, (10, -0.9, -0.4), (70, 0.05, 0.19))),
    Case("the same of 250: 25 lose 0.4 to 0.9, 175 gain 0.05 to 0.19", "stop",
         changes(250, (25, -0.9, -0.4), (175, 0.05, 0.19))),
    Case("one kind of query is lost: 9 of 60 lose 0.35 to 0.8, 40 gain 0.05 to 0.2", "stop",
         changes(60, (9, -0.8, -0.35), (40, 0.05, 0.2))),
    Case("six of 100 fall from 1.0 to 0.5, none gains", "stop", changes(100, (6, -0.5, -0.5))),
    Case("twelve of 100 lose 0.15, none gains", "stop", changes(100, (12, -0.15, -0.15))),
    Case("five of 100 lose 0.3, none gains", "stop", changes(100, (5, -0.3, -0.3))),
    Case("four of 100 fall from 1.0 to 0", "stop", changes(100, (4, -1.0, -1.0))),
    Case("every one of 100 falls by 0.04, give or take 0.03", "stop", noise(100, 0.03, fall=0.04)),
    Case("every one of 200 moves by 0.2, and the mean falls by 0.06", "stop", both_ways(200, 200, 0.2, fall=0.06)),
    Case("nothing changes", "ship", changes(100)),
    Case("four of 100 lose 0.0001", "ship", changes(100, (4, -0.0001, -0.0001))),
    Case("every one of 100 loses 0.002", "ship", changes(100, (100, -0.002, -0.002))),
    Case("60 of 100 move by 0.08, up or down by chance", "ship", both_ways(100, 60, 0.08)),
    Case("40 of 100 gain 0.08, 10 lose 0.04", "ship", changes(100, (40, 0.08, 0.08), (10, -0.04, -0.04))),
    Case("200 of 250 gain up to 0.1, one loses 0.2", "ship", changes(250, (200, 0.0, 0.1), (1, -0.2, -0.2))),
    Case("three of 50 lose 0.05, none gains", "ship", changes(50, (3, -0.05, -0.05))),
    Case("eight queries, all fall by 0.1", "no verdict", changes(8, (8, -0.1, -0.1))),
    Case("harmless noise: every one of 50 moves by 0.2, up or down by chance", "", both_ways(50, 50, 0.2)),
    Case("harmless noise: every one of 250 moves by 0.2, up or down by chance", "", both_ways(250, 250, 0.2)),
    Case("harmless noise: every one of 100 moves by a normal amount of 0.1", "", noise(100, 0.1)),
    Case("harmless noise: every one of 100 moves by a normal amount of 0.2", "", noise(100, 0.2)),
)  # fmt: skip


@cache
def policy() -> tuple[Gate, ...]:
    """The gates that are asked where nobody says otherwise."""
    return tuple(gate_of(name, kind, **options) for name, kind, options in POLICY)


def scores(differences: FloatArray, rng: np.random.Generator) -> tuple[TopicScores, TopicScores]:
    """A candidate and a baseline with these differences, from 0 to 1."""
    low, high = np.maximum(0.0, -differences), np.minimum(1.0, 1.0 - differences)
    baseline = rng.uniform(low, high)
    topics = tuple(f"q{place:03}" for place in range(differences.size))
    return (
        TopicScores("candidate", None, topics, baseline + differences),
        TopicScores("prod", None, topics, baseline),
    )


def outcomes(case: Case, rng: np.random.Generator, count: int) -> list[tuple[str, ...]]:
    """The outcome of each gate on so many data sets of a case."""
    drawn = (scores(case.draw(rng), rng) for _ in range(count))
    return [tuple(compare(gate, *systems).answer[0] for gate in policy()) for systems in drawn]


def first_line(case: Case, rng: np.random.Generator) -> str:
    """What a data set of a case reads: of the first gate that stops it, else of the gate on the mean."""
    systems = scores(case.draw(rng), rng)
    verdicts = [judge(gate, *systems) for gate in policy()]
    return line(next((verdict for verdict in verdicts if verdict.outcome != "pass"), verdicts[0]))


def simulate(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """How often the default gates stop a case, and which gate does: it fails, or has no answer."""
    (case,) = (case for case in CASES if case.words == place["change"])
    said = first_line(case, rng)
    stopped = np.array(outcomes(case, rng, max(count // (FEWER if case.expected == "stop" else 1), 1))) != "pass"
    row: dict[str, object] = {"data sets": len(stopped), "stopped": float(np.mean(stopped.any(axis=1)))}
    row |= dict(zip((name for name, _, _ in POLICY), stopped.mean(axis=0).tolist(), strict=True))
    return {**row, "first line": said}


STUDIES = {"plain-cases": Study(simulate, 1000, 2, no_share=("data sets", "first line"), part=FEWER)}
