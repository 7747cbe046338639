"""What explains a verdict is the same, but for rounding, as if whole rankings were kept and scored by ir-measures."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data import TopicScores, read_qrels
from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.judged import RankedRun
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.memory import as_run
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scoring import labels_for
from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates import unjudged as module
from pytest_riskguard.gates.documents import documents
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.unjudged import Labels, Rejudged, judge_next
from tests.data.tables import judged_run
from tests.gates import slow_rankings

MEASURES = (
    *("nDCG@10", "nDCG", "nDCG@100", "nDCG(dcg='exp-log2')@5", "DCG@10"),
    *("AP", "AP(rel=2)@10", "RR", "RR@10", "P@5", "P(rel=2)@10", "R@20", "Rprec", "Success@3", "Judged@10"),
    *("ERR@20", "RBP(p=0.5, max_rel=3)@10"),
)
Rows = Mapping[str, Sequence[tuple[str, float]]]


def made(seed: int, *, topics: int, real: bool = False) -> tuple[Rows, Rows, dict[str, dict[str, float]]]:
    """Two runs with ties (some in 32 bits only), unanswered topics and short rankings, and judgements of a half."""
    rng = random.Random(seed)
    names = [f"d{number:02d}" for number in range(60)]
    runs: list[dict[str, list[tuple[str, float]]]] = [{}, {}]
    grades: dict[str, dict[str, float]] = {}
    for number in range(topics):
        topic = f"t{number}"
        base = {name: rng.random() for name in names}
        for run in runs:
            retrieved = rng.sample(names, rng.choice([3, 25, 50]))
            if rng.random() < 0.9:
                run[topic] = [(n, round(base[n] * 9) + rng.choice([0.0, 0.0, 1e-12, 0.3])) for n in retrieved]
        levels = [-1, 0, 0, 1, 2, *([0.5, 1.25] if real and number % 2 else [])]
        grades[topic] = {name: rng.choice(levels) for name in rng.sample(names, 25)} | {"sure": 2}
    grades["never answered"] = {"d01": 1}
    return runs[0], runs[1], grades


def rounded(value: Any) -> Any:
    """The same with numbers to eleven decimals."""
    if isinstance(value, float):
        return round(value, 11)
    if is_dataclass(value):
        return {field.name: rounded(getattr(value, field.name)) for field in fields(value)}
    return tuple(map(rounded, value)) if isinstance(value, tuple) else value


class Compared:
    """A comparison as columns, and the same from whole rankings."""

    def __init__(
        self, runs: Sequence[Run], qrels: Qrels, measure: str, scored: Sequence[Any], **options: Any
    ) -> None:
        parsed, gate = parse_measure(measure), gate_of("g", **options)
        if measure.startswith("ERR") and qrels.rules.scale is not None:
            parsed = parse_measure(f"ERR(max_rel={qrels.rules.scale[1]:g})@20")
        ours, theirs = (score_run(run, qrels, [measure])[0] for run in scored)
        self.scores: tuple[TopicScores, TopicScores] = (ours, theirs)
        candidate, baseline = (RankedRun(judged_run(run, qrels, depth=1000), qrels, parsed) for run in runs)
        self.rejudged = Rejudged(gate, Labels(self.scores, (candidate, baseline)))
        grades = labels_for(parsed, qrels.grades, qrels.rules)
        one, other = (slow_rankings.rankings_of(run, parsed) for run in runs)
        self.slow = slow_rankings.SlowComparison(gate, self.scores, (one, other), parsed, grades, rules=qrels.rules)

    def check(self) -> None:
        """Everything is the same."""
        self.check_unjudged()
        told = documents(self.rejudged.labels, self.scores[0].topics, DocumentTitles())
        for topic in told.topics:
            for moved in () if topic.exact else topic.moved:
                before = slow_rankings.moved_back(self.slow, topic.topic, moved.document)
                score = self.rejudged.labels.scores_of(topic.topic)[0]
                assert moved.effect == pytest.approx(score - before, abs=1e-12)

    def check_unjudged(self) -> None:
        """What is unjudged is the same, and what the gate would say of the four cases that go by rank."""
        if self.rejudged.labels.rules.is_complete:
            return  # nobody asks
        told, by_rank = self.rejudged.found, slow_rankings.judgements(self.slow)
        assert rounded(told.cases[:4]) == rounded(by_rank.cases)
        assert told.depends == (len({case.outcome for case in told.cases}) > 1)
        of_all = replace(told, cases=(), depends=False)
        assert rounded(of_all) == rounded(replace(by_rank, cases=(), depends=False))
        listed, in_order = judge_next(self.rejudged), slow_rankings.in_order(self.slow)
        assert listed == in_order[: len(listed)]
        assert bool(listed) == told.depends

    def check_effects(self) -> None:
        """What each unjudged document is worth is the same."""
        unjudged, topics = self.rejudged.labels.unjudged, self.rejudged.labels.runs[0].qrels.arrays.topics
        names = [
            (topics[topic], name) for topic, name in zip(unjudged.topics, unjudged.documents.strings(), strict=True)
        ]
        found = dict(zip(names, self.rejudged.labels.effects.tolist(), strict=True))
        gaps = self.slow.gaps()
        assert found == pytest.approx(
            {(gap.topic, d): effect for gap in gaps for d, effect in self.slow.effects(gap).items()}, abs=1e-12
        )
        best = np.min(np.where(unjudged.found, unjudged.ranks, unjudged.depth + 1), axis=1)
        by_name = dict(zip(names, zip(unjudged.favours, best, strict=True), strict=True))
        assert by_name == {(gap.topic, d): (gap.favours(d), gap.best_rank(d)) for gap in gaps for d in gap.documents}


def compared(
    seed: int, measure: str, rules: LabelRules = AS_GIVEN, *, real: bool = False, topics: int = 6, **options: Any
) -> Compared:
    candidate, baseline, grades = made(seed, topics=topics, real=real)
    qrels = read_qrels(grades, labels=rules)
    runs = [as_run(run) for run in (candidate, baseline)]
    return Compared(runs, qrels, measure, runs, **options)


@pytest.mark.parametrize("measure", MEASURES)
def test_generated_runs(measure):
    pair = compared(0, measure, topics=5)
    assert len(pair.rejudged.labels.unjudged.documents) > 10
    pair.check()
    pair.check_effects()


@pytest.mark.parametrize("kind", ["no_topic_collapse", "not_inferior"])
def test_other_gates(kind):
    compared(3, "nDCG@10", kind=kind, missing="zero").check()


@pytest.mark.parametrize("measure", ["nDCG@10", "DCG", "ERR@20"])
def test_grades_that_are_not_whole(measure):
    pair = compared(4, measure, LabelRules(scale=(-1, 3)), real=True)
    pair.check()
    pair.check_effects()


@pytest.mark.parametrize(
    ("measure", "is_complete"), [("AP", False), ("Success@5", True), ("AP(rel=2)", False), ("nDCG@10", True)]
)
def test_labels_that_follow_rules(measure, is_complete):
    rules = LabelRules(relevant_from=1.25, is_complete=is_complete)
    pair = compared(5, measure, rules, real=measure != "nDCG@10")
    pair.check()
    pair.check_effects()


def test_batches_of_variants_change_nothing(monkeypatch):
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 60)
    compared(7, "AP").check_effects()


def test_a_measure_without_a_kernel_has_documents_side_by_side_without_effects():
    pair = compared(8, "SetF").rejudged
    found = documents(pair.labels, ["t0"], DocumentTitles()).topics[0]
    assert (found.moved, found.exact) == ([], False)
    assert found.documents
    with pytest.raises(UsageError, match="SetF: what it would be under other judgements is known of measures of"):
        _ = pair.found


def test_an_unjudged_document_below_the_ranks_that_are_kept_counts_as_not_retrieved():
    rows = {"t": [(f"x{rank:03d}", -float(rank)) for rank in range(150)]}
    deep = {"t": [*((f"y{rank:03d}", -float(rank)) for rank in range(120)), ("x000", -120.0), ("a", -121.0)]}
    qrels = read_qrels({"t": {"a": 1, "x001": 0}})
    candidate, baseline = (
        RankedRun(judged_run(as_run(run), qrels, depth=150), qrels, parse_measure("AP")) for run in (rows, deep)
    )
    assert (candidate.depth, baseline.run.retrieved[0]) == (100, 122)
    assert baseline.ranks("t") == {**{f"y{rank:03d}": rank + 1 for rank in range(100)}, "a": 122}
    ours, theirs = (score_run(run, qrels, ["AP"])[0] for run in (rows, deep))
    unjudged = Labels((ours, theirs), (candidate, baseline)).unjudged
    assert unjudged.ranks[unjudged.documents.strings().index("x000")].tolist() == [1, 0]
