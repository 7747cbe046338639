"""Runs scored in pieces by whatever runs the work."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.runs.text_blocks import checked_digest
from pytest_riskguard.evaluation.scoring.run_parts import ScoredRun
from pytest_riskguard.evaluation.shards.merging import merged, scored_part
from pytest_riskguard.evaluation.shards.part_files import Part, content_of, read_content
from pytest_riskguard.evaluation.shards.schedulers import Scheduler
from pytest_riskguard.evaluation.shards.schedulers.executors import in_executor
from pytest_riskguard.evaluation.shards.shard_plan import Shard, folder_to_read, shards_of
from pytest_riskguard.evaluation.shards.shard_reading import Asked, read_shard
from pytest_riskguard.formats.given_file import GivenFile

Progress = Callable[[int, int], None]


def score_shards(
    shards: Sequence[Shard],
    qrels: Qrels,
    measures: Sequence[str],
    *,
    executor: Executor | Scheduler,
    name: str | None = None,
    queries: Mapping[str, str] | None = None,
    given: GivenFile | None = None,
    depth: int | None = None,
    progress: Progress | None = None,
) -> ScoredRun:
    """One run's scores, for each measure in order, from pieces that an executor reads; as ``score_run`` otherwise.

    Parameters
    ----------
    shards : sequence of Shard
        All pieces of a run, as ``shards_of`` gives them.
    qrels : Qrels
    measures : sequence of str
    executor : Executor or Scheduler
        Any executor of ``concurrent.futures``, or ``on_dask(...)`` or ``on_spark(...)``. Processes and machines need
        this package and find the run at the same path.
    name, queries, depth
        As ``scored_run`` takes them.
    given : GivenFile, optional
        How the run is read, if that is not found out.
    progress : callable, optional
        Is told how many pieces are done, and of how many.

    Raises
    ------
    UsageError, DataError
        As ``score_run``; for pieces that are not all of one run; for workers that died too often.
    """
    if not shards or list(shards) != list(shards_of(run := shards[0].run, len(shards), shards[0].by)):
        raise UsageError("expected all pieces of one run, in order, as shards_of gives them")
    folder_to_read(shards[0])
    asked = Asked.of(given or GivenFile(run), qrels, measures, depth=depth, texts=queries)
    asked = replace(asked, is_hashed=shards[0].by == "bytes")
    scheduler = in_executor(executor) if isinstance(executor, Executor) else executor
    parts: list[Part] = []
    with ThreadPoolExecutor(1) as hashing:
        before = _stamp(run)
        digest = hashing.submit(checked_digest, run) if asked.is_hashed else None
        shared = pickle.dumps(asked)
        _OWN[shared] = os.getpid(), asked
        try:
            for _, read in scheduler(_work, shards, shared):
                parts.append(read if isinstance(read, Part) else read_content(read, qrels))
                if progress is not None:
                    progress(len(parts), len(shards))
        finally:
            _OWN.pop(shared, None)
        whole = merged(sorted(parts, key=lambda part: part.origin.number), qrels)
        if digest is not None:
            whole = Part(replace(whole.origin, digest=digest.result()), whole.kept)
    if _stamp(run) != before:
        raise DataError(f"{run.name} changed while it was read; try again", reason="inputs_changed")
    return scored_part(whole, qrels, asked.measures, name=name, queries=queries)


def _stamp(run: Path) -> tuple[int, int] | None:
    """What differs when a file is rewritten; None for an address."""
    try:
        status = run.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


#: What pieces need that are being read for this process, some of them by itself.
_OWN: dict[bytes, tuple[int, Asked]] = {}


def _work(shard: Shard, shared: bytes) -> Part | bytes:
    """A piece; its content, where another process wants it."""
    owner, asked = _OWN.get(shared) or (0, _asked(shared))
    part = read_shard(shard, asked)
    return part if owner == os.getpid() else content_of(part, asked.qrels)


@lru_cache(maxsize=1)
def _asked(shared: bytes) -> Asked:
    """What all pieces need; a worker has one piece after the other of the same run."""
    asked: Asked = pickle.loads(shared)  # noqa: S301 - sent by ``score_shards``
    return asked
