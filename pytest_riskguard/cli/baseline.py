"""``riskguard baseline``: show, check and change stored baselines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.baselines.manifest import KINDS, name_problem
from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.parameters import (
    DEFAULT_MEASURE,
    FILE,
    Command,
    file_option,
    gate_options,
    grouped,
    options,
    surroundings,
)
from pytest_riskguard.errors import BaselineError, DataError, UsageError
from pytest_riskguard.text import clean, counted, listed, plain, signed

if TYPE_CHECKING:
    from pytest_riskguard.baselines.manifest import Manifest, Staleness
    from pytest_riskguard.baselines.store import Store


DEFAULT_STORE = Path("baselines")
#: What each kind of baseline stands for.
_MEANING = {
    "fixed": "no accepted change moves it",
    "previous": "moves with every accepted change",
    "release": "moves with every release",
    "best": "moves only to a run whose means are as high",
}

store_option = file_option("--store", help="Folder of stored baselines. [default: riskguard.yaml's, else baselines]")


@click.group()
def baseline() -> None:
    """Store and manage baselines, the runs to judge against."""


@baseline.command(name="list")
@store_option
def list_(store: Path | None) -> int:
    """List the stored baselines."""
    baselines = opened(store)
    if not baselines.names():
        click.echo(f"no baselines in {baselines.root}; riskguard baseline add NAME RUN stores one", err=True)
    damaged = []
    for name in baselines.names():
        try:
            manifest, stale = baselines.manifest(name), baselines.staleness(name)
            click.echo(f"{name}\t{in_a_line(manifest, stale)}")
        except BaselineError as error:
            click.echo(f"{name}\tdamaged")
            damaged.append(str(error))
    return _status(damaged)


def _status(damaged: list[str]) -> ExitStatus:
    """Report damage after everything else was shown, and return the exit status."""
    for problem in damaged:
        click.echo(clean(f"Error: {problem}", limit=10_000), err=True)
    return ExitStatus.INCOMPARABLE if damaged else ExitStatus.PASSED


@baseline.command()
@click.argument("name")
@store_option
@file_option(
    "--qrels", help="Qrels file to score the chain with. [default: riskguard.yaml's, else the scores as stored]"
)
@click.option(
    "--measure", "measures", multiple=True, help="A measure to compare by. Repeatable. [default: those of NAME]"
)
@gate_options("alpha", "level", several=False)
def show(
    name: str, *, store: Path | None, qrels: Path | None, measures: tuple[str, ...], alpha: float, level: float
) -> int:
    """Show everything known about baseline NAME.

    If runs were promoted, this includes the effect of each accepted change, and of all of them together since the
    oldest run.
    """
    baselines = opened(store)
    manifest = baselines.manifest(name)
    git = manifest.git
    scored_by = ", ".join(f"{m.name} ({m.provider} {m.version or ''})".replace(" )", ")") for m in manifest.measures)
    rows = {
        "stored": manifest.created,
        "kind": f"{manifest.kind}: {_MEANING[manifest.kind]}",
        "age": stale_in_words(baselines.staleness(name)),
        "commit": "unknown" if git is None else git.commit + (" (with uncommitted changes)" if git.dirty else ""),
        "note": clean(manifest.note) or "none",
        "topics": _topics(manifest),
        "measures": scored_by,
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
            click.echo(f"{key:<12} {in_a_line(baselines.replicate_manifest(name, replicate.number))}")
        except BaselineError as error:
            click.echo(f"{key:<12} damaged")
            damaged.append(str(error))
    if manifest.history:
        for line in _chain(manifest):
            click.echo(line)
        measures = measures or manifest.measure_names
        damaged += _drift(baselines, name, qrels, measures, alpha=alpha, level=level)
    return _status(damaged)


def _chain(manifest: Manifest) -> list[str]:
    """The runs of a chain, oldest first."""
    runs = [(run.folder.removeprefix("history/"), run.created, run.git, run.note) for run in manifest.history]
    runs.append(("now", manifest.created, manifest.git, manifest.note))
    lines = [f"{'history':<12} {counted(len(manifest.history), 'change')} accepted since {runs[0][1][:10]}"]
    for number, created, git, note in runs:
        commit = "-" if git is None else git.commit[:7] + "+" * git.dirty
        lines.append(f"  {number:<10} {created[:10]}  {commit:<8}  {clean(note, limit=50)}".rstrip())
    return lines


def _drift(
    store: Store, name: str, qrels: Path | None, measures: Sequence[str], *, alpha: float, level: float
) -> list[str]:
    """Print the effect of the accepted changes for each measure; return the problems."""
    from pytest_riskguard.evaluation.qrels import read_qrels
    from pytest_riskguard.gates.history import drift
    from pytest_riskguard.reports.studies.drift import explain

    if qrels is None and (settings := surroundings()) is not None:
        qrels = settings.collection.qrels
    judgements, problems = None if qrels is None else read_qrels(qrels), []
    for measure in measures:
        try:
            chain = [scored.scores for scored in store.lineage(name, measure, qrels=judgements)]
            steps = drift(chain, alpha=alpha, level=level)
        except DataError as error:
            problems.append(str(error))
            continue
        names = [scores.name.rpartition("/")[2] for scores in chain[:-1]]
        click.echo("")
        click.echo(explain(steps, names=[*names, "now"]))
    return list(dict.fromkeys(problems))


@baseline.command()
@click.argument("names", nargs=-1)
@store_option
def verify(names: tuple[str, ...], store: Path | None) -> None:
    """Check that baselines are unchanged.

    Compares all of them, or NAMES, with the digests in their manifests, replicates and earlier runs included.
    """
    baselines = opened(store)
    if not (names or baselines.names()):
        raise BaselineError(f"no baselines in {baselines.root}: nothing to verify")
    problems = []
    for name in names or baselines.names():
        faults = baselines.verify(name)
        problems += faults
        click.echo(f"{name}: {'; '.join(faults) if faults else 'ok'}")
    if problems:
        raise BaselineError(f"{counted(len(problems), 'problem')} found")


def in_a_line(manifest: Manifest, stale: Staleness | None = None) -> str:
    """A baseline in one line."""
    measures = ", ".join(measure.name for measure in manifest.measures)
    note = f"; {clean(manifest.note, limit=60)}" if manifest.note else ""
    replicates = f"; {counted(len(manifest.replicates), 'replicate')}" if manifest.replicates else ""
    history = f"; {counted(len(manifest.history), 'earlier run')}" if manifest.history else ""
    kind = f"; {manifest.kind}" if stale is not None or manifest.kind != "fixed" else ""
    age = "" if stale is None else f", {stale_in_words(stale)}"
    return f"{_topics(manifest)}; {measures}; {manifest.created}{kind}{age}{history}{replicates}{note}"


def stale_in_words(stale: Staleness) -> str:
    """``stored 412 days ago; 7 changes accepted since``."""
    when = f"{counted(stale.days, 'day')} ago" if stale.days else "today"
    since = f", {counted(stale.accepted_since, 'change')} accepted since" if stale.accepted_since else ""
    return f"stored {when}{since}"


def _topics(manifest: Manifest) -> str:
    text, unanswered = counted(manifest.topics.scored, "topic"), manifest.topics.unanswered
    return f"{text} ({len(unanswered)} unanswered: {listed(unanswered, most=5)})" if unanswered else text


def opened(path: Path | None) -> Store:
    """The store at a path, or the one of riskguard.yaml."""
    from pytest_riskguard.baselines.store import Store

    if path is None:
        settings = surroundings()
        path = settings.store if settings is not None else DEFAULT_STORE
    return Store(path)


@dataclass(frozen=True)
class _Place:
    """Where to store and what to score with, the measures of the options, and those of riskguard.yaml."""

    store: Store
    sources: dict[str, Path | None]
    measures: tuple[str, ...]
    default_measures: tuple[str, ...]

    def scoring(self, measures: Sequence[str]) -> dict[str, Any]:
        """Arguments of the store's methods that score a run."""
        return {**self.sources, "measures": measures}


