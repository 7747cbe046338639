"""What this wing adds to ``riskguard``: the group ``ltr``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_riskguard.hookspecs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def riskguard_commands() -> Iterable[click.Command]:
    """The group of learning to rank."""
    from pytest_riskguard.cli import LazyCommand

    return [LazyCommand("ltr", "pytest_riskguard.ltr.command:ltr", "Learning to rank.")]
