"""The pytest session: gates that are left out, crash, are run again or hide, and reports that must say so."""

from __future__ import annotations

import json
from typing import Any

from tests.sabotage.case import PYTEST, SERIAL, XDIST, Case, Sabotage, harmless
from tests.sabotage.project import IMPROVED
from tests.sabotage.sabotages import CONFIG, delete, rename, riskguard, write

TEST = "test_ranking.py"
NONE_JUDGED = "no gate was judged ("
OWN = write("test_own.py", "def test_own(): ...\n")
REPORT = "r.json"


def ini(*lines: str) -> Sabotage:
    """The settings of pytest."""
    return write("pytest.ini", "\n".join(["[pytest]", *lines, ""]))


def conftest(body: str) -> Sabotage:
    """Hooks of the project."""
    return write("conftest.py", f"import pytest\n\n\n{body}")


def marked(mark: str) -> Sabotage:
    """Every test gets a mark."""
    loop = "    for item in items:\n"
    return conftest(f"def pytest_collection_modifyitems(items):\n{loop}        item.add_marker({mark})\n")


def quiet(name: str, option: str, *, known: int = 5, ways: Any = PYTEST, **settings: Any) -> Case:
    """A selection in ``addopts``, which was not typed."""
    words = [f"{NONE_JUDGED}{known} known)"]
    return Case(name, ini(f"addopts = {option}"), status=1, ways=ways, words=words, **settings)


def report(*gates: dict[str, Any]) -> Sabotage:
    """A JSON report with these gates and no verdict."""
    content = {
        "schema": "riskguard-report/1",
        "generated_by": "pytest-riskguard 0",
        "verdicts": [],
        "gates": list(gates),
    }
    return write(REPORT, json.dumps(content))


def gate(became: str, verdicts: tuple[int, ...] = ()) -> dict[str, Any]:
    """A gate of a report."""
    place = {"id": f"{CONFIG}::a", "file": CONFIG, "line": 6}
    return place | {"became": became, "failures": 0, "verdicts": verdicts}


def flaky(how: str) -> Sabotage:
    """A test that fails the first time."""
    return write(
        "test_flaky.py",
        f"ran = []\n\n\ndef test_flaky(riskguard):\n    ran.append(1)\n    if len(ran) == 1:\n        {how}\n"
        '    riskguard.assert_not_significantly_risky(riskguard.run("runs/candidate.run"), "prod")\n',
    )


LOSES_A_VERDICT = """@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable(report):
    data = yield
    if "not-worse" in getattr(report, "nodeid", ""):
        data.pop("riskguard", None)
    return data
"""
CRASHES = write("test_crash.py", "import os\n\n\ndef test_crash(riskguard):\n    os._exit(0)\n")

