"""``riskguard baseline``: the stored baselines."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
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
    from pytest_riskguard.config.settings import Config

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
@click.option("--replicate", is_flag=True, help="RUN is another run of the system whose run NAME is.")
def add(name: str, run: Path, *, replicate: bool, **options: Any) -> None:
    """Store RUN as baseline NAME, with its scores."""
    if replicate:
        _store_replicate(name, run, **options)
    else:
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
    **options: Any,
) -> None:
    from pytest_riskguard.cli.inputs import DEFAULT_MEASURE

    place = _place(qrels, topics, store)
    settings = place.settings
    measures = measures or (settings.all_measures if settings is not None else ()) or (DEFAULT_MEASURE,)
    target = place.store
    if replace and name not in target.names():
        target.manifest(name)  # says that there is nothing to replace, and what there is
    before: tuple[int, ...] = ()
    with suppress(BaselineError):  # what is replaced may be damaged in any way, or not be there
        before = target.replicate_numbers(name)
    manifest = target.add(
        name, run, qrels=place.qrels, topics=place.topics, measures=measures, replace=replace, **options
    )
    click.echo(f"{'replaced' if replace else 'stored'} {name}: {_in_a_line(manifest)}")
    kept = {replicate.number for replicate in manifest.replicates}
    if gone := [number for number in before if number not in kept]:
        numbers = ", ".join(map(str, gone))
        click.echo(
            f"removed {'replicate' if len(gone) == 1 else 'replicates'} {numbers} of {name}: "
            "they were stored for the run that was replaced"
        )


def _store_replicate(
    name: str,
    run: Path,
    *,
    qrels: Path | None,
    topics: Path | None,
    measures: tuple[str, ...],
    store: Path | None,
    **options: Any,
) -> None:
    place = _place(qrels, topics, store)
    target = place.store
    number = target.add_replicate(name, run, qrels=place.qrels, topics=place.topics, measures=measures, **options)
    click.echo(f"stored replicate {number} of {name}: {_in_a_line(target.replicate_manifest(name, number))}")


@dataclass(frozen=True)
class _Place:
    """Where to store, and the files to score with."""

    store: Store
    qrels: Path
    topics: Path | None
    settings: Config | None


def _place(qrels: Path | None, topics: Path | None, store: Path | None) -> _Place:
    """What the options say, and riskguard.yaml where they say nothing."""
    from pytest_riskguard.baselines.store import Store

    settings = surroundings()
    if settings is not None:
        topics = topics or (settings.collection.topics if qrels is None else None)
        qrels = qrels or settings.collection.qrels
        store = store or settings.store
    if qrels is None:
        raise UsageError("no qrels: give --qrels, or a riskguard.yaml that names them (riskguard init writes one)")
    return _Place(Store(store or DEFAULT_STORE), qrels, topics, settings)


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
    return _told(damaged)


def _told(damaged: list[str]) -> ExitStatus:
    """The status of a command that shows the rest in spite of damage."""
    for problem in damaged:
        click.echo(clean(f"Error: {problem}", limit=10_000), err=True)
    return ExitStatus.INCOMPARABLE if damaged else ExitStatus.PASSED


@baseline.command()
@click.argument("name")
@_with_store
def show(name: str, store: Path | None) -> int:
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
        "replicates": str(len(manifest.replicates) or "none"),
    }
    for key, value in rows.items():
        click.echo(f"{key:<12} {value}")
    damaged = []
    for replicate in manifest.replicates:
        key = f"replicate {replicate.number}"
        try:
            click.echo(f"{key:<12} {_in_a_line(found.replicate_manifest(name, replicate.number))}")
        except BaselineError as error:
            click.echo(f"{key:<12} damaged")
            damaged.append(str(error))
    return _told(damaged)


@baseline.command()
@click.argument("names", nargs=-1)
@_with_store
def verify(names: tuple[str, ...], store: Path | None) -> None:
    """Check that baselines are unchanged.

    All of them, or NAMES: whole, and with the digests of their manifests; with their replicates.
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
@click.option("--replicate", type=click.IntRange(min=1), help="Delete only the replicate of this number.")
@click.option("--allow-ci", is_flag=True, help="Delete even inside CI, where it is refused.")
def remove(name: str, *, store: Path | None, replicate: int | None, allow_ci: bool) -> None:
    """Delete stored baseline NAME, with its replicates."""
    from pytest_riskguard.baselines.surroundings import ci_variable

    if (variable := ci_variable()) and not allow_ci:
        raise UsageError(
            f"baselines are not removed inside CI ({variable} is set), where nobody reviews it; remove it on your "
            "machine, or say --allow-ci"
        )
    if replicate is None:
        _store(store).remove(name)
        click.echo(f"removed {name}")
    else:
        _store(store).remove_replicate(name, replicate)
        click.echo(f"removed replicate {replicate} of {name}")


def _in_a_line(manifest: Manifest) -> str:
    measures = ", ".join(measure.name for measure in manifest.measures)
    note = f"; {clean(manifest.note, limit=60)}" if manifest.note else ""
    replicates = f"; {counted(len(manifest.replicates), 'replicate')}" if manifest.replicates else ""
    return f"{_topics(manifest)}; {measures}; {manifest.created}{replicates}{note}"


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
