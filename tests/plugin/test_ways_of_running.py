"""However pytest is run, the same files give the same verdicts, byte for byte."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.plugin import world
from tests.plugin.world import read_report

YAML = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP, nDCG@10]
candidate: candidate.run
gates:
  - {name: risk, kind: not_significantly_risky, baselines: [prod, old], alpha: [1, 5]}
  - {name: pool, kind: georisk_not_worse, baselines: [prod, old], measure: AP, alpha: 5}
  - {name: inferior, kind: not_inferior, baseline: prod, measure: AP, tolerance: 0.05}
  - {name: collapse, kind: no_topic_collapse, baseline: prod, measure: AP, max_loss: 0.3}
"""
TESTS = """\
def test_ranking(riskguard):
    riskguard.assert_not_significantly_risky(riskguard.run("candidate.run"), "old", measure="AP")


def test_live(riskguard):
    search = riskguard.retrieve(lambda query: [("good", 2.0 if query[-1] in "123" else 0.5), ("bad1", 1.0)])
    riskguard.assert_no_topic_collapse(search, "prod", measure="nDCG@10")
"""
#: Runs tests in an order drawn with a seed.
SHUFFLED = """\
import os, random

def pytest_collection_modifyitems(items):
    random.Random(os.environ.get("ORDER")).shuffle(items) if "ORDER" in os.environ else None
"""
#: How many verdicts there are: eight on the risk, one of each other gate and test.
COUNT = 13


@dataclass(frozen=True)
class Way:
    """Arguments of pytest, variables of its environment (None: unset), and how many verdicts come."""

    arguments: tuple[str, ...] = ()
    environment: dict[str, str | None] = field(default_factory=dict)
    count: int = COUNT
    elsewhere: bool = False


WAYS = {
    "two workers": Way(("-n", "2", "--dist", "loadscope")),
    "workers that steal, in another order": Way(("-n", "2", "--dist", "worksteal"), {"ORDER": "7"}),
    "a subset": Way(("-k", "pool or inferior or collapse"), count=3),
    "one gate by its id": Way(("riskguard.yaml::inferior",), count=1),
    "another order, run again, without assertions": Way(("--reruns", "1"), {"ORDER": "1", "PYTHONOPTIMIZE": "1"}),
    "locale C": Way(environment={"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"}),
    "another machine": Way(
        environment={
            **{"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "LANGUAGE": "tr", "TZ": "Pacific/Kiritimati"},
            **{"HOME": None, "XDG_CACHE_HOME": None, "USERPROFILE": None, "PYTHONHASHSEED": "4242"},
            **{"CI": "true", "COLUMNS": "40", "NO_COLOR": "1"},
        },
        elsewhere=True,
    ),
}
#: Each starts processes of its own.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ways") / "project"
    world.write_world(folder, world.CHURN, yaml=YAML)
    world.store(folder, "old", world.LOSS)
    for name, text in {"test_ranking.py": TESTS, "conftest.py": SHUFFLED, "pytest.ini": "[pytest]\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def verdicts(folder: Path, way: Way, *, cwd: Path | None = None) -> dict[str, str]:
    """The bytes of each verdict by its gate, of a pytest in a process of its own."""
    changed = {"PYTEST_ADDOPTS": None, "PYTEST_CURRENT_TEST": None, "PYTEST_XDIST_WORKER": None} | way.environment
    environment = {name: value for name, value in os.environ.items() if name not in changed}
    environment |= {name: value for name, value in changed.items() if value is not None}
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    where = [] if cwd is None else [os.fspath(folder)]
    words = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        "--riskguard",
        f"--riskguard-report={report}",
        *way.arguments,
        *where,
    ]
    command = [sys.executable, "-m", "pytest", *words]
    ended = subprocess.run(command, cwd=cwd or folder, env=environment, capture_output=True, check=False, timeout=300)
    assert ended.returncode == 1, ended.stdout.decode(errors="replace") + ended.stderr.decode(errors="replace")
    by_gate = {verdict["gate"]: json.dumps(verdict) for verdict in read_report(report)["verdicts"]}
    assert len(by_gate) == way.count
    return by_gate


@pytest.fixture(scope="module")
def expected(project):
    """The verdicts of the plain ``pytest --riskguard``."""
    judged = verdicts(project, Way())
    assert {json.loads(verdict)["outcome"] for verdict in judged.values()} == {"pass", "fail"}
    return judged


@pytest.mark.parametrize("name", WAYS)
def test_the_verdicts_are_the_same_bytes(project, expected, tmp_path, name):
    way = WAYS[name]
    folder = project
    if way.elsewhere:
        folder = tmp_path / "Überall" / "a folder"
        shutil.copytree(project, folder)
    judged = verdicts(folder, way, cwd=tmp_path if way.elsewhere else None)
    assert judged == {gate: expected[gate] for gate in judged}
