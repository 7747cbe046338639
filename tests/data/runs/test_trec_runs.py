from __future__ import annotations

import gzip
import hashlib
import io
import random
import re
from collections.abc import Iterator
from typing import IO, cast

import numpy as np
import pytest

from pytest_riskguard.data import write_run
from pytest_riskguard.data.rankings import rankings_as_run
from pytest_riskguard.data.row_blocks import DOCUMENTS_PER_CHUNK, MAX_RUN_SCORE, TOPICS_PER_CHUNK, Chunk
from pytest_riskguard.data.trec_files import fold_run
from pytest_riskguard.errors import DataError, RunFormatError


def merged(chunks: Iterator[Chunk]) -> Chunk:
    whole: Chunk = {}
    for chunk in chunks:
        assert not whole.keys() & chunk.keys()
        whole |= chunk
    return whole


def sizes(chunks: Iterator[Chunk]) -> list[int]:
    return [len(chunk) for chunk in chunks]


def rows(topics: int, documents: int = 3) -> list[str]:
    return [f"{t} Q0 d{d} {d + 1} {9.5 - d} tag.v1" for t in range(topics) for d in range(documents)]


def test_a_run_comes_in_chunks_of_whole_topics(write):
    path = write("a.run", "\n".join(rows(2 * TOPICS_PER_CHUNK + 1)))
    assert fold_run(path, sizes)[0] == [20, 20, 1]
    assert fold_run(path, merged)[0]["40"] == {"d0": 9.5, "d1": 8.5, "d2": 7.5}


