"""A package of somebody else adds a command, a format, a measure and a report, and receives every verdict."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_riskguard import plugins
from pytest_riskguard.hookspecs import hookimpl
from tests.wings.outside_package import MODULE, install

QUERIES = [f"q{place:02}" for place in range(30)]


class Project:
    """A working folder, with the package installed beside it; commands run in their own processes."""

    def __init__(self, folder: Path, module: str = MODULE) -> None:
        self.folder, self.log = folder, folder / "verdicts.log"
        self.packages = install(folder / "packages", module=module)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(self.packages), *filter(None, [os.environ.get("PYTHONPATH")]), *_sources()])
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": path, "OUTSIDE_LOG": str(self.log)},
            capture_output=True,
            text=True,
            check=False,
        )

    def riskguard(self, line: str) -> subprocess.CompletedProcess[str]:
        return self.run("-c", "from pytest_riskguard.cli import main; main()", *line.split())


def _sources() -> list[str]:
    import pytest_riskguard

    return [str(Path(pytest_riskguard.__file__).parents[1])]


def write_shelf(folder: Path) -> None:
    """Judgements, a good and a bad run, and scores, in the format that only the package can read."""
    (folder / "qrels.shelf").write_text(json.dumps({query: ["a"] for query in QUERIES}))
    (folder / "good.shelf").write_text(json.dumps({query: ["a", "b"] for query in QUERIES}))
    (folder / "bad.shelf").write_text(json.dumps({query: ["b", "a"] for query in QUERIES}))
    (folder / "riskguard.yaml").write_text("collection: {qrels: {path: qrels.shelf, format: shelf}}\n")
    (folder / "half.txt").write_text("".join(f"{query} 0.5\n" for query in QUERIES))
    (folder / "less.txt").write_text("".join(f"{query} 0.{place % 3}\n" for place, query in enumerate(QUERIES)))


GATE = "--gate not_significantly_risky"
READ = f"--set format=shelf {GATE}"


@pytest.mark.slow
def test_the_command_line_has_all_that_the_package_adds(tmp_path):
    project = Project(tmp_path)
    write_shelf(tmp_path)
    assert "count-lines" in project.riskguard("--help").stdout
    assert project.riskguard("count-lines half.txt").stdout == "30\n"
    ended = project.riskguard(f"compare good.shelf bad.shelf {READ} --measure FirstHit --measure RR -o r.json")
    assert ended.returncode == 1, ended.stderr
    first_hit, reciprocal = json.loads((tmp_path / "r.json").read_text())["verdicts"]
    assert first_hit["measure"] == "FirstHit"
    assert first_hit["estimates"]["mean_difference"] == -1.0
    assert reciprocal["estimates"]["mean_difference"] == -0.5
    assert project.log.read_text().splitlines() == ["not_significantly_risky fail"] * 2
    assert project.riskguard("report r.json --output r.csv").returncode == 0
    assert (tmp_path / "r.csv").read_text().splitlines() == ["not_significantly_risky,fail"] * 2
    ended = project.riskguard(f"compare --scores half.txt less.txt --set format=shelf {GATE} -o s.json")
    assert ended.returncode == 1, ended.stderr
    (verdict,) = json.loads((tmp_path / "s.json").read_text())["verdicts"]
    assert verdict["estimates"]["baseline_mean"] == 0.5


@pytest.mark.slow
def test_a_command_of_the_package_has_systems_that_are_scored_and_judged(tmp_path):
    project = Project(tmp_path)
    write_shelf(tmp_path)
    (tmp_path / "same.shelf").write_bytes((tmp_path / "good.shelf").read_bytes())
    asked = "--baseline same.shelf --set format=shelf --measure RR"
    ended = project.riskguard(f"losers good.shelf bad.shelf {asked} -o l.json")
    assert (ended.returncode, ended.stderr) == (3, "Error: lost\n")
    assert ended.stdout == "losers\n  bad.shelf\n"
    assert json.loads((tmp_path / "l.json").read_text())["lost"] == ["bad.shelf"]
    assert project.riskguard(f"losers bad.shelf {asked} -o bad.shelf").returncode == 2


@pytest.mark.slow
def test_pytest_has_them_too(tmp_path):
    project = Project(tmp_path)
    write_shelf(tmp_path)
    (tmp_path / "riskguard.yaml").write_text(
        "collection: {qrels: {path: qrels.shelf, format: shelf}}\n"
        "candidate: bad.run\n"
        "store: baselines\n"
        "measures: [FirstHit]\n"
        "gates: [{name: no-risk, kind: not_significantly_risky, baseline: prod}]\n"
    )
    (tmp_path / "bad.run").write_text("".join(f"{query} Q0 b 1 2 t\n{query} Q0 a 2 1 t\n" for query in QUERIES))
    stored = project.riskguard("baseline add prod good.shelf --set format=shelf --measure FirstHit")
    assert stored.returncode == 0, stored.stderr
    ended = project.run("-m", "pytest", "--riskguard", "--riskguard-report=gates.csv", "-p", "no:cacheprovider")
    assert ended.returncode == 1, ended.stdout
    assert (tmp_path / "gates.csv").read_text().splitlines() == ["no-risk,fail"]
    assert project.log.read_text().splitlines() == ["no-risk fail"]


def test_a_suite_that_gates_nothing_never_loads_the_package(tmp_path):
    project = Project(tmp_path, "raise RuntimeError('loaded')")
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    ended = project.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py")
    assert ended.returncode == 0, ended.stdout


FAILING = {
    "does not load": ("raise RuntimeError('gone')", "compare good.shelf bad.shelf --qrels q.txt", "cannot be loaded"),
    "a verdict": (
        MODULE.replace('log.write(f"', "raise RuntimeError('no') #"),
        f"compare good.shelf bad.shelf {READ}",
        "riskguard_verdict fails (RuntimeError: no)",
    ),
    "a measure": (
        MODULE.replace("float(bool(documents)", "3 * float(bool(documents)"),
        f"compare good.shelf bad.shelf {READ} --measure FirstHit",
        "expected FirstHit from 0 to 1",
    ),
    "a taken name": (
        MODULE.replace('"count-lines"', '"compare"'),
        "--help",
        "riskguard_commands adds 'compare', which riskguard has itself",
    ),
    "a taken measure": (
        MODULE.replace('{"FirstHit"', '{"AP": first_hit, "FirstHit"'),
        f"compare good.shelf bad.shelf {READ} --measure FirstHit",
        "riskguard_measures adds 'AP', which riskguard has itself",
    ),
    "a name given twice": (
        MODULE.replace("return [count_lines, losers]", "return [count_lines, count_lines, losers]"),
        "--help",
        "plugin 'outside': riskguard_commands adds 'count-lines', which plugin 'outside' adds as well; mend or",
    ),
    "an answer of another kind": (
        MODULE.replace("return [count_lines, losers]", "return 3"),
        "--help",
        "plugin 'outside': what riskguard_commands returned fails (TypeError",
    ),
    "a misspelt hook": (
        MODULE.replace("def riskguard_reports", "def riskguard_report"),
        "--help",
        "unknown hook 'riskguard_report'",
    ),
    "a reader": (
        MODULE.replace("dict.fromkeys(documents, 1)", "documents[99]"),
        f"compare good.shelf bad.shelf {READ}",
        "format shelf fails (IndexError",
    ),
}


#: The others load the core, and judge.
DEAR = ("does not load", "a verdict", "a reader", "a measure", "a taken measure")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in DEAR else []) for name in FAILING]
)
def test_a_plugin_that_fails_is_named_and_nothing_passes(name, tmp_path):
    module, line, words = FAILING[name]
    project = Project(tmp_path, module)
    write_shelf(tmp_path)
    ended = project.riskguard(line)
    said = " ".join((ended.stdout + ended.stderr).split())
    assert ended.returncode == (3 if name == "a measure" else 2), said
    assert name == "a measure" or "plugin 'outside'" in said  # a measure's name is its own
    assert words in said


def test_plugins_answer_in_the_order_of_their_names(monkeypatch):
    hook: dict[str, object] = {"riskguard_reports": staticmethod(hookimpl(lambda: {}))}
    entries = [SimpleNamespace(name=name, value="", load=lambda: type("Module", (), hook)) for name in "bca"]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: entries)
    monkeypatch.setattr(plugins, "manager", cache(plugins.manager.__wrapped__))
    assert list(plugins.answers("riskguard_reports")) == [("a", {}), ("b", {}), ("c", {})]


@pytest.mark.slow
def test_content_that_is_not_of_the_format_is_incomparable(tmp_path):
    project = Project(tmp_path)
    write_shelf(tmp_path)
    (tmp_path / "bad.shelf").write_text("[]")
    ended = project.riskguard(f"compare good.shelf bad.shelf {READ}")
    assert ended.returncode == 3
    assert "expected shelf: a mapping of queries to documents" in " ".join(ended.stdout.split())
