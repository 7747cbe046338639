"""Reports of a pytest run: files by their names, GitHub Actions, JUnit XML."""

import re
import shutil
import xml.etree.ElementTree as ET

import pytest

from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.json import dumps
from tests.plugin import world
from tests.plugin.world import read_report
from tests.reports.cases import CASES

#: A test with the fixture, one that only looks, one that fails for another reason, one with two verdicts.
TESTS = """
    from pytest_riskguard import assert_not_significantly_risky, check

    BASELINE = {str(topic): 0.50 for topic in range(301, 351)}
    WORSE = {topic: score - 0.01 for topic, score in BASELINE.items()}

    def test_fixture(riskguard):
        riskguard.assert_not_significantly_risky(riskguard.run("candidate.run"), "prod")

    def test_that_looks():
        assert check("not_significantly_risky", WORSE, BASELINE).outcome == "fail"

    def test_of_others():
        assert False

    def test_two():
        check("not_significantly_risky", BASELINE, BASELINE)
        assert_not_significantly_risky(WORSE, BASELINE)
"""


def commands(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("::")]


def test_a_report_that_cannot_be_made_is_refused_before_any_test_runs(pytester, project):
    project("good")
    pytester.makepyfile(test_own="def test_own(): print('ran')")
    result = pytester.runpytest("--riskguard", "--riskguard-report=r.txt", "-s")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--riskguard-report=r.txt: the format is chosen by the suffix, expected .json, *"])
    result.stdout.no_fnmatch_line("*ran*")


@pytest.mark.parametrize(
    ("more", "status"),
    [
        pytest.param("", 9, marks=pytest.mark.slow),
        ("--collect-only", 0),
        ("nowhere.py", pytest.ExitCode.USAGE_ERROR),
    ],
)
def test_no_report_of_an_earlier_run_stands_for_one_that_wrote_none(pytester, project, more, status):
    project("good")
    report = pytester.path / "r.json"
    report.write_text(dumps(Report([CASES["pass"]()])))
    pytester.makepyfile(test_killed="import os\n\n\ndef test_it():\n    os._exit(9)\n")
    run = pytester.runpytest if more else pytester.runpytest_subprocess
    result = run("--riskguard", "--riskguard-report=r.json", *more.split())
    assert result.ret == status
    assert not report.exists() or not read_report(report)["verdicts"]


def test_github_annotates_what_failed_at_its_line(pytester, project, monkeypatch):
    project("loss")
    pytester.makepyfile(test_search=TESTS)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    result = pytester.runpytest("--riskguard")
    result.assert_outcomes(failed=4, passed=1)
    said = commands(result)
    assert [re.match(r"::error file=([^,]+),line=(\d+),", line).groups() for line in said] == [
        ("riskguard.yaml", str(world.GATE_LINE)),
        ("test_search.py", "6"),
        ("test_search.py", "15"),
    ]
    assert "title=riskguard%3A no-risk::the mean fell 0.50 -> 0.34; 12 of 30 queries lost" in said[0]
    summary = (pytester.path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("## riskguard: Don't ship: 4 of 5 gates failed\n")


def test_github_is_told_of_a_broken_file_and_of_a_run_that_judged_nothing(pytester, project, monkeypatch):
    project("good")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    (pytester.path / "riskguard.yaml").write_text(world.YAML.replace("kind:", "knid:") % "1")
    with monkeypatch.context() as inside:
        inside.chdir(pytester.mkdir("inner"))
        (said,) = commands(pytester.runpytest("--riskguard", "--rootdir=..", ".."))
    summary = (pytester.path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith(
        "## riskguard: No verdict: no gate was judged\n\n- not judged (its file cannot be read): riskguard"
    )
    assert "\nError: <code>riskguard.yaml</code> ConfigError: line 6: " in summary
    assert said.startswith(
        f"::error file=riskguard.yaml,line={world.GATE_LINE},title=riskguard::ConfigError: line 6: "
    )
    (pytester.path / "riskguard.yaml").unlink()
    pytester.makepyfile(test_own="def test_own(): pass")
    (said,) = commands(pytester.runpytest("--riskguard"))
    assert said.startswith("::error title=riskguard::riskguard is on and no gate was judged")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A project in which every text of a run and its topics is hostile, so far as a file can hold it."""
    from tests.reports.hostile import STRINGS

    folder = tmp_path_factory.mktemp("hostile") / "project"
    texts = [
        " ".join(re.sub(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029\ud800-\udfff]", " ", text).split())
        for text in STRINGS.values()
    ]
    usable = [text[:500] for text in texts if text and "\x00" not in text]
    topics = tuple(f"t{number:02d}" + re.sub(r"\s", "_", text)[:100] for number, text in enumerate(usable))
    queries = dict(zip(topics, usable, strict=True))
    world.write_world(folder, dict.fromkeys(topics, 10), topics=topics, queries=queries)
    return folder


def test_hostile_texts_are_data_in_all_that_a_run_writes(pytester, hostile, monkeypatch):
    shutil.copytree(hostile, pytester.path, dirs_exist_ok=True)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    result = pytester.runpytest(
        "--riskguard",
        "-vv",
        "--junitxml=j.xml",
        "--riskguard-report=r.md",
        "--riskguard-report=r.json",
    )
    result.assert_outcomes(failed=1)
    written = [
        (pytester.path / name).read_text(encoding="utf-8") for name in ("r.md", "r.json", "summary.md", "j.xml")
    ]
    for text in (*written, result.stdout.str(), result.stderr.str()):
        assert "\x1b" not in text
        assert not re.search(r"##\w*\[", text)
        lines = [line for line in re.split(r"[\r\n]", text) if line.startswith(("::", "##["))]
        assert len(lines) == (1 if text == result.stdout.str() else 0)
    (command,) = commands(result)
    assert re.fullmatch(r"::error file=riskguard\.yaml,line=6,title=riskguard%3A no-risk::.*", command)
    ET.parse(pytester.path / "j.xml")  # noqa: S314 - well-formed, or this would raise
    assert len(read_report(pytester.path / "r.json")["verdicts"][0]["responsible_topics"]) > 60
