"""A baseline is stored whole or not at all, even if processes die or write at the same time."""

import os
import shutil
from pathlib import Path

import filelock
import pytest

from pytest_riskguard.baselines import entry
from pytest_riskguard.baselines.atomic_folder import LOCK
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.errors import BaselineError
from tests.baselines.conftest import MEASURES, content


@pytest.mark.parametrize("failing", [1, 2])
def test_a_rename_that_fails_leaves_the_old_baseline(store, add, collection, monkeypatch, failing):
    add()
    run, scoring = collection.other_run(), {"qrels": collection.qrels, "topics": None, "measures": MEASURES}
    before, calls, rename = content(store.root), [], Path.rename

    def fails(self, target):
        calls.append(self.name)
        if len(calls) == failing:
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(BaselineError, match=r"the store cannot be written .No space left on device"):
        store.update("prod", run, **scoring)
    assert len(calls) >= failing
    assert content(store.root) == before
    assert sorted(path.name for path in store.root.iterdir()) == [LOCK, "prod"]


def test_a_write_that_fails_leaves_nothing(store, add, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(BaselineError, match=r"the store cannot be written .No space left on device"):
        add()
    assert [path.name for path in store.root.iterdir()] == [LOCK]


def test_a_lock_that_is_held_is_waited_for_and_then_named(add, store, monkeypatch):
    add()
    monkeypatch.setattr("pytest_riskguard.baselines.atomic_folder.LOCK_TIMEOUT", 0.05)
    with (
        filelock.FileLock(store.root / LOCK),
        pytest.raises(BaselineError, match=r"\.lock: another process has been writing to this store for over 0\.05"),
    ):
        add("b")


def test_readers_take_no_lock_and_write_nothing(store, add, replicate, qrels, monkeypatch):
    add()
    replicate()
    (store.root / LOCK).unlink()

    def refuse(*arguments, **options):
        raise AssertionError("a reader took the lock")

    monkeypatch.setattr(filelock, "FileLock", refuse)
    before = {path: path.stat().st_mtime_ns for path in store.root.rglob("*")}
    store.names()
    store.manifest("prod")
    store.scores("prod", "AP", qrels=qrels)
    store.scores("prod", "RR", qrels=qrels)
    store.replicates("prod", "AP", qrels=qrels)
    store.replicates("prod", "RR", qrels=qrels)
    store.read("prod", lambda entry: entry.replicate(1).manifest)
    store.verify("prod")
    assert {path: path.stat().st_mtime_ns for path in store.root.rglob("*")} == before


def test_a_folder_without_write_permission_is_read_and_not_written(store, add, qrels):
    add()
    folders = [store.root, store.root / "prod"]
    for folder in folders:
        folder.chmod(0o555)
    (store.root / LOCK).chmod(0o444)
    try:
        if os.access(store.root, os.W_OK):
            pytest.skip("this system lets the user (root) write into read-only folders")
        store.scores("prod", "AP", qrels=qrels)
        with pytest.raises(BaselineError, match=r"the store cannot be written .Permission denied"):
            add("b")
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_a_reader_follows_a_baseline_that_is_replaced_under_its_eyes(store, add, collection, qrels, monkeypatch):
    add()
    twin = Store(store.root.with_name("twin"))
    twin.add("prod", collection.other_run(), qrels=collection.qrels, topics=None, measures=MEASURES)
    digest = entry.sha256

    def replaced_first(content):
        if (twin.root / "prod").exists():  # the manifest was read, the scores will be those of the next one
            shutil.rmtree(store.root / "prod")
            (twin.root / "prod").rename(store.root / "prod")
            content = (store.root / "prod" / "scores.tsv").read_bytes()
        return digest(content)

    monkeypatch.setattr(entry, "sha256", replaced_first)
    read = store.scores("prod", "AP", qrels=qrels).scores
    assert read.digest == store.manifest("prod").digests.run
    assert read.unanswered == ("t14",)
    assert not (twin.root / "prod").exists()
