"""Scores kept on disk are those of a reading, or none: whatever lies in the folder, and whoever writes to it."""

from __future__ import annotations

import os
import threading
from hashlib import sha256
from pathlib import Path

import ir_measures
import pytest

from pytest_riskguard.data import cache as score_cache
from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.cache import find, folder, keep
from pytest_riskguard.data.given_file import GivenFile, LabelRules
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.run_scores import scored_run
from pytest_riskguard.engine.question import RunFile
from pytest_riskguard.engine.sources import ScoreCache

QRELS = "".join(f"q{n} 0 d{place} {place % 3}\n" for n in range(6) for place in range(4))
RUN = "".join(f"q{n} Q0 d{place} {place} {9 - (n + place) // 2} x\n" for n in range(5) for place in range(6)) + (
    "q9 Q0 d1 1 1 x\n"
)
TOPICS = "".join(f"q{n}\ttext {n}\n" for n in range(6))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(score_cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


class Asked:
    """Asks for scores of a run file, as a process of its own would, and counts how often the run is read."""

    def __init__(self, folder, monkeypatch):
        self.qrels, self.topics, self.path = folder / "qrels.txt", folder / "topics.tsv", folder / "a.run"
        self.labels, self.read, self.readings = LabelRules(), scored_run, 0
        for path, text in ((self.qrels, QRELS), (self.topics, TOPICS), (self.path, RUN)):
            path.write_text(text)

        def counted(*given, **options):
            self.readings += 1
            return self.read(*given, **options)

        monkeypatch.setattr("pytest_riskguard.engine.sources.scored_run", counted)

    def __call__(self, *measures, **how):
        qrels, measures = GivenFile(self.qrels, labels=self.labels), measures or ("AP",)
        self.sources = ScoreCache(qrels=qrels, topics=self.topics, store=None, measures=measures)
        self.source = RunFile(GivenFile(self.path, **how), "a")
        return [self.sources.scored(self.source, measure).scores for measure in measures]

    def is_read(self, *measures, **how):
        before = self.readings
        self(*measures, **how)
        return self.readings > before


@pytest.fixture
def asked(tmp_path, cache, monkeypatch):
    return Asked(tmp_path, monkeypatch)


def fields(scores):
    return [{**vars(one), "values": one.values.tolist(), "queries": dict(one.queries)} for one in scores]


def test_kept_scores_are_those_of_a_reading(asked):
    read, ties = asked("AP", "nDCG@10"), asked.sources.origins(asked.source).candidate.ties
    assert fields(asked("AP", "nDCG@10")) == fields(read)
    assert (asked.readings, asked.sources.origins(asked.source).candidate.ties) == (1, ties)
    assert (read[0].unanswered, read[0].unknown, read[0].name) == (("q5",), ("q9",), "a")
    assert read[0].as_written
    assert read[0].queries["q1"] == "text 1"
    asked.sources.ranked(asked.source, read[0], parse_measure("AP"), asked.sources.qrels)
    assert asked.readings == 2  # rankings are not kept
    assert (asked.is_read("AP", "P@5"), asked.is_read("P@5")) == (True, False)


def test_whatever_scores_depend_on_makes_them_others(asked, monkeypatch):
    def is_read_once():
        return asked.is_read() and not asked.is_read()

    assert is_read_once()
    asked.path.write_text(RUN.replace("q1 Q0 d1 1", "q1 Q0 d7 1"))
    assert is_read_once()
    asked.path.write_text(RUN)
    assert not asked.is_read()
    asked.qrels.write_text(QRELS.replace("q1 0 d1 1", "q1 0 d1 0"))
    assert is_read_once()
    asked.labels = LabelRules(is_complete=True)  # asks more of ids
    assert is_read_once()
    monkeypatch.setattr(score_cache, "_software", lambda: "another version")
    assert is_read_once()
    monkeypatch.setenv("RISKGUARD_LIMITS", "2")
    assert is_read_once()
    asked.topics.write_text(TOPICS.replace("text 1", "text one"))
    assert is_read_once()
    for how in ({"ties": "as_returned"}, {"format": "trec"}):
        assert [asked.is_read(**how), asked.is_read(**how)] == [True, False]


def test_a_file_that_changes_while_it_is_read_is_not_kept(asked):
    read = asked.read

    def read_and_change(*given, **options):
        scored = read(*given, **options)
        asked.path.write_text(RUN.replace("q1 Q0 d1", "q1 Q0 d7"))
        return scored

    asked.read = read_and_change
    asked()
    asked.read = read
    assert asked.is_read()
    asked.path.write_text(RUN)
    assert asked.is_read()


@pytest.mark.parametrize(
    "damaged",
    {
        "cut off": lambda content: content[:-1],
        "a digit": lambda content: content.replace(b'"values": [0.', b'"values": [1.'),
        "another run": lambda content: sha256(content.partition(b"\n")[2]).hexdigest().encode() + content[64:],
    }.items(),
    ids=lambda damage: damage[0],
)
def test_an_entry_that_is_damaged_or_of_another_run_counts_as_absent(asked, cache, damaged):
    expected = fields(asked())
    (entry,) = cache.iterdir()
    content = entry.read_bytes()
    entry.write_bytes(damaged[1](content))
    assert fields(asked()) == expected
    assert (asked.readings, entry.read_bytes()) == (2, content)


def test_a_stored_run_is_known_by_the_digest_of_its_text(asked):
    scores, qrels = tuple(asked()), read_qrels(asked.qrels)
    keep("sha256:1", qrels, scores, "docid")
    found = find("sha256:1", qrels, ["AP"], name="a", queries=scores[0].queries)
    assert found is not None
    assert (fields(found[0]), found[1]) == (fields(scores), "docid")
    for digest, measures in (("sha256:2", ["AP"]), ("sha256:1", ["AP", "RR"]), (None, ["AP"])):
        assert find(digest, qrels, measures, name="a", queries={}) is None


def test_a_measure_of_the_project_is_never_kept(asked, cache, monkeypatch):
    class Ours(type(ir_measures.AP)):  # type: ignore[misc]
        """A measure that a project registers: its code may change while its name stays."""

    Ours.__module__ = "project.measures"
    monkeypatch.setattr(score_cache, "parse_measure", lambda text: Ours() if text == "AP" else parse_measure(text))
    for measure in ("AP", "tests.data.test_score_cache:first"):
        asked(measure, "RR")
        assert len(list(cache.iterdir())) == 1
        assert asked.is_read(measure, "RR")


def first(ranking, judgements):
    """A measure in Python."""
    return float(ranking[0] in judgements)


def test_what_was_not_used_for_longest_is_deleted_first(asked, cache, monkeypatch):
    measures = [f"P@{cutoff}" for cutoff in range(1, 5)]
    for seconds, measure in enumerate(measures):
        before = {*cache.iterdir()} if seconds else set()
        asked(measure)
        for entry in {*cache.iterdir()} - before:
            os.utime(entry, (seconds, seconds))
    kept = {*cache.iterdir()}
    asked(measures[0])  # used again
    others = cache / "notes.txt"
    others.write_text("not an entry")
    with monkeypatch.context() as patch:
        patch.setattr(score_cache, "MOST", 4 * score_cache.BLOCK)
        asked("RR")
    left = {*cache.iterdir()} - {others}
    assert (len(left), len(left & kept), others.exists()) == (4, 3, True)
    assert not asked.is_read(measures[0])
    assert not asked.is_read("RR")


def test_several_writers_leave_whole_entries(asked, cache):
    scores, qrels, found = tuple(asked()), read_qrels(asked.qrels), []

    def ask():
        for _ in range(20):
            for entry in cache.iterdir():
                entry.unlink(missing_ok=True)
            keep("sha256:1", qrels, scores, "docid")
            found.append(find("sha256:1", qrels, ["AP"], name="a", queries=scores[0].queries))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one is None or fields(one[0]) == fields(scores) for one in found)
    assert any(found)
    assert all(len(entry.name) == 64 for entry in cache.iterdir())


def no_home(patch, _):
    patch.delenv(score_cache.VARIABLE)
    patch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))


UNUSED = {
    "off": lambda patch, _: patch.setenv(score_cache.VARIABLE, "OFF"),
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
    assert [asked.is_read(), asked.is_read()] == [True, True]


def test_a_folder_in_the_checkout_is_not_used(tmp_path, monkeypatch, cache):
    (tmp_path / ".git").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    assert folder() is None
    monkeypatch.setenv(score_cache.VARIABLE, "../cache")
    assert folder() is None
    assert not cache.exists()
    monkeypatch.delenv(score_cache.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert folder() is None  # the user's home is a checkout
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / "elsewhere"))
    assert folder() == tmp_path.parent / "elsewhere" / "riskguard"


def test_the_code_that_reads_and_scores_is_part_of_the_key(monkeypatch, tmp_path):
    def digest():
        return score_cache._software.__wrapped__()

    before = digest()
    assert digest() == before
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(score_cache, "_PACKAGE", tmp_path)
    without = digest()
    (tmp_path / "data" / "a.py").write_text("x")
    assert len({before, without, digest()}) == 3
