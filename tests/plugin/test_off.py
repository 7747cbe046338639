"""Off is visibly off, and costs nothing."""

import pytest

PLAIN = """
    from pytest_riskguard import RiskyError, assert_not_significantly_risky
    import pytest

    BASELINE = {str(topic): 0.50 for topic in range(301, 351)}

    def test_plain():
        with pytest.raises(RiskyError):
            worse = {topic: score - 0.02 for topic, score in BASELINE.items()} | {"302": 0.10}
            assert_not_significantly_risky(worse, BASELINE, alpha=1)

    def test_fixture(riskguard):
        raise AssertionError("this must not run")
"""


def test_off_says_so_and_skips_with_the_reason_while_plain_assertions_run(pytester, project):
    project("loss")
    pytester.makepyfile(PLAIN)
    result = pytester.runpytest("-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "riskguard: off; the gates of riskguard.yaml are not run (pass --riskguard)",
            "SKIPPED*test_off*riskguard is off: pass --riskguard to judge gates",
        ]
    )
    result.stdout.no_fnmatch_line("*no-risk*")


def test_off_says_so_with_q_too_which_leaves_out_the_header(pytester, project):
    project("loss")
    pytester.makepyfile("def test_own(): pass")
    said = "riskguard: off; the gates of riskguard.yaml are not run (pass --riskguard)"
    for options in (["-q"], ["-qq"], []):
        assert pytester.runpytest(*options).outlines.count(said) == 1
    pytester.runpytest("-q", "--riskguard").stdout.no_fnmatch_line("riskguard: off*")


def test_off_says_nothing_where_there_are_no_gates(pytester):
    pytester.makepyfile("def test_own(): pass")
    result = pytester.runpytest()
    assert result.ret == 0
    result.stdout.no_fnmatch_line("riskguard:*")
    result.stdout.no_fnmatch_line("*= riskguard =*")


def test_strict_settings_and_missing_plugins_do_no_harm(pytester, project):
    project("good")
    strict = ("--strict-markers", "--strict-config", "-W", "error", "-p", "no:cacheprovider")
    pytester.makepyfile("def test_own(): pass")
    assert pytester.runpytest(*strict).ret == 0
    result = pytester.runpytest(*strict, "--riskguard")
    result.assert_outcomes(passed=2)
    assert result.ret == 0


def test_it_judges_without_a_terminal(pytester, project):
    project("loss")
    assert pytester.runpytest("-p", "no:terminal", "--riskguard").ret == 1


def test_the_ini_file_switches_on_and_the_command_line_beats_it(pytester, project):
    project("good")
    pytester.makeini("[pytest]\nriskguard = true")
    on = pytester.runpytest("--collect-only")
    on.stdout.fnmatch_lines(["riskguard: *, on (ini); gates of riskguard.yaml", "*no-risk*"])
    off = pytester.runpytest("--no-riskguard")
    assert off.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    off.stdout.fnmatch_lines(["riskguard: off;*"])


NATIVE_TOML = pytest.mark.skipif(pytest.version_tuple < (9,), reason="this pytest (8) reads no pytest.toml")


@pytest.mark.parametrize("ini", ["ini", pytest.param("toml", marks=NATIVE_TOML)])
def test_riskguard_config_is_relative_to_the_ini_file(pytester, project, ini):
    folder = project("good", into="gates")
    (folder / "riskguard.yaml").rename(folder / "search.yaml")
    if ini == "ini":
        pytester.makeini("[pytest]\nriskguard = true\nriskguard_config = gates/search.yaml")
    else:
        pytester.path.joinpath("pytest.toml").write_text(
            '[pytest]\nriskguard = true\nriskguard_config = ["gates/search.yaml"]\n'
        )
    own = "def test_own(riskguard): assert riskguard.folder.name == 'gates'"  # none is beside it or above
    pytester.mkdir("elsewhere").joinpath("test_own.py").write_text(own)
    result = pytester.runpytest("-v", "--rootdir=.", "elsewhere")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["gates/search.yaml::no-risk*"])


def test_a_riskguard_config_that_is_not_there_is_a_usage_error(pytester):
    pytester.makeini("[pytest]\nriskguard_config = nowhere.yaml")
    result = pytester.runpytest("--riskguard")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: riskguard_config: no such file: *nowhere.yaml"])


@pytest.mark.parametrize("option", ["--riskguard-strict", "--riskguard-report=report.json"])
def test_options_that_need_riskguard_are_refused_without_it(pytester, option):
    pytester.makepyfile("def test_own(): pass")
    result = pytester.runpytest(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{option.partition('=')[0]} needs --riskguard*"])


def test_no_riskguard_beats_what_the_ini_file_asks_for(pytester):
    pytester.makeini("[pytest]\nriskguard = true\naddopts = --riskguard-strict --riskguard-report=report.json")
    pytester.makepyfile("def test_own(): pass")
    assert pytester.runpytest("--no-riskguard").ret == 0
