"""Laws: the shape of data in memory, and the order of their rows, change neither rankings nor digests."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard import run
from pytest_riskguard.data import read_qrels
from tests.data.world import write_qrels

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

IDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=6) | st.sampled_from(
    ["a b", "%20", "7"]
)
SCORES = st.floats(-1e30, 1e30) | st.integers(-(2**60), 2**60)
RANKINGS = st.dictionaries(IDS, st.dictionaries(IDS, SCORES, min_size=1, max_size=6), min_size=1, max_size=4)


@given(answers=RANKINGS, data=st.data())
def test_every_shape_in_every_order_is_the_same_run(answers, data):
    rows = data.draw(
        st.permutations([(t, d, float(s)) for t, documents in answers.items() for d, s in documents.items()])
    )
    topics, documents, scores = (list(column) for column in zip(*rows, strict=True))
    shapes = (
        answers,
        {topic: list(documents.items()) for topic, documents in answers.items()},
        pd.DataFrame({"qid": topics, "docno": documents, "score": scores}),
        pl.DataFrame({"qid": topics, "docno": documents, "score": scores}),
        [{"qid": topic, "docno": document, "score": score} for topic, document, score in rows],
    )
    runs = [run(shape) for shape in shapes]
    assert {one.source.digest for one in runs} == {runs[0].source.digest}
    rows = {topic: {document: float(score) for document, score in of.items()} for topic, of in answers.items()}
    assert [one.by_topic() for one in runs] == [rows] * len(shapes)


@given(grades=st.dictionaries(IDS, st.dictionaries(IDS, st.integers(0, 4), min_size=1), min_size=1))
def test_judgements_in_memory_are_those_of_their_file(grades, tmp_path_factory):
    grades["relevant"] = {"d": 1}
    path: Path = tmp_path_factory.mktemp("law") / "qrels.txt"
    path.write_bytes(write_qrels(grades))
    file, memory = read_qrels(path), read_qrels(grades)
    assert (memory.grades, memory.topics) == (file.grades, file.topics)
    turned = {topic: dict(reversed(judged.items())) for topic, judged in reversed(grades.items())}
    assert read_qrels(turned).digest == memory.digest != read_qrels({**grades, "relevant": {"d": 2}}).digest
