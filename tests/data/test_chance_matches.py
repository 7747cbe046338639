"""Runs on another index: ids with a prefix or in lower case, and the same ids for other documents."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import poisson

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.examined_ids import OTHER_TOPICS, UNLIKELY, Count, are_by_chance, matches
from pytest_riskguard.data.given_file import GivenFile, LabelRules
from pytest_riskguard.data.ids import Ids, IntArray
from pytest_riskguard.data.memory_runs import as_run
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.runs import Run, read_run
from pytest_riskguard.data.trec import write_run
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.sources import Question, RunFile
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.kinds import gate_of

Rewritten = Callable[[str], str]
#: How ids may be written: of the number of a document.
SPELLINGS: dict[str, Rewritten] = {
    "numbers": str,
    "padded": lambda number: f"{int(number):06}",
    "capitals": lambda number: f"DOC-{number}",
    "mixed": lambda number: f"{'Guide' if int(number) % 2 else 'FAQ'}/{number}",
    "partly capitals": lambda number: f"P{number}" if int(number) % 2 else number,
}


def spelled(by_topic: Mapping[str, Mapping[str, float]], rewritten: Rewritten) -> dict[str, dict[str, float]]:
    return {topic: {rewritten(docid): value for docid, value in row.items()} for topic, row in by_topic.items()}


def as_text(judged: Mapping[str, Mapping[str, float]]) -> str:
    return "".join(f"{topic} 0 {docid} {grade}\n" for topic, row in judged.items() for docid, grade in row.items())


class World:
    """Topics with relevant documents among many numbered ones, and a system that finds some of them."""

    def __init__(self, seed: int, *, topics: int, documents: int, depth: int, skill: float) -> None:
        rng = random.Random(seed)
        self.documents = [str(number) for number in range(1, documents + 1)]
        self.judged: dict[str, dict[str, float]] = {}
        self.run: dict[str, dict[str, float]] = {}
        for number in range(topics):
            pool = rng.sample(self.documents, 12)
            self.judged[f"q{number}"] = {docid: int(place < 4) for place, docid in enumerate(pool)}
            found = [docid for docid in pool if rng.random() < skill]
            others = [docid for docid in rng.sample(self.documents, depth) if docid not in found]
            ranking = (found + others)[:depth]
            self.run[f"q{number}"] = {docid: float(depth - rank) for rank, docid in enumerate(ranking)}
        shuffled = self.documents[:]
        rng.shuffle(shuffled)
        self.elsewhere = dict(zip(self.documents, shuffled, strict=True))


def is_refused(world: World, spelling: Rewritten, rewritten: Rewritten) -> bool:
    """Whether the rewritten run is refused, and the run itself is not."""
    qrels, own = read_qrels(spelled(world.judged, spelling)), spelled(world.run, spelling)
    assert score_run(own, qrels, ["AP"])[0].mean > 0
    with suppress(DataError):
        score_run(spelled(own, rewritten), qrels, ["AP"])
        return False
    return True


worlds = st.builds(
    World,
    st.integers(0, 10**6),
    topics=st.integers(12, 40),
    documents=st.integers(300, 3000),
    depth=st.sampled_from([10, 50]),
    skill=st.floats(0.3, 1.0),
)


@settings(max_examples=12)
@given(worlds, st.sampled_from(sorted(SPELLINGS)), st.sampled_from(["index/", "v2:", "products_v7#", "1-"]))
def test_ids_with_a_prefix_are_refused(world, spelling, prefix):
    assert is_refused(world, SPELLINGS[spelling], lambda docid: prefix + docid)


@settings(max_examples=12)
@given(worlds, st.sampled_from(["capitals", "mixed", "partly capitals"]))
def test_ids_in_lower_case_are_refused(world, spelling):
    assert is_refused(world, SPELLINGS[spelling], str.lower)


@settings(max_examples=12)
@given(worlds, st.sampled_from(sorted(SPELLINGS)))
def test_ids_of_another_index_are_refused_and_its_own_are_not(world, spelling):
    write = SPELLINGS[spelling]
    elsewhere = {write(docid): write(other) for docid, other in world.elsewhere.items()}
    assert is_refused(world, write, elsewhere.__getitem__)


def test_ids_of_another_index_are_never_judged_or_stored(tmp_path):
    world = World(1, topics=30, documents=400, depth=50, skill=0.9)
    (tmp_path / "qrels.txt").write_text(as_text(world.judged))
    for name, rewritten in (("own", str), ("foreign", world.elsewhere.__getitem__)):
        run = spelled(world.run, rewritten)
        write_run(tmp_path / f"{name}.run", as_run(run))
    own, foreign = (RunFile(tmp_path / f"{name}.run") for name in ("own", "foreign"))
    engine, gate = Engine(qrels=tmp_path / "qrels.txt"), gate_of("g", "not_significantly_risky")
    for pair in ((foreign, own), (own, foreign)):
        assert engine.verdict(Question(gate, *pair, "nDCG@10")).reason == "ids_do_not_match"
    options = {"qrels": tmp_path / "qrels.txt", "topics": None, "measures": ["AP"]}
    with pytest.raises(DataError, match="ids"):
        Store(tmp_path / "store").add("prod", foreign.path, **options)


def rewritten_run(run: Run, rewritten: Rewritten) -> dict[str, list[tuple[str, float]]]:
    return {
        topic: [(rewritten(docid), score) for docid, score in row.items()] for topic, row in run.by_topic().items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "qrels_name"), [("cranfield_runs", "qrels.txt"), ("web2012_runs", "qrels.adhoc.txt.gz")]
)
def test_no_real_run_passes_with_ids_of_another_index(shared, folder, qrels_name):
    qrels = read_qrels(shared / "data" / folder / qrels_name)
    for path in sorted((shared / "data" / folder / "runs").glob("*.run.gz"))[::4]:
        run = read_run(path)
        documents = sorted(everything(run, qrels))
        shuffled = documents[:]
        random.Random(path.name).shuffle(shuffled)
        elsewhere = dict(zip(documents, shuffled, strict=True))
        for rewritten in (elsewhere.__getitem__, lambda docid: f"9{docid}"):
            with pytest.raises(DataError) as caught:
                score_run(rewritten_run(run, rewritten), qrels, ["Judged@10"])
            assert caught.value.reason == "ids_do_not_match", path.name


def everything(run: Run, qrels: Qrels) -> set[str]:
    retrieved = {docid for row in run.by_topic().values() for docid in row}
    return retrieved.union(*(row.keys() for row in qrels.grades.values()))


def test_the_message_shows_ids_of_both_sides(write):
    world = World(1, topics=30, documents=400, depth=50, skill=0.9)
    qrels = read_qrels(write("qrels.txt", as_text(world.judged)))
    foreign = {topic: [(world.elsewhere[d], s) for d, s in row.items()] for topic, row in world.run.items()}
    with pytest.raises(DataError) as caught:
        score_run(foreign, qrels, ["AP"])
    shown = ", ".join(repr(docid) for docid in list(world.judged["q0"])[:3])
    assert f"expected document ids of qrels.txt, such as {shown}; found " in str(caught.value)
    assert "judged for other topics as often as for their own" in str(caught.value)


def test_a_system_that_ignores_the_query_is_weak_not_foreign(write):
    world = World(2, topics=30, documents=400, depth=50, skill=0.9)
    qrels = read_qrels(write("qrels.txt", as_text(world.judged)))
    popular = {topic: [(docid, 1.0 / rank) for rank, docid in enumerate(world.documents, 1)] for topic in world.run}
    assert score_run(popular, qrels, ["AP"])[0].mean > 0


def test_a_run_that_finds_hardly_any_judged_document_is_refused(write):
    """One judged document in each of 40 topics; the run finds two of them, and no other topic's."""
    qrels = read_qrels(write("qrels.txt", "".join(f"q{t} 0 page{t} 1\n" for t in range(40))))
    run = {f"q{t}": [(f"page{t}" if t < 2 else f"other{t}", 1.0)] for t in range(40)}
    with pytest.raises(DataError, match="no judged document in 38 of the 40 topics that it answers"):
        score_run(run, qrels, ["AP"])
    run["q3"] = [("page3", 1.0)]
    assert score_run(run, qrels, ["AP"])[0].mean == 3 / 40


