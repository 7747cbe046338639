"""GitHub Actions: annotations and the summary of the step."""

import re

import pytest

from pytest_riskguard.reports.ci.github import Annotation, annotation, append_summary, commands, place
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.markdown import SUMMARY_LIMIT, render
from tests.plugin.world import LOSS
from tests.reports.cases import judged
from tests.verdicts import altered

LOST = altered(judged(LOSS), gate="no-risk[AP-1]")


def test_an_annotation_names_file_line_and_gate():
    said = str(annotation(LOST, file="search/riskguard.yaml", line=6))
    assert said.startswith(
        "::error file=search/riskguard.yaml,line=6,title=riskguard%3A no-risk[AP-1]::the mean fell 0.50 -> 0.34; 12 "
    )


@pytest.mark.parametrize("count", [10, 11])
def test_no_more_are_written_than_github_shows(count):
    said = commands([annotation(LOST)] * count)
    assert len(said) == min(count, 10)
    if count > 10:
        assert (
            said[-1]
            == f"::error title=riskguard::and {count - 9} more errors: see the log or the summary of the step"
        )


def test_files_are_named_from_the_root_of_the_checkout(tmp_path, monkeypatch):
    file = tmp_path / "repo" / "x" / ".." / "search" / "riskguard.yaml"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "repo"))
    assert place(file) == "search/riskguard.yaml"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert place(file) == "repo/search/riskguard.yaml"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    assert place(file) == (tmp_path / "repo" / "search" / "riskguard.yaml").as_posix()


def test_the_summary_of_the_step_is_written_behind_what_is_there(tmp_path):
    path = tmp_path / "summary.md"
    append_summary(path, Report([LOST]))
    append_summary(path, Report([LOST]))
    assert path.read_text(encoding="utf-8") == f"{render(Report([LOST]))}\n{render(Report([LOST]))}"


def test_the_summary_of_the_step_stays_within_what_github_takes(tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("x" * (SUMMARY_LIMIT - 1_000))
    append_summary(path, Report([LOST] * 20), [Annotation("riskguard", ["é" * 300])])
    assert path.stat().st_size <= SUMMARY_LIMIT + 1
    assert "Left out to save space" in path.read_text(encoding="utf-8")


def test_a_message_keeps_to_its_command():
    said = str(Annotation("a,b:c\nd", ["1 % of\r\nit", "::error::x"], file="a,b.yaml", line=1))
    assert said == "::error file=a%2Cb.yaml,line=1,title=a%2Cb%3Ac d::1 %25 of it%0A: :error::x"
    assert not re.search(r"[\r\n]", said)
