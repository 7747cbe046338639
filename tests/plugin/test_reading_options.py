"""Who reads runs under pytest: the options, and a candidate in several files."""

from __future__ import annotations

import pytest

from tests.plugin import world


@pytest.fixture
def project(pytester):
    world.write_world(pytester.path, world.GOOD)
    return pytester


@pytest.mark.parametrize("given", ["0", "-1", "many", "1025", "1.5"])
def test_workers_are_a_number_or_auto(project, given):
    result = project.runpytest_subprocess("--riskguard", f"--riskguard-workers={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*expected a number from 1 to 1024 or auto, found '{given}'*"])


@pytest.mark.parametrize("given", ["auto", "1", "2"])
def test_workers_change_no_verdict(project, given):
    project.runpytest_subprocess("--riskguard", f"--riskguard-workers={given}").assert_outcomes(passed=1)


def test_a_scheduler_that_is_none_is_named(project):
    result = project.runpytest_subprocess("--riskguard", "--riskguard-scheduler=ftp://host")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*ftp://host: expected the address of a scheduler of dask*"])


def test_a_candidate_in_a_folder(project):
    (project.path / "candidate").mkdir()
    (project.path / "candidate.run").rename(project.path / "candidate" / "part-0.run")
    yaml = project.path / "riskguard.yaml"
    yaml.write_text(yaml.read_text(encoding="utf-8").replace("candidate.run", "candidate"), encoding="utf-8")
    project.runpytest_subprocess("--riskguard").assert_outcomes(passed=1)
