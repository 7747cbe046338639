"""Disks that are full or read-only: a baseline stays as it was, and the error says why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.baselines.atomic_folder import LOCK
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.errors import BaselineError
from tests.baselines.conftest import MEASURES, content
from tests.baselines.other_process import CONTEXT

pytestmark = pytest.mark.slow

PAGE = 4096


@pytest.fixture
def small_disk(tmp_path):
    """A separate disk of 64 pages with a store, removed at the end."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={64 * PAGE}", "riskguard", str(disk)]
    mounts = sys.platform == "linux" and shutil.which("mount") is not None
    if not mounts or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this system does not let the user mount a small disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk: Path, *, pages_left: int) -> None:
    """Leave this much free room on a disk."""
    filler = disk / "filler"
    filler.unlink(missing_ok=True)
    free = os.statvfs(disk).f_bavail - pages_left
    assert free >= 0
    filler.write_bytes(b"x" * free * PAGE)


def operations(store: Store, collection: Any) -> dict[str, Callable[[], Any]]:
    """The operations that replace baseline ``prod``, by name."""
    given: dict[str, Any] = {"qrels": collection.qrels, "topics": None}
    new, noisy, qrels = collection.other_run(), collection.noisy_run(1), collection.other_qrels()
    return {
        "update": lambda: store.update("prod", new, **given, measures=MEASURES),
        "promote": lambda: store.promote("prod", new, **given),
        "rescore": lambda: store.rescore("prod", qrels=qrels, topics=None),
        "replicate": lambda: store.add_replicate("prod", noisy, **given),
    }


def refusal(operation: Callable[[], Any]) -> str | None:
    """Why the store refused, or None."""
    try:
        operation()
    except BaselineError as error:
        return str(error)
    return None


@pytest.mark.parametrize("operation", ["update", "promote", "rescore", "replicate"])
def test_a_disk_that_is_full_at_any_page_leaves_the_old_baseline(small_disk, collection, operation):
    store, outcomes = Store(small_disk / "baselines"), []
    for pages in range(20):
        fill(small_disk, pages_left=40)
        given: dict[str, Any] = {"qrels": collection.qrels, "topics": None, "measures": MEASURES}
        if pages:
            store.remove("prod")  # with its history, so that each round needs as many pages
        store.add("prod", collection.run, **given, kind="previous")
        before = content(store.root)
        fill(small_disk, pages_left=pages)
        problem = refusal(operations(store, collection)[operation])
        assert problem is None or "the store cannot be written (No space left on device)" in problem
        assert (content(store.root) == before) == (problem is not None)
        outcomes.append("new" if problem is None else "old")
        assert sorted(path.name for path in store.root.iterdir()) == [LOCK, "prod"]
        assert store.verify("prod") == []
        if store.manifest("prod").replicates:
            fill(small_disk, pages_left=40)  # what is left of the baseline is written anew
            store.remove_replicate("prod", 1)
    assert outcomes == sorted(outcomes, reverse=True)
    assert set(outcomes) == {"old", "new"}


def test_a_full_disk_lets_a_baseline_be_read_and_removed(small_disk, collection):
    store = Store(small_disk / "baselines")
    store.add("prod", collection.run, qrels=collection.qrels, topics=None, measures=MEASURES)
    fill(small_disk, pages_left=0)
    assert store.scores("prod", "AP", qrels=read_qrels(collection.qrels)).scores.unanswered == ("t14",)
    store.remove("prod")
    assert store.names() == ()


@pytest.mark.parametrize("operation", ["update", "promote", "rescore", "replicate"])
def test_a_disk_that_is_read_only_is_read_and_not_written(small_disk, collection, operation):
    store = Store(small_disk / "baselines")
    given: dict[str, Any] = {"qrels": collection.qrels, "topics": None, "measures": MEASURES}
    store.add("prod", collection.run, **given, kind="previous")
    before = content(store.root)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert store.names() == ("prod",)
    assert store.scores("prod", "AP", qrels=read_qrels(collection.qrels)).scores.unanswered == ("t14",)
    for write in (operations(store, collection)[operation], lambda: store.remove("prod")):
        with pytest.raises(BaselineError, match=r"the store cannot be written .Read-only file system"):
            write()
    assert content(store.root) == before


def _update_with_short_files(root: Path, run: Path, qrels: Path, limit: int, results: Any) -> None:
    import resource

    # Python would leave compiled modules truncated at the limit, which would break every later process.
    sys.dont_write_bytecode = True
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    try:
        Store(root).update("prod", run, qrels=qrels, topics=None, measures=MEASURES)
    except BaselineError as error:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        results.put(str(error))
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        results.put("new")


@pytest.mark.skipif(sys.platform == "win32", reason="this system (Windows) limits no size of files")
def test_files_that_cannot_be_written_to_their_end_leave_the_old_baseline(store, add, collection):
    add()
    before, run = content(store.root), collection.other_run()
    results = CONTEXT.Queue()
    for limit in (0, 100, 300):
        arguments = (store.root, run, collection.qrels, limit, results)
        process = CONTEXT.Process(target=_update_with_short_files, args=arguments)
        process.start()
        assert "the store cannot be written (File too large)" in results.get(timeout=120)
        process.join(timeout=120)
        assert content(store.root) == before
        assert sorted(path.name for path in store.root.iterdir()) == [LOCK, "prod"]
    assert store.verify("prod") == []
