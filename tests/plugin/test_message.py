"""What a person reads when a gate fails."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.plugin import world

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
    return [line for line in result.outlines if re.match(r" +t\d\d +", line)]


def test_a_loss_is_explained_from_the_verdict_to_the_command_that_shows_it_again(pytester, project):
    project("loss")
    result = pytester.runpytest("--riskguard")
    result.stdout.fnmatch_lines(
        [
            "significantly risky: URisk(alpha=1) = -0.3233 [[]-0.*, -0.*] (AP, 30 topics; worst: t07)",
            "  candidate against prod: mean 0.5000 -> 0.3383 (-0.1617)",
            "  TRisk -4.393 (p 0.0001); sign-flip p of the mean 0.000*; 95% intervals: Student-t *",
            "  loss: the mean itself is significantly down*",
            "  0 wins, 12 losses (12 of more than 20%), 18 ties",
            "  topics responsible (12 topics lost; the 10 most harmful, -vv shows all):",
            "    t07 *query number 07  0.5000 -> 0.0500 * -0.4500 * 9.3%  flagged",
            "    t01 *query number 01  0.5000 -> 0.1000 * -0.4000 * 8.2%",
            "  would pass without 9 topics: t07, t01, *(found greedily: an upper bound on the",
            "  reproduce: pytest --riskguard riskguard.yaml::no-risk",
            "FAIL loss  riskguard.yaml::no-risk  AP        -0.3233  *  URisk(alpha=1)  0.5000 -> *",
        ]
    )
    assert len(table(result)) == 10
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(("option", "rows"), [("-q", 3), ("-v", 10), ("-vv", 12)])
def test_verbosity_chooses_how_many_topics_are_listed(pytester, project, option, rows):
    project("loss")
    assert len(table(pytester.runpytest("--riskguard", option))) == rows


def test_verbosity_holds_for_plain_assertions_when_riskguard_is_off(pytester):
    pytester.makepyfile(PLAIN)
    quiet = pytester.runpytest("-q")
    quiet.stdout.fnmatch_lines(["*RiskyError: significantly risky: URisk(alpha=1) = -0.0552 *50 topics*302)"])
    shown = [line for line in quiet.outlines if re.match(r"E +a-rather-long-topic-3\d\d  0.5000 -> ", line)]
    assert len(shown) == 3
    assert "0.5000 -> 0.1000" in shown[0]


def test_churn_says_what_it_means_and_what_can_be_done(pytester, project):
    project("churn")
    result = pytester.runpytest("--riskguard")
    text = " ".join(line.strip() for line in result.outlines)
    assert "churn: the mean is not significantly down (at alpha 0 the gate passes); a loss counts 6 times" in text
    assert "It passes up to alpha 1.50. on_churn: warn lets churn pass with a warning." in text
    assert "15 wins, 15 losses" in text


def test_churn_let_through_passes_with_its_warning_in_the_summary(pytester, project):
    project("churn")
    path = pytester.path / "riskguard.yaml"
    path.write_text(path.read_text().replace("alpha: 5", "alpha: 5, on_churn: warn"))
    result = pytester.runpytest("--riskguard")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["PASS  * -0.9600 *  URisk(alpha=5)  *", "* churn: fails at this alpha only because losses weigh more; *"]
    )


@pytest.mark.parametrize("columns", [80, 120])
def test_our_lines_fit_the_screen(pytester, project, monkeypatch, columns):
    project("loss")
    pytester.makepyfile(PLAIN)
    monkeypatch.setenv("COLUMNS", str(columns))
    result = pytester.runpytest("--riskguard")
    result.assert_outcomes(failed=2)
    # A headline is one line for the short summary's sake, a command one to be copied, the rest is pytest's own.
    whole = re.compile(r"significantly risky|reproduce:|rootdir|plugins|riskguard: ")
    ours = [line for line in result.outlines if not whole.search(line)]
    assert [line for line in ours if len(line) > columns] == []
    assert ("difference" in result.stdout.str()) == (columns == 120)
    assert any(re.match(r"E +a-rather-long-topic-302  0\.5000 -> 0\.1000 +-0\.4000 ", line) for line in ours)
    # Nothing of the figures is cut, however narrow.
    assert any(re.search(r"t07 .* 0\.5000 -> 0\.0500 +-0\.4500 +9\.3%  flagged$", line) for line in ours)


def test_the_command_that_reproduces_runs_that_gate_and_fails(pytester, project, monkeypatch):
    project("loss")
    path = pytester.path / "riskguard.yaml"
    path.write_text(path.read_text().replace("no-risk", "it's no risk").replace("alpha: 1", "alpha: [0, 1]"))
    pytester.makepyfile("""
        def test_fixture(riskguard):
            riskguard.assert_not_significantly_risky(riskguard.run("candidate.run"), "prod")
    """)
    pytester.makeini("[pytest]")
    pytester.mkdir("sub")
    monkeypatch.chdir("sub")
    result = pytester.runpytest("--riskguard", "--rootdir=..", "-c", "../tox.ini", "..")
    result.assert_outcomes(failed=3)
    commands = re.findall(r"reproduce: (pytest .*)", result.stdout.str())
    assert len(commands) == 3
    for command in commands[1:]:
        again = pytester.runpytest(*shlex.split(command)[1:])
        again.assert_outcomes(failed=1)
        again.stdout.fnmatch_lines(["*significantly risky*"])


def test_colour_is_used_only_where_it_is_wanted(pytester, project, monkeypatch):
    project("loss")
    assert "\x1b[" in pytester.runpytest("--riskguard", "--color=yes").stdout.str()
    monkeypatch.setenv("PY_COLORS", "1")
    assert "\x1b[" not in pytester.runpytest("--riskguard", "--color=no").stdout.str()
    monkeypatch.delenv("PY_COLORS")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in pytester.runpytest("--riskguard").stdout.str()


HOSTILE = {
    "t01": "a\x1b[31mred\x07 query",
    "t02": "left \u202eright",
    "t03": "[red]markup[/red] [/bold]",
    "t04": "::error::not a command",
    "t05": "##[error]nor this",
    "t06": "nul and\u2028separator \x85 next",
}


def test_hostile_queries_and_topics_are_harmless_text(pytester):
    topics = (*world.TOPICS[:-1], "::error::t\u202e30")
    queries = {topic: HOSTILE.get(topic, "harmless") for topic in topics}
    candidate = dict.fromkeys(topics[:12], 10) | {topics[-1]: 20}
    world.write_world(pytester.path, candidate, topics=topics, queries=queries)
    pytester.makepyfile("""
        from pytest_riskguard import assert_not_significantly_risky

        def test_plain():
            baseline = {f"{topic}\\n::error::line": 0.5 for topic in range(30)}
            assert_not_significantly_risky({topic: 0.1 for topic in baseline}, baseline)
    """)
    result = pytester.runpytest("--riskguard", "-vv")
    result.assert_outcomes(failed=2)
    text = result.stdout.str()
    for character in ("\x1b", "\x07", "\u202e", "\u2028", "\x85"):
        assert character not in text
    for line in result.outlines:
        assert not line.startswith(("::", "##[")), line
    result.stdout.fnmatch_lines_random(
        ["*t01 *a[[]31mred query *", "*t02 *left right *", "*t03 *[[]red]markup[[]/red] [[]/bold] *"]
    )
    assert "worst: : :error::t30)" in text
