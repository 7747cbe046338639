"""Runs that are not one plain file: folders, addresses, scored parts; and files that several processes read."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from pytest_riskguard import run_context
from pytest_riskguard.errors import RiskguardError, UsageError
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.measures import parse_measure
from pytest_riskguard.evaluation.runs.run_folders import RunInPieces, folder_of, is_part
from pytest_riskguard.evaluation.scoring.array_scores import has_kernel
from pytest_riskguard.evaluation.scoring.run_parts import ScoredRun
from pytest_riskguard.evaluation.scoring.run_scores import WORTH_SHARING
from pytest_riskguard.evaluation.shards.merging import merged, scored_part
from pytest_riskguard.evaluation.shards.part_files import read_part_file
from pytest_riskguard.evaluation.shards.schedulers import Scheduler, WorkersDiedError
from pytest_riskguard.evaluation.shards.schedulers.addresses import engine_at
from pytest_riskguard.evaluation.shards.schedulers.executors import in_executor, in_processes, in_this_process
from pytest_riskguard.evaluation.shards.shard_plan import division_of, shards_of
from pytest_riskguard.evaluation.shards.sharded_scores import Progress, score_shards
from pytest_riskguard.formats.given_file import GivenFile

#: A piece of a plain file has at least this many bytes; more where that would make too many pieces.
PIECE_BYTES = 16 * 2**20
#: The most pieces of a run on a cluster.
MOST_PIECES = 10_000
#: The most pieces for each process on this machine: each costs extra work, but with fewer the processes would not
#: finish at about the same time.
PIECES_EACH = 5
#: Programs that the processes they start may import again; a user's own program might do its work a second time.
_PROGRAMS = frozenset({"pytest", "py.test", "riskguard"})


def read_in_pieces(
    run: RunInPieces,
    qrels: Qrels,
    measures: Sequence[str],
    *,
    name: str | None = None,
    queries: Mapping[str, str] | None = None,
    depth: int | None = None,
) -> ScoredRun:
    """The scores of a run that is a folder, an address or a scored part; arguments and errors as ``scored_run``."""
    given = run.given
    if is_part(given.path):
        part = read_part_file(given.path, qrels)
        whole = merged([part], qrels) if part.origin.count == 1 else part  # a piece is refused as such
        return scored_part(whole, qrels, measures, source=given.path.name, name=name, queries=queries)
    folder = folder_of(given.path)
    files = () if folder is None else folder.files
    with ExitStack() as closing:
        scheduler = _scheduler(closing, sum(_size(file) for file in files), measures)
        return score_shards(
            shards_of(given.path, 1 if scheduler is None else len(files), "files"),
            qrels,
            measures,
            executor=scheduler or in_this_process,
            name=name,
            queries=queries,
            given=given,
            depth=depth,
            progress=_progress(given.path),
        )


def read_by_several(
    path: Path,
    qrels: Qrels,
    measures: Sequence[str],
    *,
    name: str | None = None,
    queries: Mapping[str, str] | None = None,
    depth: int | None = None,
) -> ScoredRun | None:
    """The scores of a run in TREC's format, read by several processes or a cluster.

    None where one process is as good, and where something went wrong: one process then finds out what, and says so.
    """
    try:
        if division_of(path) != "bytes":
            return None
        size = path.stat().st_size
        with ExitStack() as closing:
            scheduler = _scheduler(closing, size, measures)
            pieces = _pieces(size, measures)
            if scheduler is None or (pieces < 2 and run_context.current().scheduler is None):
                return None
            return score_shards(
                # the machines of a cluster work in folders of their own
                shards_of(path if run_context.current().scheduler is None else path.absolute(), pieces, "bytes"),
                qrels,
                measures,
                executor=scheduler,
                name=name,
                queries=queries,
                given=GivenFile(path, format="trec"),
                depth=depth,
                progress=_progress(path),
            )
    except UsageError:
        raise
    except (RiskguardError, OSError) as problem:
        if isinstance(problem, WorkersDiedError) and run_context.current().scheduler is not None:
            raise
        return None


def _scheduler(closing: ExitStack, size: int, measures: Sequence[str]) -> Scheduler | None:
    """What reads a run of so many bytes; None if this process should."""
    address = run_context.current().scheduler
    if address is not None:
        return cluster_at(address)
    workers = _workers(size, measures)
    if workers < 2:
        return None
    if _has_threads():
        return in_executor(closing.enter_context(ThreadPoolExecutor(workers)))
    return in_processes(workers)


def _workers(size: int, measures: Sequence[str]) -> int:
    """How many processes or threads of this machine read a run of so many bytes."""
    workers = run_context.current().workers
    return processes_for(size, measures) if workers is None else workers


def _pieces(size: int, measures: Sequence[str]) -> int:
    """How many pieces a plain file is read in."""
    pieces = -(-size // PIECE_BYTES)
    if run_context.current().scheduler is not None:
        return min(pieces, MOST_PIECES)
    return min(pieces, PIECES_EACH * _workers(size, measures))


def cluster_at(address: str) -> Scheduler:
    """The cluster at an address; ``UsageError`` as ``engine_at``."""
    if engine_at(address) == "dask":
        from pytest_riskguard.evaluation.shards.schedulers.dask_cluster import on_dask

        return on_dask(address)
    from pytest_riskguard.evaluation.shards.schedulers.spark_cluster import on_spark

    return on_spark(address)


def processes_for(size: int, measures: Sequence[str]) -> int:
    """How many processes read a run of so many bytes fastest; 1 also where no others may be started.

    With two processors, starting the second process and putting pieces together costs as much time as it saves,
    unless ir-measures has to compute a measure, which takes several times as long as reading.
    """
    is_slow = not all(has_kernel(parse_measure(measure)) for measure in measures)
    least_size, least_processors = (WORTH_SHARING, 2) if is_slow else (3 * WORTH_SHARING, 4)
    processors = _processors()
    if (
        size < least_size
        or processors < least_processors
        or os.environ.get("PYTEST_XDIST_WORKER")
        or not _may_start()
    ):
        return 1
    return min(processors, -(-size // PIECE_BYTES))


def _processors() -> int:
    if hasattr(os, "process_cpu_count"):
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _may_start() -> bool:
    """Whether others may be started: a new process imports the program of this one."""
    return _program() in _PROGRAMS or _has_threads()


def _program() -> str:
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    return Path(getattr(main, "__file__", None) or "").stem if spec is None else str(spec.name).partition(".")[0]


def _has_threads() -> bool:
    """Whether threads of this interpreter run at the same time."""
    return not getattr(sys, "_is_gil_enabled", lambda: True)()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # an address
        return 0


def _progress(path: Path) -> Progress | None:
    tell = run_context.current().progress
    if tell is None:
        return None

    def told(done: int, of: int) -> None:
        tell(f"{path.name}: {done} of {of} pieces scored")

    return told
