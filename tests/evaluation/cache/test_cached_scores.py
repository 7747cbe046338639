"""Runs that were scored are not read again while nothing changed that their scores depend on."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from pytest_riskguard import run_context
from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.array_files import decoded, encoded
from pytest_riskguard.evaluation.cache import environment_digest as environment
from pytest_riskguard.evaluation.cache import score_entries
from pytest_riskguard.evaluation.cache.cache_folder import VARIABLE
from pytest_riskguard.evaluation.cache.cached_scores import Reading, RunScores, Wanted, file_scores, text_scores
from pytest_riskguard.evaluation.cache.known_files import KnownFile
from pytest_riskguard.evaluation.judgements.qrels import Qrels, read_qrels
from pytest_riskguard.evaluation.runs.run_files import open_file
from pytest_riskguard.evaluation.runs.trec_runs import fold_run
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring.judged_run_columns import columns_of
from pytest_riskguard.evaluation.scoring.run_scores import score_run
from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.formats.label_rules import LabelRules
from pytest_riskguard.formats.topic_keys import TopicKeys
from tests.evaluation.scoring.slow_judged_runs import judged_run
from tests.evaluation.scoring.test_judged_run_columns import assert_same

QRELS_TEXT = "1 0 a 1\n1 0 b 0\n1 0 é 2\n2 0 a 1\n2 0 z 0\n3 0 c 1\n4 0 x 0\n"
#: Ties, a rank column that contradicts its scores (topic 2), an unknown topic, an unjudged document, topic 3 missing.
RUN_TEXT = (
    "1 Q0 b 1 3.5 x\n1 Q0 a 2 2.5 x\n1 Q0 é 3 2.5 x\n1 Q0 q 4 1 x\n"
    "2 Q0 z 2 2 x\n2 Q0 a 3 3 x\n2 Q0 c 1 1 x\n"
    "9 Q0 a 1 2 x\n"
)
MEASURES = ("nDCG@10", "AP", "RR@1")
DEPTH = 2


@pytest.fixture
def qrels(write) -> Qrels:
    return read_qrels(write("qrels.txt", QRELS_TEXT))


@pytest.fixture
def run(write) -> Path:
    return write("a.run", RUN_TEXT)


class Reader:
    """Reads runs as the engine does, and counts."""

    def __init__(self, given: GivenFile, qrels: Qrels, texts: dict[str, str]) -> None:
        self.given, self.qrels, self.texts = given, qrels, texts
        self.asked: list[tuple[str, ...]] = []
        self.depth = DEPTH
        self.before: Callable[[], object] = lambda: None
        self.afterwards: Callable[[], object] = lambda: None

    def __call__(self, measures: Sequence[str]) -> Reading:
        self.asked.append(tuple(measures))
        self.before()
        reading = self._read(measures)
        self.afterwards()
        return reading

    def _read(self, measures: Sequence[str]) -> Reading:
        opened = open_file(self.given, TopicKeys(self.texts))
        if isinstance(opened, Path):
            scores = score_run(GivenFile(opened, format="trec"), self.qrels, measures, name="read")
            kept, digest = fold_run(opened, lambda chunks: judged_run(chunks, self.qrels, depth=self.depth))
            return Reading(scores, replace(kept, digest=digest), "docid", as_trec=True)
        scores = score_run(opened, self.qrels, measures, name="read")
        return Reading(scores, judged_run(opened, self.qrels, depth=self.depth), opened.ties, as_trec=False)


class Asking:
    """A run file, asked again and again as new processes would."""

    def __init__(self, given: GivenFile | Path, qrels: Qrels, texts: dict[str, str] | None = None) -> None:
        self.given, self.qrels, self.texts = GivenFile.of(given), qrels, texts or {}
        self.read = Reader(self.given, qrels, self.texts)

    def __call__(self, *measures: str, name: str = "prod", depth: int = DEPTH) -> RunScores:
        wanted = Wanted(self.qrels, measures or MEASURES, depth, name, {"1": "one"})
        return file_scores(self.given, wanted, self.read, texts=self.texts)

    @property
    def readings(self) -> int:
        return len(self.read.asked)


def assert_same_scores(found: TopicScores, expected: TopicScores) -> None:
    for field in fields(TopicScores):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes()
        elif field.name not in ("name", "queries"):
            assert one == other, field.name
            assert repr(one) == repr(other), field.name


@pytest.mark.parametrize("kind", ["plain", "gz", "json", "as_returned"])
def test_a_second_look_reads_nothing_and_gives_the_same(folder, write, qrels, kind):
    answers = {"1": {"b": 3.0, "a": 3.0, "q": 1.0}, "2": {"z": 2.0, "a": 1.0}, "9": {"a": 1.0}}
    given = {
        "plain": lambda: GivenFile(write("a.run", RUN_TEXT)),
        "gz": lambda: GivenFile(write("a.run.gz", RUN_TEXT)),
        "json": lambda: GivenFile(write("a.json", json.dumps(answers))),
        "as_returned": lambda: GivenFile(write("a.run", RUN_TEXT), ties="as_returned"),
    }[kind]()
    ask = Asking(given, qrels)
    expected = ask.read(MEASURES)
    cold, warm = ask(), ask(name="other")
    assert ask.readings == 2  # the one before, and the cold one
    assert cold.ties == warm.ties == expected.ties
    for scores, kept, right in zip(cold.scores, warm.scores, expected.scores, strict=True):
        assert_same_scores(scores, right)
        assert_same_scores(kept, right)
        assert (kept.name, dict(kept.queries)) == ("other", {"1": "one"})
    assert_same(warm.fetch(), expected.run)
    assert_same(cold.fetch(), expected.run)
    assert ask.readings == 2


def test_scores_have_what_the_run_says(folder, run, qrels):
    ask = Asking(run, qrels)
    ask()
    scores = ask().scores[0]
    assert (scores.unanswered, scores.unknown, scores.without_relevant) == (("3",), ("9",), ("4",))
    assert scores.contradicted == ("2",)
    assert list(scores.as_written) == ["1"]
    assert scores.judged.topics == 2


def test_without_a_cache_each_look_reads(folder, run, qrels, monkeypatch):
    ask = Asking(run, qrels)
    with run_context.changed(cached=False):
        ask(), ask()
    monkeypatch.setenv(VARIABLE, "off")
    ask(), ask()
    assert ask.readings == 4
    assert folder.entries() == []


def test_only_measures_that_are_missing_are_computed(folder, run, qrels):
    ask = Asking(run, qrels)
    ask("AP")
    found = ask("RR@1", "AP", "nDCG@10")
    assert ask.read.asked == [("AP",), ("RR@1", "nDCG@10")]
    assert [scores.measure for scores in found.scores] == ["RR@1", "AP", "nDCG@10"]
    ask("nDCG@10", "RR@1")
    assert ask.readings == 2


def test_the_same_run_elsewhere_or_packed_is_the_same_run(folder, write, run, qrels):
    Asking(run, qrels)()
    for other in ("b.run", "copy of a.run"):
        ask = Asking(write(other, RUN_TEXT), qrels)
        ask()
        assert ask.readings == 0, other
    packed = Asking(write("a.run.gz", RUN_TEXT), qrels)
    packed("AP"), packed()
    assert packed.read.asked == [("AP",)]  # its text was not known before it was read


@pytest.mark.parametrize("change", ["run", "qrels", "complete", "environment", "kernels", "limit"])
def test_whatever_scores_depend_on_is_looked_at(folder, write, run, qrels, monkeypatch, change):
    ask = Asking(run, qrels)
    ask()
    if change == "run":
        run.write_text(RUN_TEXT.replace("3.5", "3.25"))
    elif change == "qrels":
        ask.qrels = ask.read.qrels = read_qrels(write("qrels.txt", QRELS_TEXT.replace("1 0 b 0", "1 0 b 1")))
    elif change == "complete":
        ask.qrels = ask.read.qrels = replace(qrels, rules=LabelRules(is_complete=True))
    elif change == "environment":
        monkeypatch.setattr(score_entries, "environment_digest", lambda: "another")
    elif change == "kernels":
        monkeypatch.setenv("RISKGUARD_KERNELS", "off")
    else:
        monkeypatch.setenv("RISKGUARD_MAX_TOPICS", "1000")
    found = ask()
    assert ask.readings == 2
    assert_same_scores(found.scores[0], ask.read(MEASURES).scores[0])


def test_another_depth_needs_another_reading_only_for_ranks(folder, run, qrels):
    ask = Asking(run, qrels)
    ask()
    ask.read.depth = 3
    found = ask(depth=3)
    assert ask.readings == 1
    assert found.fetch().depth == ask(depth=3).fetch().depth == 3
    assert ask.readings == 2
    assert len(found.fetch().judgements) > len(ask(depth=2).fetch().judgements)
    assert ask.readings == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"texts": {"1": "other"}}),
        ({}, {"ties": "docid"}),
        ({}, {"part": "b"}),
        ({}, {"format": "json"}),
        ({}, {"columns": {"topic": "a"}}),
        ({}, {"name": "a.csv"}),
    ],
)
def test_how_a_file_is_read_makes_it_another_run(folder, write, one, other):
    def identity(texts=None, name="a.json", **given):
        return KnownFile.of(folder, GivenFile(write(name, "{}"), **given), texts or {"1": "text"}).run

    assert identity(**one) == identity(**one) != identity(**other)


def test_no_query_text_makes_a_trec_run_another_run(folder, run, qrels):
    Asking(run, qrels, {"1": "text"})()
    assert KnownFile.of(folder, GivenFile(run), {}).run.startswith("trec sha256:")
    assert KnownFile.of(folder, GivenFile(run, ties="docid"), {}).run.startswith("trec sha256:")
    assert KnownFile.of(folder, GivenFile(run, ties="as_returned"), {}).run.startswith("file ")


def test_what_cannot_be_scored_is_not_kept(folder, write, qrels):
    ask = Asking(write("a.run", "77 Q0 a 1 2 x\n"), qrels)
    for _ in range(2):
        with pytest.raises(DataError, match="found only topic 77"):
            ask()
    assert ask.readings == 2
    assert [entry for entry in folder.entries() if entry.path.parent.name != "files"] == []


def test_a_file_that_changes_while_it_is_read_is_not_kept(folder, run, qrels):
    ask = Asking(run, qrels)
    ask.read.afterwards = lambda: run.write_text(RUN_TEXT.replace("3.5", "3.25"))
    first = ask().scores[0]
    ask.read.afterwards = lambda: None
    assert_same_scores(ask().scores[0], ask.read(MEASURES).scores[0])
    assert ask().scores[0].digest != first.digest


@pytest.mark.parametrize("ties", [None, "as_returned"])
def test_a_file_that_changes_before_it_is_read_is_not_kept_as_what_it_was(folder, run, qrels, ties):
    ask = Asking(GivenFile(run, ties=ties), qrels)
    expected = ask.read(MEASURES)
    ask.read.before = lambda: run.write_text(RUN_TEXT.replace("1 Q0 b", "1 Q0 c"))
    assert ask().scores[0].digest != expected.scores[0].digest
    ask.read.before = lambda: None
    run.write_text(RUN_TEXT)
    assert_same_scores(ask().scores[0], expected.scores[0])


def test_a_stored_run_that_is_not_the_one_expected_is_not_kept(folder, run, qrels):
    read = Reader(GivenFile(run), qrels, {})
    wanted = Wanted(qrels, MEASURES, DEPTH, "prod", {})
    for _ in range(2):
        text_scores("sha256:" + "0" * 64, wanted, read)
    assert len(read.asked) == 2
    assert entry_files(folder, "scores", "runs") == []


def test_ranks_of_another_depth_in_the_place_of_these_are_not_used(folder, run, qrels):
    entries = score_entries.RunEntries(folder, KnownFile.of(folder, GivenFile(run), {}).run, qrels)
    kept = Asking(run, qrels)().fetch()
    entries._write("runs", entries._key | {"depth": 3}, *columns_of(kept))
    assert kept.depth == DEPTH != 3
    assert entries.run(3) is None


@pytest.mark.parametrize("part", ["evaluation", "formats"])
def test_the_code_that_reads_and_scores_is_part_of_the_environment(tmp_path, monkeypatch, part):
    for name in ("evaluation", "formats", "reports"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "module.py").write_text("one = 1\n")
    monkeypatch.setattr(environment, "_PACKAGE", tmp_path)
    before = environment._code()
    (tmp_path / "reports" / "module.py").write_text("one = 2\n")
    assert environment._code() == before
    (tmp_path / part / "module.py").write_text("one = 2\n")
    assert environment._code() != before


def test_scores_of_one_answer_are_of_one_run(folder, run, qrels, monkeypatch):
    """Kept scores of a file that is replaced while the others are computed are not used."""
    ask = Asking(run, qrels)
    ask("AP")
    entries = score_entries.RunEntries(folder, KnownFile.of(folder, GivenFile(run), {}).run, qrels)
    kept = entries.scores("AP", name="a", queries={})
    entries.keep_scores(replace(kept, scores=replace(kept.scores, digest="sha256:other")))
    found = ask("AP", "RR@1")
    assert len({scores.digest for scores in found.scores}) == 1
    assert ask.read.asked == [("AP",), ("RR@1",), ("AP", "RR@1")]
    entries.keep_scores(replace(kept, scores=replace(kept.scores, digest="sha256:other")))
    assert len({scores.digest for scores in ask("AP", "RR@1").scores}) == 1


def entry_files(folder, *kinds):
    return [entry.path for entry in folder.entries() if entry.path.parent.name in kinds]


@pytest.mark.parametrize("content", [b"", b"x", None, "cut", "flipped"])
def test_damaged_entries_are_ignored_and_written_again(folder, run, qrels, content):
    ask = Asking(run, qrels)
    expected = ask()
    before = {path: path.read_bytes() for path in entry_files(folder, "scores", "runs")}
    assert len(before) == 4
    for path, whole in before.items():
        changed = {"cut": whole[:-1], "flipped": whole[:-1] + bytes([whole[-1] ^ 1]), None: whole + b" "}
        path.write_bytes(changed.get(content, content) if not isinstance(content, bytes) else content)
    found = ask()
    assert ask.readings == 2
    for scores, right in zip(found.scores, expected.scores, strict=True):
        assert_same_scores(scores, right)
    assert {path: path.read_bytes() for path in entry_files(folder, "scores", "runs")} == before


def test_damaged_ranks_are_read_again_when_they_are_asked_for(folder, run, qrels):
    ask = Asking(run, qrels)
    expected = ask().fetch()
    for path in entry_files(folder, "runs"):
        path.write_bytes(b"x")
    found = ask()
    assert ask.readings == 1
    assert_same(found.fetch(), expected)
    assert ask.readings == 2
    assert_same(ask().fetch(), expected)
    assert ask.readings == 2


def test_an_entry_in_the_place_of_another_is_not_used(folder, run, qrels):
    ask = Asking(run, qrels)
    ask("AP", "RR@1")
    one, other = entry_files(folder, "scores")
    one.write_bytes(other.read_bytes())
    found = ask("AP", "RR@1")
    assert ask.readings == 2
    assert_same_scores(found.scores[0], ask.read(["AP"]).scores[0])


@pytest.mark.parametrize(
    ("header", "arrays"),
    [
        ({"ties": "other"}, {}),
        ({"digest": None}, {}),
        ({"judged": None}, {}),
        ({"judged": [1, 2]}, {}),
        ({"unknown": None}, {}),
        ({"contradicted": 1}, {}),
        ({}, {"values": np.array([0.0, 1.0])}),
        ({}, {"values": np.array([0.0, np.nan, 1.0])}),
        ({}, {"values": np.array([0.0, 1e60, 1.0])}),
        ({}, {"values": np.array([0, 1, 1])}),
        ({}, {"unanswered": np.array([3])}),
        ({}, {"unanswered": np.array([-1])}),
        ({}, {"unanswered": np.array([1, 1])}),
        ({}, {"written_places": np.array([0, 1])}),
        ({}, {"written_values": np.array([np.inf])}),
    ],
)
def test_an_entry_with_a_right_checksum_is_still_checked(folder, run, qrels, header, arrays):
    ask = Asking(run, qrels)
    ask("AP")
    [path] = entry_files(folder, "scores")
    file = decoded("scores", path.read_bytes())
    path.write_bytes(encoded("scores", {**file.header, **header}, {**file.arrays, **arrays}))
    found = ask("AP")
    assert ask.readings == 2
    assert_same_scores(found.scores[0], ask.read(["AP"]).scores[0])


def test_several_at_once_read_one_run_once(folder, run, qrels):
    ask = Asking(run, qrels)
    barrier = threading.Barrier(4)
    found = []

    def work():
        barrier.wait()
        found.append(ask())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ask.readings == 1
    assert len(found) == 4


def test_a_text_that_is_known_is_read_once_and_shared_with_files(folder, write, run, qrels):
    packed = write("run.gz", RUN_TEXT)
    read = Reader(GivenFile(packed), qrels, {})
    digest = f"sha256:{hashlib.sha256(RUN_TEXT.encode()).hexdigest()}"
    wanted = Wanted(qrels, MEASURES, DEPTH, "prod", {})
    first, again = (text_scores(digest, wanted, read) for _ in range(2))
    assert len(read.asked) == 1
    assert_same_scores(again.scores[1], first.scores[1])
    ask = Asking(run, qrels)
    ask()
    assert ask.readings == 1  # nobody knew that this file is a run, and which


def test_another_text_than_was_promised_is_not_kept(folder, write, qrels):
    read = Reader(GivenFile(write("run.gz", RUN_TEXT)), qrels, {})
    for _ in range(2):
        text_scores(f"sha256:{0:064}", Wanted(qrels, MEASURES, DEPTH, "prod", {}), read)
    assert len(read.asked) == 2
    assert folder.entries() == []


def test_old_entries_make_room(folder, write, qrels, monkeypatch):
    for number in range(10):
        Asking(write(f"{number}.run", RUN_TEXT.replace("3.5", f"3.{number}5")), qrels)("AP")
    monkeypatch.setenv("RISKGUARD_CACHE_SIZE", "40000")
    ask = Asking(write("new.run", RUN_TEXT), qrels)
    ask("AP"), ask("AP")
    assert ask.readings == 1
    assert sum(entry.size for entry in folder.entries()) <= 40_000


@pytest.mark.parametrize("change", ["code", "numpy", "python", "machine", "version"])
def test_the_environment_is_all_that_computes(monkeypatch, tmp_path, change):
    before = environment.environment_digest.__wrapped__()
    if change == "code":
        monkeypatch.setattr(environment, "_PACKAGE", tmp_path)
        (tmp_path / "evaluation").mkdir()
        (tmp_path / "evaluation" / "a.py").write_text("x = 1\n")
        one = environment.environment_digest.__wrapped__()
        (tmp_path / "evaluation" / "a.py").write_text("x = 2\n")
        assert one != before
        before = one
    elif change == "numpy":
        name = f"{environment.__name__}.version"
        monkeypatch.setattr(name, lambda library: "0" if library == "numpy" else metadata.version(library))
    elif change == "python":
        monkeypatch.setattr(sys, "version", "3.99")
    elif change == "machine":
        monkeypatch.setattr(platform, "machine", lambda: "other")
    else:
        monkeypatch.setattr(environment, "__version__", "99")
    assert environment.environment_digest.__wrapped__() != before


def test_the_environment_is_the_same_in_every_process():
    text = "from pytest_riskguard.evaluation.cache.environment_digest import environment_digest as d; print(d())"
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == environment.environment_digest()
