"""Files about the project agree with each other: versions, addresses, commands, workflows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_riskguard import __version__

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
NOX_SESSIONS = {
    *("tests", "all", "versions", "audit", "coverage", "lint", "mutation", "types", "docs", "benchmarks", "scale"),
}
#: Links to files of the project from its pages at the top.
TOP_PAGES = ("CONTRIBUTING.md", "RELEASING.md")


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def workflow(name: str) -> Any:
    return yaml.safe_load(text(f".github/workflows/{name}"))


def test_the_citation_is_of_this_version_and_licence():
    assert CITATION["version"] == __version__
    assert CITATION["license"] == PYPROJECT["project"]["license"]
    assert CITATION["title"] == PYPROJECT["project"]["name"]


def test_the_repository_has_one_address():
    repository = PYPROJECT["project"]["urls"]["Repository"]
    assert CITATION["repository-code"] == repository
    urls = {name: url for name, url in PYPROJECT["project"]["urls"].items() if name != "Documentation"}
    assert all(url.startswith(repository) for url in urls.values())


def test_sessions_of_nox_are_those_of_contributing():
    defined = re.findall(
        r'^@nox\.session(?:\((?:name="(\w+)"|.*)\))?\n(?:@.*\n)*def (\w+)', text("noxfile.py"), re.MULTILINE
    )
    assert {name or function for name, function in defined} == NOX_SESSIONS
    assert set(re.findall(r"`nox -s (\w+)`", text("CONTRIBUTING.md"))) == NOX_SESSIONS


def test_scripts_that_contributing_and_nox_run_exist():
    scripts = re.findall(r"python -m ([\w.]+)", text("CONTRIBUTING.md"))
    (benchmarks,) = re.findall(r"^BENCHMARKS = \((.*)\)$", text("noxfile.py"), re.MULTILINE)
    scripts += [f"tests.benchmarks.{name}" for name in re.findall(r'"(\w+)"', benchmarks)]
    assert len(scripts) >= 4
    assert [script for script in scripts if not (ROOT / f"{script.replace('.', '/')}.py").is_file()] == []


@pytest.mark.parametrize("page", TOP_PAGES)
def test_links_of_a_page_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)\s#]+)", text(page))
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_changelog_begins_with_this_version():
    (newest, *_) = re.findall(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)
    assert newest == __version__


def test_tests_run_on_every_python_that_the_package_names():
    matrix = workflow("tests.yml")["jobs"]["quick"]["strategy"]["matrix"]
    prefix = "Programming Language :: Python :: 3."
    named = [line.rpartition(" ")[2] for line in PYPROJECT["project"]["classifiers"] if line.startswith(prefix)]
    assert matrix["python"] == named
    assert PYPROJECT["project"]["requires-python"] == f">={named[0]}"


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("tests.yml", {}),
        ("docs.yml", {"publish": {"pages": "write", "id-token": "write"}}),
        ("release.yml", {"publish": {"id-token": "write"}}),
    ],
)
def test_workflows_may_only_read_unless_a_job_says_otherwise(name, more):
    content = workflow(name)
    assert content["permissions"] == {"contents": "read"}
    assert {job: steps["permissions"] for job, steps in content["jobs"].items() if "permissions" in steps} == more


def test_every_workflow_is_known_here():
    assert {path.name for path in (ROOT / ".github/workflows").iterdir()} == {"tests.yml", "docs.yml", "release.yml"}


def test_actions_are_pinned_to_a_commit_with_its_version():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").iterdir()]
    used = [line for content in texts for line in re.findall(r"uses: (.*)", content) if line != "./"]
    assert len(used) >= 10
    assert [line for line in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []


def test_sessions_and_groups_that_workflows_and_hooks_use_exist():
    (session,) = re.findall(r"run: nox -s (\w+)", text(".github/workflows/docs.yml"))
    assert session in NOX_SESSIONS
    groups = set(PYPROJECT["dependency-groups"])
    assert set(re.findall(r'--group(?:", "| )(\w+)', text("noxfile.py") + text("CONTRIBUTING.md"))) <= groups
    hooks = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    lint = " ".join(PYPROJECT["dependency-groups"]["lint"])
    assert all(hook["entry"].split()[0] in lint for hook in hooks)
