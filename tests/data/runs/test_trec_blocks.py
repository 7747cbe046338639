"""Runs read as columns are those that the reading line by line gives, or the same error."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data import input_files, trec_columns, trec_files
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.row_blocks import RowBlock
from pytest_riskguard.data.trec_files import fold_blocks
from pytest_riskguard.data.trec_rows import InterleavedError, contiguous, grouped, lines_of
from pytest_riskguard.errors import RiskguardError, RunFormatError

#: Topic, its documents with scores, and its rank column.
Topic = tuple[str, list[tuple[str, float]], list[bytes] | None]

BLANKS = st.sampled_from([" "] * 12 + ["\t", "  ", " \t ", "\x0b", "\x0c", "\r", " \r "])
SCORES = st.one_of(
    st.floats(-1e3, 1e3).map("{:.6f}".format), st.floats(-1e30, 1e30).map(repr), st.integers().map(str)
)
BAD_SCORES = st.sampled_from(["nan", "inf", "1_0", "4e38", "x", "-", "1.2.3", "1\x1c", "\x1f"])
DOCUMENTS = st.one_of(
    st.integers(0, 400).map("d{}".format),
    st.sampled_from(["clueweb12-0000tw-00-00013", "é", "日本語-12345678", "a%20b", "\x01\x1f", "d" * 31, "x\x1cy"]),
)
ESCAPED = st.sampled_from(["a%20b", "%0Ab", "x%00", "100%25", "%C3%A9", "%", "d1"])


@st.composite
def run_lines(draw: st.DrawFn, *, is_bad: bool, is_interleaved: bool) -> list[bytes]:
    lines = []
    for topic in range(draw(st.integers(1, 5))):
        name = f"topic-with-a-long-name-{topic}" if draw(st.booleans()) else str(topic)
        documents = draw(
            st.lists(DOCUMENTS, min_size=1, max_size=8, unique=draw(st.integers(0, 9)) > 0 or not is_bad)
        )
        for rank, document in enumerate(documents):
            is_odd = is_bad and draw(st.integers(0, 9)) == 0
            second, score = "Q0", draw(BAD_SCORES if is_odd and draw(st.booleans()) else SCORES)
            if draw(st.integers(0, 19)) == 0:
                second, document = "%", f"{draw(ESCAPED)}{rank}"
            fields = [name, second, document, str(rank), score, "tag"]
            if is_odd:
                fields = draw(st.sampled_from([fields[:5], [*fields, "more"], fields[:1], ["<<<<<<<"], fields]))
            line = draw(BLANKS).join([" ".join(fields[:2]), " ".join(fields[2:])]) if fields[2:] else fields[0]
            line = draw(st.sampled_from(["", "", "", "", " ", "\t"])) + line
            lines.append((line + draw(st.sampled_from(["", "", "", "", " ", "\r", "\n", "\n \r"]))).encode())
    if is_bad and draw(st.integers(0, 4)) == 0:
        lines.insert(
            draw(st.integers(0, len(lines))), draw(st.sampled_from([b"\xff\xfe", b"\0", b"1 Q0 \xc3 1 1 t"]))
        )
    return draw(st.permutations(lines)) if is_interleaved else lines


@st.composite
def runs(draw: st.DrawFn, *, is_bad: bool | None = None, is_interleaved: bool | None = None) -> bytes:
    is_bad = draw(st.booleans()) if is_bad is None else is_bad
    is_interleaved = draw(st.booleans()) if is_interleaved is None else is_interleaved
    lines = draw(run_lines(is_bad=is_bad, is_interleaved=is_interleaved))
    text = draw(st.sampled_from([b"\n", b"\n", b"\r\n"])).join(lines) + draw(st.sampled_from([b"", b"\n", b"\n\n"]))
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(params=[7, 64, 2**20], ids="blocks of {} bytes".format, scope="module")
def block_size(request: pytest.FixtureRequest) -> Iterator[int]:
    """Small blocks, with the second thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(input_files, "_BLOCK", request.param)
        patch.setattr(trec_files, "_SMALL", min(request.param, 16))
        yield request.param


def topics_of(blocks: Iterator[RowBlock]) -> list[Topic]:
    topics: list[Topic] = []
    for block in blocks:
        assert block.topics
        assert np.all(np.diff(block.offsets) > 0)
        assert (block.offsets[0], block.offsets[-1]) == (0, len(block.scores))
        topics += [(name, list(documents.items()), documents.ranks) for name, documents in block.chunk().items()]
    return topics


def by_columns(path: Path) -> tuple[list[Topic], str]:
    return fold_blocks(path, topics_of)


def by_lines(path: Path) -> tuple[list[Topic], str]:
    lines = lines_of(path)
    try:
        return [(topic, list(docs.items()), docs.ranks) for topic, docs in contiguous(lines)], lines.digest
    except InterleavedError:
        return [(topic, list(docs.items()), docs.ranks) for topic, docs in grouped(lines)], lines.digest


