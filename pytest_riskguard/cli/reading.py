"""Options about reading runs: how many processes, which cluster, no cache; and a line that says how far they are."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import click

from pytest_riskguard import run_context

#: Seconds between two lines where the output is no terminal.
_PAUSE = 10.0


class WorkersType(click.ParamType[int | None]):
    """A number of processes, or ``auto``."""

    name = "number|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """A number from 1; None for ``auto``."""
        if value == "auto":
            return None
        return click.IntRange(min=1, max=1024).convert(value, param, ctx)


def _changing(field: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def change(ctx: click.Context, param: click.Parameter, given: Any) -> None:
        source = ctx.get_parameter_source(str(param.name))
        if source is not None and source.name != "DEFAULT":
            ctx.with_resource(run_context.changed(**{field: given}))

    return change


def _without_cache(ctx: click.Context, _: click.Parameter, given: bool) -> None:
    if given:
        ctx.with_resource(run_context.changed(cached=False))


#: For commands that score runs.
reading_options: tuple[Any, ...] = (
    click.option(
        "--workers",
        type=WorkersType(),
        default="auto",
        show_default=True,
        metavar="N|auto",
        expose_value=False,
        callback=_changing("workers"),
        help="Read each run with N processes; auto takes as many as make it faster.",
    ),
    click.option(
        "--scheduler",
        metavar="URL",
        expose_value=False,
        callback=_changing("scheduler"),
        help="Read runs on this cluster: tcp://HOST:PORT of dask, or spark://HOST:PORT.",
    ),
    click.option(
        "--no-cache",
        is_flag=True,
        expose_value=False,
        callback=_without_cache,
        help="Read every run and judge every gate, and keep nothing on disk.",
    ),
)


class ProgressLine:
    """Says on standard error how far reading is: in one line of a terminal, else once in a while."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def __call__(self, text: str) -> None:
        """Show a text that replaces the one before."""
        if sys.stderr.isatty():
            click.echo(f"\r{text}\x1b[K", err=True, nl=text.endswith("\n"))
        elif time.monotonic() - self._told > _PAUSE:
            self._told = time.monotonic()
            click.echo(text, err=True)
