"""Kills at random moments, and many processes at once: a baseline is the old one or the new one, never neither.

500 kills, with the figures: ``pytest -s -m nightly tests/baselines/test_kills.py``.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.baselines.atomic_folder import LOCK, locked
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.data.qrels import read_qrels
from tests.baselines.other_process import CONTEXT, Writer

pytestmark = pytest.mark.slow

OPERATIONS = ("update", "rescore")


class Target:
    """A baseline with a replicate and an earlier run, copied anew for each kill, and one operation on it."""

    def __init__(self, template: Path, folder: Path, operation: str, run: Path, qrels: Path) -> None:
        self._template, self._folder, self._operation = template, folder, operation
        self._run, self._qrels, self._count = run, qrels, 0
        writer = self._writer(store := self._copy())
        self.steps = writer.steps()
        assert writer.problem() is None
        self.old, self.new = state(Store(template)), state(store)
        assert self.old != self.new
        start = time.monotonic()
        assert self._writer(self._copy()).problem() is None
        self.seconds = time.monotonic() - start

    def kill(self, rng: np.random.Generator) -> tuple[str, bool]:
        """Kill one writer; returns whether the old or the new baseline is there, and whether something was left.

        Every second one is killed from outside after a random time, the others by themselves at a random step.
        """
        store = self._copy()
        if self._count % 2:
            self._writer(store).kill_after(rng.uniform(0, self.seconds))
        else:
            self._writer(store, last_step=int(rng.integers(self.steps))).steps()
        assert store.names() == ("prod",)
        found = state(store)
        assert found in (self.old, self.new), f"neither the old nor the new baseline after {self._operation}"
        left = sorted(path.name for path in store.root.iterdir()) != [LOCK, "prod"]
        with locked(store.root):  # as any later writer does
            assert sorted(path.name for path in store.root.iterdir()) == [LOCK, "prod"]
        assert state(store) == found
        return "old" if found == self.old else "new", left

    def _copy(self) -> Store:
        self._count += 1
        root = self._folder / f"{self._operation}-{self._count}"
        shutil.copytree(self._template, root)
        return Store(root)

    def _writer(self, store: Store, **options: Any) -> Writer:
        return Writer(store.root, "prod", self._run, self._qrels, self._operation, **options)


def state(store: Store) -> object:
    """What a baseline holds, after checking that it is whole; the time at which it was stored does not count."""
    assert store.verify("prod") == []
    return [(manifest.digests, manifest.measures, len(manifest.replicates)) for manifest in store.history("prod")]


def kills(number: int, store: Store, add: Any, replicate: Any, collection: Any, tmp_path: Path) -> Counter[str]:
    """Kill ``number`` writers in turns; returns how often the old and the new baseline was found."""
    add()
    store.update("prod", collection.noisy_run(1), qrels=collection.qrels, topics=None)
    replicate(run=collection.noisy_run(2))
    inputs = {
        "update": (collection.other_run(), collection.qrels),
        "rescore": (collection.run, collection.other_qrels()),
    }
    targets = [Target(store.root, tmp_path, operation, *inputs[operation]) for operation in OPERATIONS]
    rng, counts = np.random.default_rng(20260101), Counter[str]()
    for turn in range(number):
        found, left = targets[turn % len(targets)].kill(rng)
        counts[f"{OPERATIONS[turn % len(targets)]}: {found}"] += 1
        counts[found] += 1
        counts["left something behind"] += left
    assert counts["old"] + counts["new"] == number
    return counts


@pytest.mark.parametrize("number", [60, pytest.param(500, marks=pytest.mark.nightly)])
def test_killed_writers_leave_the_old_or_the_new_baseline(store, add, replicate, collection, tmp_path, number):
    counts = kills(number, store, add, replicate, collection, tmp_path)
    print(f"\n{number} kills:", ", ".join(f"{what} {count}" for what, count in sorted(counts.items())))
    assert min(counts["old"], counts["new"], counts["left something behind"]) > 0  # the moments were spread


def _replace_often(root: Path, runs: list[Path], qrels: Path, times: int) -> None:
    for turn in range(times):
        run = runs[turn % len(runs)]
        Store(root).update("prod", run, qrels=qrels, topics=None, measures=["AP"])


def _read_until_done(root: Path, qrels: Path, valid: set[bytes], begun: Any, done: Any, reads: Any) -> None:
    judgements = read_qrels(qrels)
    begun.release()
    while not done.is_set():
        store = Store(root)
        assert store.names() == ("prod",)
        assert store.scores("prod", "AP", qrels=judgements).scores.values.tobytes() in valid
        with reads.get_lock():
            reads.value += 1


def test_ten_readers_meet_a_whole_baseline_while_two_writers_replace_it(store, add, collection):
    runs, valid = [collection.run, collection.other_run()], set[bytes]()
    judgements = read_qrels(collection.qrels)
    for run in runs:
        if run == collection.run:
            add()
        else:
            store.update("prod", run, qrels=collection.qrels, topics=None)
        valid.add(store.scores("prod", "AP", qrels=judgements).scores.values.tobytes())
    assert len(valid) == 2
    begun, done, reads = CONTEXT.Semaphore(0), CONTEXT.Event(), CONTEXT.Value("i", 0)
    arguments = (store.root, collection.qrels, valid, begun, done, reads)
    readers = [CONTEXT.Process(target=_read_until_done, args=arguments) for _ in range(10)]
    for process in readers:
        process.start()
    for _ in readers:
        assert begun.acquire(timeout=120)
    writers = [CONTEXT.Process(target=_replace_often, args=(store.root, runs, collection.qrels, 5)) for _ in range(2)]
    for process in writers:
        process.start()
    for process in writers:
        process.join(timeout=300)
    done.set()
    for process in readers:
        process.join(timeout=120)
    assert [process.exitcode for process in (*writers, *readers)] == [0] * 12
    assert reads.value >= len(readers)
    assert store.verify("prod") == []
