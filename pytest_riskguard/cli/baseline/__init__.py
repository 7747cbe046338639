"""``riskguard baseline``: show, check and change stored baselines."""

from __future__ import annotations

import click

from pytest_riskguard.cli.baseline import stored, storing


@click.group()
def baseline() -> None:
    """Store and manage baselines, the runs to judge against."""


for command in (*stored.COMMANDS, *storing.COMMANDS):
    baseline.add_command(command)
