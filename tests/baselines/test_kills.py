"""Kills at random moments, and many processes at once: a baseline is the old one or the new one, never neither.

500 kills, with the figures: ``pytest -s -m nightly tests/baselines/test_kills.py``.
"""

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


def state(store: Store) -> object:
    """What a baseline holds, after checking that it is whole; the time at which it was stored does not count."""
    assert store.verify("prod") == []
    held = store.read("prod", lambda entry: [one.manifest for one in (*entry.history(), entry)])
    return [(manifest.digests, manifest.measures, len(manifest.replicates)) for manifest in held]


def kills(number: int, store: Store, inputs: dict[str, tuple[Path, Path]], folder: Path) -> Counter[str]:
    """Kill ``number`` writers in turns; returns how often the old and the new baseline was found.

    Every second one is killed from outside after a random time, the others by themselves at a random step.
    """
    rng, counts = np.random.default_rng(20260101), Counter[str]()
    new, steps, seconds = dict[str, object](), dict[str, int](), dict[str, float]()
    for operation in OPERATIONS:
        whole, start = copied(store, folder / operation), time.monotonic()
        writer = Writer(whole, *inputs[operation], operation)
        assert writer.ended() == 0
        seconds[operation] = time.monotonic() - start
        new[operation], steps[operation] = state(whole), writer.steps.value
    old = state(store)
    for turn in range(number):
        operation = OPERATIONS[turn % 2]
        target = copied(store, folder / f"{operation}-{turn}")
        if turn // 2 % 2:
            writer = Writer(target, *inputs[operation], operation)
            assert writer.begun.wait(timeout=60)
            time.sleep(rng.uniform(0, seconds[operation]))
            writer.process.kill()
            writer.process.join()
        else:
            step = int(rng.integers(steps[operation])) + 1
            assert Writer(target, *inputs[operation], operation, dies_at=step).ended()
        assert target.names() == ("prod",)
        found = state(target)
        assert found in (old, new[operation]), f"neither the old nor the new baseline after {operation}"
        left = sorted(path.name for path in target.root.iterdir()) != [LOCK, "prod"]
        with locked(target.root):  # as any later writer does
            assert sorted(path.name for path in target.root.iterdir()) == [LOCK, "prod"]
        assert state(target) == found
        which = "old" if found == old else "new"
        counts.update([which, f"{operation}: {which}", *(["left something behind"] if left else [])])
    return counts


def copied(store: Store, root: Path) -> Store:
    shutil.copytree(store.root, root)
    return Store(root)


@pytest.mark.parametrize("number", [60, pytest.param(500, marks=pytest.mark.nightly)])
def test_killed_writers_leave_the_old_or_the_new_baseline(store, add, replicate, collection, tmp_path, number):
    add()
    store.update("prod", collection.noisy_run(1), qrels=collection.qrels, topics=None)
    replicate(run=collection.noisy_run(2))
    inputs = {
        "update": (collection.other_run(), collection.qrels),
        "rescore": (collection.run, collection.other_qrels()),
    }
    counts = kills(number, store, inputs, tmp_path)
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
