"""What formats with names or keys write, whatever ids, texts and numbers there are, is read again as it was."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data import writing
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.memory_runs import as_run
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import MAX_RUN_SCORE, read_run
from pytest_riskguard.errors import QrelsFormatError, RunFormatError

NAMES = ("csv", "jsonl", "parquet")
#: Any text on one line without spaces around it: commas, quotes, tabs inside, marks, other scripts.
ids = (
    st.text(
        st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), include_characters="\t"), min_size=1, max_size=8
    )
    .map(str.strip)
    .filter(lambda text: text and len(text.splitlines()) == 1)
)
scores = st.floats(-MAX_RUN_SCORE, MAX_RUN_SCORE, allow_nan=False)
grades = st.one_of(st.integers(-5, 1000), st.floats(-1000, 1000, allow_nan=False))


def needed(name: str) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("round") / "file"


@pytest.mark.parametrize("name", NAMES)
@given(run=st.dictionaries(ids, st.dictionaries(ids, scores, min_size=1, max_size=5), min_size=1, max_size=4))
def test_rankings_are_read_as_they_were_written(path, name, run):
    needed(name)
    expected = as_run(run)
    path.write_bytes(
        writing.WRITERS[name](writing.rankings({t: tuple(d.items()) for t, d in expected.by_topic().items()}, {}))
    )
    for file in (GivenFile(path), GivenFile(path, format=name)):
        read = read_run(file)
        assert (read.by_topic(), read.source.digest) == (expected.by_topic(), expected.source.digest)
        assert read.source.contradicted == ()


@pytest.mark.parametrize("name", NAMES)
@given(judged=st.dictionaries(ids, st.dictionaries(ids, grades, min_size=1, max_size=5), min_size=1, max_size=4))
def test_judgements_are_read_as_they_were_written(path, name, judged):
    needed(name)
    judged = {**judged, "one topic": {"a document": 1}}
    path.write_bytes(writing.WRITERS[name](writing.judgements(judged, {})))
    assert read_qrels(GivenFile(path)).grades == judged


@given(
    content=st.one_of(
        st.binary(max_size=60),
        st.text(st.sampled_from('qid,docno;score\trank\n"1 {}[]:.-e'), max_size=60).map(str.encode),
        st.sampled_from([b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff"]).flatmap(
            lambda magic: st.binary(max_size=60).map(lambda rest: magic + rest)
        ),
    )
)
def test_any_bytes_are_read_or_refused(path, content):
    needed("parquet")
    path.write_bytes(content)
    for read, error in ((read_run, RunFormatError), (read_qrels, QrelsFormatError)):
        with suppress(error):
            read(GivenFile(path))
