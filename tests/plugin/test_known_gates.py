"""A report names every gate that the run knew, and how it ended."""

import json

import jsonschema
import pytest

from tests.plugin.world import read_report
from tests.reports.schema import SCHEMA_FILE

TWO = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP]
candidate: candidate.run
gates:
  - {name: second, kind: no_topic_collapse, baseline: prod, max_loss: 0.9}
  - {name: first, kind: not_significantly_risky, baseline: prod}
"""
CRASH = """
    import os

    def test_crash(riskguard):
        os._exit(0)
"""


OPTIONS = ("--riskguard", "--riskguard-report=report.json", "-p", "no:cacheprovider")


def run(pytester, *arguments):
    return pytester.runpytest(*OPTIONS, *arguments)


def gates(pytester):
    report = read_report(pytester.path / "report.json")
    jsonschema.validate(report, read_report(SCHEMA_FILE), cls=jsonschema.Draft202012Validator)
    return {gate["id"]: gate for gate in report["gates"]}


def became(pytester):
    return {name: gate["became"] for name, gate in gates(pytester).items()}


@pytest.fixture
def two_gates(pytester, project):
    project("good")
    (pytester.path / "riskguard.yaml").write_text(TWO)


def test_each_verdict_belongs_to_a_gate_with_file_and_line(pytester, two_gates):
    assert run(pytester).ret == 0
    report = read_report(pytester.path / "report.json")
    assert report["gates"] == [
        {
            "id": f"riskguard.yaml::{name}",
            "line": line,
            "became": "judged",
            "failures": 0,
            "verdicts": [place],
            "command": None,
        }
        for place, (name, line) in enumerate([("first", 7), ("second", 6)])
    ]
    assert [verdict["gate"] for verdict in report["verdicts"]] == ["first", "second"]


@pytest.mark.slow
def test_a_gate_that_kills_its_worker_is_named(pytester, two_gates):
    pytester.makepyfile(test_own=CRASH)
    result = run(pytester, "-n", "2")
    assert result.ret == 1
    assert became(pytester) == {
        "riskguard.yaml::first": "judged",
        "riskguard.yaml::second": "judged",
        "test_own.py::test_crash": "crashed",
    }
    result.stdout.fnmatch_lines(["not judged (its worker crashed): test_own.py::test_crash"])


def test_attempts_that_ended_with_their_worker_count_as_failures_before_the_last(pytester, two_gates):
    pytester.makeconftest("""
        import pytest

        def pytest_runtest_protocol(item):  # as xdist does where a worker died
            report = pytest.TestReport(item.nodeid, ("", None, ""), (), "failed", "crashed", "???")
            item.ihook.pytest_runtest_logreport(report=report)

        def pytest_runtest_teardown(item):
            if item.name == "first":  # whose verdict has come
                pytest_runtest_protocol(item)
    """)
    run(pytester)
    ended = {name: (gate["became"], gate["failures"]) for name, gate in gates(pytester).items()}
    assert ended == {"riskguard.yaml::first": ("crashed", 1), "riskguard.yaml::second": ("judged", 1)}


@pytest.mark.slow
def test_gates_are_known_if_every_worker_crashes(pytester, two_gates):
    pytester.makepyfile(test_own=CRASH)
    pytester.makeconftest("def pytest_collection_modifyitems(items): items.reverse()")  # the crash comes first
    result = run(pytester, "-n", "1", "--max-worker-restart=0")
    assert result.ret != 0
    assert became(pytester) == {
        "riskguard.yaml::first": "not_run",
        "riskguard.yaml::second": "not_run",
        "test_own.py::test_crash": "crashed",
    }


def test_a_broken_file_is_named_and_the_gates_of_others_are_judged(pytester, project):
    project("good", into="a")
    project("good", into="b")
    (pytester.path / "b" / "riskguard.yaml").write_text("measures: [AP]\ncollection: {qrels: [}\n")
    pytester.makeini("[pytest]\nriskguard_config = a/riskguard.yaml b/riskguard.yaml")
    assert run(pytester).ret == 1
    assert became(pytester) == {"a/riskguard.yaml::no-risk": "judged", "b/riskguard.yaml::configuration": "broken"}
    assert gates(pytester)["b/riskguard.yaml::configuration"]["line"] == 2
    run(pytester, "-k", "no-risk").stdout.no_fnmatch_line("*Once it is released*")
    assert became(pytester)["b/riskguard.yaml::configuration"] == "broken"


def test_gates_that_the_first_failure_or_a_node_id_leaves_out_are_named(pytester, two_gates):
    file = pytester.path / "riskguard.yaml"
    file.write_text(TWO.replace("second", "first-too"))
    result = run(pytester, "riskguard.yaml::first-too")
    assert result.ret == 0
    result.stdout.no_fnmatch_line("not judged*")
    assert became(pytester) == {"riskguard.yaml::first": "not_collected", "riskguard.yaml::first-too": "judged"}
    strict = run(pytester, "--riskguard-strict", "riskguard.yaml::first-too")
    strict.stdout.fnmatch_lines(["not judged (not collected): riskguard.yaml::first"])
    pytester.makepyfile(test_own="def test_own(): raise ValueError")
    result = run(pytester, "-x", "test_own.py", "riskguard.yaml")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["not judged (*): riskguard.yaml::first, riskguard.yaml::first-too"])
    assert became(pytester) == {"riskguard.yaml::first": "not_run", "riskguard.yaml::first-too": "not_run"}


@pytest.mark.slow
def test_gates_of_an_interrupted_run_are_named(pytester, two_gates):
    pytester.makepyfile(test_own="def test_stop(riskguard): raise KeyboardInterrupt")
    result = pytester.runpytest_subprocess(*OPTIONS, "test_own.py", "riskguard.yaml")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert became(pytester) == {
        "riskguard.yaml::first": "not_run",
        "riskguard.yaml::second": "not_run",
        "test_own.py::test_stop": "interrupted",
    }


WAYS_NOT_TO_BE_JUDGED = """
    import pytest

    @pytest.fixture
    def broken():
        raise RuntimeError("no server")

    @pytest.mark.skip(reason="later")
    def test_skipped(riskguard): ...

    def test_failed(riskguard, broken): ...

    def test_something_else(riskguard):
        assert riskguard.folder

    def test_of_another_kind(): ...

    @pytest.mark.xfail(strict=True)
    def test_expected(riskguard):
        raise AssertionError
