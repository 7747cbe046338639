"""Runs whose ids are not those of the judgements, and weak runs whose ids are."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext

import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.document_ids import Judged
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import DataError

TOPICS = range(30)
FIRST_DOCID = 100


def judged_docid(topic: int, place: int) -> str:
    return str(FIRST_DOCID + 37 * topic + 5 * place)


@pytest.fixture
def qrels(write):
    rows = [f"{topic} 0 {judged_docid(topic, place)} {place % 2}" for topic in TOPICS for place in range(3)]
    return read_qrels(write("qrels.txt", "\n".join(rows)))


def run_of(written: Callable[[str], str], *, topics: range = TOPICS) -> str:
    """A run that retrieves the judged documents; in ``topics`` their ids are rewritten by ``written``."""
    rows = []
    for topic in TOPICS:
        for place in range(3):
            docid = judged_docid(topic, place)
            docid = written(docid) if topic in topics else docid
            rows.append(f"{topic} Q0 {docid} {place + 1} {3 - place} t")
    return "\n".join(rows)


@pytest.mark.parametrize(
    ("written", "cause"),
    [
        (lambda docid: f"doc:{docid}", "ids of the run begin with 'doc:', which the others lack"),
        (lambda docid: f"{docid}-en", "ids of the run end with '-en', which the others lack"),
        (lambda docid: f"{docid}.html", "one side writes a file extension"),
        (lambda docid: f"{docid}.0", "one side writes whole numbers with decimals"),
        (lambda docid: f"000{docid}", "they differ in leading zeros"),
        (lambda docid: f"https://help.example/a/{docid}?lang=en", "one side writes paths or URLs"),
        (lambda docid: f"articles/{docid}.md", "one side writes paths or URLs of files"),
        (lambda docid: str(int(docid) - 1), "each id of the run is one less than a judged one"),
        (lambda docid: str(int(docid) + 1), "each id of the run is one more than a judged one"),
        (lambda docid: f"#{int(docid) * 7919:x}", "their ids use different kinds of characters"),
        (lambda docid: str(10**9 + int(docid)), "its ids may come from another collection or index"),
    ],
)
def test_ids_of_another_spelling_are_refused_with_the_likely_cause(write, qrels, written, cause):
    with pytest.raises(DataError, match=re.escape(cause)) as caught:
        score_run(write("a.run", run_of(written)), qrels, ["nDCG@10"])
    assert caught.value.reason == "ids_do_not_match"
    shown = ", ".join(repr(written(judged_docid(0, place))) for place in range(3))
    assert f"a.run: expected document ids of qrels.txt, such as '100', '105', '110'; found {shown}" in str(
        caught.value
    )
    assert "and no judged document in any topic that it answers" in str(caught.value)


def test_the_difference_may_lie_in_the_ids_of_the_judgements(write):
    qrels = read_qrels(write("qrels.txt", "\n".join(f"{topic} 0 DOC-{topic}a 1" for topic in TOPICS)))
    with pytest.raises(DataError, match="ids of the judgements begin with 'DOC-', which the others lack"):
        score_run({str(topic): [(f"{topic}a", 1.0)] for topic in TOPICS}, qrels, ["P@5"])
    with pytest.raises(DataError, match="they differ in upper and lower case"):
        score_run({str(topic): [(f"doc-{topic}A", 1.0)] for topic in TOPICS}, qrels, ["P@5"])


@pytest.mark.parametrize(("count", "refused"), [(15, False), (16, True)])
def test_ids_that_do_not_match_in_more_than_half_of_the_topics_are_refused(write, qrels, count, refused):
    path = write("a.run", run_of(lambda docid: f"x_{docid}", topics=range(count)))
    if refused:
        with pytest.raises(DataError, match="no judged document in 16 of the 30 topics that it answers"):
            score_run(path, qrels, ["AP"])
    else:
        (scores,) = score_run(path, qrels, ["AP"])
        assert scores.judged == Judged(answered=30, topics=15, share=0.5)


@pytest.mark.parametrize(("count", "refused"), [(5, False), (6, True)])
def test_ids_may_differ_in_case_in_a_quarter_of_the_topics(write, count, refused):
    qrels = read_qrels(write("qrels.txt", "".join(f"q{t} 0 page{t} 1\nq{t} 0 other{t} 0\n" for t in range(20))))
    run = {f"q{t}": [(f"PAGE{t}" if t < count else f"page{t}", 2.0), (f"other{t}", 1.0)] for t in range(20)}
    with pytest.raises(DataError, match="in 6 of the 20 topics") if refused else nullcontext():
        score_run(run, qrels, ["AP"])


def test_a_weak_system_is_not_refused(write, qrels):
    # Its ids are numbers too, those of other documents; 3 of 30 topics retrieve a judged document.
    rows = [f"{t} Q0 {judged_docid(t, 0) if t < 3 else 5000 + 13 * t} 1 2.5 t" for t in TOPICS]
    (scores,) = score_run(write("a.run", "\n".join(rows)), qrels, ["AP"])
    assert scores.judged == Judged(answered=30, topics=3, share=0.1)


@pytest.mark.parametrize(
    "spelling",
    [
        "https://help.example/{}/index.html",
        "https://help.example/?id={}",
        "https://help.example/page?id={}&lang=en",
    ],
)
def test_a_weak_run_whose_ids_all_end_alike_is_not_refused(write, spelling):
    """One judged document in each topic, as from clicks; the run finds it in two topics of five."""
    qrels = read_qrels(write("qrels.txt", "\n".join(f"{t} 0 {spelling.format(t)} 1" for t in TOPICS)))
    rankings = {
        str(t): [
            (spelling.format(t if t % 5 < 2 and rank == 1 else 100 * (t + 1) + rank), 1.0 / rank) for rank in (1, 2)
        ]
        for t in TOPICS
    }
    assert score_run(rankings, qrels, ["RR"])[0].judged == Judged(answered=30, topics=12, share=0.2)


def test_a_weak_run_on_a_small_numbered_collection_is_not_refused(write):
    """In two topics of three it retrieves only neighbours of judged documents, on either side."""
    judged = {t: (3 * t + 10, 3 * t + 20) for t in TOPICS}
    qrels = read_qrels(write("qrels.txt", "\n".join(f"{t} 0 {docid} 1" for t in TOPICS for docid in judged[t])))
    nearby = {t: (first + 1, second - 1) if t % 3 else (first, second + 1) for t, (first, second) in judged.items()}
    rankings = {str(t): [(str(docid), 2.0 - rank) for rank, docid in enumerate(nearby[t])] for t in TOPICS}
    assert score_run(rankings, qrels, ["RR"])[0].judged == Judged(answered=30, topics=10, share=10 / 60)


def test_the_likely_cause_does_not_depend_on_the_order_of_a_set(write):
    """Some judged ids are the end of others, so that two prefixes explain as many topics."""
    rows = [f"{t} 0 {docid} 1" for t in TOPICS for docid in (f"b{t}x", f"ab{t}x")]
    qrels = read_qrels(write("qrels.txt", "\n".join(rows)))
    with pytest.raises(DataError, match="ids of the run begin with 'c', which the others lack"):
        score_run({str(t): [(f"cab{t}x", 1.0)] for t in TOPICS}, qrels, ["RR"])


def test_unanswered_topics_and_deep_ranks_do_not_count_against_a_run(write, qrels):
    deep = [f"0 Q0 other{rank} {rank} {100 - rank} t" for rank in range(20)]
    (scores,) = score_run(write("a.run", "\n".join([*deep, f"0 Q0 {judged_docid(0, 1)} 20 1 t"])), qrels, ["AP"])
    assert scores.judged == Judged(answered=1, topics=1, share=0.0)


def test_few_judged_ids_do_not_show_how_ids_are_written(write):
    qrels = read_qrels(write("qrels.txt", "".join(f"{topic} 0 page 1\n" for topic in range(9))))
    rankings = {str(topic): [("page" if topic < 3 else f"other-{topic}", 1.0)] for topic in range(9)}
    assert score_run(rankings, qrels, ["AP"])[0].judged == Judged(answered=9, topics=3, share=1 / 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "qrels_name", "count"),
    [("cranfield_runs", "qrels.txt", 20), ("web2012_runs", "qrels.adhoc.txt.gz", 8)],
)
def test_every_real_run_matches_its_judgements(shared, folder, qrels_name, count):
    qrels = read_qrels(shared / "data" / folder / qrels_name)
    runs = sorted((shared / "data" / folder / "runs").glob("*.run.gz"))
    judged = {path.name: score_run(path, qrels, ["nDCG@10"])[0].judged for path in runs}
    assert len(judged) == count
    if weakest := judged.get("broken_firstword.run.gz"):  # queries cut to their first word
        assert (weakest.answered, weakest.topics) == (225, 68)
