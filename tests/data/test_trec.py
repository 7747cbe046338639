"""TREC's runs and judgements: columns hold what lines hold, errors name lines, and what is written reads back."""

import gzip
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data import input_files
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.input_files import Kind
from pytest_riskguard.data.memory import as_run
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.runs import MAX_RUN_SCORE, NO_RANK, Run, read_run
from pytest_riskguard.data.text_blocks import whole_numbers
from pytest_riskguard.data.trec import with_text_digest, write_run
from pytest_riskguard.errors import FileError, QrelsFormatError, RunFormatError

KINDS: tuple[Kind, ...] = ("rankings", "judgements")


def read(path: Path, kind: Kind) -> Run | Qrels:
    given = GivenFile(path, format="trec")
    return read_run(given) if kind == "rankings" else read_qrels(given)


def plain(content: bytes, kind: Kind) -> tuple[dict[str, dict[str, float]], dict[str, list[int]], set[int]]:
    """Topic -> document -> number, and the ranks of each topic; the first wrong line, or all that repeat one."""
    found: dict[str, dict[str, float]] = {}
    ranks: dict[str, list[int]] = {}
    repeats = set()
    place, most = (4, MAX_RUN_SCORE) if kind == "rankings" else (3, 1000)
    for line, text in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not (cells := [cell.decode() for cell in text.split()]):
            continue
        try:
            number = float(cells[place])
        except (ValueError, IndexError):
            return found, ranks, {line}
        is_plain = not {*"_\x1c\x1f"}.intersection(cells[place])
        if len(cells) != place + (2 if kind == "rankings" else 1) or not (is_plain and abs(number) <= most):
            return found, ranks, {line}
        topic, second, document, rank = cells[:4]
        if second == "%":
            topic, document = unquote(topic), unquote(document)
        if document in found.setdefault(topic, {}):
            repeats.add(line)
        found[topic][document] = number
        is_rank = rank.isascii() and rank.isdigit() and len(rank) <= 8
        ranks.setdefault(topic, []).append(int(rank) if is_rank else NO_RANK)
    return dict(sorted(found.items())), dict(sorted(ranks.items())), repeats


BLANKS = st.sampled_from([" "] * 12 + ["\t", "  ", " \t ", "\x0b", "\x0c", "\r", " \r "])
NUMBERS = st.floats(-1e3, 1e3).map("{:.6f}".format) | st.integers(-1000, 1000).map(str) | st.just("1e-30")
BAD_NUMBERS = st.sampled_from(["nan", "inf", "1_0", "4e38", "1e999", "x", "-", "1.2.3", "1\x1c", "\x1f", "1,5"])
DOCUMENTS = st.integers(0, 400).map("d{}".format) | st.sampled_from(
    ["clueweb12-0000tw-00-00013", "é", "日本語-12345678", "a%20b", "\x01\x1f", "d" * 31, "x\x1cy", "caf\u00e9\u00a0b"]
)
ESCAPED = st.sampled_from(["a%20b", "100%25", "%C3%A9", "%", "d1"])
TOPICS = ["t", "topic-1", "topic-10", "topic-lo1", "topic-lo2", "a-long-topic-1", "a-long-topic-2", "a-long-topic"]
RANKS = st.sampled_from(["1", "+3", "1_0", "007", "x", "-7", "1.0", "٣", "12345678", "9" * 30, "Q0"])


@st.composite
def texts(draw: st.DrawFn, kind: Kind, *, is_bad: bool) -> bytes:
    lines = []
    for topic in draw(st.lists(st.sampled_from(TOPICS), min_size=1, max_size=5, unique=True)):
        unique = draw(st.integers(0, 9)) > 0 or not is_bad
        for rank, name in enumerate(draw(st.lists(DOCUMENTS, min_size=1, max_size=8, unique=unique))):
            is_odd = is_bad and draw(st.integers(0, 9)) == 0
            second, document = ("0", name) if draw(st.integers(0, 19)) else ("%", f"{draw(ESCAPED)}{rank}")
            number = draw(BAD_NUMBERS if is_odd and draw(st.booleans()) else NUMBERS)
            fields = [topic, second, document, number]
            if kind == "rankings":
                fields[3:] = [str(rank) if draw(st.integers(0, 9)) else draw(RANKS), number, "tag"]
            if is_odd:
                fields = draw(st.sampled_from([fields[:-1], [*fields, "more"], fields[:1], ["<<<<<<<"], fields]))
            line = draw(BLANKS).join([" ".join(fields[:2]), " ".join(fields[2:])]) if fields[2:] else fields[0]
            line = draw(st.sampled_from(["", "", "", "", " ", "\t"])) + line
            lines.append((line + draw(st.sampled_from(["", "", "", "", " ", "\r", "\n", "\n \r"]))).encode())
    if is_bad and draw(st.integers(0, 4)) == 0:
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from([b"\xff", b"\0", b"1 Q0 \xc3 1 1 t"])))
    if draw(st.booleans()):
        lines = draw(st.permutations(lines))
    text = draw(st.sampled_from([b"\n", b"\n", b"\r\n"])).join(lines) + draw(st.sampled_from([b"", b"\n", b"\n\n"]))
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + text


