"""A selection that was not typed cannot keep every gate from being judged."""

from __future__ import annotations

import pytest

from tests.plugin.test_known_gates import became
from tests.plugin.world import YAML

OWN = """
    import pytest

    def test_own(): ...

    @pytest.mark.gate
    def test_gate(riskguard):
        riskguard.assert_not_significantly_risky(riskguard.run("candidate.run"), "prod")
"""
RED = "ERROR riskguard is on and no gate was judged*"


@pytest.fixture
def gates(pytester, project):
    """A gate of each kind, both red; the file is in a folder of its own, so that it can be ignored."""
    project("loss", into="search")
    pytester.path.joinpath("search", "test_gates.py").write_text(
        "import pytest\n"
        "@pytest.mark.gate\n"
        "def test_gate(riskguard):\n"
        "    riskguard.assert_not_significantly_risky(riskguard.run('candidate.run'), 'prod')\n"
    )
    pytester.makepyfile(test_own="def test_own(): ...")

    def ini(**settings):
        lines = {"riskguard_config": "search/riskguard.yaml", "markers": "gate: a gate", **settings}
        pytester.makeini("\n".join(["[pytest]", *(f"{name} = {value}" for name, value in lines.items())]))

    ini()
    return ini


SELECTIONS = {
    "-k": "-k own",
    "--deselect": "--deselect=search",
    "--ignore": "--ignore=search/riskguard.yaml --ignore=search/test_gates.py",
    "--ignore-glob": "--ignore-glob=search/*",
}


@pytest.mark.parametrize("option", ["-k", "--deselect", "--ignore", "--ignore-glob"])
@pytest.mark.parametrize("source", ["addopts", "PYTEST_ADDOPTS"])
@pytest.mark.parametrize("workers", ["", "-n2"])
def test_a_selection_that_nobody_typed_is_red(pytester, gates, monkeypatch, option, source, workers):
    if source == "addopts":
        gates(addopts=SELECTIONS[option])
    else:
        monkeypatch.setenv(source, SELECTIONS[option] + " -p no:hypothesispytest")
    result = pytester.runpytest("--riskguard", *filter(None, [workers]))
    assert result.parseoutcomes().items() >= {"passed": 1}.items()
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"{RED}{option}*counts only if typed on the command line"])


@pytest.mark.parametrize("option", ["-k", "--deselect", "--ignore"])
def test_the_same_selection_on_the_command_line_is_green(pytester, gates, option):
    words = SELECTIONS[option].split(" ")
    result = pytester.runpytest("--riskguard", *words)
    assert result.ret == 0
    result.stdout.no_fnmatch_line("not judged*")
    assert pytester.runpytest("--riskguard", "-o", f"addopts={SELECTIONS[option]}").ret == 0


def test_a_typed_selection_excuses_only_what_it_leaves_out(pytester, gates):
    gates(addopts="-k own")
    assert pytester.runpytest("--riskguard", "-m", "not slow", "-W", "ignore").ret == 1
    assert pytester.runpytest("--riskguard", "-m", "not slow", "-W", "ignore", "-n2").ret == 1
    gates(addopts="-m 'not slow'", markers="slow: slow\n  gate: a gate")
    assert pytester.runpytest("--riskguard", "-k", "own").ret == 0
    assert pytester.runpytest("--riskguard", "-k", "own", "-n2").ret == 0
    gates(addopts=SELECTIONS["--ignore"])
    assert pytester.runpytest("--riskguard", "--ignore=elsewhere").ret == 1


@pytest.mark.parametrize("how", ["addopts", "testpaths"])
def test_a_node_id_that_nobody_typed_does_not_leave_out_the_gate_files(pytester, gates, how):
    gates(**{how: "test_own.py::test_own"})
    result = pytester.runpytest("--riskguard", "--riskguard-report=report.json")
    assert result.ret == 1
    assert became(pytester)["search/riskguard.yaml::no-risk"] == "judged"


def test_a_node_id_that_was_typed_leaves_them_out(pytester, gates):
    result = pytester.runpytest("--riskguard", "--riskguard-report=report.json", "test_own.py::test_own")
    assert result.ret == 0
    assert became(pytester) == {"search/riskguard.yaml::no-risk": "not_collected"}


def test_gates_that_a_hook_skips_are_red_when_none_is_left(pytester, gates):
    pytester.makeconftest("""
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                if "own" not in item.name:
                    item.add_marker(pytest.mark.skip(reason="later"))
    """)
    result = pytester.runpytest("--riskguard", "--riskguard-report=report.json")
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"{RED} (2 known)*", "*not judged (skipped): search/riskguard.yaml::no-risk*"][:1])
    assert set(became(pytester).values()) == {"skipped"}


