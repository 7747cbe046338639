"""Judgements that shrink and query texts that change are counted against a limit; other changes are not."""

from __future__ import annotations

import gzip

import pytest

from pytest_riskguard.baselines.queries import from_bytes, to_bytes
from pytest_riskguard.errors import BaselineError
from pytest_riskguard.evaluation.qrels import read_qrels
from pytest_riskguard.evaluation.topics import read_topics


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
def test_topics_that_are_gone_are_refused_unless_shrink_allows_them(store, add, collection, changed, edit):
    add()
    qrels = changed(edit)
    pattern = (
        r"baselines/prod: 2 topics \(t5, t7\) that it was scored on no longer have a relevant document in qrels\.txt"
        r"; restore them, or accept this with `riskguard baseline rescore prod` or `collection: \{shrink: allow\}`"
    )
    for shrink in (0, 1):
        with pytest.raises(BaselineError, match=pattern) as caught:
            store.scores("prod", "AP", qrels=qrels, shrink=shrink)
        assert caught.value.reason == "inputs_changed"
    for shrink in (2, None):
        scored = store.scores("prod", "AP", qrels=qrels, shrink=shrink)
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
    pattern = r"baselines/prod: its run no longer retrieves a relevant document in 1 topic \(t5\), though it did when"
    with pytest.raises(BaselineError, match=pattern) as caught:
        store.scores("prod", measure, qrels=qrels)
    assert caught.value.reason == "inputs_changed"
    scored = store.scores("prod", measure, qrels=qrels, shrink=1)
    assert (scored.emptied, scored.gone, scored.rescored) == (("t5",), (), True)
    assert scored.scores.values[scored.scores.topics.index("t5")] == 0
    store.rescore("prod", qrels=collection.folder / "edited" / "qrels.txt", topics=collection.topics)
    assert store.scores("prod", measure, qrels=qrels).emptied == ()


def test_replicates_are_checked_for_shrunk_judgements_too(store, add, replicate, changed):
    add()
    replicate()
    qrels = changed(without("t5"))
    with pytest.raises(
        BaselineError, match=r"prod/replicates/1: 1 topic \(t5\) that it was scored on no longer has a relevant"
    ):
        store.replicates("prod", "AP", qrels=qrels)
    (scored,) = store.replicates("prod", "AP", qrels=qrels, shrink=1)
    assert scored.gone == ("t5",)


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
        r"1 topic \(t3\) had a different query text when it was stored than in edited\.tsv now; restore it, or store "
        r"a run that answers the new texts with `riskguard baseline update prod RUN.*`, or accept this with "
        r"`riskguard baseline rescore prod`"
    )
    with pytest.raises(BaselineError, match=pattern) as caught:
        store.scores("prod", "AP", qrels=qrels, topics=topics)
    assert caught.value.reason == "inputs_changed"
    assert store.scores("prod", "AP", qrels=qrels, topics=topics, shrink=1).rephrased == ("t3",)
    store.rescore("prod", qrels=collection.qrels, topics=collection.folder / "edited.tsv")
    assert store.scores("prod", "AP", qrels=qrels, topics=topics).rephrased == ()


def test_gone_and_rephrased_topics_are_counted_together(store, add, changed, texts):
    add()
    qrels, topics = changed(without("t5")), texts(lambda line: line.replace("query", "question"))
    with pytest.raises(BaselineError, match=r"1 topic \(t5\).*; 12 topics \(t1, t10, t11, t12, t14 and 7 more\) had"):
        store.scores("prod", "AP", qrels=qrels, topics=topics, shrink=12)
    assert len(store.scores("prod", "AP", qrels=qrels, topics=topics, shrink=13).rephrased) == 12


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


def test_tags_and_weights_are_no_texts(store, add, collection):
    add()
    rows = ["topic\tquery\tweight\tkind", *(f"t{t}\tquery {t}\t{t}\tnew" for t in range(1, 15))]
    collection.topics.write_text("\n".join(rows))
    scored = store.scores("prod", "AP", qrels=read_qrels(collection.qrels), topics=read_topics(collection.topics))
    assert scored.rephrased == ()


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


@pytest.mark.parametrize("content", [b"", b"topic\tquery", b"x\ty\n", b"topic\tquery\nb\t1\na\t1\n", b"\xff"])
def test_other_content_is_not_read_as_digests(content):
    with pytest.raises(ValueError, match=r"expected a line|codec"):
        from_bytes(content)


def test_a_baseline_stored_without_texts_is_judged_with_any(store, add, collection, texts):
    add(topics=None)
    topics = texts(lambda line: line.replace("query", "question"))
    assert store.scores("prod", "AP", qrels=read_qrels(collection.qrels), topics=topics).rephrased == ()
    assert not store.root.joinpath("prod/queries.tsv").exists()
    assert gzip.decompress(store.root.joinpath("prod/run.gz").read_bytes()) == collection.run.read_bytes()