def test_topics_with_many_documents_come_in_smaller_chunks(write):
    rows_ = [f"{topic} Q0 d{i} 1 1 t" for topic in "abc" for i in range(DOCUMENTS_PER_CHUNK // 2)]
    assert fold_run(write("a.run", "\n".join(rows_)), sizes)[0] == [2, 1]


def test_the_largest_number_of_32_bits_is_a_score(write):
    largest = float(np.finfo(np.float32).max)
    assert largest == MAX_RUN_SCORE
    run, _ = fold_run(write("a.run", f"1 Q0 a 1 {largest!r} t\n1 Q0 b 2 {-largest!r} t\n"), merged)
    assert run == {"1": {"a": largest, "b": -largest}}


def test_a_full_last_chunk_is_not_followed_by_an_empty_one(write):
    path = write("a.run", "\n".join(rows(TOPICS_PER_CHUNK)))
    assert fold_run(path, sizes)[0] == [20]


def test_interleaved_topics_give_the_same_rankings(write):
    lines = rows(45)
    in_order, digest = fold_run(write("a.run", "\n".join(lines)), merged)
    random.Random(1).shuffle(lines)
    shuffled, other = fold_run(write("b.run.gz", "\n".join(lines)), merged)
    assert {topic: dict(sorted(docs.items())) for topic, docs in shuffled.items()} == in_order
    assert digest != other
    assert fold_run(write("b.run", "\n".join(lines)), sizes)[0] == [20, 20, 5]


def test_a_topic_that_returns_after_its_chunk_was_given_out_is_still_whole(write):
    lines = [*rows(60, documents=1), "0 Q0 late 1 99 tag"]
    assert fold_run(write("a.run", "\n".join(lines)), merged)[0]["0"] == {"d0": 9.5, "late": 99.0}


def test_documents_keep_the_order_of_the_file(write):
    for text in ("1 Q0 b 1 1 t\n1 Q0 a 2 2 t\n", "1 Q0 b 1 1 t\n2 Q0 x 1 1 t\n1 Q0 a 2 2 t\n"):
        assert list(fold_run(write("a.run", text), merged)[0]["1"]) == ["b", "a"]


@pytest.mark.parametrize(
    "text",
    [
        "1 Q0 d1 1 2.5 t\r\n1 Q0 d2 2 -1 t\r\n",  # CRLF
        "1\tQ0\td1\t1\t2.5\tt\n1\tQ0\td2\t2\t-1\tt",  # tabs, no line end
        "1 Q0 d1 0 2.5 t\n1 Q0 d2 0 -1 t\n",  # ranks from 0, all the same
        "1 Q0 d1 x 2.5 t\n1 Q0 d2 -7 -1 t\n",  # ranks that are none
        "1 Q0 d1 1 25e-1 my.run.v1.2\n1 Q0 d2 2 -1.0E+0 my.run.v1.2\n",  # e-notation, dots in the tag
        "\ufeff1 Q0 d1 1 +2.5 t\n\n 1  Q0  d2  2  -1  t \n",  # byte order mark, blank line, spaces
        "1 0 d1 1 2.5 t\n1 x d2 2 -1 t\n",  # second column other than Q0
    ],
)
def test_real_files_are_read_as_they_are(write, text):
    assert fold_run(write("a.run", text), merged)[0] == {"1": {"d1": 2.5, "d2": -1.0}}
    assert fold_run(write("a.run.gz", text), merged)[0] == {"1": {"d1": 2.5, "d2": -1.0}}


COLUMNS = "expected 6 columns (topic Q0 docid rank score tag)"
SCORE = "expected a finite number as the score (column 5)"
LFS = "found a Git LFS pointer instead of the file; run `git lfs pull`"
CONFLICT = "found a merge conflict marker; resolve the conflict"
GOOD = "1 Q0 d1 1 2.5 t\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (GOOD + "1 Q0 d2 2 1.5\n", f":2: {COLUMNS}, found 5: '1 Q0 d2 2 1.5'"),
        (GOOD + "1 Q0 d2 2 1.5 t t\n", f":2: {COLUMNS}, found 7"),
        (GOOD + "1 Q0 d2 2 high t\n", f":2: {SCORE}, found high: '1 Q0 d2 2 high t'"),
        (GOOD + "1 Q0 d2 2 nan t\n", f":2: {SCORE}, found nan"),
        (GOOD + "1 Q0 d2 2 -inf t\n", f":2: {SCORE}, found -inf"),
        (GOOD + "1 Q0 d2 2 1e999 t\n", f":2: {SCORE}, found 1e999"),
        (
            GOOD + "1 Q0 d2 2 3.5e38 t\n",
            ":2: expected a score (column 5) of at most 3.4028e+38, the largest number of 32 bits, found 3.5e38",
        ),
        (GOOD + "1 Q0 d2 2 -1e300 t\n", ":2: expected a score (column 5) of at most 3.4028e+38"),
        (GOOD + "1 Q0 d2 2 1_5 t\n", f":2: {SCORE}, found 1_5"),
        (GOOD + "1 Q0 d2 2 1,5 t\n", f":2: {SCORE}, found 1,5"),
        (
            GOOD + "\n1 Q0 d2 2 2 t\n1 Q0 d1 3 1 t\n",
            ":4: expected each document once per topic, found 'd1' of topic '1' also on line 1; keep one of",
        ),
        (
            GOOD + "2 Q0 d1 1 1 t\n1 Q0 d2 1 1 t\n2 Q0 d1 1 1 t\n",
            ":4: expected each document once per topic, found 'd1' of topic '2' also on line 2",
        ),
        ("", f": {COLUMNS}, found an empty file"),
        ("\r\n\r\n", f": {COLUMNS}, found an empty file"),
        ("version https://git-lfs.github.com/spec/v1\n", f":1: {COLUMNS}; {LFS}"),
        (GOOD + "=======\n", f":2: {COLUMNS}; {CONFLICT}"),
        (GOOD + ">>>>>>> 12ab (try other k1)\n", f":2: {COLUMNS}; {CONFLICT}"),
        (GOOD + ">>>>>>> 12ab (try other k1 values)\n", f":2: {SCORE}; {CONFLICT}"),
    ],
)
@pytest.mark.parametrize("name", ["a.run", "a.run.gz"])
def test_what_is_no_run_is_refused_with_file_and_line(write, name, text, problem):
    path = write(name, text)
    with pytest.raises(RunFormatError, match=re.escape(f"{path}{problem}")) as caught:
        fold_run(path, merged)
    assert caught.value.reason == "bad_run"


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("1 Q0 d2 2\n" + GOOD, "found 4: '1 Q0 d2 2'"),
        ("1 Q0 d2 2\n" + GOOD + "\n2 Q0 d2 2 nan t\n", "found 4: '1 Q0 d2 2' (line 4 is wrong, too)"),
        ("x\n1 Q0 d 2 1_5 t\ny\n" + GOOD + "1 Q0 d 2 1e39 t\n", "found 1: 'x' (lines 2, 3, 5 are wrong, too)"),
        ("x\n" * 11, "found 1: 'x' (lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 are wrong, too)"),
        ("x\n" * 12, "found 1: 'x' (lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... are wrong, too)"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "spec/v1'"),
        ("x\n" + "\n" * 1_100_000 + "\0\n", "found 1: 'x'"),  # not text in a later block, which is said next
    ],
)
def test_bad_lines_are_named_together(write, text, ending):
    with pytest.raises(RunFormatError) as caught:
        fold_run(write("a.run", text), merged)
    assert caught.value.line == 1
    assert str(caught.value).endswith(ending)


