"""Judgements that shrink and query texts that change are refused; other changes are not."""

from contextlib import nullcontext
from hashlib import sha256

import numpy as np
import pytest

from pytest_riskguard.baselines.queries import from_bytes, to_bytes
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import BaselineError, DataError, RiskguardError

RESCORE = "`riskguard baseline rescore prod`"
UPDATE = "`riskguard baseline update prod RUN --note WHY`"


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


@pytest.fixture
def texts(collection):
    """The topics after some lines were edited."""

    def texts(edit):
        path = collection.folder / "edited.tsv"
        path.write_text("".join(f"{edit(line)}\n" for line in collection.topics.read_text().splitlines()))
        return read_topics(path)

    return texts


def same(line):
    return line


def without(*topics):
    return lambda line: None if line.split()[0] in topics else line


def all_zero(*topics):
    return lambda line: " ".join([*line.split()[:3], "0"]) if line.split()[0] in topics else line


def swapped(*topics):
    """Another document is relevant there, which no run retrieves: neither side has anything left to lose."""

    def edit(line):
        topic = line.split()[0]
        more = f"\n{topic} 0 nowhere 2" if topic in topics and line.split()[2] == "d1" else ""
        return f"{all_zero(*topics)(line)}{more}"

    return edit


GONE = "qrels.txt: no relevant document left in"
#: Sorted as text.
MANY = ("t1", "t11", "t2", "t3", "t4", "t9")
EMPTIED = "qrels.txt: no relevant document left that its run retrieves in"


@pytest.mark.parametrize(
    ("measure", "edit", "text", "lost", "problem", "remedy"),
    [
        ("AP", without("t5", "t7"), same, {"gone": ("t5", "t7")}, f"{GONE} 2 topics (t5, t7)", RESCORE),
        ("AP", all_zero("t5", "t7"), same, {"gone": ("t5", "t7")}, f"{GONE} 2 topics (t5, t7)", RESCORE),
        *(
            (measure, swapped("t5"), same, {"emptied": ("t5",)}, f"{EMPTIED} 1 topic (t5)", RESCORE)
            for measure in ("nDCG@10", "P@1", "AP(rel=2)", "NumRet(rel=1)")
        ),
        (
            "AP",
            same,
            lambda line: line.replace("query 3", "another query"),
            {"rephrased": ("t3",)},
            "edited.tsv: another query text in 1 topic (t3)",
            f"{RESCORE} or {UPDATE}",
        ),
        (
            "AP",
            lambda line: without("t7")(swapped("t5")(line)),
            lambda line: f"{line} too" if line.split("\t")[0] in (*MANY, "t7") else line,
            {"gone": ("t7",), "emptied": ("t5",), "rephrased": MANY},
            f"{GONE} 1 topic (t7); {EMPTIED} 1 topic (t5); "
            "edited.tsv: another query text in 6 topics (t1, t11, t2, t3, t4 and 1 more)",
            f"{RESCORE} or {UPDATE}",
        ),
    ],
)
def test_topics_that_count_less_are_refused_until_that_is_accepted(
    store, add, collection, changed, texts, measure, edit, text, lost, problem, remedy
):
    add()
    qrels, topics = changed(edit), texts(text)
    with pytest.raises(BaselineError) as caught:
        store.scores("prod", measure, qrels=qrels, topics=topics)
    assert caught.value.problem == (
        f"baselines/prod: {problem}; where a file changed after the baseline was stored, a loss would hardly show; "
        f"restore the files, or accept this with {remedy}"
    )
    assert caught.value.reason == "inputs_changed"
    scored = store.scores("prod", measure, qrels=qrels, topics=topics, accept=True)
    found = {name: getattr(scored, name) for name in ("gone", "emptied", "rephrased", "diluted")}
    assert {name: topics for name, topics in found.items() if topics} == lost
    edited = collection.folder / "edited/qrels.txt", collection.folder / "edited.tsv"
    store.rescore("prod", qrels=edited[0], topics=edited[1])
    assert not store.scores("prod", measure, qrels=qrels, topics=topics).rescored