def _place(qrels: Path | None, topics: Path | None, measures: tuple[str, ...], store: Path | None) -> _Place:
    """What the options say, with the defaults of riskguard.yaml."""
    from pytest_riskguard.baselines.store import Store

    settings = surroundings()
    defaults: tuple[str, ...] = ()
    if settings is not None:
        topics = topics or (settings.collection.topics if qrels is None else None)
        qrels = qrels or settings.collection.qrels
        store = store or settings.store
        defaults = settings.all_measures
    if qrels is None:
        raise UsageError("no qrels: give --qrels, or name them in riskguard.yaml (riskguard init writes one)")
    return _Place(Store(store or DEFAULT_STORE), {"qrels": qrels, "topics": topics}, measures, defaults)


_allow_ci = click.option("--allow-ci", is_flag=True, help="Store even in CI, where that is otherwise refused.")
_DEFAULT_MEASURES = f"riskguard.yaml's, else {DEFAULT_MEASURE}"


def _scoring(measures: str) -> Callable[[Command], Command]:
    """Options of a command that scores runs, handed over as ``place``; ``measures`` is what ``--help`` says."""
    return grouped(
        "place",
        _place,
        file_option("--qrels", help="Qrels file to score with. [default: riskguard.yaml's]"),
        file_option("--topics", help="Topics file; its digest is kept. [default: riskguard.yaml's]"),
        click.option(
            "--measure",
            "measures",
            multiple=True,
            metavar="MEASURE",
            help=f"A measure to score with. Repeatable. [default: {measures}]",
        ),
        store_option,
    )


