"""Which gates are collected, under which names, and how they are selected."""

from fnmatch import fnmatch

import pytest

from tests.plugin.world import edit, flat

SEVERAL = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
measures: [AP]
candidate: candidate.run
gates:
  - name: strict
    kind: not_significantly_risky
    baseline: prod
    measure: [AP, "P(rel=1)@5"]
    alpha: [0, 5]
    on_churn: fail
  - {name: lenient, kind: not_significantly_risky, baseline: prod, tolerance: 0.9}
"""


def collected(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


@pytest.mark.parametrize(
    ("arguments", "testpaths", "tests"),
    [
        ((), "", ["sub/test_own.py::test_own"]),
        ((), "sub", ["sub/test_own.py::test_own"]),
        ((), ".", ["sub/test_own.py::test_own"]),
        ((".",), "sub", ["sub/test_own.py::test_own"]),
        (("riskguard.yaml",), "sub", []),
        pytest.param(
            (".", "riskguard.yaml"),
            "",
            ["sub/test_own.py::test_own"],
            marks=pytest.mark.skipif(
                pytest.version_tuple < (9,), reason="this pytest (8) loses tests where arguments overlap"
            ),
        ),
        (("sub",), "", ["sub/test_own.py::test_own"]),
        (("sub/test_own.py",), "", ["sub/test_own.py::test_own"]),
    ],
)
def test_gates_are_collected_exactly_once_whatever_is_named(pytester, project, arguments, testpaths, tests):
    project("good")
    pytester.makeini(f"[pytest]\ntestpaths = {testpaths}" if testpaths else "[pytest]")
    pytester.mkdir("sub").joinpath("test_own.py").write_text("def test_own(): pass")
    result = pytester.runpytest("--riskguard", "--collect-only", "-q", *arguments)
    assert result.ret == 0
    assert sorted(collected(result)) == sorted(["riskguard.yaml::no-risk", *tests])


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_gate_files_in_a_folder_that_is_typed_and_below_it_are_judged(pytester, project, workers):
    project("loss", into="services/shop")
    project("good", into="services/help/inner")
    data = pytester.path / "services/help/tests"
    data.mkdir()
    (data / "riskguard.yaml").write_text("collection: {qrels: qrels.txt}\n")  # for tests with the fixture: no gates
    result = pytester.runpytest("--riskguard", "services", "-n", workers)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        ["PASS *services/help/inner/riskguard.yaml::no-risk", "*--config services/help/inner/riskguard.yaml"]
    )
    assert "Don't ship: 1 of 2 gates failed" in result.outlines
    pytester.runpytest("--riskguard").stdout.fnmatch_lines(
        ["ERROR riskguard is on and no gate was judged (*`pytest --riskguard .` judges*"]
    )


@pytest.mark.parametrize("arguments", [("sub/test_own.py::test_own",), ("--riskguard-no-yaml",)])
def test_gates_are_not_collected_with_node_ids_or_when_told_not_to(pytester, project, arguments):
    project("good")
    pytester.mkdir("sub").joinpath("test_own.py").write_text("def test_own(): pass")
    result = pytester.runpytest("--riskguard", "--collect-only", "-q", *arguments)
    assert collected(result) == ["sub/test_own.py::test_own"]


def test_a_gate_file_where_pytest_does_not_look_is_collected_all_the_same(pytester, project):
    project("good", into=".search")
    project("good")
    pytester.makeini("[pytest]\nriskguard_config = riskguard.yaml .search/riskguard.yaml")
    result = pytester.runpytest("--riskguard", "--collect-only", "-q")
    assert sorted(collected(result)) == [".search/riskguard.yaml::no-risk", "riskguard.yaml::no-risk"]
    result = pytester.runpytest(
        "--riskguard", "--collect-only", "-q", "--ignore=.search/riskguard.yaml", "-k", "no-risk"
    )
    assert collected(result) == ["riskguard.yaml::no-risk"]


def test_each_measure_and_alpha_is_an_item_and_can_be_selected(pytester, project):
    project("good")
    pytester.path.joinpath("riskguard.yaml").write_text(SEVERAL)
    collect = ("--riskguard", "--collect-only", "-q")
    items = [
        "riskguard.yaml::strict[AP-0]",
        "riskguard.yaml::strict[AP-5]",
        "riskguard.yaml::strict[P(rel=1)@5-0]",
        "riskguard.yaml::strict[P(rel=1)@5-5]",
        "riskguard.yaml::lenient",
    ]
    assert collected(pytester.runpytest(*collect)) == items
    assert collected(pytester.runpytest(*collect, items[1])) == items[1:2]
    assert collected(pytester.runpytest(*collect, "-k", "strict and AP")) == items[:2]
    assert collected(pytester.runpytest(*collect, "--deselect", items[4])) == items[:4]


def test_last_failed_runs_the_failed_gate_only(pytester, project):
    project("churn")
    pytester.path.joinpath("riskguard.yaml").write_text(SEVERAL.replace('[AP, "P(rel=1)@5"]', "AP"))
    pytester.makepyfile("def test_own(): pass")
    first = pytester.runpytest("--riskguard")
    first.assert_outcomes(passed=3, failed=1)
    second = pytester.runpytest("--riskguard", "--lf")
    second.assert_outcomes(failed=1)
    second.stdout.fnmatch_lines(
        ["FAILED riskguard.yaml::strict[[]AP-5] - RiskyError: losses counted 6 times outweigh gains; *"]
    )


@pytest.mark.slow
def test_collecting_scores_nothing_and_loads_no_scipy(pytester, project):
    project("good")
    pytester.path.joinpath("candidate.run").unlink()
    pytester.makeconftest("""
        import sys
        def pytest_unconfigure(config):
            loaded = {"numpy", "scipy", "ir_measures"} & set(sys.modules)
            print("LOADED", sorted(loaded))
    """)
    result = pytester.runpytest_subprocess("--riskguard", "--collect-only")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*no-risk*", "LOADED []"])


def test_a_broken_riskguard_yaml_is_a_failing_item_at_its_line(pytester, project):
    project("good")
    edit(pytester.path / "riskguard.yaml", "alpha:", "alhpa:")
    pytester.makepyfile("def test_own(): pass")
    result = pytester.runpytest("--riskguard")
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*riskguard.yaml:6: unknown key 'alhpa' in gate 'no-risk'; did you mean 'alpha'*",
            "FAILED riskguard.yaml::configuration - ConfigError: line 6: unknown key*",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "pytest_riskguard/" not in result.stdout.str()


def test_a_failing_gate_is_reported_at_its_line_and_in_junit(pytester, project):
    project("loss")
    pytester.makeini("[pytest]\njunit_family = xunit1")
    pytester.makeconftest("""
        def pytest_runtest_logreport(report):
            if report.failed:
                print("LOCATION", report.location)
    """)
    result = pytester.runpytest("--riskguard", "--tb=line", "--junitxml=junit.xml", "-s")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*LOCATION ('riskguard.yaml', 5, 'no-risk')",
            "*riskguard.yaml:6: RiskyError: the mean fell 0.50 -> 0.34; 12 of *",
            "FAILED riskguard.yaml::no-risk - RiskyError: the mean fell 0.50 -> 0.34; 12 of *",
        ]
    )
    from xml.etree import ElementTree

    case = ElementTree.parse(pytester.path / "junit.xml").getroot().find(".//testcase")  # noqa: S314
    assert case is not None
    assert (case.get("file"), case.get("line"), case.get("name")) == ("riskguard.yaml", "5", "no-risk")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message", "").startswith(
        "RiskyError: the mean fell 0.50 -> 0.34; 12 of 30 queries lost, none gained"
    )
    assert "t07" in (failure.text or "")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("measures: [AP]", "measures: [nDGC@10]", "*'nDGC@10'*nDCG*"),
        ("baseline: prod", "baseline: prdo", "*no baseline 'prdo' (the store holds prod); did you mean 'prod'*"),
        (
            "candidate: candidate.run",
            "candidate: runs/nowhere.run",
            "*: runs?nowhere.run: no such file* (the candidate named in riskguard.yaml:4)*",
        ),
        ("qrels.txt", "nowhere.txt", "*: nowhere.txt: * (the qrels named in riskguard.yaml:1)*"),
        ("topics.tsv", "nowhere.tsv", "*: nowhere.tsv: * (the topics named in riskguard.yaml:1)*"),
        ("candidate: candidate.run", "candidate: {retrieve: 'nowhere:search'}", "*'nowhere:search'*pythonpath*"),
    ],
)
def test_a_mistake_in_the_file_is_a_message_without_a_traceback(pytester, project, old, new, message):
    project("good")
    edit(pytester.path / "riskguard.yaml", old, new)
    result = pytester.runpytest("--riskguard")
    result.assert_outcomes(failed=1)
    assert result.ret == 1
    assert fnmatch(flat(result), message)
    result.stdout.no_fnmatch_line("FAILED *cannot be compared: *")  # there the reason comes first
    assert "Traceback" not in result.stdout.str()
    assert "pytest_riskguard/" not in result.stdout.str()


def test_a_gate_file_that_is_left_out_of_a_folder_is_said_in_the_header(pytester, project):
    project("good")
    project("good", into="sub")
    pytester.mkdir("sub/inner")
    line = "riskguard: sub/riskguard.yaml is not listed in riskguard_config: gates in it are not run"
    result = pytester.runpytest("--riskguard", "--collect-only", "sub/inner")
    assert result.outlines.count(line) == 1
    result = pytester.runpytest("--riskguard", "--collect-only", "-o", "riskguard_config=riskguard.yaml", "sub")
    assert result.outlines.count(line) == 1  # the ini file says which files there are
    listed = ("-o", "riskguard_config=sub/riskguard.yaml")
    above = pytester.runpytest("--riskguard", "--collect-only", "--rootdir=sub", *listed, ".")
    assert f"riskguard: {pytester.path / 'riskguard.yaml'} is not listed in" in above.stdout.str()
    for arguments in (
        (),
        ("sub",),
        ("sub/riskguard.yaml",),
        ("sub", "--riskguard-no-yaml"),
        ("--rootdir=sub", "sub/inner"),
    ):
        result = pytester.runpytest("--riskguard", "--collect-only", *arguments)
        assert "is not listed" not in result.stdout.str()
