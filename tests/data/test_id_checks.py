"""Runs whose ids are not those of the judgements, or name other documents, and weak runs whose ids are."""

import gzip
import itertools
import json
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import poisson

from pytest_riskguard import check
from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.id_checks import OTHER_TOPICS, UNLIKELY, examined, is_chance, matches
from pytest_riskguard.data.memory import run as as_run
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.scores import Judged
from pytest_riskguard.errors import DataError
from tests.data.tables import judged_run

Grades = dict[str, dict[str, float]]
Run = Mapping[str, Mapping[str, float]] | Mapping[str, Sequence[str]]
Rewritten = Callable[[str], str]
TOPICS = range(30)


def docid(topic: int, place: int) -> str:
    return str(100 + 37 * topic + 5 * place)


JUDGED: Grades = {f"{topic:02}": {docid(topic, place): place % 2 for place in range(3)} for topic in TOPICS}


def rewritten_run(written: Rewritten, *, topics: range = TOPICS) -> Run:
    """A run that retrieves the judged documents; in ``topics`` their ids are rewritten."""
    return {
        topic: [written(name) if number in topics else name for name in judged]
        for number, (topic, judged) in enumerate(JUDGED.items())
    }


def refused(run: Run, judged: Grades | Qrels, problem: str) -> str:
    with pytest.raises(DataError, match=re.escape(problem)) as caught:
        score_run(run, judged, ["Judged@10"])
    assert caught.value.reason == "ids_do_not_match"
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "cause"),
    [
        (
            lambda name: f"{'x' if name == '105' else 'doc:'}{name}",
            "ids of the run begin with 'doc:', which the others lack",
        ),
        (lambda name: f"{name}-en", "ids of the run end with '-en', which the others lack"),
        (
            lambda name: f"000{name}",
            "they differ in leading zeros, decimals, case, a file extension, or a path or an",
        ),
        (lambda name: f"articles%2F{int(name) % 7}%2F{name}/", "they differ in leading zeros"),
        (lambda name: f"#{int(name) * 7919:x}", "their ids use different kinds of characters"),
        (lambda name: str(10**9 + int(name)), "its ids may come from another collection or index"),
    ],
)
def test_ids_of_another_spelling_are_refused_with_the_likely_cause(written, cause):
    shown = ", ".join(repr(written(name)) for name in JUDGED["00"])
    ids = f"document ids of judgements, such as '100', '105', '110'; found {shown}"
    refused(rewritten_run(written), JUDGED, f"{ids}, and no judged document in any topic that it answers: {cause}")


def test_the_difference_may_lie_in_the_ids_of_the_judgements():
    judged: Grades = {str(topic): {f"DOC-{topic}a": 1} for topic in TOPICS}
    refused({t: [f"{t}a"] for t in judged}, judged, "ids of the judgements begin with 'DOC-', which the others lack")
    refused({t: [f"DOC-{t}"] for t in judged}, judged, "ids of the judgements end with 'a', which the others lack")
    refused({t: [f"doc-{t}A"] for t in judged}, judged, "they differ in upper and lower case")


def answered(count: int, *, of: int, judged: str = "page{}", other: str = "other{}") -> tuple[Run, Grades]:
    """One judged document for each topic, which a run finds in some of them."""
    topics = range(of)
    run = {f"q{t:02}": [(judged if t < count else other).format(t)] for t in topics}
    return run, {f"q{t:02}": {f"page{t}": 1} for t in topics}


def in_another_case(count: int) -> tuple[Run, Grades]:
    run = {f"q{t:02}": [f"PAGE{t}" if t < count else f"page{t}", f"other{t}"] for t in range(20)}
    return run, {f"q{t:02}": {f"page{t}": 1, f"other{t}": 0} for t in range(20)}


@pytest.mark.parametrize(
    ("world", "count", "problem"),
    [
        (
            lambda count: (rewritten_run(lambda name: f"x_{name}", topics=range(count)), JUDGED),
            *(15, "no judged document in 16 of the 30 topics that it answers"),
        ),
        (in_another_case, 5, "in 6 of the 20 topics examined they differ in upper and lower case"),
        (
            lambda count: answered(40 - count, of=40),
            *(37, "no judged document in 38 of the 40 topics that it answers: its ids may come from"),
        ),
        (
            lambda count: answered(20 - count, of=20, other="#{}0"),
            *(10, "in 11 of the 20 topics that it answers: their ids use different kinds of"),
        ),
    ],
)
def test_from_so_many_topics_on_ids_do_not_match(world, count, problem):
    run, judged = world(count)
    assert score_run(run, judged, ["AP"])[0].mean > 0
    run, judged = world(count + 1)
    refused(run, judged, problem)


