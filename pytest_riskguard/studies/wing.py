"""What this wing adds to ``riskguard``: the group ``study``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_riskguard.hookspecs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def riskguard_commands() -> Iterable[click.Command]:
    """The group of studies."""
    from pytest_riskguard.cli import LazyCommand

    return [
        LazyCommand(
            "study",
            "pytest_riskguard.studies.commands:study",
            "Study systems and past releases.",
        )
    ]
