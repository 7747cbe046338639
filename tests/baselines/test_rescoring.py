"""Judgements that shrink and query texts that change are refused; other changes are not."""

import numpy as np
import pytest

from pytest_riskguard.baselines import rescoring as scored_module
from pytest_riskguard.baselines.queries import from_bytes, to_bytes
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import BaselineError, RiskguardError


@pytest.fixture
def changed(collection):
    """The judgements after some lines were edited."""

    def changed(edit):
        path = collection.folder / "edited" / "qrels.txt"
        path.parent.mkdir(exist_ok=True)
        lines = (edit(line) for line in collection.qrels.read_text().splitlines())
        path.write_text("".join(f"{line}\n" for line in lines if line))
        return read_qrels(path)

    return changed


def without(*topics):
    return lambda line: None if line.split()[0] in topics else line


def all_zero(*topics):
    return lambda line: " ".join([*line.split()[:3], "0"]) if line.split()[0] in topics else line


@pytest.mark.parametrize("edit", [without("t5", "t7"), all_zero("t5", "t7")])
def test_topics_that_are_gone_are_refused_until_that_is_accepted(store, add, collection, changed, edit):
    add()
    qrels = changed(edit)
    pattern = (
        r"baselines/prod: qrels\.txt no longer has a relevant document for 2 topics \(t5, t7\); restore the files, "
        r"or accept this with `riskguard baseline rescore prod`"
    )
    with pytest.raises(BaselineError, match=pattern) as caught:
        store.scores("prod", "AP", qrels=qrels)
    assert caught.value.reason == "inputs_changed"
    scored = store.scores("prod", "AP", qrels=qrels, accept=True)
    assert (scored.gone, scored.rescored, len(scored.scores.topics)) == (("t5", "t7"), True, 11)
    path = collection.folder / "edited" / "qrels.txt"
    store.rescore("prod", qrels=path, topics=collection.topics)
    assert store.scores("prod", "AP", qrels=qrels).gone == ()


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "P@1", "AP(rel=2)", "NumRet(rel=1)"])
def test_topics_whose_relevant_documents_are_swapped_for_others_are_refused_too(
    store, add, collection, changed, measure
):
    """Another document is relevant there, which no run retrieves: neither side has anything left to lose."""
    add()
    qrels = changed(
        lambda line: (
            f"{all_zero('t5')(line)}\nt5 0 nowhere 2" if line.startswith("t5 0 d1 ") else all_zero("t5")(line)
        )
    )
    pattern = r"baselines/prod: its run no longer retrieves a relevant document, though .* stored, for 1 topic \(t5\)"
    with pytest.raises(BaselineError, match=pattern) as caught:
        store.scores("prod", measure, qrels=qrels)
    assert caught.value.reason == "inputs_changed"
    scored = store.scores("prod", measure, qrels=qrels, accept=True)
    assert (scored.emptied, scored.gone, scored.rescored) == (("t5",), (), True)
    assert scored.scores.values[scored.scores.topics.index("t5")] == 0
    store.rescore("prod", qrels=collection.folder / "edited" / "qrels.txt", topics=collection.topics)
    assert store.scores("prod", measure, qrels=qrels).emptied == ()


def test_replicates_are_checked_for_shrunk_judgements_too(store, add, replicate, changed):
    add()
    replicate()
    qrels = changed(without("t5"))
    with pytest.raises(
        BaselineError, match=r"prod/replicates/1: qrels.txt no longer has a relevant document for 1 topic \(t5\)"
    ):
        store.replicates("prod", "AP", qrels=qrels)


@pytest.mark.parametrize(
    "edit",
    [
        lambda line: line.replace("t1 0 d1 2", "t1 0 d1 0"),  # a document judged again
        lambda line: line.replace("t13 0 d1 0", "t13 0 d1 1"),  # a topic more
        lambda line: line + "\nt20 0 d1 1" if line.startswith("t14") else line,
    ],
)
def test_judgements_that_change_otherwise_are_rescored(store, add, changed, edit):
    add()
    scored = store.scores("prod", "AP", qrels=changed(edit))
    assert (scored.rescored, scored.gone, scored.emptied, scored.rephrased) == (True, (), (), ())


