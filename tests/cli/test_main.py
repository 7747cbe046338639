"""What stands for a command until it is called says of it what it says itself."""

import os
from pathlib import Path

import click
import pytest

from pytest_riskguard.cli.main import LazyCommand, cli
from pytest_riskguard.errors import DataError


@pytest.mark.parametrize("name", cli.commands)
def test_names_and_help_are_those_of_the_commands(name):
    lazy = cli.commands[name]
    assert isinstance(lazy, LazyCommand)
    command = lazy.loaded()
    assert name == lazy.name == command.name
    for limit in (45, 60, 200):
        assert lazy.get_short_help_str(limit) == command.get_short_help_str(limit)
    assert not command.hidden
    assert not command.deprecated


def test_shells_complete_the_options_of_a_command(monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    context = click.Context(cli, info_name="riskguard")
    assert {item.value for item in cli.shell_complete(context, "co")} == {"comment", "compare"}
    _, command, _ = cli.resolve_command(context, ["compare"])
    assert "OPENBLAS_NUM_THREADS" not in os.environ  # or what a command starts would have one thread
    assert any("--baseline" in parameter.opts for parameter in command.params)
    monkeypatch.setattr("pytest_riskguard.plugins.added", lambda *_: {"analyse": ("a plugin", command)})
    assert "analyse" in cli.list_commands(context)


def test_a_working_folder_that_is_gone_is_no_fault_of_ours(command, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    ended = command("check")
    os.chdir(tmp_path)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == "Error: the working folder is gone; go to a folder that is there\n"


def test_an_error_of_the_system_about_a_file_is_no_fault_of_ours(command, monkeypatch):
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied", "locked/riskguard.yaml")

    monkeypatch.setattr("pytest_riskguard.cli.check.load_gates", refuse)
    ended = command("check")
    assert (ended.status, ended.err) == (3, "Error: locked/riskguard.yaml: Permission denied\n")


def test_a_path_is_named_as_it_is_typed_in_the_first_folder(tmp_path):
    assert DataError("bad", where=tmp_path / "a" / "b").seen_from(tmp_path / "c", tmp_path) == "../a/b: bad"


@pytest.mark.parametrize(("typed", "named"), [("/x/pytest-riskguard", "pytest-riskguard"), ("pytest", "riskguard")])
def test_what_is_printed_names_the_command_as_it_was_typed(command, monkeypatch, typed, named):
    monkeypatch.setattr("sys.argv", [typed])
    assert f"Usage: {named} check" in command("check --help").out
    assert f"  look into the worst query: {named} explain t07" in command("check --candidate loss.run").out