def test_replicates_are_checked_for_shrunk_judgements_too(store, add, replicate, changed):
    add()
    replicate()
    with pytest.raises(BaselineError, match=r"prod/replicates/1: .* no relevant document left in 1 topic \(t5\)"):
        store.replicates("prod", "AP", qrels=changed(without("t5")))
    assert store.lineage("prod", "AP", qrels=changed(without("t5")))[0].gone == ("t5",)


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda line: line.replace("t1 0 d1 2", "t1 0 d1 0"), same),  # a document judged again
        (lambda line: line.replace("t13 0 d1 0", "t13 0 d1 1"), same),  # a topic more
        (same, lambda line: f"{line}\nt88\tone more" if line.startswith("t14") else line),
        (same, lambda line: f"{line} " if line.startswith("t1\t") else line),
        (same, lambda line: line.replace("query 13", "not judged") if line.startswith("t13") else line),
        (same, lambda line: "t77\tinstead" if line.startswith("t4\t") else line),
    ],
)
def test_other_changes_do_no_harm(store, add, collection, changed, texts, edit, text):
    add()
    scored = store.scores("prod", "AP", qrels=changed(edit), topics=texts(text))
    assert (scored.rescored, scored.topics_changed) == (edit is not same, text is not same)
    store.rescore("prod", qrels=collection.qrels, topics=None)
    assert not store.scores("prod", "AP", qrels=changed(edit), topics=texts(text)).topics_changed


def test_a_topic_is_diluted_to_nothing_where_what_counts_has_left_the_first_ranks(store, add, changed):
    add(measures=["P@1"])
    scored = store.scores("prod", "P@1", qrels=changed(lambda line: line.replace("t2 0 d5 1", "t2 0 d5 0")))
    assert (scored.emptied, scored.diluted) == ((), {"t2": 0.0})


def test_a_topic_judged_since_is_one_that_the_run_was_not_asked(store, add, replicate, changed, collection):
    add(allow_unanswered=True)
    replicate()
    more = changed(lambda line: f"{line}\nt20 0 d1 1" if line == "t13 0 d1 0" else line)
    assert store.scores("prod", "AP", qrels=more).unasked == ("t20",)
    with collection.qrels.open("a") as file:
        file.writelines(f"t{t} 0 d1 1\n" for t in range(20, 30))
    with pytest.raises(DataError, match="leaves 11 of 23 judged topics unanswered"):
        store.rescore("prod", qrels=collection.qrels, topics=None)


@pytest.mark.parametrize(("number", "is_much"), [(3, False), (4, True)])
def test_a_topic_is_diluted_below_half_of_its_score_and_more_than_three_are_much(
    store, add, tmp_path, number, is_much
):
    run, qrels, other = (tmp_path / name for name in ("one.run", "one.txt", "more.txt"))
    run.write_text("".join(f"t{t} Q0 d1 1 1.0 x\n" for t in range(6)))
    qrels.write_text("".join(f"t{t} 0 d1 1\n" for t in range(6)))
    add(run=run, qrels=qrels, topics=None)
    diluted = [f"t{t}" for t in range(number)]
    more = "".join(f"{topic} 0 d2 1\n{topic} 0 d3 1\n" for topic in diluted)
    other.write_text(f"{qrels.read_text()}{more}t5 0 d2 1\n")
    scored = store.scores("prod", "AP", qrels=read_qrels(other), accept=True)
    assert scored.scores.values.tolist() == pytest.approx([1 / 3] * number + [1] * (5 - number) + [1 / 2])
    assert (scored.diluted, scored.stored_mean) == ({topic: pytest.approx(3) for topic in diluted}, 1)
    refused = pytest.raises(BaselineError, match=f"less than half of the stored score left in {number} topics")
    with refused if is_much else nullcontext():
        store.scores("prod", "AP", qrels=read_qrels(other))


def test_a_stored_measure_that_does_not_take_the_new_judgements_stops_no_other(store, add, changed):
    """ERR refuses a grade above its scale, and nobody asks for it."""
    add(measures=["ERR@20"])
    qrels = changed(lambda line: line.replace("t1 0 d1 2", "t1 0 d1 9"))
    with pytest.raises(RiskguardError):
        store.scores("prod", "ERR@20", qrels=qrels)
    scored = store.scores("prod", "AP", qrels=qrels)
    assert (scored.rescored, scored.diluted) == (True, {})