def test_a_stored_measure_that_does_not_take_the_new_judgements_stops_no_other(store, add, changed):
    """ERR refuses a grade above its scale, and nobody asks for it."""
    add(measures=["ERR@20"])
    qrels = changed(lambda line: line.replace("t1 0 d1 2", "t1 0 d1 9"))
    with pytest.raises(RiskguardError):
        store.scores("prod", "ERR@20", qrels=qrels)
    scored = store.scores("prod", "AP", qrels=qrels)
    assert (scored.rescored, scored.diluted) == (True, {})


@pytest.fixture
def texts(collection):
    """The topics after some lines were edited."""

    def texts(edit):
        path = collection.folder / "edited.tsv"
        path.write_text("".join(f"{edit(line)}\n" for line in collection.topics.read_text().splitlines()))
        return read_topics(path)

    return texts


def test_topics_with_another_query_text_are_refused_like_topics_that_are_gone(store, add, collection, texts):
    add()
    qrels = read_qrels(collection.qrels)
    topics = texts(lambda line: line.replace("query 3", "another query"))
    pattern = (
        r"edited\.tsv has a different query text than when it was stored for 1 topic \(t3\); restore the files, or "
        r"store what answers the new texts with `riskguard baseline update prod RUN.*`, or accept this with "
        r"`riskguard baseline rescore prod`"
    )
    with pytest.raises(BaselineError, match=pattern) as caught:
        store.scores("prod", "AP", qrels=qrels, topics=topics)
    assert caught.value.reason == "inputs_changed"
    assert store.scores("prod", "AP", qrels=qrels, topics=topics, accept=True).rephrased == ("t3",)
    store.rescore("prod", qrels=collection.qrels, topics=collection.folder / "edited.tsv")
    assert store.scores("prod", "AP", qrels=qrels, topics=topics).rephrased == ()


@pytest.mark.parametrize(
    "edit",
    [
        lambda line: f"{line}\nt88\tone more" if line.startswith("t14") else line,
        lambda line: f"{line} " if line.startswith("t1\t") else line,
        lambda line: line.replace("query 13", "not judged") if line.startswith("t13") else line,
        lambda line: "t77\tinstead" if line.startswith("t4\t") else line,
    ],
)
def test_topics_files_that_change_otherwise_do_no_harm(store, add, collection, texts, edit):
    add()
    scored = store.scores("prod", "AP", qrels=read_qrels(collection.qrels), topics=texts(edit))
    assert (scored.rescored, scored.rephrased) == (False, ())


def test_digests_of_texts_are_checked_and_hold_no_text(store, add, collection, texts):
    add()
    path = store.root / "prod/queries.tsv"
    content = path.read_bytes()
    assert b"query 3" not in content
    assert content.count(b"\n") == 14  # 13 topics with a relevant document
    assert to_bytes(from_bytes(content)) == content
    path.write_bytes(content.replace(b"t3\t", b"t3\ta"))
    assert "queries.tsv was changed after it was stored" in store.verify("prod")[0]
    topics = texts(lambda line: line.replace("query 3", "another query"))
    with pytest.raises(BaselineError, match=r"queries\.tsv was changed after it was stored"):
        store.scores("prod", "AP", qrels=read_qrels(collection.qrels), topics=topics)
    path.unlink()
    assert "queries.tsv is missing" in store.verify("prod")[0]


def swapped(*topics):
    """Judgements in which another document, which no run retrieves, is the relevant one of these topics."""

    def edit(line):
        topic = line.split()[0]
        more = f"\n{topic} 0 nowhere 2" if topic in topics and line.split()[2] == "d1" else ""
        return f"{all_zero(*topics)(line)}{more}"

    return edit


GONE = "qrels.txt no longer has a relevant document for"
EMPTIED = "its run no longer retrieves a relevant document, though it did when stored, for 1 topic (t5)"
REPHRASED = "edited.tsv has a different query text than when it was stored for"
REMEDY = "accept this with `riskguard baseline rescore prod`"
NEW_TEXTS = "store what answers the new texts with `riskguard baseline update prod RUN --note WHY`, or "