def test_gates_that_a_hook_removes_are_known(pytester, gates):
    pytester.makeconftest("""
        def pytest_collection_modifyitems(items):
            items[:] = [item for item in items if "own" in item.name]
    """)
    result = pytester.runpytest("--riskguard", "--riskguard-report=report.json")
    assert result.ret == 1
    assert set(became(pytester).values()) == {"deselected"}


def test_the_last_failures_may_contain_no_gate(pytester, gates):
    pytester.makepyfile(test_own="def test_own(): assert 0")
    pytester.runpytest("test_own.py")
    result = pytester.runpytest("--riskguard", "--lf", "--riskguard-report=report.json")
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line(RED)
    assert set(became(pytester).values()) <= {"not_collected", "deselected"}


@pytest.mark.parametrize("option", ["--collect-only", "--setup-plan", "--fixtures", "--markers", "--help"])
def test_an_option_that_runs_no_tests_must_be_typed(pytester, gates, option):
    gates(addopts=option)
    result = pytester.runpytest("--riskguard")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option} in * runs no tests, and riskguard is on*"])
    assert pytester.runpytest("--riskguard", option).ret == 0
    assert pytester.runpytest().ret in (0, pytest.ExitCode.NO_TESTS_COLLECTED)


@pytest.mark.parametrize("name", ["riskguard-session", "riskguard-github"])
def test_a_part_of_the_plugin_cannot_be_blocked(pytester, gates, name):
    gates(addopts=f"-p no:{name}")
    result = pytester.runpytest("--riskguard")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: -p no:{name} cannot be given while riskguard is on*"])
    assert pytester.runpytest().ret == 0


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_failures_that_pytest_does_not_count_are_red(pytester, gates, workers):
    gates(addopts="-p no:session")
    result = pytester.runpytest_subprocess("--riskguard", *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR *no-risk*failed, but pytest counted no failure; -p no:session*"])


@pytest.mark.parametrize("settings", [{"riskguard": "false"}, {"addopts": "--no-riskguard"}])
def test_the_option_typed_wins_over_the_ini_file(pytester, gates, settings):
    gates(**settings)
    result = pytester.runpytest("--riskguard")
    result.assert_outcomes(passed=1, failed=2)


def test_a_blocked_plugin_does_not_know_the_option(pytester, gates):
    gates(addopts="-p no:riskguard")
    result = pytester.runpytest_subprocess("--riskguard")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("how", ["option", "yaml"])
@pytest.mark.parametrize("selection", [("-k", "gate"), ("-x",), ("search/riskguard.yaml::no-risk",), ()])
def test_every_gate_can_be_required(pytester, project, how, selection):
    project("good", into="search")
    require = "require: all\n" if how == "yaml" else ""
    (pytester.path / "search" / "riskguard.yaml").write_text(YAML % 1 + require)
    pytester.makepyfile(**{"search/test_gates": OWN})
    pytester.makeini("[pytest]\nriskguard_config = search/riskguard.yaml\nmarkers = gate")
    given = [*(["--riskguard-require=all"] if how == "option" else []), *selection]
    result = pytester.runpytest("--riskguard", *given, "--riskguard-report=report.json")
    judged = [*became(pytester).values()].count("judged")
    if selection in ((), ("-x",)):
        assert (result.ret, judged) == (0, 2)
    elif how == "option" and "::" in selection[0]:
        assert (result.ret, judged) == (0, 1)  # the tests with the fixture were never collected
    else:
        assert (result.ret, judged) == ((1, 1) if selection[0] == "-k" else (0, 1))
    if result.ret:
        result.stdout.fnmatch_lines(["ERROR gates judged: 1 of 2, *require*all* asks for all"])


def test_a_number_of_gates_can_be_required_in_yaml(pytester, project):
    project("good")
    (pytester.path / "riskguard.yaml").write_text(YAML % 1 + "require: 2\n")
    result = pytester.runpytest("--riskguard")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["ERROR gates judged: 1, riskguard.yaml (require: 2) asks for more"])
    (pytester.path / "riskguard.yaml").write_text(YAML % 1 + "require: none\n")
    result = pytester.runpytest("--riskguard")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*riskguard.yaml:7: require: expected a whole number, at least 1, found *or all*"])