def test_a_bad_row_in_an_interleaved_run_is_refused_too(write):
    path = write("a.run", "1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n1 Q0 b 1 1 t\n2 Q0 b 1 x t\n")
    with pytest.raises(RunFormatError, match=r"a\.run:4: expected a finite number"):
        fold_run(path, merged)


RANKINGS = {"10": [("b", 1.0), ("a", 1.0), ("c", 0.1 + 0.2)], "9": [("z", -1e-300)]}


def test_rankings_in_memory_stand_in_the_order_of_trec_eval():
    run = rankings_as_run(RANKINGS)
    assert list(run.by_topic) == ["10", "9"]
    assert run.by_topic["10"] == (("b", 1.0), ("a", 1.0), ("c", 0.30000000000000004))


def test_the_digest_of_rankings_is_that_of_the_file_they_are_written_to(tmp_path):
    run = rankings_as_run(RANKINGS)
    path = tmp_path / "a.run"
    write_run(path, run)
    content = path.read_bytes()
    assert content.splitlines()[2] == b"10 Q0 c 3 0.30000000000000004 riskguard"
    assert run.digest == "sha256:" + hashlib.sha256(content).hexdigest()
    again, digest = fold_run(path, merged)
    assert again == {topic: dict(ranking) for topic, ranking in run.by_topic.items()}
    assert digest == run.digest


def test_the_digest_knows_no_order_of_topics_or_documents():
    turned = {topic: list(reversed(ranking)) for topic, ranking in reversed(RANKINGS.items())}
    assert rankings_as_run(turned).digest == rankings_as_run(RANKINGS).digest
    changed = {**RANKINGS, "9": [("z", -2e-300)]}
    assert rankings_as_run(changed).digest != rankings_as_run(RANKINGS).digest


def test_a_run_is_written_into_an_open_gzip_with_a_tag_of_its_own():
    buffer = io.BytesIO()
    with gzip.open(buffer, "wb") as file:
        write_run(cast(IO[bytes], file), rankings_as_run({"1": [("d", 2)]}), tag="prod.v2")
        assert not file.closed
    assert gzip.decompress(buffer.getvalue()) == b"1 Q0 d 1 2.0 prod.v2\n"


def test_rankings_come_in_chunks_and_empty_ones_are_left_out():
    run = rankings_as_run({str(topic): [("d", 1.0)] if topic else [] for topic in range(42)})
    assert [len(chunk) for chunk in run.chunks()] == [20, 20, 1]
    assert "0" not in run.by_topic


@pytest.mark.parametrize(
    ("rankings", "problem"),
    [
        ({"1": [("d", 1.0), ("d", 2.0)]}, "topic '1': expected each document once, found 'd' twice"),
        ({"1": [("d", float("nan"))]}, "topic '1': expected a finite number as the score of 'd', found nan"),
        (
            {"1": [("d", 1e300)]},
            "topic '1': expected a score of at most 3.4028e+38, the largest number of 32 bits of 'd', found 1e+300",
        ),
        ({"1": [("d", "high")]}, "topic '1': expected (docid, score), found ('d', 'high')"),
        ({"1": ["document"]}, "topic '1': expected (docid, score), found 'document'"),
        ({"1": [None]}, "topic '1': expected (docid, score), found None"),
        ({"1": [("a\nb", 1.0)]}, "topic '1': expected a docid on one line, without spaces around it, found 'a\\nb'"),
        ({"1": [(" a", 1.0)]}, "topic '1': expected a docid on one line, without spaces around it, found ' a'"),
        ({"1": [("", 1.0)]}, "topic '1': expected a docid on one line, without spaces around it, found ''"),
        ({"1": [("a\0", 1.0)]}, "expected a docid on one line, without spaces around it, found 'a\\x00'"),
        ({"1": [("\ud800", 1.0)]}, "expected a docid on one line, without spaces around it, found '\\ud800'"),
        ({"a\tb ": []}, "expected a topic on one line, without spaces around it, found 'a\\tb '"),
        ({1: [], "1": []}, "expected each topic once, found '1' twice"),
    ],
)
def test_rankings_that_no_run_could_hold_are_refused(rankings, problem):
    with pytest.raises(DataError, match=re.escape(problem)) as caught:
        rankings_as_run(rankings)
    assert caught.value.reason == "bad_run"
