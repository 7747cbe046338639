"""Kinds of values on the command line, and what riskguard.yaml fills in."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from pytest_riskguard.config.load import Config, find_config, load_config
from pytest_riskguard.gates.option_types import Number

_NAME = re.compile(r"[A-Za-z0-9._-]+\Z")

FILE = click.Path(path_type=Path, readable=False)
"""A file's path; whether the file is there, and can be read, is for the gate to say."""


class NumberType(click.ParamType[float]):
    """A number in a range; ``or_none`` takes the word ``none`` for no limit."""

    def __init__(self, check: Number, *, or_none: bool = False) -> None:
        self.check, self.or_none = check, or_none
        self.name = "number|none" if or_none else "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse and check the range."""
        if value == "none" and self.or_none:
            return None
        with suppress(ValueError):  # text that is no number is found as it is
            value = float(value)
        try:
            return self.check(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


@dataclass(frozen=True)
class NamedPath:
    """``NAME=PATH``, ``PATH`` or a stored name."""

    name: str | None
    text: str


class NamedPathType(click.ParamType[NamedPath]):
    """The first ``=`` splits only after a valid name, so that paths may hold one."""

    name = "[name=]run"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NamedPath:
        """Split off the name."""
        if isinstance(value, NamedPath):
            return value
        name, equals, path = str(value).partition("=")
        if equals and _NAME.match(name):
            if not path:
                self.fail(f"{value!r} names no run after the '='", param, ctx)
            return NamedPath(name, path)
        return NamedPath(None, str(value))


class NamedPathsType(click.ParamType[tuple[NamedPath, ...]]):
    """Several of them with commas between, each once."""

    name = "[name=]run,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[NamedPath, ...]:
        """Split at the commas."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        if not all(parts):
            self.fail(f"{value!r}: expected names or paths with commas between them, such as prod,bm25", param, ctx)
        if len({*parts}) < len(parts):
            self.fail(f"{value!r} names a system twice", param, ctx)
        one = NamedPathType()
        return tuple(one.convert(part, param, ctx) for part in parts)


Command = TypeVar("Command", bound=Callable[..., Any])


def surroundings() -> Config | None:
    """The settings of the riskguard.yaml in the working folder or above it, if there is one."""
    path = find_config(Path.cwd())
    return None if path is None else load_config(path, require_gates=False)


def file_option(*names: str, **attributes: Any) -> Callable[[Command], Command]:
    """An option that takes a file's path; whether the file is good is for the gate to say."""
    return click.option(*names, type=FILE, **attributes)


def options(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Several decorators as one; the first is the first option that ``--help`` shows."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def grouped(name: str, make: Callable[..., Any], *decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """The same for options that the command takes as one parameter ``name``: what ``make`` makes of their values."""
    parts = tuple(inspect.signature(make).parameters)

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def called(**given: Any) -> Any:
            given[name] = make(**{part: given.pop(part) for part in parts if part in given})
            return command(**given)

        return options(*decorators)(cast(Command, called))

    return decorate