def _storing(measures: str) -> Callable[[Command], Command]:
    """Options of a command that stores a run."""
    return options(
        _scoring(measures),
        click.option("--note", default="", help="Why this run is trusted; kept in the manifest."),
        click.option(
            "--keep-run/--no-run",
            default=True,
            help="Whether to keep the run itself; without it nothing can be scored again. [default: keep-run]",
        ),
        _allow_ci,
    )


@baseline.command()
@click.argument("name")
@click.argument("run", type=FILE)
@_storing(f"{_DEFAULT_MEASURES}; with --replicate those of NAME")
@click.option("--kind", type=click.Choice(KINDS), help="What NAME stands for. [default: fixed]")
@click.option("--replicate", is_flag=True, help="RUN is another run of the same system as NAME.")
def add(name: str, run: Path, *, place: _Place, kind: str | None, replicate: bool, **options: Any) -> None:
    """Store RUN as baseline NAME, with its scores."""
    if replicate and kind is not None:
        raise UsageError("--kind says what a baseline stands for; a replicate is only another run of it")
    if not replicate:
        _store_run(name, run, place, kind=kind, replace=False, **options)
        return
    number = place.store.add_replicate(name, run, **place.scoring(place.measures), **options)
    click.echo(f"stored replicate {number} of {name}: {in_a_line(place.store.replicate_manifest(name, number))}")


@baseline.command()
@click.argument("name")
@click.argument("run", type=FILE)
@_storing(_DEFAULT_MEASURES)
@click.option("--kind", type=click.Choice(KINDS), help="What NAME stands for from now on. [default: as before]")
@click.option("--forget-history", is_flag=True, help="Remove the earlier runs of NAME, damaged or not.")
def update(name: str, run: Path, *, place: _Place, **options: Any) -> None:
    """Replace stored baseline NAME with RUN.

    The replaced run is lost; promote keeps it as an earlier run.
    """
    if name not in place.store.names():
        place.store.manifest(name)  # raises: there is nothing to replace
    _store_run(name, run, place, replace=True, **options)


def _store_run(name: str, run: Path, place: _Place, *, replace: bool, **options: Any) -> None:
    old_replicates: tuple[int, ...] = ()
    old_manifest: Manifest | None = None
    with suppress(BaselineError):  # the old baseline may be damaged or missing
        old_replicates = place.store.replicate_numbers(name)
        old_manifest = place.store.manifest(name)
    measures = place.measures or place.default_measures or (DEFAULT_MEASURE,)
    manifest = place.store.add(name, run, **place.scoring(measures), replace=replace, **options)
    click.echo(f"{'replaced' if replace else 'stored'} {name}: {in_a_line(manifest)}")
    kept = {replicate.number for replicate in manifest.replicates}
    if removed := [str(number) for number in old_replicates if number not in kept]:
        replicates = f"{'replicate' if len(removed) == 1 else 'replicates'} {', '.join(removed)}"
        click.echo(f"removed {replicates} of {name}: they were stored for the run that was replaced")
    if manifest.history:
        line = f"kept {counted(len(manifest.history), 'earlier run')} of {name}"
        if old_manifest is None or old_manifest.digests.run != manifest.digests.run:
            line += "; the run that was replaced is not among them (`riskguard baseline promote` keeps it)"
        click.echo(line)
    elif old_manifest is not None and old_manifest.history:
        click.echo(f"removed {counted(len(old_manifest.history), 'earlier run')} of {name}")


