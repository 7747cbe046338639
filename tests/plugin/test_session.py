"""How a run of gates ends: exit status, report, verdicts from workers, crashes and reruns."""

import os

import pytest

from tests.plugin.world import read_report

MIXED = """
    import pytest
    from pytest_riskguard import assert_not_significantly_risky, check

    BASELINE = {str(topic): 0.50 for topic in range(301, 351)}

    @pytest.mark.parametrize("drop", [0.0, 0.01, 0.02])
    def test_plain(drop):
        check("not_significantly_risky", {t: s - drop for t, s in BASELINE.items()}, BASELINE)

    def test_fixture(riskguard):
        riskguard.assert_not_significantly_risky(riskguard.run("candidate.run"), "prod")
"""


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((), 1),
        (("--riskguard-no-yaml",), 1),
        pytest.param(("-n", "2"), 1, marks=pytest.mark.slow),
        (("--collect-only",), 0),
        (("--fixtures",), 0),
        (("-k", "own"), 0),
        (("-m", "not slow"), 0),
        (("--lf",), 0),
        (("--sw",), 0),
        (("--deselect=other",), 0),
        (("--ignore=other",), 0),
        (("test_own.py::test_own",), 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_judging_nothing_is_red_unless_a_selection_explains_it(pytester, arguments, status):
    pytester.makepyfile(test_own="def test_own(): pass")
    result = pytester.runpytest("--riskguard", *arguments)
    assert result.ret == status
    said = "ERROR riskguard is on and no gate was judged (declare one in riskguard.yaml or use the fixture; *"
    if status:
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines([said])
    else:
        result.stdout.no_fnmatch_line(said)


@pytest.mark.parametrize(
    ("arguments", "addopts", "judged"),
    [
        ((), "", 5),
        ((), "-m 'not own' -k fixture", 1),
        (("--riskguard-no-yaml",), "", 4),
        (("-k", "nothing"), "", 0),
    ],
)
def test_strict_asks_for_every_gate_that_is_known(pytester, project, arguments, addopts, judged):
    project("good")
    pytester.makeini(f"[pytest]\naddopts = {addopts}")
    pytester.makepyfile(MIXED)
    assert pytester.runpytest("--riskguard", *arguments).ret == (0 if judged else pytest.ExitCode.NO_TESTS_COLLECTED)
    result = pytester.runpytest("--riskguard", "--riskguard-strict", *arguments)
    assert result.ret == (judged < 5)


def test_judging_none_of_the_gates_is_red_too(pytester, project):
    pytester.makepyfile(test_own="def test_own(): pass")
    strict = pytester.runpytest("--riskguard", "--riskguard-strict")
    strict.stdout.fnmatch_lines(["ERROR gates judged: 0 of 0, --riskguard-strict asks for all"])
    project("good")
    pytester.makeini("[pytest]\naddopts = -k own")
    result = pytester.runpytest("--riskguard")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["ERROR riskguard is on and no gate was judged (1 known)"])
    pytester.makepyfile(test_own="def test_own(): assert False")
    pytester.runpytest("--riskguard").stdout.no_fnmatch_line("ERROR*")


@pytest.mark.slow
def test_verdicts_of_subtests_and_of_topics_that_are_no_text_reach_the_controller(pytester):
    pytester.makepyfile("""
        import pytest
        from pytest_riskguard import check

        def test_surrogates():
            topics = [f"\\ud800{number}" for number in range(12)]
            check("not_significantly_risky", dict.fromkeys(topics, 0.5), dict.fromkeys(topics, 0.5))

        def test_parts(request):
            if not request.config.pluginmanager.hasplugin("subtests"):
                pytest.skip("this pytest has no subtests")
            subtests = request.getfixturevalue("subtests")
            scores = {str(number): 0.5 for number in range(12)}
            for part in range(3):
                with subtests.test(part=part):
                    check("not_significantly_risky", scores, scores)
    """)
    result = pytester.runpytest("--riskguard", "-n", "2", "--riskguard-report=report.json")
    assert result.ret == 0
    verdicts = read_report(pytester.path / "report.json")["verdicts"]
    expected = 1 if result.parseoutcomes().get("skipped") else 4
    assert len(verdicts) == expected


def test_a_report_that_cannot_be_written_is_one_line_and_red(pytester, project):
    project("good")
    pytester.makepyfile("def test_that_takes_the_place(): __import__('pathlib').Path('report.json').mkdir()")
    result = pytester.runpytest("--riskguard", "--riskguard-report=report.json", "--riskguard-report=other.json")
    result.assert_outcomes(passed=2)
    assert result.ret == 1
    assert read_report(pytester.path / "other.json")["verdicts"]
    result.stdout.fnmatch_lines(["ERROR could not write the report report.json: *"])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert os.listdir(pytester.path / "report.json") == []  # noqa: PTH208
    assert not list(pytester.path.glob(".report.json*"))


def test_a_test_that_is_run_again_has_its_last_verdicts_only(pytester, project):
    project("loss")
    pytester.makeconftest("""
        from _pytest.runner import runtestprotocol

        def pytest_runtest_protocol(item, nextitem):
            item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            for log in (False, True):  # as plugins for reruns do: a first time, then again
                for report in runtestprotocol(item, nextitem=nextitem, log=False):
                    if not log and report.failed:
                        report.outcome = "rerun"
                    item.ihook.pytest_runtest_logreport(report=report)
            item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
            return True
    """)
    result = pytester.runpytest("--riskguard", "--riskguard-report=report.json")
    assert result.ret == 1
    assert len(read_report(pytester.path / "report.json")["verdicts"]) == 1
    assert len([line for line in result.outlines if line.startswith("the mean fell 0.50 -> 0.34; ")]) == 1


def test_the_summary_lists_every_gate_with_its_figures(pytester, project):
    project("good")
    result = pytester.runpytest("--riskguard")
    result.stdout.fnmatch_lines(
        [
            "*= riskguard =*",
            "outcome  estimate                    measure  mean          gate",
            "PASS     URisk +0.12 [[]+0.03, +0.22[]]  AP       0.50 -> 0.64  riskguard.yaml::no-risk",
            "  Once it is released, store it as the baseline:",
            "    riskguard baseline update prod candidate.run --note 'significantly better: AP 0.5000 to 0.6361'",
        ]
    )
    result.stdout.no_fnmatch_line("Ship*")


def test_the_short_summary_lists_what_wants_attention_without_remarks(pytester, project):
    project("good")
    assert "PASS" not in pytester.runpytest("--riskguard", "-q").stdout.str()
    with (pytester.path / "qrels.txt").open("a") as qrels:
        qrels.write("t01 0 later 0\n")  # not those that the baseline was stored with
    pytester.makepyfile(MIXED)
    text = pytester.runpytest("--riskguard", "-q").stdout.str()
    assert text.count("\nPASS") == 2  # of the gates that ask the store
    assert text.count("\nFAIL") == 2
    assert "each at its own level" not in text
    assert "Don't ship" not in text
