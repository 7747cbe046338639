"""``riskguard baseline``: the stored baselines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pytest_riskguard.cli.parameters import file_option, surroundings
from pytest_riskguard.errors import BaselineError, UsageError

DEFAULT_STORE = Path("baselines")


@click.group()
def baseline() -> None:
    """Store and look after the runs that candidates are judged against."""


def _with_store(command: Any) -> Any:
    return file_option("--store", help="Folder of stored baselines (default: riskguard.yaml's).")(command)


def _storing(command: Any) -> Any:
    for option in (
        file_option("--qrels", help="Judgements (default: riskguard.yaml's)."),
        file_option("--topics", help="Query texts (default: riskguard.yaml's)."),
        click.option(
            "--measure", "measures", multiple=True, help="Repeatable (default: riskguard.yaml's, else nDCG@10)."
        ),
        file_option("--store", help="Folder of stored baselines (default: riskguard.yaml's)."),
        click.option("--note", default="", help="Why this run is trusted; kept in the manifest."),
        click.option("--keep-run/--no-run", default=True, help="Keep the run itself, to score it anew later."),
        click.option("--allow-ci", is_flag=True, help="Store even inside CI, where it is refused."),
    ):
        command = option(command)
    return command


@baseline.command()
@click.argument("name")
@click.argument("run", type=click.Path(path_type=Path))
@_storing
def add(name: str, run: Path, **options: Any) -> None:
    """Store RUN as baseline NAME, with its scores."""
    _store_run(name, run, replace=False, **options)


@baseline.command()
@click.argument("name")
@click.argument("run", type=click.Path(path_type=Path))
@_storing
def update(name: str, run: Path, **options: Any) -> None:
    """Replace stored baseline NAME by RUN."""
    _store_run(name, run, replace=True, **options)


def _store_run(
    name: str,
    run: Path,
    *,
    replace: bool,
    qrels: Path | None,
    topics: Path | None,
    measures: tuple[str, ...],
    store: Path | None,
    note: str,
    keep_run: bool,
    allow_ci: bool,
) -> None:
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.cli.compare import DEFAULT_MEASURE

    settings = surroundings()
    if settings is not None:
        topics = topics or (settings.collection.topics if qrels is None else None)
        qrels = qrels or settings.collection.qrels
        store = store or settings.store
        measures = measures or settings.every_measure
    if qrels is None:
        raise UsageError("no qrels: give --qrels, or a riskguard.yaml that names them (riskguard init writes one)")
    manifest = Store(store or DEFAULT_STORE).add(
        name,
        run,
        qrels=qrels,
        topics=topics,
        measures=measures or (DEFAULT_MEASURE,),
        note=note,
        keep_run=keep_run,
        replace=replace,
        allow_ci=allow_ci,
    )
    click.echo(f"{'replaced' if replace else 'stored'} {name}: {manifest.summary}")


@baseline.command(name="list")
@_with_store
def list_(store: Path | None) -> None:
    """Name the stored baselines, one a line."""
    found = _store(store)
    for name in found.names():
        click.echo(f"{name}\t{found.manifest(name).summary}")


@baseline.command()
@click.argument("name")
@_with_store
def show(name: str, store: Path | None) -> None:
    """Show where stored baseline NAME comes from and what it scores."""
    found = _store(store)
    for line in found.describe(name):
        click.echo(line)


@baseline.command()
@click.argument("names", nargs=-1)
@_with_store
def verify(names: tuple[str, ...], store: Path | None) -> None:
    """Check that stored baselines (all, or NAMES) are whole and unchanged."""
    found = _store(store)
    problems = []
    for name in names or found.names():
        faults = found.verify(name)
        problems += faults
        click.echo(f"{name}: {'; '.join(faults) if faults else 'ok'}")
    if problems:
        raise BaselineError(f"{len(problems)} problems found")


@baseline.command()
@click.argument("name")
@_with_store
def remove(name: str, store: Path | None) -> None:
    """Delete stored baseline NAME."""
    _store(store).remove(name)
    click.echo(f"removed {name}")


def _store(path: Path | None) -> Any:
    from pytest_riskguard.baselines.store import Store

    if path is None:
        settings = surroundings()
        path = settings.store if settings is not None else DEFAULT_STORE
    return Store(path)
