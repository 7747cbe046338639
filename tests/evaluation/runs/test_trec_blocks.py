"""Runs read as columns are those that the reading line by line gives, or the same error."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_riskguard.errors import RiskguardError, RunFormatError
from pytest_riskguard.evaluation.runs import interleaved_blocks, text_blocks, trec_blocks, trec_columns
from pytest_riskguard.evaluation.runs.identifiers import Identifiers
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock
from pytest_riskguard.evaluation.runs.text_blocks import TextBlocks, checked_digest, row_before
from pytest_riskguard.evaluation.runs.trec_blocks import fold_blocks, piece_offsets
from pytest_riskguard.evaluation.runs.trec_columns import RefusedError
from pytest_riskguard.evaluation.runs.trec_rows import InterleavedError, contiguous, grouped, lines_of
from pytest_riskguard.formats import input_files

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
    """Small blocks, with the second thread; and few rows in memory where topics are interleaved."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(input_files, "_BLOCK", request.param)
        patch.setattr(text_blocks, "_SMALL", min(request.param, 16))
        patch.setattr(interleaved_blocks, "ROWS_IN_MEMORY", 7)
        patch.setattr(interleaved_blocks, "_ROWS_IN_BLOCK", 3)
        yield request.param


def topics_of(blocks: Iterator[RowBlock]) -> list[Topic]:
    topics: list[Topic] = []
    for block in blocks:
        assert block.topics
        assert np.all(np.diff(block.offsets) > 0)
        assert (block.offsets[0], block.offsets[-1]) == (0, len(block.scores))
        topics += [(name, list(documents.items()), documents.ranks) for name, documents in block.chunk().items()]
    return topics


def by_columns(path: Path, **part: Any) -> tuple[list[Topic], str]:
    return fold_blocks(path, topics_of, **part)


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


@settings(max_examples=40)
@given(content=runs())
def test_both_readings_agree_in_rows_and_in_errors(content, folder, block_size):
    plain, packed = folder / "a.run", folder / "a.run.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content, mtime=0))
    for path in (plain, packed):
        assert outcome(by_columns, path) == outcome(by_lines, path)


@settings(max_examples=40)
@given(content=runs(is_bad=False))
def test_a_good_file_is_not_read_line_by_line(content, folder, block_size):
    path = folder / "good.run"
    path.write_bytes(content)
    expected = outcome(by_lines, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec_blocks, "lines_of", None)
        assert outcome(by_columns, path) == expected


@settings(max_examples=40)
@given(content=runs(is_bad=False, is_interleaved=False), data=st.data())
def test_parts_of_a_file_hold_each_topic_once(content, data, folder, block_size):
    path = folder / "parts.run"
    path.write_bytes(content)
    cuts = sorted(data.draw(st.lists(st.integers(1, len(content)), max_size=5)))
    whole, _ = by_columns(path)
    parts = [by_columns(path, start=start, stop=stop) for start, stop in zip([0, *cuts], [*cuts, None], strict=True)]
    assert list(itertools.chain.from_iterable(topics for topics, _ in parts)) == whole
    assert not cuts or {digest for _, digest in parts} == {""}


def lines(topics: int, documents: int) -> str:
    return "".join(f"{t} Q0 doc{t}-{d} {d + 1} {9.5 - d} tag\n" for t in range(topics) for d in range(documents))


