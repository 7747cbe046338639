"""``riskguard cache``: what is kept on disk of runs that were scored and gates that were judged."""

from __future__ import annotations

import click

from pytest_riskguard import run_context
from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.text import clean, counted


@click.group()
def cache() -> None:
    """Look at or delete what is kept on disk."""


@cache.command("show")
def show_cache() -> int:
    """Print where the cache is, how much it holds, and how much it may hold; or why there is none."""
    from pytest_riskguard.evaluation.cache.cache_folder import KINDS, SIZE, VARIABLE, CacheFolder, location, unusable

    root = location()
    problem = f"{VARIABLE} is off, or there is no home folder" if root is None else unusable(root)
    if root is not None:
        click.echo(f"folder: {clean(str(root), limit=1000)}")
    if root is None or problem is not None:
        click.echo(f"not used: {problem}")
        return ExitStatus.PASSED
    entries = CacheFolder(root).entries()
    for kind in KINDS:
        sizes = [entry.size for entry in entries if entry.path.parent.name == kind]
        click.echo(f"{kind}: {counted(len(sizes), 'entry', 'entries')}, {sum(sizes):,} bytes")
    click.echo(f"in all: {sum(entry.size for entry in entries):,} of at most {SIZE.value:,} bytes ({SIZE.variable})")
    return ExitStatus.PASSED


@cache.command("clear")
def clear_cache() -> int:
    """Delete everything in the cache; nothing else in its folder is touched."""
    from pytest_riskguard.evaluation.cache.cache_folder import cache_folder

    with run_context.changed(cached=True):
        folder = cache_folder()
    entries = [] if folder is None else folder.clear()
    click.echo(f"deleted {counted(len(entries), 'entry', 'entries')}, {sum(entry.size for entry in entries):,} bytes")
    return ExitStatus.PASSED
