"""Options about reading runs: how many processes, which cluster, no cache; and a line that says how far they are."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

from pytest_riskguard import run_context

#: Seconds between two lines where the output is no terminal.
_PAUSE = 10.0
#: The most processes that may be asked for, and digits enough to say so.
_MOST, _DIGITS = 1024, 18


class WorkersType(click.ParamType[int | None]):
    """A number of processes, or ``auto``."""

    name = "number|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """A number from 1; None for ``auto``."""
        if value == "auto":
            return None
        text = str(value)
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:_DIGITS]) <= _MOST):
            self.fail(f"expected a number from 1 to {_MOST} or auto, found {text!r}", param, ctx)
        return int(text[:_DIGITS])


def _with_workers(ctx: click.Context, param: click.Parameter, given: int | None) -> None:
    source = ctx.get_parameter_source(str(param.name))
    if source is not None and source.name != "DEFAULT":
        ctx.with_resource(run_context.changed(workers=given))


def _on_cluster(ctx: click.Context, _: click.Parameter, address: str | None) -> None:
    if address is not None:
        from pytest_riskguard.evaluation.shards.schedulers.addresses import engine_at

        engine_at(address)  # an address of nothing is refused even where the cache has every score
        ctx.with_resource(run_context.changed(scheduler=address))


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
        callback=_with_workers,
        help="Read each run with N processes; auto takes as many as make it faster.",
    ),
    click.option(
        "--scheduler",
        metavar="URL",
        expose_value=False,
        callback=_on_cluster,
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
