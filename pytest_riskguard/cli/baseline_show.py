"""``riskguard baseline list``, ``show`` and ``verify``: the stored baselines shown and checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.parameters import file_option, gate_options, surroundings
from pytest_riskguard.errors import BaselineError, DataError
from pytest_riskguard.text import clean, counted, listed

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


@click.command(name="list")
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


@click.command()
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
    from pytest_riskguard.reports.drift import explain

    if qrels is None and (settings := surroundings()) is not None:
        qrels = settings.collection.qrels
    judgements, problems = None if qrels is None else read_qrels(qrels), []
    for measure in measures:
        try:
            chain = [held.scores for held in store.lineage(name, measure, qrels=judgements)]
            steps = drift(chain, alpha=alpha, level=level)
        except DataError as error:
            problems.append(str(error))
            continue
        names = [scores.name.rpartition("/")[2] for scores in chain[:-1]]
        click.echo("")
        click.echo(explain(steps, names=[*names, "now"]))
    return list(dict.fromkeys(problems))


@click.command()
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