def test_digests_of_texts_are_checked_and_hold_no_text(store, add):
    add()
    path = store.root / "prod/queries.tsv"
    content = path.read_bytes()
    assert f"\nt3\t{sha256(b'query 3').hexdigest()[:16]}\n".encode() in content
    assert content.count(b"\n") == 14  # 13 topics with a relevant document
    assert to_bytes(from_bytes(content)) == content
    rows = {"t1": {"query": "a"}, "t2": {"query": "b", "weight": "2.0", "cluster": "c"}}
    assert from_bytes(to_bytes(rows)) == rows
    path.write_bytes(content.replace(b"t3\t", b"t3\ta"))
    assert "queries.tsv was changed after it was stored" in store.verify("prod")[0]
    path.unlink()
    assert "queries.tsv is missing" in store.verify("prod")[0]


@pytest.mark.parametrize(
    ("measure", "edit", "problem", "reason"),
    [
        ("RR", same, "it has scores of nDCG@10, AP, not of RR", "missing_input"),
        ("AP", all_zero("t5"), "qrels.txt has changed since it was scored", "inputs_changed"),
    ],
)
def test_without_its_run_a_baseline_can_only_be_stored_again(
    store, add, changed, texts, measure, edit, problem, reason
):
    add(keep_run=False)
    with pytest.raises(BaselineError) as caught:
        store.scores("prod", measure, qrels=changed(edit), accept=True)
    assert (
        caught.value.problem == f"baselines/prod: {problem}, and its run was not kept; store it again with {UPDATE}"
    )
    assert caught.value.reason == reason
    others = texts(lambda line: line.replace("query 3", "another"))
    with pytest.raises(BaselineError, match=rf"another query text in 1 topic \(t3\); .* accept this with {UPDATE}$"):
        store.scores("prod", "AP", qrels=changed(same), topics=others)


def test_relevant_is_what_the_stored_measure_takes_for_relevant(store, add, changed):
    """Documents of grade 1 do not count for AP(rel=2), so a topic that has lost those of grade 2 is empty."""

    def lowered(line):
        if line.startswith("t5 0 d1 "):
            return f"{line[:-1]}1\nt5 0 nowhere 2"
        return line.replace(" 2", " 1") if line.startswith("t5 ") else line

    add(measures=["AP(rel=2)"])
    qrels = changed(lowered)
    with pytest.raises(BaselineError, match=r"no relevant document left that its run retrieves in 1 topic \(t5\)"):
        store.scores("prod", "AP(rel=2)", qrels=qrels)
    assert store.scores("prod", "AP", qrels=qrels).emptied == ()


def test_a_topic_whose_gains_are_small_is_not_empty(store, add, changed):
    add(measures=["nDCG@10"])
    small = changed(lambda line: f"{line[:-1]}0.3" if line.startswith("t5 ") and line[-1] != "0" else line)
    assert store.scores("prod", "nDCG@10", qrels=small).emptied == ()


# The run is scored, whatever the stored scores say.


def test_stored_scores_that_differ_from_those_of_the_run_are_not_used(store, add, qrels, lie):
    add()
    true = store.scores("prod", "AP", qrels=qrels).scores
    value = float(true.values[true.topics.index("t5")])
    for written, rescored in ((value + 1e-12, False), (value + 1e-7, True)):  # other builds round differently
        lie(store.root / "prod", "t5", written)
        stored = store.scores("prod", "AP", qrels=qrels)
        assert stored.rescored is rescored
        assert stored.stored_mean == (pytest.approx(true.mean + 1e-7 / 13, abs=1e-12) if rescored else None)
        assert np.array_equal(stored.scores.values, true.values)


@pytest.mark.parametrize("edit", ["equal scores", "rising scores"])
def test_scores_come_with_the_order_and_the_judged_share_of_their_run(store, add, collection, qrels, edit):
    rows = [line.split() for line in collection.run.read_text().splitlines()]
    for row in rows:
        if edit == "equal scores" or row[0] == "t3":
            row[4] = "1.0" if edit == "equal scores" else row[3]
    collection.run.write_text("".join(f"{' '.join(row)}\n" for row in rows))
    add()
    (of_run,) = score_run(collection.run, qrels, ["nDCG@10"])
    assert of_run.as_written or of_run.contradicted
    stored = store.scores("prod", "nDCG@10", qrels=qrels).scores
    for name in ("as_written", "contradicted", "judged"):
        assert getattr(stored, name) == getattr(of_run, name), name
