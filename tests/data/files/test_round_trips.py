"""What formats with names or keys write, whatever ids, texts and numbers there are, is read again as it was."""

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.memory import as_run
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import MAX_RUN_SCORE, read_run

#: Any text on one line without spaces around it: commas, quotes, tabs inside, marks, other scripts.
ids = (
    st.text(
        st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), include_characters="\t"), min_size=1, max_size=8
    )
    .map(str.strip)
    .filter(lambda text: text and len(text.splitlines()) == 1)
)


def numbers_of_documents(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(ids, st.dictionaries(ids, numbers, min_size=1, max_size=5), min_size=1, max_size=4)


SCORES = numbers_of_documents(st.floats(-MAX_RUN_SCORE, MAX_RUN_SCORE, allow_nan=False))
GRADES = numbers_of_documents(st.one_of(st.integers(-5, 1000), st.floats(-1000, 1000, allow_nan=False)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("round")


def written(name: str, rows: list[dict[str, Any]]) -> bytes:
    """Rows as other tools write them."""
    frame = pytest.importorskip("polars").DataFrame(rows, infer_schema_length=None)
    buffer = io.BytesIO()
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[name](buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
@given(scores=SCORES, grades=GRADES)
def test_what_was_written_is_read_as_it_was(folder, name, scores, grades):
    judged = {**grades, "one topic": {"a document": 1}}
    for kind, by_topic, column in (("rankings", scores, "score"), ("judgements", judged, "relevance")):
        pairs = [(topic, pair) for topic, documents in by_topic.items() for pair in documents.items()]
        rows = [{"query_id": topic, "doc_id": document, column: float(value)} for topic, (document, value) in pairs]
        (folder / kind).write_bytes(written(name, rows))
    assert read_run(GivenFile(folder / "rankings", format=name)).by_topic() == as_run(scores).by_topic()
    assert read_qrels(GivenFile(folder / "judgements", format=name)).grades == judged
