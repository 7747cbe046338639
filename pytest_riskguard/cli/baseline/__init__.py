"""``riskguard baseline``: show, check and change stored baselines."""

from __future__ import annotations

import click

from pytest_riskguard import run_context
from pytest_riskguard.cli.baseline import stored, storing


@click.group()
def baseline() -> None:
    """Store and manage baselines, the runs to judge against."""
    # what is stored and verified here rests on the runs themselves
    click.get_current_context().with_resource(run_context.changed(cached=False))


for command in (*stored.COMMANDS, *storing.COMMANDS):
    baseline.add_command(command)
