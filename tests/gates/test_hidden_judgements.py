"""Judgements are hidden until a verdict is wrong: what judge-next asks for makes it right again.

The cases were found by hiding a random 60 % of the rows of the qrels, with seeds 0 to 9, and judging all ordered
pairs of the 20 runs on Cranfield and of the 8 on Web 2012 (nDCG@10, alpha 1), by BCa alone: 412 pairs and seeds had
then another verdict than with all judgements. Those below are of a random draw from them, the nine that Student-t or
the break-even test confirms. The judgements of the whole depth-10 pool brought the verdict back in 371 of the 412;
what lies outside the two pools, and topics that lost all of their relevant documents, stay hidden.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from pytest_riskguard.evaluation import Qrels, TopicScores, read_qrels
from pytest_riskguard.evaluation.measures import parse_measure
from pytest_riskguard.evaluation.scoring.ranked_runs import RankedRun
from pytest_riskguard.evaluation.scoring.run_scores import scored_run
from pytest_riskguard.gates.judge import rule
from pytest_riskguard.gates.rankings.unjudged import Rejudged, judge_next
from tests.gates.runs import Rankings, as_qrels, ranked
from tests.gates.slow_rankings import scores_of
from tests.strict import gate_of

MEASURE = parse_measure("nDCG@10")
GATE = gate_of("g", alpha=1.0)
HIDDEN = 0.6
QRELS = {"cranfield_runs": "qrels.txt", "web2012_runs": "qrels.adhoc.txt.gz"}
#: Collection, candidate, baseline, seed, verdict with all judgements.
CASES = (
    ("cranfield_runs", "bm25s_k12b075", "bm25s_bm25plus", 0, "fail"),
    ("cranfield_runs", "bm25s_nostop", "bm25s_k3b09", 0, "fail"),
    ("cranfield_runs", "ties_bm25s_int", "bm25s_k12b075", 2, "fail"),
    ("cranfield_runs", "ties_bm25s_int", "bm25s_nostop", 2, "fail"),
    ("cranfield_runs", "bm25s_nostop", "bm25s_k3b09", 5, "fail"),
    ("cranfield_runs", "bm25s_k09b04", "fts5_or", 6, "fail"),
    ("cranfield_runs", "bm25s_k12b075", "bm25s_k3b09", 7, "fail"),
    ("cranfield_runs", "bm25s_bm25plus", "bm25s_nostem", 9, "pass"),
    ("cranfield_runs", "bm25s_bm25plus", "tantivy_default", 9, "pass"),
)

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Case:
    """Two runs, the judgements that are left, and all judgements, from which answers are taken."""

    runs: tuple[Rankings, Rankings]
    left: Qrels
    whole: Qrels

    def scores(self, qrels: Qrels) -> tuple[TopicScores, TopicScores]:
        ours, theirs = (
            TopicScores(
                name,
                None,
                qrels.topics,
                np.array(scores_of(MEASURE, ((qrels.grades[t], run[t]) for t in qrels.topics))),
            )
            for name, run in zip(("candidate", "baseline"), self.runs, strict=True)
        )
        return ours, theirs

    def outcome(self, qrels: Qrels) -> str:
        return rule(GATE, *self.scores(qrels)).answer[0]

    def rejudged(
        self, grades: Mapping[str, Mapping[str, float]], scores: tuple[TopicScores, TopicScores]
    ) -> Rejudged:
        qrels = as_qrels({topic: dict(judged) for topic, judged in grades.items()})
        ours, theirs = (ranked(run, qrels, str(MEASURE)) for run in self.runs)
        return Rejudged(GATE, scores, (ours, theirs))

    def judged_until_restored(self, lists: Callable[[Rejudged], Pairs]) -> int | None:
        """After how many judgements the full verdict is there to stay; None where it is not, in the end.

        Everything listed is judged, then the next list is asked for, until nothing is listed.
        """
        wanted = self.outcome(self.whole)
        grades = {topic: dict(judged) for topic, judged in self.left.grades.items()}
        scores = self.scores(self.left)
        place = {topic: number for number, topic in enumerate(self.left.topics)}
        right: list[bool] = []
        state = self.outcome(self.left) == wanted
        while listed := lists(self.rejudged(grades, scores)):
            for topic, document in listed:
                grades[topic][document] = self.whole.grades[topic].get(document, 0)
                if grades[topic][document] > 0:  # what is not relevant was scored as such
                    values = scores_of(MEASURE, ((grades[topic], run[topic]) for run in self.runs))
                    ours, theirs = (_changed(side, place[topic], v) for side, v in zip(scores, values, strict=True))
                    scores = (ours, theirs)
                    state = rule(GATE, *scores).answer[0] == wanted
                right.append(state)
        if not right or not right[-1]:
            return None
        return len(right) - right[::-1].index(False) + 1 if False in right else 1


def _changed(scores: TopicScores, place: int, value: float) -> TopicScores:
    values = np.array(scores.values)
    values[place] = value
    return replace(scores, values=values)


def asked_for(rejudged: Rejudged) -> Pairs:
    return [(one.topic, one.document) for one in judge_next(rejudged)]


def pooled(rejudged: Rejudged) -> Pairs:
    """The depth-10 pool: all first ranks, then all second ones, and so on."""
    unjudged, topics = rejudged.unjudged, rejudged.runs[0].qrels.arrays.topics
    found = zip(unjudged.best_ranks.tolist(), unjudged.topics.tolist(), unjudged.documents, strict=True)
    return [(topics[topic], document) for _, topic, document in sorted(found)]


def shuffled(rejudged: Rejudged, *, seed: int) -> Pairs:
    pool = pooled(rejudged)
    return [pool[place] for place in np.random.default_rng(seed).permutation(len(pool))]


def hidden(whole: Qrels, seed: int) -> Qrels:
    """What is left of the judgements."""
    rng = np.random.default_rng(seed)
    rows = [(topic, document) for topic in sorted(whole.grades) for document in sorted(whole.grades[topic])]
    left: dict[str, dict[str, float]] = {}
    for (topic, document), kept in zip(rows, rng.random(len(rows)) >= HIDDEN, strict=True):
        if kept:
            left.setdefault(topic, {})[document] = whole.grades[topic][document]
    return as_qrels(left)


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[Case]:
    @functools.cache
    def qrels_of(collection: str) -> Qrels:
        return read_qrels(shared / "data" / collection / QRELS[collection])

    @functools.cache
    def shown(collection: str, run: str) -> Rankings:
        qrels = qrels_of(collection)
        path = shared / "data" / collection / "runs" / f"{run}.run.gz"
        whole = RankedRun(scored_run(path, qrels, [str(MEASURE)]).run, qrels, MEASURE)
        return {topic: [name for name, rank in whole.ranks(topic).items() if rank <= 10] for topic in qrels.topics}

    return [
        Case(
            (shown(collection, candidate), shown(collection, baseline)),
            hidden(qrels_of(collection), seed),
            qrels_of(collection),
        )
        for collection, candidate, baseline, seed, _ in CASES
    ]


def test_without_them_the_verdict_is_another(cases):
    for case, (*_, verdict) in zip(cases, CASES, strict=True):
        assert case.outcome(case.whole) == verdict
        assert case.outcome(case.left) != verdict


@pytest.mark.slow
def test_what_is_asked_for_brings_the_full_verdict_back_with_fewer_judgements(cases):
    counts = [case.judged_until_restored(asked_for) for case in cases]
    assert sum(count is not None for count in counts) >= 0.9 * len(cases)
    restored = [(case, count) for case, count in zip(cases, counts, strict=True) if count is not None]
    ours = [count for _, count in restored]
    whole_pools = [len(pooled(case.rejudged(case.left.grades, case.scores(case.left)))) for case, _ in restored]
    by_rank = [case.judged_until_restored(pooled) for case, _ in restored]
    at_random = [
        [case.judged_until_restored(functools.partial(shuffled, seed=seed)) for seed in range(3)]
        for case, _ in restored
    ]
    assert all(count < whole for count, whole in zip(ours, whole_pools, strict=True))
    assert statistics.median(ours) < 0.5 * statistics.median(by_rank)
    assert statistics.median(ours) < 0.5 * statistics.median(count for counts in at_random for count in counts)
    assert statistics.mean(ours) < statistics.mean(by_rank)
    assert statistics.mean(ours) < statistics.mean(count for counts in at_random for count in counts)
