"""``candidate: {command: [...]}``: what it may hold, and what is said of anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_riskguard.config.candidate_settings import CommandCandidate
from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError

REST = "collection: {qrels: qrels.txt}\ngates: [{name: a, kind: not_significantly_risky, baseline: p, measure: AP}]\n"


def loaded(folder: Path, candidate: str) -> CommandCandidate:
    path = folder / "riskguard.yaml"
    path.write_text(f"candidate: {{{candidate}}}\n{REST}", encoding="utf-8")
    found = load_config(path).candidate
    assert isinstance(found, CommandCandidate)
    assert hash(found) == hash(load_config(path).candidate)
    return found


def test_a_command_with_everything(tmp_path):
    found = loaded(
        tmp_path,
        "command: [./search, --size, 10, '{query}'], depth: 50, workers: 4, timeout: none, ties: docid, "
        "metadata: {index: v8}",
    )
    assert found.command == ("./search", "--size", "10", "{query}")
    assert found.runs_for_each
    assert (found.depth, found.workers, found.timeout, found.ties) == (50, 4, None, "docid")


@pytest.mark.parametrize(
    ("arguments", "runs_for_each"),
    [("[a]", False), ("[a, '-q={query}']", True), ("[a, '{topic}']", True), ("[a, '{depth}']", False)],
)
def test_a_command_is_run_for_each_query_that_an_argument_takes(tmp_path, arguments, runs_for_each):
    found = loaded(tmp_path, f"command: {arguments}")
    assert (found.runs_for_each, found.ties) == (runs_for_each, "as_returned")


def test_no_query_is_the_name_of_a_program(tmp_path):
    assert not loaded(tmp_path, "command: ['{query}', x]").runs_for_each


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("command: ./search --size 10", "expected a list of a program and its arguments, such as [./search, --size"),
        ("command: []", "expected a list of a program and its arguments"),
        ("command: [a, {b: c}]", "expected a list of a program and its arguments"),
        ("command: ['']", "expected a list of a program and its arguments"),
        ('command: [a, "b\\0c"]', "expected a list of a program and its arguments"),
        ("command: [a], workers: 2", "expected `workers: 1`: without {query} in an argument one process is asked"),
        ("command: [a], ties: rank", "candidate.ties: expected as_returned or docid, found 'rank'"),
    ],
)
def test_anything_else_is_refused_with_its_line(tmp_path, command, expected):
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, command)
    said = "\n".join(map(str, caught.value.errors))
    assert expected in said
    assert "riskguard.yaml:1: " in said