def outcome(read: Any, path: Path) -> str:
    try:
        return repr(read(path))
    except RiskguardError as problem:
        return repr(problem)


@given(content=runs())
def test_both_readings_agree_in_rows_and_in_errors(content, folder, block_size):
    plain, packed = folder / "a.run", folder / "a.run.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content, mtime=0))
    for path in (plain, packed):
        assert outcome(by_columns, path) == outcome(by_lines, path)


@given(content=runs(is_bad=False, is_interleaved=False))
def test_a_good_file_is_not_read_line_by_line(content, folder, block_size):
    path = folder / "good.run"
    path.write_bytes(content)
    expected = outcome(by_lines, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec_files, "lines_of", None)
        assert outcome(by_columns, path) == expected


def lines(topics: int, documents: int) -> str:
    return "".join(f"{t} Q0 doc{t}-{d} {d + 1} {9.5 - d} tag\n" for t in range(topics) for d in range(documents))


@pytest.mark.parametrize(("topics", "documents"), [(3000, 10), (4, 7000), (1, 40_000)])
def test_topics_that_go_on_in_the_next_block_are_whole(topics, documents, write, monkeypatch):
    path = write("a.run", lines(topics, documents))
    monkeypatch.setattr(input_files, "_BLOCK", 2**18)
    assert by_columns(path) == by_lines(path)
    sizes, _ = fold_blocks(path, lambda blocks: [len(block.scores) for block in blocks])
    assert max(sizes) <= max(2 * 2**18 // 20, documents)


@pytest.mark.parametrize("text", [lines(5, 9), lines(5, 9) + lines(1, 9).replace("doc", "other")])
@pytest.mark.parametrize("repeated", [False, True])
def test_equal_hashes_make_reading_slower_and_not_wrong(text, repeated, write, monkeypatch):
    path = write("a.run", text + "4 Q0 doc4-3 10 0 tag\n" * repeated)
    expected = outcome(by_lines, path)
    assert ("expected each document once" in expected) == repeated
    monkeypatch.setattr(Ids, "hashes", property(lambda ids: np.zeros(len(ids), dtype=np.uint64)))
    assert outcome(by_columns, path) == expected


def test_a_document_twice_in_an_interleaved_topic_is_refused(write):
    text = "".join(f"{topic} Q0 doc{rank % 2} {rank} {9 - rank} t\n" for rank in range(3) for topic in "ab")
    path = write("a.run", text)
    found = outcome(by_columns, path)
    assert found == outcome(by_lines, path)
    assert "expected each document once" in found


def test_the_same_document_may_stand_in_many_topics(write):
    path = write("a.run", "".join(f"{topic} Q0 d 1 1 t\n" for topic in range(5000)))
    assert by_columns(path) == by_lines(path)


@pytest.mark.parametrize("variable", ["RUN_BYTES", "ROW_BYTES", "LINES", "TOPICS", "DOCUMENTS"], ids=str.lower)
@pytest.mark.parametrize("is_interleaved", [False, True])
def test_limits_are_those_of_the_reading_line_by_line(variable, is_interleaved, write, set_limit):
    text = lines(30, 30)
    if is_interleaved:
        text += lines(2, 9).replace("doc", "other")
    for path in (write("a.run", text), write("a.run.gz", text)):
        for limit in (1, 29, 30, 38, 39, 899, 900, 917, 918):
            set_limit(f"{variable}", limit)
            assert outcome(by_columns, path) == outcome(by_lines, path)


def test_no_more_rows_of_a_topic_are_held_than_it_may_have_and_a_block(write, monkeypatch, set_limit):
    path = write("a.run", lines(1, 5000))
    set_limit("DOCUMENTS", 20)
    monkeypatch.setattr(input_files, "_BLOCK", 1000)
    held: list[int] = []
    rows_of = trec_columns.Columns.rows

    def counted(columns: trec_columns.Columns, first: int, last: int) -> trec_columns.Columns:
        held.append(last - first)
        return rows_of(columns, first, last)

    monkeypatch.setattr(trec_columns.Columns, "rows", counted)
    with pytest.raises(RunFormatError, match="at most 20 documents in a topic"):
        by_columns(path)
    assert 20 < sum(held) < 300


def test_an_error_in_the_work_ends_the_second_thread(write, monkeypatch):
    monkeypatch.setattr(input_files, "_BLOCK", 1000)
    monkeypatch.setattr(trec_files, "_SMALL", 10)
    before = threading.active_count()
    seen: list[int] = []

    def work(blocks: Iterator[RowBlock]) -> None:
        next(blocks)
        seen.append(threading.active_count())
        raise KeyError("work")

    with pytest.raises(KeyError, match="work"):
        fold_blocks(write("a.run", lines(100, 10)), work)
    assert seen == [before + 1]
    assert threading.active_count() == before
