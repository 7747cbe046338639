"""Real clusters on this machine, each of several processes, and work that says which process does it."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.evaluation.shards.schedulers import Scheduler, Work

psutil = pytest.importorskip("psutil")

CHECKOUT = Path(__file__).resolve().parents[3]
#: Seconds until a cluster must be there.
PATIENCE = 90.0


def environment(folder: Path) -> dict[str, str]:
    """The variables of the processes of a cluster: they import the package and its tests from this checkout."""
    paths = [str(CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "DASK_TEMPORARY_DIRECTORY": str(folder)}


@contextmanager
def process(*command: str, folder: Path, log: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose output goes to a log; it is killed at the end, with all that it started."""
    with (folder / log).open("wb") as output:
        started = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env=environment(folder),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield started
        finally:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()


@contextmanager
def dask_cluster(folder: Path) -> Iterator[str]:
    """The address of a scheduler with two workers, each a process without a nanny that would start it again."""
    file = folder / "scheduler.json"
    on = ("--no-dashboard", "--scheduler-file", str(file))
    with ExitStack() as closing:
        main = ("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *on)
        closing.enter_context(process(*main, folder=folder, log="scheduler.log"))
        until(file.exists)
        for number in range(2):
            worker = (
                "-m",
                "distributed.cli.dask_worker",
                "--no-nanny",
                "--nthreads",
                "1",
                "--host",
                "127.0.0.1",
                *on,
            )
            closing.enter_context(process(*worker, folder=folder, log=f"worker-{number}.log"))
        address = str(json.loads(file.read_text(encoding="utf-8"))["address"])
        from distributed import Client

        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
        yield address


@contextmanager
def spark_cluster(folder: Path) -> Iterator[str]:
    """The master of a cluster of this process' own: a driver, a master and two executors, each a Java process."""
    if shutil.which("java") is None:
        if os.environ.get("RISKGUARD_REQUIRE_JAVA") == "1":
            pytest.fail("RISKGUARD_REQUIRE_JAVA=1, and no Java: apt-get install default-jre-headless")
        pytest.skip("no Java runtime, which clusters of Spark need")
    from pyspark.sql import SparkSession

    here = {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOCAL_DIRS": str(folder),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": environment(folder)["PYTHONPATH"],
    }
    with pytest.MonkeyPatch.context() as patch, ExitStack() as closing:
        for name, value in here.items():
            patch.setenv(name, value)
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("tests")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executorEnv.PYTHONPATH": here["PYTHONPATH"],
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        closing.callback(session.stop)
        session.sparkContext.setLogLevel("OFF")
        yield session.sparkContext.master


def until(holds: Callable[[], object]) -> None:
    """Wait for something; the test fails if it does not come."""
    last = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < last, "it took too long"
        time.sleep(0.02)


def told(folder: Path, work: Work, piece: Any, shared: bytes) -> bytes:
    """What work returns, slowly; a file in the folder names the process that does it."""
    parents = [process.pid for process in psutil.Process().parents()]
    (folder / f"{os.getpid()}-{time.monotonic_ns()}.json").write_text(json.dumps([os.getpid(), *parents]))
    time.sleep(1.0)
    return work(piece, shared)


def with_a_death(scheduler: Scheduler, folder: Path, *, generation: int = 0) -> Scheduler:
    """A scheduler of which one worker, or an ancestor of it, is killed while it works on its first piece."""
    folder.mkdir(exist_ok=True)

    def run(work: Work, pieces: Any, shared: bytes) -> Iterator[tuple[int, bytes]]:
        import threading

        killed: list[int] = []

        def kill() -> None:
            until(lambda: any(folder.iterdir()))
            time.sleep(0.3)
            first = min(folder.iterdir(), key=lambda file: int(file.stem.partition("-")[2]))
            killed.append(json.loads(first.read_text())[generation])
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        yield from scheduler(functools.partial(told, folder, work), pieces, shared)
        killer.join()
        assert not psutil.pid_exists(killed[0]) or psutil.Process(killed[0]).status() == psutil.STATUS_ZOMBIE

    return run