def ends_alike(spelling: str) -> tuple[Run, Grades]:
    """One judged document for each topic, as from clicks; the run finds it in two topics of five."""
    run = {
        f"{t:02}": [spelling.format(t if t % 5 < 2 and rank == 1 else 100 * (t + 1) + rank) for rank in (1, 2)]
        for t in TOPICS
    }
    return run, {f"{t:02}": {spelling.format(t): 1} for t in TOPICS}


def not_relevant() -> tuple[Run, Grades]:
    """The run finds judged documents of its topics, but relevant ones of other topics alone."""
    judged: Grades = {f"{t:02}": {f"n{t}": 0, f"m{t}": 0, f"d{t}": 1} for t in range(12)}
    return {t: [f"n{int(t)}", f"d{(int(t) + 2) % 12}", *(f"x{t}-{n}" for n in range(8))] for t in judged}, judged


def complete(run: Run, judged: Grades) -> tuple[Run, Qrels]:
    return run, read_qrels(judged, labels=LabelRules(is_complete=True))


WEAK: dict[str, tuple[tuple[Run, Grades | Qrels], Judged]] = {
    "few documents are relevant": (complete(*answered(2, of=40)), Judged(40, 2, 0.05)),
    "other numbers": (
        ({t: [docid(int(t), 0) if int(t) < 3 else str(5000 + 13 * int(t))] for t in JUDGED}, JUDGED),
        Judged(30, 3, 0.1),
    ),
    "a page": (ends_alike("https://help.example/{}/index.html"), Judged(30, 12, 0.2)),
    "deep": (({"00": [*(f"other{rank}" for rank in range(20)), docid(0, 1)]}, JUDGED), Judged(1, 1, 0.0)),
    "the query is ignored": (({t: [docid(n, 1) for n in TOPICS] for t in JUDGED}, JUDGED), Judged(30, 30, 1 / 30)),
    "not relevant": (not_relevant(), Judged(12, 12, 0.1)),
    "other kinds of few ids": (answered(9, of=19, other="#{}0"), Judged(19, 9, 9 / 19)),
    "a prefix in few topics": (
        ({t: [("x" if int(t) < 12 else "") + docid(int(t) + 40 * (int(t) > 14), 0)] for t in JUDGED}, JUDGED),
        Judged(30, 3, 0.1),
    ),
}


@pytest.mark.parametrize("case", WEAK)
def test_a_weak_system_is_not_refused(case):
    worlds, expected = WEAK[case]
    assert score_run(*worlds, ["AP"])[0].judged == expected


# The same ids for other documents.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "qrels_name", "count"),
    [("cranfield_runs", "qrels.txt", 20), ("web2012_runs", "qrels.adhoc.txt.gz", 8)],
)
def test_every_real_run_matches_its_judgements_and_none_with_ids_of_another_index(shared, folder, qrels_name, count):
    qrels = read_qrels(shared / "data" / folder / qrels_name)
    runs = sorted((shared / "data" / folder / "runs").glob("*.run.gz"))
    judged = {path.name: score_run(path, qrels, ["nDCG@10"])[0].judged for path in runs}
    assert len(judged) == count
    if weakest := judged.get("broken_firstword.run.gz"):  # queries cut to their first word
        assert (weakest.answered, weakest.topics) == (225, 68)
    for path in runs[::4]:
        run: dict[str, dict[str, float]] = {}
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            topic, _, name, _, score, _ = line.split()
            run.setdefault(topic, {})[name] = float(score)
        documents = sorted({name for ranking in [*run.values(), *qrels.grades.values()] for name in ranking})
        shuffled = documents[:]
        random.Random(path.name).shuffle(shuffled)
        elsewhere = dict(zip(documents, shuffled, strict=True))
        for rewritten in (elsewhere.__getitem__, lambda name: f"9{name}"):
            refused({t: {rewritten(d): s for d, s in ranking.items()} for t, ranking in run.items()}, qrels, "ids")


def test_ids_of_a_run_with_many_judged_documents_match_whatever_other_topics_have():
    """A fifth of the first documents is judged for the topic itself, and the others are judged for other topics."""

    def world(topics: int, own: int) -> tuple[Run, Grades]:
        return {
            f"t{t}": [f"d{t if place < own else (t + 1) % topics}-{place}" for place in range(10)]
            for t in range(topics)
        }, {f"t{t}": {f"d{t}-{place}": 1 for place in range(10)} for t in range(topics)}

    for topics, own in ((10, 2), (9, 1)):  # of so few topics all may be odd
        assert set(score_run(*world(topics, own), ["P@10"])[0].values) == {own / 10}
    refused(*world(10, 1), "judged for other topics as often as for their own")


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [(30, 4, True), (33, 4, False), (50, 10, True), (55, 10, False), (10, 9, True)],  # 6.6 on average count as 7
)
def test_as_many_matches_or_more_are_no_chance_below_one_in_ten_thousand(own, other, expected):
    probability = poisson.sf(math.ceil(own / OTHER_TOPICS) - 1, (other + 1) / OTHER_TOPICS)
    assert (probability > UNLIKELY) == is_chance(own, other) == expected


