"""Where nothing unjudged is said to matter, nothing does: against every way of judging documents of small runs."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.judged import RankedRun, depth_of
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.gates import unjudged as module
from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.unjudged import judge_next, other_judgements, unjudged_documents
from tests.data.scoring import plain
from tests.data.tables import falling, judged_run
from tests.gates.runs import Pair
from tests.gates.slow_rankings import scores_of
from tests.strict import gate_of

MEASURES = (
    "nDCG@5",
    "AP",
    "RR@5",
    "ERR@5",
    "P@5",
    "RBP(max_rel=2)@5",
    "Rprec",
    "R@5",
)
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


def check(pair: Pair) -> bool:
    """What is said holds; whether the verdict depends on unjudged documents."""
    tried, depends = pair.rejudged().found, len(outcomes(pair)) > 1
    assert depends or not tried.depends
    assert tried.depends or not (tried.certain and depends)
    assert tried.certain or not tried.depends
    return depends


def test_what_is_said_not_to_matter_does_not():
    found = [check(near_the_bound(seed)) for seed in range(6)]
    assert any(found)
    assert not all(found)


@pytest.mark.nightly
def test_what_is_said_not_to_matter_does_not_in_many_runs():
    assert sum(check(near_the_bound(seed)) for seed in range(1000, 3000)) > 100


@pytest.mark.slow
def test_a_search_claims_nothing_and_misses_little(monkeypatch):
    monkeypatch.setattr(module, "MOST_WAYS", 1)
    monkeypatch.setattr(module, "MOST_COMBINATIONS", 0.5)
    missed = depending = 0
    for seed in range(60):
        pair = near_the_bound(seed)
        found = pair.rejudged().found
        assert found.certain == found.depends
        if check(pair):
            depending += 1
            missed += not found.depends
    assert depending >= 5
    assert missed <= 1


@pytest.mark.parametrize(("limit", "value"), [("MOST_WAYS", 1), ("MOST_GRADES", 1)])
def test_nothing_is_certain_where_some_ways_or_grades_are_left_out(limit, value, monkeypatch):
    monkeypatch.setattr(module, limit, value)
    pairs = [replace(near_the_bound(seed), measure="nDCG@5") for seed in range(4)]
    for found in (pair.rejudged().found for pair in pairs):
        assert found.certain == (found.depends or not found.documents)
    assert not all(pair.rejudged().found.depends for pair in pairs)


def opposed() -> Pair:
    """In t0 the candidate ranks ``u`` higher, and yet the difference falls if it is relevant."""
    others = [f"t{number}" for number in range(1, 11)]
    candidate = {"t0": ["x", "u", "rel"], **{topic: ["rel", "x"] for topic in others}}
    baseline = {"t0": ["y", "z", "x", "u"], **{topic: ["rel", "x"] for topic in others}}
    judged = {"t0": {"rel": 1, "x": 0, "y": 0, "z": 0}, **{topic: {"rel": 1, "x": 0} for topic in others}}
    gate = gate_of("g", kind="no_topic_collapse", max_loss=0.01)
    return Pair(candidate, baseline, judged, "RR", gate)


def test_a_document_ranked_higher_that_lowers_the_difference_is_found():
    """Without ``u``, RR is 1/3 against 0; with it, 1/2 against 1/4: the candidate has it higher, and gains less."""
    found = opposed().rejudged().found
    cases = {case.case: case.urisk for case in found.cases}
    assert cases["candidate_relevant"] == cases["lowest"] < cases["irrelevant"] == cases["highest"]


@pytest.mark.slow
def test_a_list_ends_where_every_way_of_judging_the_rest_gives_the_verdict():
    settled = 0
    for seed in range(200, 260):
        pair = near_the_bound(seed)
        listed = judge_next(pair.rejudged())
        if not listed:
            continue
        grades = {topic: dict(judged) for topic, judged in pair.grades.items()}
        for one in listed:
            grades[one.topic][one.document] = 0
        assert len(outcomes(replace(pair, grades=grades))) == 1
        settled += 1
    assert settled > 5


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


@pytest.mark.parametrize(("text", "ways"), [("nDCG@3", 128), ("P@3", 1)])
def test_possible_scores_are_those_of_ways_of_judging(monkeypatch, text, ways):
    monkeypatch.setattr(module, "MOST_WAYS", ways)
    is_complete = ways > 1
    qrels = read_qrels({topic: {"b": 0, "e": 1, "g": 2} for topic in "tuv"})
    rankings = {"t": "abcde", "v": "xyzab"}, {"t": "cbfad", "u": "xyb", "v": "bxaeg"}
    pair = [RankedRun(judged_run(falling(run), qrels), qrels, parse_measure(text)) for run in rankings]
    unjudged = unjudged_documents(("t", "u", "v"), pair[0], pair[1])
    found = other_judgements(unjudged, (pair[0], pair[1]), np.ones(len(unjudged), dtype=np.bool_))
    assert found.is_whole == is_complete
    for place, topic in enumerate("tuv"):
        names = [name for name, of in zip(unjudged.documents.strings(), unjudged.topics, strict=True) if of == place]
        every = set()
        for grades in itertools.product((None, 0, 1, 2), repeat=len(names)):
            judged = {name: grade for name, grade in zip(names, grades, strict=True) if grade is not None}
            sides = []
            for run in rankings:
                answers = {topic: {d: float(-rank) for rank, d in enumerate(run[topic])}} if topic in run else {}
                scores = plain.scores(text, answers, {topic: {**qrels.grades[topic], **judged}})
                sides.append(round(scores.get(topic, 0.0), 10))
            every.add(tuple(sides))
        if place not in found.topics:  # no judgement moves it
            assert len(every) == 1
            continue
        rows = found.scores[found.topics[found.topic] == place].round(10).tolist()
        tried = set(map(tuple, rows))
        assert tried == every if is_complete else tried <= every
        differences = [sorted(round(one - other, 8) for one, other in pairs) for pairs in (tried, every)]
        assert (differences[0][0], differences[0][-1]) == (differences[1][0], differences[1][-1])
