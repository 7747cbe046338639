"""What this wing adds to ``riskguard``: ``study`` and ``replay``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_riskguard.hookspecs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def riskguard_commands() -> Iterable[click.Command]:
    """The studies of papers, and of past releases."""
    from pytest_riskguard.cli import LazyCommand

    home = "pytest_riskguard.studies.commands"
    return [
        LazyCommand("study", f"{home}:study", "Study systems as the papers on risk do."),
        LazyCommand("replay", f"{home}:replay", "Judge past releases under several alphas."),
    ]