def slow_matches(run: Mapping[str, Sequence[str]], qrels: Qrels) -> list[list[int]]:
    """Matches counted with sets of ids, topic by topic."""
    topics, counts = qrels.topics, []
    for is_counted, depth in itertools.product((lambda _: True, qrels.rules.is_relevant), (100, 10)):
        own = other = 0
        for (topic, ranking), step in itertools.product(run.items(), range(1, OTHER_TOPICS + 1)):
            place = topics.index(topic) + max(1, step * len(topics) // (OTHER_TOPICS + 1))
            mine, theirs = (
                {name for name in ranking[:depth] if name in grades and is_counted(grades[name])}
                for grades in (qrels.grades[topic], qrels.grades[topics[place % len(topics)]])
            )
            own += len(mine - theirs)
            other += len(theirs - mine)
        counts.append([own, other])
    return counts


@given(
    seed=st.integers(0, 2**32 - 1),
    topics=st.integers(1, 30),
    skill=st.sampled_from([0, 1, 2, 3]),
    least=st.sampled_from([None, 2.0]),
)
def test_matches_are_counted_as_sets_of_ids_are(seed, topics, skill, least):
    rng = random.Random(seed)
    judged = {
        f"q{topic:02}": {f"d{document}": float(rng.randrange(4)) for document in rng.sample(range(40), 12)}
        | {"d": 3.0}
        for topic in range(topics)
    }
    qrels = read_qrels(judged, labels=LabelRules(relevant_from=least))
    run = {}
    for topic in rng.sample(qrels.topics, rng.randint(1, topics)):
        found = rng.sample(sorted(judged[topic]), skill)
        others = [f"d{document}" for document in rng.sample(range(200), rng.randint(0, 130))]
        run[topic] = list(dict.fromkeys([*others[:5], *found, *others[5:], "last"]))
    assert matches(qrels, judged_run(as_run(run), qrels, depth=100)) == slow_matches(run, qrels)


def test_as_many_topics_as_may_be_are_examined_and_of_more_some_that_lie_evenly():
    assert examined(np.arange(100), 100).tolist() == [*range(100)]
    steps = np.diff(examined(np.arange(1000), 100))
    assert (len(steps), steps.min() > 0, steps.max() < 20) == (99, True, True)


# Judgements given as a run, or a run as judgements.


MANY = [f"q{number:02}" for number in range(12)]
GRADES: Grades = {topic: {"d1": 2, "d2": 0, "d3": 1} for topic in MANY}
BAD: Grades = {topic: {"d2": 3.5, "d1": 2.5, "d3": 1.5} for topic in MANY}
ONE_DOCUMENT: Grades = {f"one{topic}": {"d1": 1} for topic in MANY[:10]}
HALF = {topic: GRADES[topic] for topic in MANY[:10]} | ONE_DOCUMENT


def test_one_file_given_as_both_is_refused(tmp_path):
    rows = "".join(f"{topic}\t{name}\t{grade}\n" for topic in MANY for name, grade in GRADES[topic].items())
    (tmp_path / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    (tmp_path / "run.json").write_text(json.dumps(BAD))
    for name in ("qrels.tsv", "run.json"):  # as run and as judgements
        with pytest.raises(DataError, match="with their grades as scores: one file was given as both") as raised:
            score_run(tmp_path / name, tmp_path / name, ["nDCG@10"])
        assert raised.value.reason == "bad_run"
    verdict = check("not_significantly_risky", GRADES, BAD, qrels=GRADES, measure="nDCG@10")
    assert (verdict.outcome, verdict.reason) == ("incomparable", "bad_run")


@pytest.mark.parametrize(
    ("run", "judged", "is_refused"),
    [
        (GRADES, GRADES, True),
        ({topic: {"d1": 9.0, "d3": 8.0, "d2": 7.0} for topic in MANY}, GRADES, False),
        ({topic: GRADES[topic] for topic in MANY[:9]}, GRADES, False),
        ({topic: GRADES[topic] for topic in MANY[:10]}, GRADES, True),
        ({topic: ["d1"] for topic in ONE_DOCUMENT}, ONE_DOCUMENT, False),
        (HALF, HALF, True),
        ({topic: {"d1": 1, "other": 1} for topic in MANY}, {topic: {"d1": 1, "d2": 1} for topic in MANY}, False),
    ],
)
def test_judgements_are_no_run_but_an_ideal_run_is_one(run, judged, is_refused):
    with pytest.raises(DataError, match="with their grades as scores") if is_refused else nullcontext():
        score_run(run, judged, ["nDCG@3"])
