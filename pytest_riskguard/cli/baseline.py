"""``riskguard baseline``: the stored baselines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pytest_riskguard.cli.parameters import FILE, file_option, surroundings
from pytest_riskguard.cli.status import ExitStatus
from pytest_riskguard.errors import BaselineError, UsageError
from pytest_riskguard.reports.text import clean, counted, listed

if TYPE_CHECKING:
    from pytest_riskguard.baselines.manifest import Manifest
    from pytest_riskguard.baselines.store import Store

DEFAULT_STORE = Path("baselines")


@click.group()
def baseline() -> None:
    """Keep the runs to judge against."""


Command = TypeVar("Command", bound=Callable[..., Any])


def _with_store(command: Command) -> Command:
    return file_option("--store", help="Folder of stored baselines (default: riskguard.yaml's).")(command)


def _storing(command: Command) -> Command:
    for option in (
        file_option("--qrels", help="Judgements (default: riskguard.yaml's)."),
        file_option("--topics", help="Query texts (default: riskguard.yaml's)."),
        click.option(
            "--measure",
            "measures",
            multiple=True,
            help="Repeatable (default: riskguard.yaml's, else nDCG@10).",
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
@click.argument("run", type=FILE)
@_storing
def add(name: str, run: Path, **options: Any) -> None:
    """Store RUN as baseline NAME, with its scores."""
    _store_run(name, run, replace=False, **options)


@baseline.command()
@click.argument("name")
@click.argument("run", type=FILE)
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
    from pytest_riskguard.cli.inputs import DEFAULT_MEASURE

    settings = surroundings()
    if settings is not None:
        topics = topics or (settings.collection.topics if qrels is None else None)
        qrels = qrels or settings.collection.qrels
        store = store or settings.store
        measures = measures or settings.all_measures
    if qrels is None:
        raise UsageError("no qrels: give --qrels, or a riskguard.yaml that names them (riskguard init writes one)")
    target = Store(store or DEFAULT_STORE)
    if replace and name not in target.names():
        target.manifest(name)  # says that there is nothing to replace, and what there is
    manifest = target.add(
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
    click.echo(f"{'replaced' if replace else 'stored'} {name}: {_in_a_line(manifest)}")


@baseline.command(name="list")
@_with_store
def list_(store: Path | None) -> int:
    """Name the stored baselines, one a line."""
    found = _store(store)
    if not found.names():
        click.echo(f"no baselines in {found.root}; riskguard baseline add NAME RUN stores one", err=True)
    damaged = []
    for name in found.names():
        try:
            click.echo(f"{name}\t{_in_a_line(found.manifest(name))}")
        except BaselineError as error:
            click.echo(f"{name}\tdamaged")
            damaged.append(str(error))
    for problem in damaged:
        click.echo(clean(f"Error: {problem}", limit=10_000), err=True)
    return ExitStatus.INCOMPARABLE if damaged else ExitStatus.PASSED


@baseline.command()
@click.argument("name")
@_with_store
def show(name: str, store: Path | None) -> None:
    """Show what is known of baseline NAME."""
    found = _store(store)
    manifest = found.manifest(name)
    git = manifest.git
    measures = ", ".join(f"{m.name} ({m.provider} {m.version or ''})".replace(" )", ")") for m in manifest.measures)
    rows = {
        "stored": manifest.created,
        "commit": "unknown" if git is None else git.commit + (" (with uncommitted changes)" if git.dirty else ""),
        "note": clean(manifest.note) or "none",
        "topics": _topics(manifest),
        "measures": measures,
        "run": manifest.digests.run + ("" if manifest.run_kept else " (not kept)"),
        "qrels": manifest.digests.qrels,
        "topics file": manifest.digests.topics or "none",
        "versions": ", ".join(f"{library} {version}" for library, version in sorted(manifest.versions.items())),
    }
    for key, value in rows.items():
        click.echo(f"{key:<12} {value}")


@baseline.command()
@click.argument("names", nargs=-1)
@_with_store
def verify(names: tuple[str, ...], store: Path | None) -> None:
    """Check that baselines are unchanged.

    All of them, or NAMES: whole, and with the digests of their manifests.
    """
    found = _store(store)
    if not (names or found.names()):
        raise BaselineError(f"no baselines in {found.root}: nothing to verify")
    problems = []
    for name in names or found.names():
        faults = found.verify(name)
        problems += faults
        click.echo(f"{name}: {'; '.join(faults) if faults else 'ok'}")
    if problems:
        raise BaselineError(f"{counted(len(problems), 'problem')} found")


@baseline.command()
@click.argument("name")
@_with_store
@click.option("--allow-ci", is_flag=True, help="Delete even inside CI, where it is refused.")
def remove(name: str, store: Path | None, allow_ci: bool) -> None:
    """Delete stored baseline NAME."""
    from pytest_riskguard.baselines.surroundings import ci_variable

    if (variable := ci_variable()) and not allow_ci:
        raise UsageError(
            f"baselines are not removed inside CI ({variable} is set), where nobody reviews it; remove it on your "
            "machine, or say --allow-ci"
        )
    _store(store).remove(name)
    click.echo(f"removed {name}")


def _in_a_line(manifest: Manifest) -> str:
    measures = ", ".join(measure.name for measure in manifest.measures)
    note = f"; {clean(manifest.note, limit=60)}" if manifest.note else ""
    return f"{_topics(manifest)}; {measures}; {manifest.created}{note}"


def _topics(manifest: Manifest) -> str:
    topics = manifest.topics
    text = counted(topics.scored, "topic")
    if topics.unanswered:
        text += f" ({len(topics.unanswered)} unanswered: {listed(topics.unanswered, most=5)})"
    return text


def _store(path: Path | None) -> Store:
    from pytest_riskguard.baselines.store import Store

    if path is None:
        settings = surroundings()
        path = settings.store if settings is not None else DEFAULT_STORE
    return Store(path)