CASES = [
    Case(
        "earlier-report-and-a-crash",
        [riskguard(f"compare runs/candidate.run --baseline prod --json {REPORT}"), CRASHES],
        project=IMPROVED,
        line=f"{{}} --riskguard-report={REPORT}; if test -e {REPORT}; then exit 0; else exit 1; fi",
        ways=SERIAL,
        status=1,
        passes=5,
        writes=True,
    ),
    # selections that were not typed
    quiet("k-in-addopts", "-k nothing"),
    quiet("ignore-in-addopts", f"--ignore={CONFIG} --ignore={TEST}", known=4),
    Case("k-in-environment", status=1, ways=PYTEST, env={"PYTEST_ADDOPTS": "-k nothing"}, words=[NONE_JUDGED]),
    Case(
        "node-id-in-addopts",
        [OWN, ini("addopts = test_own.py::test_own")],
        status=1,
        ways=PYTEST,
        words=[NONE_JUDGED],
        passes=1,
    ),
    Case(
        "node-id-in-testpaths",
        [OWN, ini("testpaths = test_own.py::test_own")],
        status=1,
        ways=SERIAL,
        words=["no-risk"],
        passes=1,
    ),
    # the plugin and its settings
    Case(
        "plugin-blocked",
        ini("addopts = -p no:riskguard"),
        status=1,
        in_pytest=4,
        ways=SERIAL,
        words=["unrecognized arguments: --riskguard"],
    ),
    Case("off-in-ini", ini("riskguard = false"), status=1, ways=PYTEST, words=["5 failed"]),
    Case("off-in-addopts", ini("addopts = --no-riskguard"), status=1, ways=PYTEST, words=["5 failed"]),
    Case(
        "yaml-renamed-and-no-test",
        [rename(CONFIG, "other.yaml"), delete(TEST), OWN],
        status=1,
        ways=PYTEST,
        words=["riskguard is on and no gate was judged"],
        passes=1,
    ),
    Case(
        "config-names-another",
        [ini("riskguard_config = other.yaml"), write("other.yaml", "gates: []\n")],
        status=1,
        ways=SERIAL,
        words=["other.yaml:1:"],
    ),
    Case(
        "skipped-by-a-hook",
        marked('pytest.mark.skip(reason="x")'),
        status=1,
        ways=PYTEST,
        words=[NONE_JUDGED, "(skipped)"],
    ),
    Case(
        "removed-by-a-hook",
        conftest("def pytest_collection_modifyitems(items):\n    items.clear()\n"),
        status=1,
        ways=PYTEST,
        words=[NONE_JUDGED, "(deselected)"],
    ),
    Case(
        "broken-and-expected-to-fail",
        [marked("pytest.mark.xfail"), write(CONFIG, "collection: [\n")],
        status=1,
        ways=PYTEST,
        words=["no gate was judged (2 known)"],
    ),
    Case(
        "expected-to-fail",
        marked("pytest.mark.xfail"),
        status=1,
        ways=PYTEST,
        options="--riskguard-strict",
        words=["no-risk failed as expected (xfail)", "FAIL loss"],
    ),
    # gates that are not judged
    Case(
        "kills-its-worker",
        CRASHES,
        status=1,
        ways=XDIST,
        project=IMPROVED,
        words=["not judged (its worker crashed): test_crash.py::test_crash"],
        passes=5,
    ),
    Case(
        "broken-yaml",
        write(CONFIG, "collection: [\n"),
        status=1,
        ways=PYTEST,
        words=[f"not judged (its file cannot be read): {CONFIG}::configuration"],
    ),
    Case(
        "two-files-one-broken",
        [ini(f"riskguard_config = {CONFIG} other.yaml"), write("other.yaml", "- 1\n")],
        status=1,
        ways=PYTEST,
        project=IMPROVED,
        words=["not judged (its file cannot be read): other.yaml::configuration"],
        passes=5,
    ),
    Case(
        "stops-at-the-first",
        status=1,
        ways=SERIAL,
        options="-x",
        words=["not judged (not run", "test_ranking.py::test_ranking"],
    ),
    Case(
        "interrupted",
        write("test_a.py", "def test_a(riskguard):\n    raise KeyboardInterrupt\n"),
        status=1,
        in_pytest=2,
        ways=SERIAL,
        options="test_a.py",
        words=["not judged (interrupted): test_a.py::test_a"],
    ),
    Case(
        "ended-as-if-complete",
        write("test_a.py", "import pytest\n\n\ndef test_a():\n    pytest.exit('done', returncode=0)\n"),
        status=1,
        ways=SERIAL,
        project=IMPROVED,
        options=f"--riskguard-strict {TEST} test_a.py {CONFIG}",
        words=["gates judged: 1 of 5, --riskguard-strict asks for all", "not judged (not run"],
        passes=1,
    ),
    Case(
        "tests-that-cannot-be-imported",
        write("test_a.py", "import nothing_of_this_name\n"),
        status=1,
        in_pytest=2,
        ways=SERIAL,
        words=["not judged (not run", "ModuleNotFoundError"],
    ),
    Case(
        "verdict-lost-on-its-way",
        conftest(LOSES_A_VERDICT),
        status=1,
        ways=XDIST,
        project=IMPROVED,
        words=[f"no verdict came from the worker that ran {CONFIG}::not-worse"],
        passes=5,
    ),
    # run again
    Case(
        "passes-when-run-again-if-strict",
        flaky("assert False"),
        status=1,
        ways=PYTEST,
        project=IMPROVED,
        options="--reruns=1 --riskguard-strict",
        words=["PASS (after 1 failure)", "test_flaky passed (after 1 failure), which --riskguard-strict"],
        passes=6,
    ),
    harmless(
        "passes-when-run-again",
        flaky("assert False"),
        ways=PYTEST,
        options="--reruns=1",
        words=["PASS (after 1 failure)"],
    ),
    Case(
        "strict-and-one-selected",
        status=1,
        ways=PYTEST,
        project=IMPROVED,
        options="--riskguard-strict -k no-risk",
        words=["gates judged: 1 of 5, --riskguard-strict asks for all"],
        passes=1,
    ),
    # reports
    Case(
        "report-names-a-crash",
        report(gate("crashed")),
        command=f"show {REPORT}",
        words=[f"not judged (its worker crashed): {CONFIG}::a"],
    ),
    Case(
        "report-lacks-a-verdict",
        report(gate("judged", (0,))),
        command=f"show {REPORT}",
        words=["the verdict of", "is missing"],
    ),
    Case("report-of-nothing", report(), command=f"show {REPORT}", words=["no gate was judged"]),
    # honest use
    harmless("own-tests-selected", OWN, ways=PYTEST, options="-k own"),
    harmless("node-id-typed", OWN, ways=PYTEST, options="test_own.py::test_own"),
    harmless(
        "addopts-of-everybody",
        ini("addopts = -m 'not slow'", "markers = slow"),
        ways=PYTEST,
        pytest_words=["5 passed"],
    ),
    harmless(
        "no-summary-typed",
        options=f"--no-summary --deselect={CONFIG}::no-risk",
        ways=SERIAL,
        pytest_words=["4 passed"],
        absent=["not judged"],
    ),
    harmless(
        "one-gate-skipped",
        write("test_b.py", "import pytest\n\n\n@pytest.mark.skip\ndef test_b(riskguard): ...\n"),
        ways=PYTEST,
    ),
    harmless(
        "plugin-blocked-and-off",
        ini("addopts = -p no:riskguard"),
        ways=SERIAL,
        riskguard="--co",
        pytest_words=["1 test collected"],
    ),
]
