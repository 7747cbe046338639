"""Files about the project agree with each other: versions, addresses, commands, workflows."""

import re
import tomllib
from typing import Any

import pytest
import yaml

from pytest_riskguard import __version__
from tests.house import CHECKOUT

PYPROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
NOX_SESSIONS = {"tests", "all", "nightly", "versions", "audit", "coverage", "lint", "types", "docs", "scale"}
#: Links to files of the project from its pages at the top.
TOP_PAGES = ("CONTRIBUTING.md", "RELEASING.md")


def text(path: str) -> str:
    return (CHECKOUT / path).read_text(encoding="utf-8")


def workflow(name: str) -> Any:
    return yaml.safe_load(text(f".github/workflows/{name}"))


def test_the_citation_is_of_this_version_and_licence():
    assert CITATION["version"] == __version__
    assert CITATION["license"] == PYPROJECT["project"]["license"]
    assert CITATION["title"] == PYPROJECT["project"]["name"]


def test_sessions_of_nox_are_those_of_contributing():
    defined = re.findall(
        r'^@nox\.session(?:\((?:name="(\w+)"|.*)\))?\n(?:@.*\n)*def (\w+)', text("noxfile.py"), re.MULTILINE
    )
    assert {name or function for name, function in defined} == NOX_SESSIONS
    assert set(re.findall(r"`nox -s (\w+)`", text("CONTRIBUTING.md"))) == NOX_SESSIONS


@pytest.mark.parametrize("page", TOP_PAGES)
def test_links_of_a_page_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)\s#]+)", text(page))
    assert targets
    assert [target for target in targets if not (CHECKOUT / target).exists()] == []


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
        ("nightly.yml", {}),
        ("docs.yml", {"publish": {"pages": "write", "id-token": "write"}}),
        ("release.yml", {"publish": {"id-token": "write"}}),
    ],
)
def test_workflows_may_only_read_unless_a_job_says_otherwise(name, more):
    content = workflow(name)
    assert content["permissions"] == {"contents": "read"}
    assert {job: steps["permissions"] for job, steps in content["jobs"].items() if "permissions" in steps} == more


def test_actions_are_pinned_to_a_commit_with_its_version():
    texts = [path.read_text(encoding="utf-8") for path in (CHECKOUT / ".github/workflows").iterdir()]
    used = [line for content in texts for line in re.findall(r"uses: (.*)", content) if line != "./"]
    assert len(used) >= 10
    assert [line for line in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []


def steps_of_all_workflows() -> list[dict[str, Any]]:
    names = [path.name for path in (CHECKOUT / ".github/workflows").iterdir()]
    return [step for name in names for job in workflow(name)["jobs"].values() for step in job["steps"]]


def test_no_checkout_leaves_its_token_in_the_work_tree():
    checkouts = [step for step in steps_of_all_workflows() if step.get("uses", "").startswith("actions/checkout@")]
    assert len(checkouts) >= 6
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_each_action_has_one_pin_wherever_it_is_used_and_each_place_is_kept_up_to_date():
    places = [".github/workflows", "examples/ci"]
    files = [CHECKOUT / "action.yml", *(path for place in places for path in (CHECKOUT / place).glob("*.yml"))]
    pins: dict[str, set[str]] = {}
    for path in files:
        for action, pin in re.findall(r"uses: ([\w/-]+)@([0-9a-f]{40} # \S+)", path.read_text(encoding="utf-8")):
            pins.setdefault(action, set()).add(pin)
    assert len(pins) >= 7
    assert {action: found for action, found in pins.items() if len(found) > 1} == {}
    actions, packages = yaml.safe_load(text(".github/dependabot.yml"))["updates"]
    assert actions["package-ecosystem"] == "github-actions"
    assert actions["directories"] == ["/", "/examples/ci"]  # the first has action.yml and the workflows
    assert (packages["package-ecosystem"], packages["directory"]) == ("pip", "/")


#: Versions below these have a fault that somebody published. Versions of pytest, pyarrow and the like that
#: fixed it, by the advisories: GHSA-6w46-j5rx-g56g, CVE-2026-7246, GHSA-qmgc-5h2g-mvrw, GHSA-cpwx-vrp4-4pq7,
#: CVE-2026-84382, GHSA-rgxp-2hwp-jwgg, CVE-2026-26209, GHSA-c336-7962-wfj2, CVE-2024-43598.
FIXED = {
    "pytest": (9, 0, 3),
    "click": (8, 3, 3),
    "filelock": (3, 20, 3),
    "jinja2": (3, 1, 6),
    "httpx2": (2, 12),
    "pyarrow": (23, 0, 1),
    "cbor2": (5, 9),
    "lightgbm": (4, 6),
}


def test_no_version_with_a_known_fault_may_be_installed():
    extras, groups = PYPROJECT["project"]["optional-dependencies"], PYPROJECT["dependency-groups"]
    more = [one for needed in (*extras.values(), groups["peers"], groups["browser"]) for one in needed]
    requirements = [*PYPROJECT["project"]["dependencies"], *more]
    floors = [re.fullmatch(r"([\w-]+)>=([\d.]+)", one) for one in requirements if "[" not in one]
    assert all(floors)
    found = [(floor[1], tuple(map(int, floor[2].split(".")))) for floor in floors if floor is not None]
    assert {name for name, _ in found} >= set(FIXED)
    assert [name for name, floor in found if floor < FIXED.get(name, ())] == []


def test_what_is_installed_from_the_repository_names_its_address():
    places = ["README.md", "docs", "examples/ci"]
    files = [
        path
        for place in places
        for path in ((CHECKOUT / place).rglob("*") if "." not in place else [CHECKOUT / place])
    ]
    texts = [
        path.read_text(encoding="utf-8")
        for path in files
        if path.suffix in (".md", ".yml") or path.stem == "Jenkinsfile"
    ]
    found = [one for content in texts for one in re.findall(r"git\+([^\s\"']+)", content)]
    assert len(found) >= 8
    assert set(found) == {PYPROJECT["project"]["urls"]["Repository"]}


def test_the_oldest_pytest_that_is_tested_is_the_oldest_that_may_be_installed():
    (floor,) = [one for one in PYPROJECT["project"]["dependencies"] if one.startswith("pytest>=")]
    version = floor.removeprefix("pytest>=")
    assert f'"=={version}", id="oldest"' in text("noxfile.py")
    assert PYPROJECT["tool"]["pytest"]["ini_options"]["minversion"] == version
