"""The option about reading runs: no cache."""

from __future__ import annotations

from typing import Any

import click

from pytest_riskguard import run_context


def _without_cache(ctx: click.Context, _: click.Parameter, given: bool) -> None:
    if given:
        ctx.with_resource(run_context.changed(cached=False))


#: For commands that score runs.
reading_options: tuple[Any, ...] = (
    click.option(
        "--no-cache",
        is_flag=True,
        expose_value=False,
        callback=_without_cache,
        help="Read every run and judge every gate, and keep nothing on disk.",
    ),
)
