"""The examples for clusters, on real ones of this machine: with a worker killed, scores are those of one machine."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.data import read_scores
from pytest_riskguard.data.memory import run
from pytest_riskguard.data.run_scores import score_run
from tests.house import CHECKOUT

psutil = pytest.importorskip("psutil")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
EXAMPLES = CHECKOUT / "examples" / "clusters"
MEASURES = ["nDCG@10", "AP", "Bpref"]
#: Seconds until a cluster must have done something.
PATIENCE = 120.0

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Run and judgements of 200 queries in rows of no order, some unanswered, some without judgements."""
    folder, generator = tmp_path_factory.mktemp("world"), random.Random(7)
    ranked, judged = [], []
    for query in range(200):
        documents = [f"{query}-{place}" for place in generator.sample(range(60), 30)]
        if query % 50:
            ranked += [(f"q{query}", name, round(generator.random(), 2)) for name in documents[:20]]
        if query % 70:
            judged += [(f"q{query}", name, generator.choice([0, 0, 1, 2])) for name in documents[::2]]
    generator.shuffle(ranked)
    generator.shuffle(judged)
    pd.DataFrame(ranked, columns=["query_id", "doc_id", "score"]).to_parquet(folder / "rankings.parquet")
    pd.DataFrame(judged, columns=["query_id", "doc_id", "grade"]).to_parquet(folder / "judgements.parquet")
    return folder


def assert_those_of_one_machine(world: Path, scores: Path) -> None:
    rankings, judgements = (pd.read_parquet(world / f"{name}.parquet") for name in ("rankings", "judgements"))
    expected = score_run(run(rankings), judgements, MEASURES)
    found = read_scores(scores, MEASURES)
    assert len(list(scores.glob("part*"))) > 1
    assert [one.topics for one in found] == [one.topics for one in expected]
    assert [one.values.tobytes() for one in found] == [one.values.tobytes() for one in expected]


def environment(**more: str) -> dict[str, str]:
    paths = [str(CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **more}


@contextlib.contextmanager
def process(*command: str, folder: Path, log: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose output goes to a log; it is killed at the end, with all that it started."""
    with (folder / log).open("wb") as output:
        started = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env=environment(**variables),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield started
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def until(holds: Callable[[], Any]) -> Any:
    """What holds, once it does; the test fails if it takes too long."""
    last = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < last, "it took too long"
        time.sleep(0.02)
    return found


def ended(script: subprocess.Popen[bytes], log: Path) -> None:
    assert script.wait(PATIENCE) == 0, log.read_text(errors="replace")[-3000:]


def test_spark_with_an_executor_killed(world, tmp_path):
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        assert os.environ.get("RISKGUARD_REQUIRE_JAVA") != "1", "no Java: apt-get install default-jre-headless"
        pytest.skip("no Java runtime, which clusters of Spark need")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": environment()["PYTHONPATH"],
        "spark.sql.shuffle.partitions": "6",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
    }
    options = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    variables = {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(tmp_path / "work"),
        "SPARK_LOCAL_DIRS": str(tmp_path),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": f"--master local-cluster[2,1,1024] {options} pyspark-shell",
    }
    files = [str(world / f"{name}.parquet") for name in ("rankings", "judgements")]
    command = [str(EXAMPLES / "score_on_spark.py"), *files, str(tmp_path / "scores")]
    with process(*command, folder=tmp_path, log="script.log", **variables) as script:

        def working() -> list[Any]:
            """The executors whose Python workers have begun."""
            children = psutil.Process(script.pid).children(recursive=True)
            lines = {child: " ".join(_line(child)) for child in children}
            daemons = [child for child, line in lines.items() if "pyspark.daemon" in line and child.parent() in lines]
            return [one.parent() for one in daemons if "CoarseGrainedExecutorBackend" in lines[one.parent()]]

        executor = until(working)[0]
        time.sleep(0.5)
        executor.kill()
        assert script.poll() is None
        ended(script, tmp_path / "script.log")
    assert_those_of_one_machine(world, tmp_path / "scores")


def _line(process: Any) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_dask_with_a_worker_killed(world, tmp_path):
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("dask.dataframe")
    file, scores = tmp_path / "scheduler.json", tmp_path / "scores"
    on = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))
    with contextlib.ExitStack() as closing:
        scheduler = ("-m", "distributed.cli.dask_scheduler", "--port", "0", *on)
        closing.enter_context(process(*scheduler, folder=tmp_path, log="scheduler.log"))
        until(file.exists)
        worker = ("-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1", *on)
        workers = [closing.enter_context(process(*worker, folder=tmp_path, log=f"{n}.log")) for n in range(2)]
        address = until(lambda: json.loads(file.read_text())["address"])
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
            files = [str(world / f"{name}.parquet") for name in ("rankings", "judgements")]
            command = [str(EXAMPLES / "score_on_dask.py"), address, *files, str(scores)]
            script = closing.enter_context(process(*command, folder=tmp_path, log="script.log"))
            until(lambda: any("score_frame" in str(task) for found in client.processing().values() for task in found))
            workers[0].kill()
            assert script.poll() is None
            ended(script, tmp_path / "script.log")
    assert workers[0].wait() == -signal.SIGKILL
    assert_those_of_one_machine(world, scores)
