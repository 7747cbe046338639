"""Usage and options of every command, as ``--help`` prints them, for the documentation site."""

from __future__ import annotations

from dataclasses import dataclass

import click

from pytest_riskguard.cli.main import LazyCommand, cli


@dataclass(frozen=True)
class Help:
    """What a command says of itself: paragraphs, its usage, and for each option how it is written and what it means."""

    about: list[str]
    usage: str
    options: list[tuple[str, str]]


def commands() -> dict[str, click.Command]:
    """Every command that does something, by how it is called."""
    leaves: dict[str, click.Command] = {}
    waiting: list[tuple[str, click.Command]] = [("riskguard", cli)]
    while waiting:
        path, command = waiting.pop()
        command = command.loaded() if isinstance(command, LazyCommand) else command
        if isinstance(command, click.Group):
            context = click.Context(command)
            inner = {name: command.get_command(context, name) for name in command.list_commands(context)}
            waiting += [(f"{path} {name}", found) for name, found in inner.items() if found]
        else:
            leaves[path] = command
    return leaves


def help_of(path: str) -> Help:
    """The help of a command, without ``--help`` itself."""
    command = commands()[path]
    context = click.Context(command, info_name=path, help_option_names=["-h", "--help"])
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    records = [option.get_help_record(context) for option in options]
    about = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    return Help(
        about, " ".join([path, *command.collect_usage_pieces(context)]), [record for record in records if record]
    )
