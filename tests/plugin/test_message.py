"""What a person reads when a gate fails."""

import re

import pytest

from tests.plugin.world import edit

PLAIN = """
    from pytest_riskguard import assert_not_significantly_risky

    class TestRanking:
        def test_plain(self):
            baseline = {f"a-rather-long-topic-{n}": 0.5 for n in range(301, 351)}
            candidate = {topic: score - 0.02 for topic, score in baseline.items()}
            candidate["a-rather-long-topic-302"] = 0.10
            if True:
                assert_not_significantly_risky(candidate, baseline, alpha=1)
"""


def table(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if re.match(r" +t\d\d +.* 0\.\d+ -> 0", line)]


def test_a_loss_is_explained_from_the_verdict_to_the_command_that_shows_it_again(pytester, project):
    project("loss")
    result = pytester.runpytest("--riskguard")
    result.stdout.fnmatch_lines(
        [
            "the mean fell 0.50 -> 0.34; 12 of 30 queries lost, none gained (AP)",
            "  In all 12 queries examined the best document ranks lower: look at the ranking first. *",
            "  worst 5 of 12, prod -> candidate:",
            "    t07  query number 07  0.50 -> 0.05",
            "    t01  query number 01  0.50 -> 0.10",
            "  URisk -0.32, 95% interval -0.48 to -0.19, must reach 0 *",
            "  252 top-10 documents are unjudged; *",
            "  reproduce: pytest --riskguard riskguard.yaml::no-risk",
            "  report: add --riskguard-report=report.html",
            "*short test summary info*",
            "FAILED riskguard.yaml::no-risk - RiskyError: the mean fell 0.50 -> 0.34; 12 of 30 *",
        ]
    )
    assert len(table(result)) == 5
    assert "Traceback" not in result.stdout.str()
    assert "  report: " not in pytester.runpytest("--riskguard", "--riskguard-report=r.json").stdout.str()


def test_the_statistics_are_there_for_those_who_ask(pytester, project):
    project("loss")
    result = pytester.runpytest("--riskguard", "-v")
    result.stdout.fnmatch_lines(
        [
            "the mean fell 0.50 -> 0.34; 12 of 30 queries lost, none gained (AP)",
            "  URisk -0.32, 95% interval -0.48 to -0.19, must reach 0 (at alpha 1 losses*",
            "    candidate against prod: mean 0.5000 -> 0.3383 (-0.1617)",
            "    TRisk -4.393 (two-sided p 0.0001); one-sided: break-even p < 0.0001; 95% *",
            "    0 wins, 12 losses, 18 ties",
            "    would pass without 9 topics: t07, t01, *",
            "    t07 *query number 07  0.5000 -> 0.0500 * -0.4500 * 9.3%  flagged",
            "  reproduce: pytest --riskguard riskguard.yaml::no-risk",
        ]
    )
    assert len(table(result)) == 12


CHECKED = """
    from pytest_riskguard import check

    def test_own():
        check("not_significantly_risky", dict.fromkeys(range(12), 0.1), dict.fromkeys(range(12), 0.5))
"""


def test_a_failure_is_said_once(pytester, project):
    project("loss")
    text = pytester.runpytest("--riskguard").stdout.str()
    assert text.count("the mean fell 0.50 -> 0.34") == 2  # the failure, and pytest's own summary
    assert text.count("URisk -0.32") == 1
    assert "\nFAIL " in pytester.runpytest("--riskguard", "--tb=no").stdout.str()
    pytester.makepyfile(CHECKED)
    assert "\nFAIL " in pytester.runpytest("--riskguard", "--riskguard-no-yaml").stdout.str()
    pytester.makepyfile(CHECKED.replace("0.1", "0.5") + "        assert False")  # for another reason
    assert "\nPASS " in pytester.runpytest("--riskguard", "--riskguard-no-yaml").stdout.str()


def test_the_command_to_run_it_again_starts_where_pytest_was_called_with_the_options_that_chose_the_settings(
    pytester, project, monkeypatch
):
    project("loss")
    pytester.makeini("[pytest]")
    monkeypatch.chdir(pytester.mkdir("inner"))
    options = ("-c", "../tox.ini", "--rootdir", "..", "-o", "addopts=", "--riskguard-report=../inner/r.md")
    result = pytester.runpytest("--riskguard", *options, "../riskguard.yaml")
    assert list(pytester.path.glob("inner/r.md"))
    result.stdout.fnmatch_lines(
        ["  reproduce: pytest --riskguard -c ../tox.ini --rootdir .. -o addopts= ../riskguard.yaml::no-risk"]
    )


def test_verbosity_holds_for_plain_assertions_when_riskguard_is_off(pytester):
    pytester.makepyfile(PLAIN)
    brief = pytester.runpytest("-q")
    brief.stdout.fnmatch_lines(
        ["*RiskyError: the mean fell 0.50 -> 0.47; 50 of 50 queries lost, none gained, 0.005 tolerated"]
    )
    shown = [line for line in brief.outlines if re.match(r"E +a-rather-long-topic-3\d\d  0.50 -> ", line)]
    assert len(shown) == 5
    assert "0.50 -> 0.10" in shown[0]
    shown = [line for line in pytester.runpytest("-v").outlines if "  0.5000 -> " in line]
    assert len(shown) == 20


def test_churn_let_through_passes_with_its_warning_in_the_summary(pytester, project):
    project("churn")
    edit(pytester.path / "riskguard.yaml", "on_churn: fail", "on_churn: warn")
    for options in ((), ("-q",)):
        result = pytester.runpytest("--riskguard", *options)
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(
            [
                "PASS WITH CARE  URisk -0.96 *",
                "  *he mean itself is not significantly down, but *",
            ]
        )


@pytest.mark.parametrize("columns", [80, pytest.param(120, marks=pytest.mark.slow)])
def test_our_lines_fit_the_screen(pytester, project, monkeypatch, columns):
    project("loss")
    pytester.makepyfile(PLAIN)
    monkeypatch.setenv("COLUMNS", str(columns))
    for option in ("-q", "-v"):
        result = pytester.runpytest("--riskguard", option)
        result.assert_outcomes(failed=2)
        # A command is one line to be copied, the rest is pytest's own.
        whole = re.compile(r"RiskyError: |reproduce:|rootdir|plugins|riskguard: |cachedir|::|platform|hypothesis")
        ours = [line for line in result.outlines if not whole.search(line)]
        assert [line for line in ours if len(line) > columns] == []
    assert any(re.match(r"E +a-rather-\S*topi[c…]\S* +0\.5000 -> 0\.1000 +-0\.4000 ", line) for line in ours)
    # Nothing of the figures is cut, however narrow.
    assert any(re.search(r"t07 .* 0\.5000 -> 0\.0500 +-0\.4500 +9\.3%  flagged$", line) for line in ours)


@pytest.mark.slow
def test_colour_is_used_only_where_it_is_wanted(pytester, project, monkeypatch):
    project("loss")
    assert "\x1b[" in pytester.runpytest("--riskguard", "--color=yes").stdout.str()
    monkeypatch.setenv("PY_COLORS", "1")
    assert "\x1b[" not in pytester.runpytest("--riskguard", "--color=no").stdout.str()
    monkeypatch.delenv("PY_COLORS")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in pytester.runpytest("--riskguard").stdout.str()