@baseline.command()
@click.argument("name")
@click.argument("run")
@_storing("riskguard.yaml's; those of NAME are always scored too")
@click.option("--kind", type=click.Choice(KINDS[1:]), help="What NAME stands for from now on. [default: as before]")
def promote(name: str, run: str, *, place: _Place, note: str, **options: Any) -> None:
    """Accept RUN as the new run of NAME, and keep the old one.

    RUN is a run file or the name of a stored baseline. The old run becomes the newest earlier run of NAME, which
    show and every gate can compare with. A best baseline does not change if the mean of any measure would fall.
    """
    path, stored_note = _run_or_stored(run, place.store)
    measures = place.measures or place.default_measures
    promotion = place.store.promote(name, path, **place.scoring(measures), note=note or stored_note, **options)
    manifest = promotion.manifest
    if promotion.moved:
        click.echo(f"promoted {name}: {in_a_line(manifest)}")
    else:
        click.echo(f"{name} stays as it is: its kind is best, and a mean would fall")
    for change in promotion.changes:
        difference = signed(change.after - change.before)
        click.echo(f"  {change.measure} {plain(change.before)} -> {plain(change.after)} ({difference})")
    if promotion.moved:
        accepted = f"{counted(len(manifest.history), 'change')} accepted since {manifest.history[0].created}"
        click.echo(f"kept the old run as {name}/{manifest.history[-1].folder}; {accepted}")


def _run_or_stored(text: str, store: Store) -> tuple[Path, str]:
    """A run file, or the run of a stored baseline with its note."""
    path = Path(text)
    is_stored = name_problem(text) is None and text in store.names()
    if path.exists() and is_stored:
        raise UsageError(f"{text} is both a file and a stored baseline: write ./{text} for the file, or rename it")
    if is_stored:
        return store.run(text), store.manifest(text).note
    if not path.exists():
        names = ", ".join(store.names()) or "none"
        raise BaselineError(
            f"{text}: no such file, and no baseline of that name (the store holds {names})", reason="missing_input"
        )
    return path, ""


@baseline.command()
@click.argument("name")
@_scoring("those of NAME")
@_allow_ci
def rescore(name: str, *, place: _Place, allow_ci: bool) -> None:
    """Score the kept runs of NAME again.

    Uses today's judgements and libraries, and scores replicates and earlier runs too.
    """
    unscored = place.store.rescore(name, **place.scoring(place.measures), allow_ci=allow_ci)
    click.echo(f"rescored {name}: {in_a_line(place.store.manifest(name))}")
    for other in unscored:
        click.echo(f"{other} keeps the scores it had: its run was not kept")


@baseline.command()
@click.argument("name")
@store_option
@click.option("--replicate", type=click.IntRange(min=1), help="Delete only the replicate with this number.")
@click.option("--allow-ci", is_flag=True, help="Delete even in CI, where that is otherwise refused.")
def remove(name: str, *, store: Path | None, replicate: int | None, allow_ci: bool) -> None:
    """Delete stored baseline NAME.

    Its replicates and earlier runs are deleted too.
    """
    from pytest_riskguard.baselines.provenance import ci_variable

    if (variable := ci_variable()) and not allow_ci:
        raise UsageError(
            f"baselines are not removed inside CI ({variable} is set), where nobody reviews that; remove it on your "
            "machine, or pass --allow-ci"
        )
    if replicate is None:
        opened(store).remove(name)
        click.echo(f"removed {name}")
    else:
        opened(store).remove_replicate(name, replicate)
        click.echo(f"removed replicate {replicate} of {name}")
