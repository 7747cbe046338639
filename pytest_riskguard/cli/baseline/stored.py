"""``riskguard baseline list``, ``show`` and ``verify``: what is stored, and whether it is intact."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli.baseline.lines import (
    in_a_line,
    judged_in_words,
    means_of,
    measures_in_words,
    metadata_in_words,
    stale_in_words,
    topics_in_words,
)
from pytest_riskguard.cli.baseline.place import opened, store_option
from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.parameters import belonging, file_option, gate_options, surroundings
from pytest_riskguard.errors import BaselineError, DataError
from pytest_riskguard.text import clean, counted

if TYPE_CHECKING:
    from pytest_riskguard.baselines.manifest import Manifest
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.evaluation.judgements.qrels import Qrels
    from pytest_riskguard.evaluation.topics import Topics

#: What each kind of baseline stands for.
_MEANING = {
    "fixed": "no accepted change moves it",
    "previous": "moves with every accepted change",
    "release": "moves with every release",
    "best": "moves only to a run whose means are as high",
}


@click.command(name="list")
@store_option
def list_(store: Path | None) -> int:
    """List the stored baselines, and the digest of them all.

    By the digest riskguard.yaml pins a store at an address, behind it: s3://bucket/baselines#sha256:... It changes
    with every file of every baseline.
    """
    from pytest_riskguard.baselines.remote_stores import digest_of, shown
    from pytest_riskguard.formats.remote_files import is_address

    if store is not None and is_address(store) and "#" not in str(store):
        click.echo(f"digest of all: {digest_of(store)}")  # the store can be read once this pins it
        return ExitStatus.PASSED
    baselines = opened(store)
    _tell_unfinished(baselines)
    if not baselines.names():
        text = f"no baselines in {shown(baselines.root)}; `riskguard baseline add NAME RUN` stores one"
        click.echo(belonging(text), err=True)
    damaged = []
    for name in baselines.names():
        try:
            manifest, stale = baselines.manifest(name), baselines.staleness(name)
        except BaselineError as error:
            click.echo(f"{name}\tdamaged")
            damaged.append(str(error))
            continue
        means, problems = _means(baselines, name)
        click.echo(f"{name}\t{in_a_line(manifest, means, stale)}")
        damaged += problems
    if baselines.names():
        click.echo(f"digest of all: {digest_of(baselines.place)}")
    return _status(damaged)


def _tell_unfinished(store: Store) -> None:
    """Name the baselines whose storing or replacement is unfinished."""
    names = store.names()
    for name in store.unfinished():
        remains = "the old baseline is kept" if name in names else "nothing is stored"
        click.echo(
            f"{name}: another process is storing it, or was interrupted; so far {remains}; if none is running, "
            "repeat the command",
            err=True,
        )


def _means(store: Store, name: str) -> tuple[dict[str, float], list[str]]:
    """The means of a baseline, or what is wrong with its scores."""
    try:
        return means_of(store.stored_scores(name)), []
    except BaselineError as error:
        return {}, [str(error)]


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
    _tell_unfinished(baselines)
    manifest = baselines.manifest(name)
    means, damaged = _means(baselines, name)
    git = manifest.git
    scored_by = ", ".join(f"{m.name} ({m.provider} {m.version or ''})".replace(" )", ")") for m in manifest.measures)
    rows = {
        "stored": manifest.created,
        "kind": f"{manifest.kind}: {_MEANING[manifest.kind]}",
        "age": stale_in_words(baselines.staleness(name)),
        "commit": "unknown" if git is None else git.commit + (" (with uncommitted changes)" if git.dirty else ""),
        "note": clean(manifest.note) or "none",
        **({"metadata": metadata_in_words(manifest)} if manifest.metadata else {}),
        "topics": topics_in_words(manifest),
        "measures": scored_by,
        "means": measures_in_words(manifest, means) if means else "unknown: the scores are damaged",
        "judged": judged_in_words(manifest),
        **({} if manifest.latency is None else {"latency": str(manifest.latency)}),
        **_files(manifest),
        "topics file": manifest.digests.topics or "none",
        "versions": ", ".join(f"{library} {version}" for library, version in sorted(manifest.versions.items())),
        "replicates": str(len(manifest.replicates) or "none"),
    }
    for key, value in rows.items():
        click.echo(f"{key:<12} {value}")
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


def _files(manifest: Manifest) -> dict[str, str]:
    """What was stored, and what it was scored with."""
    if not manifest.has_run:
        return {"scores": f"{manifest.digests.run} (given, without a run)", "qrels": "unknown"}
    kept = "" if manifest.run_kept else " (not kept)"
    return {"run": f"{manifest.digests.run}{kept}", "qrels": str(manifest.digests.qrels)}


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
    from pytest_riskguard.gates.chain.history import drift
    from pytest_riskguard.reports.drift import explain

    (judgements, topics), problems = _collection(qrels), []
    for measure in measures:
        try:
            chain = [scored.scores for scored in store.lineage(name, measure, qrels=judgements)]
            steps = drift(chain, alpha=alpha, level=level, topics=topics)
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
@file_option("--qrels", help="Qrels file that the scores were computed with. [default: riskguard.yaml's]")
@click.option(
    "--max-age",
    type=click.IntRange(min=0),
    metavar="DAYS",
    help="Fail for a baseline stored more than DAYS days ago.",
)
def verify(names: tuple[str, ...], *, store: Path | None, qrels: Path | None, max_age: int | None) -> None:
    """Check that baselines are what was stored.

    Compares all of them, or NAMES, with the digests in their manifests, and scores their runs again to compare,
    replicates and earlier runs included.
    """
    from pytest_riskguard.baselines.remote_stores import shown

    baselines = opened(store)
    _tell_unfinished(baselines)
    if not (names or baselines.names()):
        raise BaselineError(f"no baselines in {shown(baselines.root)}: nothing to verify")
    judgements, _ = _collection(qrels)
    problems = []
    for name in names or baselines.names():
        faults = baselines.verify(name, qrels=judgements) or _too_old(baselines, name, max_age)
        problems += faults
        click.echo(f"{name}: {'; '.join(faults) if faults else _sound(baselines.manifest(name), judgements)}")
    if problems:
        raise BaselineError(f"{counted(len(problems), 'problem')} found")


def _collection(qrels: Path | None) -> tuple[Qrels | None, Topics | None]:
    """What the option names, else the judgements and topics of riskguard.yaml, if there is one."""
    from pytest_riskguard.evaluation.collection import read_collection
    from pytest_riskguard.evaluation.topics import read_topics

    if qrels is not None:
        return read_collection(qrels)
    settings = surroundings()
    if settings is None:
        return None, None
    given, topics = settings.collection.given_qrels, settings.collection.given_topics
    if given is None:
        return None, None if topics is None else read_topics(topics)
    return read_collection(given, topics)


def _too_old(store: Store, name: str, max_age: int | None) -> list[str]:
    """The problem of an intact baseline that is older than allowed, if it is."""
    if max_age is None or (stale := store.staleness(name)).days <= max_age:
        return []
    return [
        f"{store.root.name}/{name}: {stale_in_words(stale)}, --max-age allows {counted(max_age, 'day')}; store the "
        f"run of today's system with `riskguard baseline update {name} RUN --note WHY`, or promote it"
    ]


def _sound(manifest: Manifest, qrels: Qrels | None) -> str:
    """``ok``, and what could not be checked."""
    unchecked = []
    if not manifest.has_run:
        unchecked.append("scores as they were given, without a run")
    elif not manifest.run_kept:
        unchecked.append("its run was not kept, so nothing backs its scores")
    elif qrels is None:
        unchecked.append("scores not compared with the run: no qrels, give --qrels")
    elif qrels.digest != manifest.digests.qrels:
        unchecked.append(f"scores not compared with the run: {qrels.path_name} has changed since they were computed")
    if manifest.name is None:
        unchecked.append(f"format {manifest.format} holds neither its name nor query texts: rescore it")
    return f"ok ({'; '.join(unchecked)})" if unchecked else "ok"


COMMANDS = (list_, show, verify)
