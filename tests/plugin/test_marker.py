"""The marker ``riskguard``, on every gate and every test that uses the fixture; and the summary for agents."""

import json

import pytest

PYTHON = """\
def test_gate(riskguard):
    riskguard.assert_not_significantly_risky(riskguard.run("candidate.run"), "prod")

def test_other():
    pass
"""


@pytest.fixture
def mixed(pytester, project):
    project("good")
    pytester.makepyfile(test_all=PYTHON)
    pytester.makeini("[pytest]\nstrict_markers = true\n")
    return pytester


@pytest.mark.parametrize(
    ("options", "outcomes"),
    [
        (["--riskguard", "-m", "riskguard"], {"passed": 2, "deselected": 1}),
        (["--riskguard", "-m", "not riskguard"], {"passed": 1, "deselected": 2}),
        (["-m", "riskguard"], {"skipped": 1, "deselected": 1}),
    ],
)
def test_it_selects_gates_and_tests_that_use_the_fixture(mixed, options, outcomes):
    result = mixed.runpytest(*options)
    result.assert_outcomes(**outcomes)
    assert result.ret == 0
    if "--riskguard" not in options:
        result.stdout.fnmatch_lines(["riskguard: off; the gates of riskguard.yaml are not run (pass --riskguard)"])


def test_it_is_on_a_gate_file_that_cannot_be_read(mixed):
    mixed.path.joinpath("riskguard.yaml").write_text("gates: 3\n")
    mixed.runpytest("--riskguard", "-m", "not riskguard").assert_outcomes(passed=1, deselected=2)


def test_an_agent_gets_the_summary_as_json(pytester, project, monkeypatch):
    project("loss")
    monkeypatch.setenv("RISKGUARD_BRIEF", "1")
    out = pytester.runpytest("--riskguard", "--riskguard-report=report.json").stdout.str()
    said, _ = json.JSONDecoder().raw_decode(out[out.index('{"answer"') :])
    assert (said["answer"], said["exit"]) == ("Don't ship: 1 gate failed", 1)
    assert said["gates"][0]["next"][:2] == [
        "riskguard explain t07 report.json",
        "riskguard judge-next --gate no-risk",
    ]