@pytest.mark.parametrize(("topics", "documents"), [(3000, 10), (4, 7000), (1, 40_000)])
def test_topics_that_go_on_in_the_next_block_are_whole(topics, documents, write, monkeypatch):
    path = write("a.run", lines(topics, documents))
    monkeypatch.setattr(input_files, "_BLOCK", 2**18)
    assert by_columns(path) == by_lines(path)
    sizes, _ = fold_blocks(path, lambda blocks: [len(block.scores) for block in blocks])
    assert max(sizes) <= max(2 * 2**18 // 20, documents)


def test_few_rows_of_an_interleaved_run_are_in_memory(write, monkeypatch):
    rows = lines(90, 40).splitlines()
    path = write("a.run", "\n".join(row for start in range(40) for row in rows[start::40]))
    monkeypatch.setattr(interleaved_blocks, "ROWS_IN_MEMORY", 400)
    monkeypatch.setattr(interleaved_blocks, "_ROWS_IN_BLOCK", 100)
    held: list[int] = []
    joined = Identifiers.joined.__func__  # type: ignore[attr-defined]

    def counted(cls: type[Identifiers], parts: list[Identifiers]) -> Identifiers:
        held.append(sum(map(len, parts)))
        return joined(cls, parts)

    monkeypatch.setattr(Identifiers, "joined", classmethod(counted))
    sizes, _ = fold_blocks(path, lambda blocks: [len(block.scores) for block in blocks])
    assert sum(sizes) == 3600
    assert max(sizes) == 80
    assert max(held) == 400
    assert by_columns(path) == by_lines(path)


@pytest.mark.parametrize("text", [lines(5, 9), lines(5, 9) + lines(1, 9).replace("doc", "other")])
@pytest.mark.parametrize("repeated", [False, True])
def test_equal_hashes_make_reading_slower_and_not_wrong(text, repeated, write, monkeypatch):
    path = write("a.run", text + "4 Q0 doc4-3 10 0 tag\n" * repeated)
    expected = outcome(by_lines, path)
    assert ("expected each document once" in expected) == repeated
    monkeypatch.setattr(Identifiers, "hashes", property(lambda ids: np.zeros(len(ids), dtype=np.uint64)))
    assert outcome(by_columns, path) == expected


def test_equal_hashes_in_different_blocks_are_noticed(write, monkeypatch):
    monkeypatch.setattr(input_files, "_BLOCK", 8)  # less than a row
    path = write(
        "a.run", "".join(f"{topic} Q0 doc{rank} {rank} {9 - rank} t\n" for rank in (1, 2) for topic in "abc")
    )
    expected = outcome(by_lines, path)
    monkeypatch.setattr(Identifiers, "hashes", property(lambda ids: np.zeros(len(ids), dtype=np.uint64)))
    assert outcome(by_columns, path) == expected
    with pytest.raises(RefusedError):
        interleaved_blocks.topic_sizes(path)


def test_all_lines_of_an_interleaved_run_are_counted(write, set_limit):
    path = write("a.run", lines(3, 4) + lines(1, 4).replace("doc", "other"))
    for limit in (16, 15):
        set_limit("LINES", limit)
        if limit == 16:
            assert interleaved_blocks.topic_sizes(path).sizes.tolist() == [8, 4, 4]
        else:
            with pytest.raises(RefusedError):
                interleaved_blocks.topic_sizes(path)


def test_a_document_twice_in_an_interleaved_topic_is_refused(write):
    text = "".join(f"{topic} Q0 doc{rank % 2} {rank} {9 - rank} t\n" for rank in range(3) for topic in "ab")
    path = write("a.run", text)
    found = outcome(by_columns, path)
    assert found == outcome(by_lines, path)
    assert "expected each document once" in found
    with pytest.raises(RefusedError):
        list(interleaved_blocks.interleaved_blocks(path, interleaved_blocks.topic_sizes(path)))


def test_a_file_that_changes_between_two_passes_is_refused(write):
    text = lines(3, 4) + lines(1, 4).replace("doc", "other")
    topics = interleaved_blocks.topic_sizes(write("a.run", text))
    path = write("a.run", text.replace("9.5", "9.6"))
    with pytest.raises(RefusedError):
        list(interleaved_blocks.interleaved_blocks(path, topics))


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
    monkeypatch.setattr(text_blocks, "_SMALL", 10)
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


def test_a_part_of_a_gzip_file_is_refused(write):
    path = write("a.run.gz", lines(3, 3))
    assert piece_offsets(path, 4) == ((0, None),)
    with pytest.raises(RunFormatError, match=r"a\.run\.gz: expected an uncompressed file.*found gzip; unpack it"):
        by_columns(path, start=10)


def test_a_part_with_a_topic_that_appears_again_says_so(write):
    path = write("a.run", "1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n1 Q0 b 1 1 t\n")
    with pytest.raises(InterleavedError):
        by_columns(path, stop=30)


def test_an_error_in_a_part_gives_the_line_of_the_file(write):
    text = lines(9, 5) + "9 Q0 a 1 x t\n"
    with pytest.raises(RunFormatError, match=r"a\.run:46: expected a finite number"):
        by_columns(write("a.run", text), start=400)


def test_a_part_without_topics_is_empty(write):
    path = write("a.run", lines(1, 9))
    assert by_columns(path, start=5) == ([], "")


def test_pieces_cover_the_file(write, monkeypatch):
    path = write("a.run", lines(50, 10))
    assert piece_offsets(path, 3) == ((0, None),)
    monkeypatch.setattr(trec_blocks, "_SMALLEST_PIECE", 100)
    pieces = piece_offsets(path, 3)
    assert len(pieces) == 3
    topics = [topic for start, stop in pieces for topic, *_ in by_columns(path, start=start, stop=stop)[0]]
    assert topics == [str(topic) for topic in range(50)]


def test_a_row_is_found_behind_many_blank_lines(write):
    path = write("a.run", "1 Q0 a 1 1 t\n2 Q0 b 1 1 t\n" + " \n" * 50_000 + "2 Q0 c 2 0 t\n3 Q0 c 1 1 t\n")
    assert row_before(path, 100_000) == 13
    assert [topic for topic, *_ in by_columns(path, start=50_000)[0]] == ["3"]
    assert row_before(path, 13) == 0
    assert row_before(path, 0) == 0


def test_a_part_has_no_digest(write):
    path = write("a.run", "q Q0 d 1 2 x\n")
    for text in (TextBlocks(path, 0, is_hashed=False), TextBlocks(path, 3)):
        with text:
            assert list(text)
        with pytest.raises(RuntimeError, match="the digest is known only after the whole file has been read"):
            _ = text.digest


@pytest.mark.parametrize("name", ["a.run", "a.run.gz"])
def test_the_digest_of_a_file_that_is_read_in_parts_comes_with_a_check_of_its_size(name, write, set_limit):
    text = lines(5, 5)
    path = write(name, text)
    assert checked_digest(path) == "sha256:" + hashlib.sha256(text.encode()).hexdigest() == by_columns(path)[1]
    set_limit("LINES", 25)
    checked_digest(path)
    set_limit("LINES", 24)
    with pytest.raises(RunFormatError, match="expected at most 24 lines, found 25"):
        checked_digest(path)
