"""``riskguard cache`` shows and deletes what is kept, and ``--no-cache`` keeps nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_riskguard import run_context
from pytest_riskguard.evaluation.cache import file_digests
from pytest_riskguard.evaluation.cache.cache_folder import VARIABLE, CacheFolder


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> CacheFolder:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    return CacheFolder(tmp_path / "cache")


def test_an_empty_cache_is_shown_with_its_limit(command, cache):
    ended = command("cache show")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[0] == f"folder: {cache.root}"
    assert "scores: 0 entries, 0 bytes" in ended.out
    assert "in all: 0 of at most 1,073,741,824 bytes (RISKGUARD_CACHE_SIZE)" in ended.out


def test_what_is_kept_is_counted_and_deleted(command, cache):
    for kind, digit, size in (("scores", "a", 10_000), ("scores", "b", 5000), ("runs", "a", 1)):
        cache.write(kind, digit * 64, bytes(size))
    (cache.root / "other").write_text("x")
    shown = command("cache show").out
    assert "scores: 2 entries, 15,000 bytes\nruns: 1 entry, 4,096 bytes\nfiles: 0 entries, 0 bytes\n" in shown
    assert "in all: 19,096 of" in shown
    assert command("cache clear").out == "deleted 3 entries, 19,096 bytes\n"
    assert command("cache clear").out == "deleted 0 entries, 0 bytes\n"
    assert (cache.root / "other").exists()


@pytest.mark.parametrize("text", ["off", "file"])
def test_why_nothing_is_kept_is_said(command, monkeypatch, text):
    Path("file").write_text("x")
    monkeypatch.setenv(VARIABLE, text)
    ended = command("cache show")
    assert ended.status == 0
    reason = "RISKGUARD_CACHE is off, or there is no home folder" if text == "off" else "it cannot be used"
    assert f"not used: {reason}" in ended.out
    assert command("cache clear").out == "deleted 0 entries, 0 bytes\n"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no owners of files")
def test_a_folder_that_others_may_write_to_is_named(command, cache):
    cache.root.chmod(0o777)
    assert "not used: other users may write to it" in command("cache show").out


def test_a_size_that_is_no_number_is_an_error_of_usage(command, monkeypatch):
    monkeypatch.setenv("RISKGUARD_CACHE_SIZE", "-1")
    assert command("cache show").status == 2


@pytest.mark.parametrize(
    "line",
    [
        "compare loss.run --baseline prod --measure AP",
        "compare loss.run --baseline churn.run --measure AP --qrels qrels.txt",
        "check --candidate loss.run",
        "judge-next loss.run --baseline churn.run --measure AP",
        "power loss.run --baseline churn.run --measure AP",
        "pool prod loss.run churn.run good.run --measure AP",
    ],
)
def test_without_a_cache_nothing_is_kept_and_the_answer_is_the_same(command, cache, monkeypatch, line):
    monkeypatch.setattr(file_digests, "RESTING_NS", -(10**15))  # else files come to rest meanwhile
    command(f"{line} --no-cache")
    assert not cache.entries()
    with monkeypatch.context() as changed:
        changed.setenv(VARIABLE, "off")
        without = command(line)
    cold = command(line)
    kept = cache.entries()
    assert kept, cold
    warm = command(line)
    assert without == cold == warm
    assert run_context.current().cached
    assert {entry.path for entry in cache.entries()} == {entry.path for entry in kept}


def test_commands_that_store_baselines_leave_the_cache_alone(command, cache):
    for line in ("baseline add other good.run --measure AP", "baseline verify", "baseline show prod"):
        assert command(line).status == 0, line
    assert cache.entries() == []
