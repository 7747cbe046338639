"""Folders of parts that were scored are not read again while every part stays what it is."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_riskguard.engine.run_readings import read_run
from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.cache import file_digests
from pytest_riskguard.evaluation.cache.cached_scores import Reading, RunScores, Wanted, file_scores
from pytest_riskguard.evaluation.cache.known_folders import KnownFolder
from pytest_riskguard.evaluation.judgements.qrels import Qrels, read_qrels
from pytest_riskguard.evaluation.runs.run_files import open_run
from pytest_riskguard.formats.given_file import GivenFile
from tests.evaluation.cache.test_cached_scores import assert_same_scores
from tests.evaluation.scoring.test_judged_run_columns import assert_same

MEASURES = ("nDCG@10", "AP")
FIRST = "1 Q0 b 1 3.5 x\n1 Q0 a 2 2.5 x\n"
SECOND = "2 Q0 a 1 3 x\n2 Q0 z 2 2 x\n2 Q0 c 3 1 x\n"


@pytest.fixture
def qrels(write: Callable[[str, str], Path]) -> Qrels:
    return read_qrels(write("qrels.txt", "1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 z 0\n"))


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    place = tmp_path / "run"
    place.mkdir()
    (place / "part-0").write_text(FIRST)
    (place / "part-1.gz").write_bytes(gzip.compress(SECOND.encode()))
    (place / "_SUCCESS").write_text("")
    return place


class Asking:
    """A folder, asked again and again as new processes would."""

    def __init__(self, place: Path, qrels: Qrels) -> None:
        self.given, self.qrels = GivenFile(place), qrels
        self.readings = 0
        self.before: Callable[[], object] = lambda: None
        self.afterwards: Callable[[], object] = lambda: None

    def read(self, measures: Sequence[str]) -> Reading:
        self.readings += 1
        self.before()
        reading = read_run(open_run(self.given), self.wanted, measures)
        self.afterwards()
        return reading

    @property
    def wanted(self) -> Wanted:
        return Wanted(self.qrels, MEASURES, 10, "prod", {})

    def __call__(self) -> RunScores:
        return file_scores(self.given, self.wanted, self.read, texts={})


def test_a_second_look_reads_nothing_and_gives_the_same(folder, parts, qrels):
    ask = Asking(parts, qrels)
    expected = ask.read(MEASURES)
    cold, warm = ask(), ask()
    assert ask.readings == 2  # the one before, and the cold one
    assert (cold.was_read, warm.was_read) == (True, False)
    assert warm.ties == expected.ties
    for found, right in zip(warm.scores, expected.scores, strict=True):
        assert_same_scores(found, right)
    assert_same(warm.fetch(), expected.run)
    assert ask.readings == 2


def test_a_folder_with_the_same_parts_elsewhere_is_the_same_run(folder, parts, qrels):
    Asking(parts, qrels)()
    parts.rename(parts.with_name("moved"))
    ask = Asking(parts.with_name("moved"), qrels)
    ask()
    assert ask.readings == 0


@pytest.mark.parametrize("change", ["content", "name", "further", "missing", "ties"])
def test_a_part_that_changes_is_noticed(folder, parts, qrels, change):
    ask = Asking(parts, qrels)
    before = ask()
    if change == "content":
        (parts / "part-0").write_text(FIRST.replace("3.5", "1.5"))
    elif change == "name":
        (parts / "part-0").rename(parts / "part-2")
    elif change == "further":
        (parts / "part-2").write_text("9 Q0 a 1 1 x\n")
    elif change == "missing":
        (parts / "part-1.gz").unlink()
    else:
        ask.given = replace(ask.given, ties="as_returned")
    after = ask()
    assert ask.readings == 2
    same = before.scores[0].digest == after.scores[0].digest
    assert same == (change == "name")
    assert_same_scores(after.scores[0], ask.read(MEASURES).scores[0])


def test_a_folder_that_changes_while_it_is_read_is_not_kept(folder, parts, qrels):
    ask = Asking(parts, qrels)
    ask.afterwards = lambda: (parts / "part-0").write_text(FIRST.replace("3.5", "1.5"))
    ask()
    ask.afterwards = lambda: None
    found = ask()
    assert ask.readings == 2
    assert_same_scores(found.scores[0], ask.read(MEASURES).scores[0])


def test_a_folder_that_changes_before_it_is_read_is_not_kept_as_what_it_was(folder, parts, qrels):
    ask = Asking(parts, qrels)
    expected = ask.read(MEASURES)
    ask.before = lambda: (parts / "part-0").write_text(FIRST.replace("3.5", "1.5"))
    assert ask().scores[0].digest != expected.scores[0].digest
    ask.before = lambda: None
    (parts / "part-0").write_text(FIRST)
    assert_same_scores(ask().scores[0], expected.scores[0])


def test_what_is_no_run_is_not_known_and_says_why_when_it_is_read(folder, tmp_path, qrels):
    (tmp_path / "run" / "inner").mkdir(parents=True)
    assert KnownFolder.of(folder, GivenFile(tmp_path / "run"), {}) is None
    with pytest.raises(DataError, match="found the folder 'inner' among them"):
        Asking(tmp_path / "run", qrels)()


def test_parts_at_rest_are_hashed_once(folder, parts, monkeypatch):
    files = sorted(parts.glob("part-*"))
    hashed: list[Path] = []
    computed = file_digests._bytes_digest
    monkeypatch.setattr(file_digests, "_bytes_digest", lambda path: hashed.append(path) or computed(path))
    first = file_digests.files_digest(files, folder)
    assert file_digests.files_digest(files, folder) == first
    assert hashed == files * 2  # they have just been written
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 3_000_000_000)
    assert [file_digests.files_digest(files, folder) for _ in range(3)] == [first] * 3
    assert hashed == files * 3
    os.utime(files[0], (1, 1))
    assert file_digests.files_digest(files, folder) == first
    assert hashed == files * 4


def test_a_part_that_cannot_be_read_or_is_too_large_has_no_digest(folder, parts, monkeypatch):
    files = sorted(parts.glob("part-*"))
    assert file_digests.files_digest([*files, parts / "gone"], folder) is None
    assert file_digests.files_digest([*files, parts], folder) is None
    monkeypatch.setenv("RISKGUARD_MAX_RUN_BYTES", "20")
    assert file_digests.files_digest(files, folder) is None


def test_a_part_that_changes_while_it_is_hashed_gives_no_digest(folder, parts, monkeypatch):
    files = sorted(parts.glob("part-*"))
    computed = file_digests._bytes_digest

    def changed(path: Path) -> str | None:
        digest = computed(path)
        (parts / "part-0").write_text(FIRST + "1 Q0 z 3 1 x\n")
        return digest

    monkeypatch.setattr(file_digests, "_bytes_digest", changed)
    assert file_digests.files_digest(files, folder) is None