"""


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_tests_with_the_fixture_are_gates_however_they_end(pytester, two_gates, workers):
    pytester.makepyfile(test_own=WAYS_NOT_TO_BE_JUDGED)
    result = run(pytester, "-n", workers, "-k", "not second")
    assert result.ret == 1
    result.stdout.no_fnmatch_line("*second*")
    assert became(pytester) == {
        "riskguard.yaml::first": "judged",
        "riskguard.yaml::second": "deselected",
        "test_own.py::test_expected": "failed",
        "test_own.py::test_failed": "failed",
        "test_own.py::test_skipped": "skipped",
        "test_own.py::test_something_else": "no_verdict",
    }
    assert {gate["failures"] for gate in gates(pytester).values()} == {0}  # attempts before the last one


@pytest.mark.slow
def test_a_verdict_that_does_not_arrive_is_a_failure(pytester, two_gates):
    pytester.makeconftest("""
        import pytest

        @pytest.hookimpl(wrapper=True)
        def pytest_report_to_serializable(report):
            data = yield
            if report.when == "call" and "second" in report.nodeid:
                del data["riskguard"]
            return data
    """)
    result = run(pytester, "-n", "1")
    assert result.ret == 1
    assert became(pytester)["riskguard.yaml::second"] == "lost"
    result.stdout.fnmatch_lines(["ERROR no verdict came from the worker that ran riskguard.yaml::second"])


FLAKY = """
    from pathlib import Path

    def test_flaky(riskguard):
        first = not Path("ran").exists()
        Path("ran").touch()
        riskguard.assert_not_significantly_risky(riskguard.run("prod.run" if not first else "bad.run"), "prod")
"""


@pytest.fixture
def flaky(pytester, project):
    project("good")
    (pytester.path / "bad.run").write_text("nothing\n")
    pytester.makepyfile(test_own=FLAKY)


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_a_pass_after_a_failure_is_shown_everywhere(pytester, flaky, workers):
    formats = ("--riskguard-report=report.md", "--riskguard-report=report.html")
    result = run(pytester, "-n", workers, "--reruns=1", *formats)
    result.assert_outcomes(passed=2, errors=0)
    assert result.ret == 0
    gate = gates(pytester)["test_own.py::test_flaky"]
    assert (gate["became"], gate["failures"]) == ("judged", 1)
    result.stdout.fnmatch_lines(["PASS (after 1 failure)*test_own.py::test_flaky*"])
    markdown, page = ((pytester.path / f"report.{kind}").read_text(encoding="utf-8") for kind in ("md", "html"))
    assert "| pass (after 1 failure)" in markdown
    assert "pass (after 1 failure)" in page
    assert "(after" not in json.dumps(read_report(pytester.path / "report.json")["verdicts"])


def test_a_pass_after_a_failure_is_red_if_strict(pytester, flaky):
    result = run(pytester, "--reruns=1", "--riskguard-strict")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["ERROR test_own.py::test_flaky passed (after 1 failure), which --riskguard-strict does not accept"]
    )


@pytest.mark.slow
def test_a_failure_that_is_expected_is_red_if_strict(pytester, project):
    project("loss")
    pytester.makeconftest("""
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                item.add_marker(pytest.mark.xfail(reason="known"))
    """)
    assert run(pytester).ret == 0
    assert became(pytester) == {"riskguard.yaml::no-risk": "judged"}
    result = run(pytester, "--riskguard-strict")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["ERROR riskguard.yaml::no-risk failed as expected (xfail), which*"])


@pytest.mark.slow
def test_a_pass_after_a_worker_crashed_is_red_if_strict(pytester, project):
    project("good")
    pytester.makepyfile(
        test_own="""
        import os
        from pathlib import Path

        def test_flaky(riskguard):
            if not Path("ran").exists():
                Path("ran").touch()
                os._exit(1)
            riskguard.assert_not_significantly_risky(riskguard.run("prod.run"), "prod")
    """
    )
    result = run(pytester, "-n", "2", "--reruns=1", "--riskguard-strict")
    gate = gates(pytester)["test_own.py::test_flaky"]
    assert (gate["became"], gate["failures"]) == ("judged", 1)
    assert result.ret == 1