@pytest.mark.parametrize(
    ("own", "other", "is_chance"), [(6, 4, True), (7, 4, False), (10, 10, True), (11, 10, False), (2, 9, True)]
)
def test_as_many_matches_or_more_are_no_chance_below_one_in_ten_thousand(own, other, is_chance):
    assert (poisson.sf(own - 1, (other + 1) / OTHER_TOPICS) > UNLIKELY) == is_chance
    assert Count(own=own * OTHER_TOPICS, other=other).is_chance == is_chance


def test_matches_with_the_own_topic_are_rounded_up():
    """At an expected 1 match, 7 have a chance of 0.00008, 6 of 0.0006: 6.6 on average count as 7."""
    assert not Count(own=33, other=4).is_chance
    assert Count(own=30, other=4).is_chance


def columns_of(run: Mapping[str, Sequence[str]], qrels: Qrels) -> tuple[IntArray, IntArray, Ids]:
    places = np.array([qrels.topics.index(topic) for topic in run])
    return places, np.cumsum([0, *map(len, run.values())]), Ids.of(itertools.chain(*run.values()))


def slow_matches(run: Mapping[str, Sequence[str]], qrels: Qrels) -> list[Count]:
    """Matches counted with sets of ids, topic by topic."""
    topics, counts = qrels.topics, [Count() for _ in range(4)]
    for topic, ranking in run.items():
        for step in range(1, OTHER_TOPICS + 1):
            other = topics[(topics.index(topic) + max(1, step * len(topics) // (OTHER_TOPICS + 1))) % len(topics)]
            for count, (is_counted, depth) in zip(
                counts, itertools.product((lambda _: True, qrels.rules.is_relevant), (100, 10)), strict=True
            ):
                mine, theirs = (
                    {document for document in ranking[:depth] if document in grades and is_counted(grades[document])}
                    for grades in (qrels.grades[topic], qrels.grades[other])
                )
                count.own += len(mine - theirs)
                count.other += len(theirs - mine)
    return counts


@pytest.mark.parametrize(("step", "is_chance"), [(0, False), (2, True)])
def test_documents_that_are_judged_for_all_topics_say_nothing(write, step, is_chance):
    popular = [f"p{number}" for number in range(5)]
    judged = {f"q{topic:02}": dict.fromkeys(popular, 0.0) | {f"d{topic}": 1.0} for topic in range(12)}
    qrels = read_qrels(write("qrels.txt", as_text(judged).replace(".0", "")))
    run = {f"q{topic:02}": [*popular, f"d{(topic + step) % 12}"] for topic in range(12)}
    assert are_by_chance(qrels, *columns_of(run, qrels)) == is_chance


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
    for at_once in (500, 4):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pytest_riskguard.data.examined_ids._TOPICS_AT_ONCE", at_once)
            assert list(matches(qrels, *columns_of(run, qrels))) == slow_matches(run, qrels)


def test_judgements_that_are_complete_have_runs_that_find_hardly_anything(write):
    path = write("qrels.txt", "".join(f"q{t} 0 page{t} 1\n" for t in range(40)))
    run = {f"q{t}": [(f"page{t}" if t < 2 else f"other{t}", 1.0)] for t in range(40)}
    complete = read_qrels(GivenFile(path, labels=LabelRules(is_complete=True)))
    assert score_run(run, complete, ["AP"])[0].mean == 2 / 40
