"""What is said to rest on unjudged documents does: against every way of judging documents of small runs."""

import itertools
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.judged import depth_of
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.unjudged import judge_next
from tests.gates.runs import Pair
from tests.gates.slow_rankings import scores_of
from tests.strict import gate_of

MEASURES = ("nDCG@5", "AP", "RR@5", "ERR@5", "P@5", "RBP(max_rel=2)@5", "Rprec", "R@5")
NAMES = [f"d{number}" for number in range(8)]


def near_the_bound(seed: int) -> Pair:
    """Some topics changed, a few documents are unjudged, and what is tolerated leaves the gate near its bound."""
    rng = random.Random(seed)
    topics = [f"t{number:02d}" for number in range(rng.choice([10, 12, 26]))]
    changed = rng.uniform(0.2, 0.7)
    baseline = {topic: rng.sample(NAMES, len(NAMES)) for topic in topics}
    candidate = {topic: rng.sample(NAMES, 8) if rng.random() < changed else baseline[topic] for topic in topics}
    grades = {topic: {name: rng.choice([0, 0, 1, 2]) for name in NAMES} | {"sure": 2} for topic in topics}
    for _ in range(rng.choice([3, 4, 5])):
        grades[rng.choice(topics)].pop(rng.choice(NAMES), None)
    kind = rng.choice(
        ["not_significantly_risky", "not_significantly_risky", "not_inferior", "equivalent", "no_topic_collapse"]
    )
    measure = rng.choice(MEASURES)
    if kind == "no_topic_collapse":
        return Pair(candidate, baseline, grades, measure, gate_of("g", kind=kind, max_loss=rng.choice([0.2, 0.4])))
    alpha = 0 if kind == "equivalent" else rng.choice([0, 1, 5])
    least = 1e-3 if kind == "equivalent" else 0.0
    pair = Pair(candidate, baseline, grades, measure, gate_of("g", kind=kind, alpha=alpha, tolerance=least))
    ruling = compare(gate_of("g", kind=kind, alpha=alpha, tolerance=least), *pair.scores()).ruling
    tolerance = max(least, least + rng.uniform(-0.02, 0.02) - ruling.margin_by(ruling.deciding.method))
    return replace(pair, gate=gate_of("g", kind=kind, alpha=alpha, tolerance=tolerance))


def outcomes(pair: Pair) -> set[str]:
    """What the gate says of every way of judging the unjudged documents, as ir-measures scores it.

    Those in the first ranks; no other is spoken of. Scores stay as they are, since limits are steps: a rounded score
    can be another step.
    """
    measure, (ours, theirs) = parse_measure(pair.measure), pair.scores()
    depth = depth_of(measure)
    options = []
    for topic in ours.topics:
        grades, rankings = pair.grades[topic], (pair.candidate[topic], pair.baseline[topic])
        first = {name for ranking in rankings for name in ranking[:depth]}
        free = [name for name in NAMES if name in first and name not in grades]
        ways = [
            {**grades, **{name: grade for name, grade in zip(free, way, strict=True) if grade is not None}}
            for way in itertools.product((None, 0, 1, 2), repeat=len(free))
        ]
        scores = scores_of(measure, [(way, ranking) for way in ways for ranking in rankings])
        pairs = zip(scores[::2], scores[1::2], strict=True)
        options.append(list({(round(c, 12), round(b, 12)): (c, b) for c, b in pairs}.values()))
    found: set[str] = set()
    for combination in itertools.product(*options):
        candidate, baseline = np.array(combination).T
        found.add(compare(pair.gate, replace(ours, values=candidate), replace(theirs, values=baseline)).answer[0])
        if len(found) > 1:
            break
    return found


@pytest.mark.parametrize(
    ("seeds", "depending", "most_missed"),
    [
        (range(6), 1, 0),
        pytest.param(range(6, 66), 5, 2, marks=pytest.mark.slow),
        pytest.param(range(1000, 3000), 300, 30, marks=pytest.mark.nightly),
    ],
)
def test_what_is_said_to_depend_does_and_little_that_does_is_missed(seeds, depending, most_missed):
    """Missed are ways that settle it by the spread of the differences alone."""
    found = missed = 0
    for seed in seeds:
        pair = near_the_bound(seed)
        said, is_true = pair.rejudged().found.depends, len(outcomes(pair)) > 1
        assert is_true or not said
        found += is_true
        missed += is_true and not said
    assert depending <= found < len(seeds)
    assert missed <= most_missed


def test_a_document_ranked_higher_that_lowers_the_difference_is_found():
    """With ``u`` RR of t0 is 1/2 against 1/4, else 1/3 against 0: the candidate has it higher, and gains less."""
    others = [f"t{number}" for number in range(1, 11)]
    candidate = {"t0": ["x", "u", "rel"], **{topic: ["rel", "x"] for topic in others}}
    baseline = {"t0": ["y", "z", "x", "u"], **{topic: ["rel", "x"] for topic in others}}
    judged = {"t0": {"rel": 1, "x": 0, "y": 0, "z": 0}, **{topic: {"rel": 1, "x": 0} for topic in others}}
    gate = gate_of("g", kind="no_topic_collapse", max_loss=0.01)
    found = Pair(candidate, baseline, judged, "RR", gate).rejudged().found
    cases = {case.case: case.urisk for case in found.cases}
    assert cases["candidate_relevant"] == cases["lowest"] < cases["irrelevant"] == cases["highest"]


def test_of_the_four_cases_that_go_by_rank_none_shows_that_a_document_decides(shared):
    """Judging d1 of t00, which the candidate ranks higher, turns a pass into a failure."""
    folder = shared / "data" / "judge_next_counterexample"
    gate = gate_of("g", alpha=1.0, tolerance=0.05)
    rankings = {
        name: {topic: list(documents) for topic, documents in rows_of(folder / f"{name}.run").items()}
        for name in ("new", "old")
    }
    before, after = (
        Pair(rankings["new"], rankings["old"], dict(read_qrels(folder / f"{name}.txt").grades), "RR@10", gate)
        for name in ("qrels", "q2")
    )
    assert (before.verdict().outcome, after.verdict().outcome) == ("pass", "fail")
    found = before.rejudged().found
    assert {case.outcome for case in found.cases[:4]} == {"pass"}
    assert found.depends
    assert ("t00", "d1") in {(one.topic, one.document) for one in judge_next(before.rejudged())}


def rows_of(path: Path) -> dict[str, list[str]]:
    """The documents of a run by topic, in the order of the file."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        topic, _, document, *_ = line.split()
        found.setdefault(topic, []).append(document)
    return found
