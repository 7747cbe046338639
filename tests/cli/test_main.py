"""What stands for a command until it is called says of it what it says itself."""

from __future__ import annotations

import click
import pytest

from pytest_riskguard.cli.main import LazyCommand, cli, run


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


def test_a_command_is_loaded_when_it_is_called(capsys):
    assert run(["compare", "--help"]) == 0
    assert "Usage: riskguard compare [OPTIONS] [BASELINE] CANDIDATE..." in capsys.readouterr().out
    assert run(["baseline", "verify", "--help"]) == 0
    assert "Usage: riskguard baseline verify [OPTIONS] [NAMES]..." in capsys.readouterr().out


def test_an_unknown_command_is_refused_with_the_nearest(capsys):
    assert run(["comapre"]) == 2
    assert "compare" in capsys.readouterr().err


def test_shells_complete_the_options_of_a_command():
    context = click.Context(cli, info_name="riskguard")
    assert {item.value for item in cli.shell_complete(context, "co")} == {"comment", "compare", "convert"}
    _, command, _ = cli.resolve_command(context, ["compare"])
    assert any("--baseline" in parameter.opts for parameter in command.params)