@pytest.fixture(params=[7, 2**20], ids="blocks of {} bytes".format, scope="module")
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file that is read in small blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(input_files, "_BLOCK", request.param)
        yield tmp_path_factory.mktemp("trec") / "file"


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_columns_hold_what_lines_hold_and_errors_name_lines(path, kind, data):
    content = data.draw(texts(kind, is_bad=data.draw(st.booleans())))
    is_text = b"\xff" not in content and b"\0" not in content and b"\xc3 " not in content
    for text in (content, gzip.compress(content, mtime=0)):
        path.write_bytes(text)
        if not is_text:
            with pytest.raises(FileError):
                read(path, kind)
            continue
        expected, ranks, bad = plain(content, kind)
        try:
            found = read(path, kind)
        except FileError as problem:
            is_good = "upside down" not in problem.problem and "relevant document" not in problem.problem
            if is_good and problem.line not in bad:
                raise
            continue
        assert not bad
        if isinstance(found, Qrels):
            assert {topic: list(grades.items()) for topic, grades in sorted(found.grades.items())} == {
                topic: list(grades.items()) for topic, grades in expected.items()
            }
            continue
        assert found.source.digest == f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert [(topic, list(scores.items())) for topic, scores in found.by_topic().items()] == [
            (topic, list(scores.items())) for topic, scores in expected.items()
        ]
        if found.ranks is not None:
            assert found.ranks.tolist() == [rank for of_topic in ranks.values() for rank in of_topic]


def test_ranks_are_whole_numbers_of_at_most_eight_digits(write):
    ranks = ["1", "007", "98765432", "100", "123456789", "+3", "1_0", "x", "1.0", "-2", "3\x01", "٣", "/1", "1:"]
    expected = [1, 7, 98765432, 100, *[NO_RANK] * 10]
    assert whole_numbers(Ids.of(ranks), NO_RANK).tolist() == expected
    assert float(np.finfo(np.float32).max) == MAX_RUN_SCORE
    path = write("b.run", f"1 Q0 a 1 {MAX_RUN_SCORE!r} t\n")
    assert read_run(path).scores.tolist() == [MAX_RUN_SCORE]


SIX = "expected 6 columns (topic Q0 docid rank score tag)"
FOUR = "expected 4 columns (topic iteration docid grade)"
MOST = "at most 3.4028e+38, the largest number of 32 bits"
SCORE = f"expected a finite number as the score (column 5), {MOST}"
GRADE = "expected a number from -1000 to 1000 as the grade"
TWICE = "expected each document once per topic, found 'd1' of topic '1' also on line 1"
LFS = "found a Git LFS pointer instead of the file; run `git lfs pull`"
FIRST, JUDGED = f"1 Q0 d1 1 2.{'5' * 62} t\n", "1 0 d1 1\n"


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("rankings", FIRST + "1 Q0 d2 2 1.5\n", f":2: {SIX}, found 5: '1 Q0 d2 2 1.5'"),
        ("rankings", FIRST + "1 Q0 d2 2 high t\n", f":2: {SCORE}, found high: '1 Q0 d2 2 high t'"),
        (
            "rankings",
            FIRST + "1 Q0 d2 2 -3.5e38 t\n",
            f":2: {SCORE}, found -3.5e38",
        ),
        ("rankings", FIRST + "\n1 Q0 d2 2 2 t\n1 Q0 d1 3 1 t\n", f":4: {TWICE}; keep one of the two"),
        ("rankings", "", f": {SIX}, found an empty file"),
        ("rankings", "x" * 78, f":1: {SIX}, found 1: '{'x' * 78}'"),
        ("rankings", "x" * 81, f":1: {SIX}, found 1: '{'x' * 79}"),
        ("judgements", JUDGED + "1 0 d2\n", f":2: {FOUR}, found 3: '1 0 d2'"),
        *(
            ("judgements", f"1 0 d1 {grade}\n", f":1: {GRADE}, found {grade}")
            for grade in ("1.0.0", "nan", "1000.5", "-1001")
        ),
        ("judgements", "\n \n", f": {FOUR}, found an empty file"),
        ("judgements", "1 0 d1 0\n", ": expected at least one relevant document (grade above 0), found none"),
        ("judgements", JUDGED + "\n1 0 d2 1\n1 0 d1 0\n", f":4: {TWICE}; keep one of the two"),
        ("judgements", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", f":1: {FOUR}, {LFS}"),
    ],
)
def test_what_is_none_of_trecs_files_is_refused_with_file_and_line(write, kind, text, problem):
    error = RunFormatError if kind == "rankings" else QrelsFormatError
    for name in ("a.txt", "a.txt.gz"):
        path = write(name, text)
        with pytest.raises(error) as caught:
            read(path, kind)
        assert str(caught.value).startswith(f"{path}{problem}")
        assert caught.value.reason == ("bad_run" if kind == "rankings" else "bad_qrels")


IDS = ["red shoes", "a%20b", "100% wool", "tab\there", "plain", "é ü"]


@pytest.mark.parametrize("topic", IDS)
@pytest.mark.parametrize("document", IDS)
def test_what_is_written_reads_back_with_its_ids_and_every_trec_program_sees_its_columns(tmp_path, topic, document):
    run = as_run({topic: {document: 0.1 + 0.2, "other": 1e-300}})
    write_run(path := tmp_path / "a.run", run)
    assert all(len(line.split()) == 6 for line in path.read_text().splitlines())
    again = read_run(path)
    assert again.by_topic() == run.by_topic()
    assert again.source.digest == with_text_digest(run).source.digest


def test_documents_are_written_by_score_and_into_an_open_gzip(write):
    run = read_run(write("a.run", "1 Q0 c 1 1 t\n1 Q0 b 2 2 t\n1 Q0 a 3 1 t\n"))
    buffer = io.BytesIO()
    with gzip.open(buffer, "wb") as file:
        write_run(cast(IO[bytes], file), run)
        assert not file.closed
    rows = (b"b 1 2.0", b"c 2 1.0", b"a 3 1.0")
    assert gzip.decompress(buffer.getvalue()) == b"".join(b"1 Q0 " + row + b" riskguard\n" for row in rows)