@pytest.mark.parametrize(
    ("edit", "new_text", "problem"),
    [
        (
            without(*(f"t{t}" for t in range(1, 7))),
            (),
            f"{GONE} 6 topics (t1, t2, t3, t4, t5 and 1 more); restore the files, or {REMEDY}",
        ),
        (
            lambda line: without("t7")(swapped("t5")(line)),
            ("t3", "t4"),
            f"{GONE} 1 topic (t7); {EMPTIED}; {REPHRASED} 2 topics (t3, t4); restore the files, or "
            f"{NEW_TEXTS}{REMEDY}",
        ),
    ],
)
def test_the_error_names_each_kind_of_lost_topic_and_the_remedy(store, add, changed, texts, edit, new_text, problem):
    add()
    topics = texts(lambda line: f"{line} too" if line.split("\t")[0] in new_text else line)
    with pytest.raises(BaselineError) as caught:
        store.scores("prod", "AP", qrels=changed(edit), topics=topics)
    assert caught.value.problem == f"baselines/prod: {problem}"
    assert caught.value.reason == "inputs_changed"


def test_what_is_known_of_a_baseline_comes_with_its_scores(store, add, collection, changed, texts):
    add()
    qrels = read_qrels(collection.qrels)
    same, other = (
        read_topics(collection.topics),
        texts(lambda line: f"{line} too" if line.startswith("t13") else line),
    )
    for given, topics_changed in ((None, False), (same, False), (other, True)):
        scored = store.scores("prod", "AP", qrels=qrels, topics=given)
        assert (scored.topics_changed, scored.unasked) == (topics_changed, ())
    more = store.scores(
        "prod", "AP", qrels=changed(lambda line: f"{line}\nt20 0 d1 1" if line == "t13 0 d1 0" else line)
    )
    assert more.unasked == ("t20",)
    add("plain", topics=None)
    assert not store.scores("plain", "AP", qrels=qrels, topics=other).topics_changed


@pytest.mark.parametrize(
    ("measure", "other_qrels", "problem", "reason"),
    [
        ("RR", False, "it has scores of nDCG@10, AP, not of RR", "missing_input"),
        ("AP", True, "qrels.txt has changed since it was scored", "inputs_changed"),
    ],
)
def test_without_its_run_a_baseline_can_only_be_stored_again(
    store, add, collection, changed, measure, other_qrels, problem, reason
):
    add(keep_run=False)
    qrels = changed(all_zero("t5")) if other_qrels else read_qrels(collection.qrels)
    with pytest.raises(BaselineError) as caught:
        store.scores("prod", measure, qrels=qrels, accept=True)
    again = "store it again with `riskguard baseline update prod RUN --note WHY`"
    assert caught.value.problem == f"baselines/prod: {problem}, and its run was not kept; {again}"
    assert caught.value.reason == reason


def test_relevant_is_what_the_stored_measure_takes_for_relevant(store, add, changed):
    """Documents of grade 1 do not count for AP(rel=2), so a topic that has lost those of grade 2 is empty."""
    add(measures=["AP(rel=2)"])
    lowered = changed(
        lambda line: (
            f"{line[:-1]}1\nt5 0 nowhere 2"
            if line.startswith("t5 0 d1 ")
            else line.replace(" 2", " 1")
            if line.startswith("t5 ")
            else line
        )
    )
    with pytest.raises(BaselineError, match=r"no longer retrieves a relevant document, .* for 1 topic \(t5\)"):
        store.scores("prod", "AP(rel=2)", qrels=lowered)
    assert store.scores("prod", "AP", qrels=lowered).emptied == ()


def test_a_topic_whose_gains_are_small_is_not_empty(store, add, changed):
    add(measures=["nDCG@10"])
    small = changed(lambda line: f"{line[:-1]}0.3" if line.startswith("t5 ") and line[-1] != "0" else line)
    assert store.scores("prod", "nDCG@10", qrels=small).emptied == ()


@pytest.mark.parametrize(("now", "share"), [(0.5, None), (0.49, 1 / 0.49), (0.0, 0.0)])
def test_a_topic_is_diluted_below_half_of_its_score(now, share):
    stored, new = (TopicScores("prod", "AP", ("t1",), np.array([value])) for value in (1.0, now))
    found = scored_module._diluted(stored, new, without=())
    assert found == ({} if share is None else {"t1": pytest.approx(share)})
