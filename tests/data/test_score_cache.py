"""Scores kept on disk are those of a reading, or none: whatever lies in the folder, and whoever writes to it."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import ir_measures
import pytest

from pytest_riskguard import run_context
from pytest_riskguard.cli.main import run
from pytest_riskguard.data import cache as score_cache
from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.cache import RunScores, Wanted, file_scores, folder, text_scores
from pytest_riskguard.data.given_file import GivenFile, LabelRules
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.run_scores import ScoredRun, scored_run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.errors import UsageError
from tests.plugin import world

QRELS = "".join(f"q{n} 0 d{place} {place % 3}\n" for n in range(6) for place in range(4))
RUN = "".join(f"q{n} Q0 d{place} {place} {9 - (n + place) // 2} x\n" for n in range(5) for place in range(6)) + (
    "q9 Q0 d1 1 1 x\n"
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(score_cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


class Asked:
    """Asks for scores of a run file, and counts how often the run is read."""

    def __init__(self, tmp_path: Path) -> None:
        (tmp_path / "qrels.txt").write_text(QRELS)
        self.qrels, self.path, self.readings = read_qrels(tmp_path / "qrels.txt"), tmp_path / "a.run", 0
        self.path.write_text(RUN)

    def __call__(self, *measures: str, texts: dict[str, str] | None = None, **how: Any) -> RunScores:
        given = GivenFile(self.path, **how)
        wanted = Wanted(self.qrels, measures or ("AP",), 20, "a", {"q1": "text"})
        return file_scores(given, wanted, lambda missing: self.read(given, missing), texts=texts or {})

    def read(self, given: GivenFile, measures: Sequence[str]) -> ScoredRun:
        self.readings += 1
        return scored_run(given, self.qrels, measures, name="a", queries={"q1": "text"}, depth=20)


@pytest.fixture
def asked(tmp_path: Path, cache: Path) -> Asked:
    return Asked(tmp_path)


def fields(scores: TopicScores) -> dict[str, object]:
    return {**vars(scores), "values": scores.values.tolist()}


def test_kept_scores_are_those_of_a_reading(asked):
    read, kept = asked("AP", "nDCG@10"), asked("AP", "nDCG@10")
    assert (asked.readings, read.was_read, kept.was_read, kept.ties) == (1, True, False, read.ties)
    assert list(map(fields, kept.scores)) == list(map(fields, read.scores))
    assert read.scores[0].unanswered == ("q5",)
    assert read.scores[0].unknown == ("q9",)
    assert read.scores[0].as_written
    assert kept.fetch().digest == read.fetch().digest
    assert asked.readings == 2


def test_whatever_scores_depend_on_makes_them_others(asked, tmp_path, monkeypatch):
    asked()

    def is_read_again() -> bool:
        before = asked.readings
        asked()
        assert asked().was_read is False
        return asked.readings > before

    assert not is_read_again()
    asked.path.write_text(RUN.replace("q1 Q0 d1 1", "q1 Q0 d7 1"))
    assert is_read_again()
    asked.path.write_text(RUN)
    assert not is_read_again()
    (tmp_path / "qrels.txt").write_text(QRELS.replace("q1 0 d1 1", "q1 0 d1 0"))
    asked.qrels = read_qrels(tmp_path / "qrels.txt")
    assert is_read_again()
    asked.qrels = read_qrels(tmp_path / "qrels.txt", labels=LabelRules(is_complete=True))  # asks more of ids
    assert is_read_again()
    monkeypatch.setattr(score_cache, "_software", lambda: "another version")
    assert is_read_again()
    monkeypatch.setenv("RISKGUARD_LIMITS", "2")
    assert is_read_again()
    for how in ({"ties": "as_returned"}, {"format": "trec"}, {"texts": {"q1": "other"}}):
        assert asked(**how).was_read
        assert not asked(**how).was_read


def test_a_measure_more_is_a_reading_of_all(asked):
    asked("AP")
    assert [scores.measure for scores in asked("AP", "P@5").scores] == ["AP", "P@5"]
    assert (asked.readings, asked("P@5").was_read) == (2, False)


def test_a_file_that_changes_while_it_is_read_is_not_kept(asked):
    read = asked.read

    def read_and_change(given: GivenFile, measures: Sequence[str]) -> ScoredRun:
        scored = read(given, measures)
        asked.path.write_text(RUN.replace("q1 Q0 d1", "q1 Q0 d7"))
        return scored

    asked.read = read_and_change
    asked()
    asked.read = read
    assert asked().was_read
    asked.path.write_text(RUN)
    assert asked().was_read


def changed(content: bytes, **fields: object) -> bytes:
    body = json.dumps(json.loads(content.partition(b"\n")[2]) | fields).encode()
    return sha256(body).hexdigest().encode() + b"\n" + body


@pytest.mark.parametrize(
    "damaged",
    {
        "empty": lambda _: b"",
        "cut off": lambda content: content[:-1],
        "longer": lambda content: content + b" ",
        "a digit": lambda content: content.replace(b'"values": [0.', b'"values": [1.'),
        "no JSON": lambda _: sha256(b"x").hexdigest().encode() + b"\nx",
        "a list": lambda _: sha256(b"[]").hexdigest().encode() + b"\n[]",
        "another run": lambda content: changed(content, key={"run": ["other"]}),
        "fewer topics": lambda content: changed(content, values=[0.5]),
        "not a number": lambda content: changed(content, values=["x"] * 6),
        "not finite": lambda content: changed(content, values=[float("nan")] * 6),
        "an unknown topic": lambda content: changed(content, unanswered=["q77"]),
        "unknown ties": lambda content: changed(content, ties="random"),
        "nothing judged": lambda content: changed(content, judged=None),
    }.items(),
    ids=lambda damage: damage[0],
)
def test_an_entry_that_is_damaged_or_wrong_counts_as_absent(asked, cache, damaged):
    expected = fields(asked().scores[0])
    (entry,) = cache.iterdir()
    content = entry.read_bytes()
    entry.write_bytes(damaged[1](content))
    found = asked()
    assert (found.was_read, fields(found.scores[0])) == (True, expected)
    assert entry.read_bytes() == content


def test_an_entry_under_the_name_of_another_counts_as_absent(asked, cache):
    asked("AP")
    (first,) = cache.iterdir()
    asked("RR")
    (second,) = {*cache.iterdir()} - {first}
    second.write_bytes(first.read_bytes())
    assert asked("RR").was_read


def test_a_stored_run_is_known_by_the_digest_of_its_text(asked, tmp_path):
    packed = tmp_path / "run.gz"
    packed.write_bytes(gzip.compress(RUN.encode()))
    for digest, was_read in (("sha256:1", True), ("sha256:1", False), ("sha256:2", True)):
        wanted = Wanted(asked.qrels, ("AP",), 20, "a", {})
        assert text_scores(digest, wanted, lambda m: asked.read(GivenFile(packed), m)).was_read is was_read


def test_a_measure_of_the_project_is_never_kept(asked, cache, monkeypatch):
    class Ours(type(ir_measures.AP)):  # type: ignore[misc]
        """A measure that a project registers: its code may change while its name stays."""

    Ours.__module__ = "project.measures"
    parsed = parse_measure

    def parse(text: str) -> object:
        return Ours() if text == "AP" else parsed(text)

    monkeypatch.setattr("pytest_riskguard.data.measures.parse_measure", parse)
    asked("AP", "RR")
    assert len(list(cache.iterdir())) == 1
    assert asked("AP", "RR").was_read


@contextmanager
def most(monkeypatch: pytest.MonkeyPatch, entries: int) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(score_cache, "MOST", entries * score_cache.BLOCK)
        yield


def test_what_was_not_used_for_longest_is_deleted_first(asked, cache, monkeypatch):
    measures = [f"P@{cutoff}" for cutoff in range(1, 5)]
    for seconds, measure in enumerate(measures):
        asked(measure)
        for entry in cache.iterdir():
            os.utime(entry, (seconds, seconds))
            os.utime(entry, (min(entry.stat().st_mtime, seconds),) * 2)
    kept = {*cache.iterdir()}
    asked(measures[0])  # used again
    others = cache / "notes.txt"
    others.write_text("not an entry")
    with most(monkeypatch, 4):
        asked("RR")
    left = {*cache.iterdir()} - {others}
    assert (len(left), len(left & kept), others.exists()) == (4, 3, True)
    assert not asked(measures[0]).was_read
    assert not asked("RR").was_read


def test_several_writers_leave_whole_entries(asked, cache):
    expected, found = fields(asked().scores[0]), []

    def ask() -> None:
        for _ in range(5):
            for entry in cache.iterdir():
                entry.unlink(missing_ok=True)
            found.append(fields(asked().scores[0]))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 20
    assert all(len(entry.name) == 64 for entry in cache.iterdir())


def no_home(patch: pytest.MonkeyPatch, _: Path) -> None:
    patch.delenv(score_cache.VARIABLE)
    patch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))


UNUSED: dict[str, Callable[[pytest.MonkeyPatch, Path], object]] = {
    "off": lambda patch, _: patch.setenv(score_cache.VARIABLE, "OFF"),
    "NUL": lambda patch, _: patch.setattr(os, "environ", {score_cache.VARIABLE: "a\0b"}),
    "a file": lambda _, root: root.write_text(""),
    "no home": no_home,
    "others may write": lambda _, root: (root.mkdir(), root.chmod(0o777)),
    "another user's": lambda patch, _: patch.setattr(os, "geteuid", lambda: os.getuid() + 1),
}


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no owners of files")
@pytest.mark.parametrize("why", UNUSED)
def test_a_folder_that_is_off_or_not_the_users_alone_is_not_used(asked, cache, monkeypatch, why):
    if why in ("no home", "off"):
        monkeypatch.setenv("XDG_CACHE_HOME", "")
    UNUSED[why](monkeypatch, cache)
    assert asked().was_read
    assert asked().was_read


def test_a_folder_in_the_checkout_is_refused(tmp_path, monkeypatch, cache):
    (tmp_path / ".git").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    with pytest.raises(UsageError, match=r"RISKGUARD_CACHE: expected a folder outside the checkout .*, found '"):
        folder()
    assert not cache.exists()
    monkeypatch.setenv(score_cache.VARIABLE, "../cache")
    with pytest.raises(UsageError, match=r"found '\.\./cache'; .* name another folder, or `off`"):
        folder()
    monkeypatch.delenv(score_cache.VARIABLE)
    monkeypatch.setattr(score_cache, "_of_user", lambda: tmp_path / "home")
    assert folder() is None  # the user's home is a checkout
    monkeypatch.setattr(score_cache, "_of_user", lambda: tmp_path.parent / "elsewhere")
    assert folder() == tmp_path.parent / "elsewhere"


def test_a_command_says_that_the_folder_is_refused(tmp_path, monkeypatch, capsys, cache):
    world.write_world(tmp_path, world.GOOD, alpha="1")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run(["check"]) == 2
    assert "RISKGUARD_CACHE: expected a folder outside the checkout" in capsys.readouterr().err
    assert run(["check", "--no-cache"]) == 0
    assert not cache.exists()


def test_without_a_cache_nothing_is_kept(asked, cache):
    with run_context.changed(cached=False):
        assert asked().was_read
    assert not cache.exists()


def test_the_code_that_reads_and_scores_is_part_of_the_key(monkeypatch, tmp_path):
    def digest(module: ModuleType = score_cache) -> str:
        return module._software.__wrapped__()

    before = digest()
    assert digest() == before
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(score_cache, "_PACKAGE", tmp_path)
    without = digest()
    (tmp_path / "data" / "a.py").write_text("x")
    assert len({before, without, digest()}) == 3
