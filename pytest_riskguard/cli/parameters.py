"""Kinds of values on the command line, and what riskguard.yaml fills in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pytest_riskguard.config.load import find_config, load_config

if TYPE_CHECKING:
    from pytest_riskguard.config.settings import Config

_NAME = re.compile(r"[A-Za-z0-9._-]+\Z")

FILE = click.Path(path_type=Path, readable=False)
"""A file's path; whether the file is there, and can be read, is for the gate to say."""


class FiniteFloat(click.ParamType[float]):
    """A number; ``nan`` and ``inf`` are not numbers that a gate can use."""

    name = "number"

    def __init__(self, low: float | None = None, high: float | None = None, *, open_range: bool = False) -> None:
        self.low, self.high, self.open_range = low, high, open_range

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse and check the range."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        low, high = self.low, self.high
        if low is not None and (number <= low if self.open_range else number < low):
            self.fail(
                f"{value} is too small: expected {'more than' if self.open_range else 'at least'} {low:g}",
                param,
                ctx,
            )
        if high is not None and (number >= high if self.open_range else number > high):
            self.fail(
                f"{value} is too large: expected {'less than' if self.open_range else 'at most'} {high:g}",
                param,
                ctx,
            )
        return number


class NumberOrNone(FiniteFloat):
    """A number, or the word ``none`` for no limit."""

    name = "number|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse and check the range."""
        return None if value == "none" else super().convert(value, param, ctx)


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
