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


def test_a_command_with_everything(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        "command: [./search, --size, 10, '{query}'], input: argument, depth: 50, workers: 4, timeout: none, "
        "retries: 1, rate: 2, ask_twice: 0, ties: docid, metadata: {index: v8}",
    )
    assert found.command == ("./search", "--size", "10", "{query}")
    assert found.takes_argument
    assert (found.depth, found.workers, found.timeout, found.ties) == (50, 4, None, "docid")


@pytest.mark.parametrize(("arguments", "takes_argument"), [("", False), (", '-q={query}'", True), (", q", False)])
def test_where_the_query_goes_is_seen_from_the_arguments(
    tmp_path: Path, arguments: str, takes_argument: bool
) -> None:
    found = loaded(tmp_path, f"command: [node{arguments}]")
    assert (found.takes_argument, found.ties) == (takes_argument, "as_returned")


def test_no_query_is_the_name_of_a_program(tmp_path: Path) -> None:
    assert not loaded(tmp_path, "command: ['{query}', x]").takes_argument


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("command: ./search --size 10", "expected a list of a program and its arguments, such as [./search, --size"),
        ("command: []", "expected a list of a program and its arguments"),
        ("command: [a, {b: c}]", "expected a list of a program and its arguments"),
        ("command: ['']", "expected the name or path of a program first, found ''"),
        ('command: [a, "b\\0c"]', "expected arguments without the character NUL"),
        ("command: [a], input: argument", "expected {query} in an argument of the command, or `input: stdin`"),
        ("command: [a, '{query}'], input: stdin", "expected no {query} in the arguments with `input: stdin`"),
        ("command: [a], input: file", "candidate.input: expected stdin, argument or lines, found 'file'"),
        ("command: [a], ties: rank", "candidate.ties: expected as_returned or docid, found 'rank'"),
    ],
)
def test_anything_else_is_refused_with_its_line(tmp_path: Path, command: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, command)
    said = "\n".join(map(str, caught.value.errors))
    assert expected in said
    assert "riskguard.yaml:1: " in said
