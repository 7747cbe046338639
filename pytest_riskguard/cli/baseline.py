"""``riskguard baseline``: show, check and change stored baselines.

Whatever changes one says what that does to its scores, for the person who reviews it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli.check import code_from
from pytest_riskguard.cli.options import (
    DEFAULT_MEASURE,
    FILE,
    Collection,
    Command,
    collection_options,
    config_option,
    flag,
    import_measures_from,
    in_ci_option,
    not_found_here,
    place_words,
    refuse_unseen,
    store_of,
    surroundings,
)
from pytest_riskguard.data.given_file import GivenFile, Queries
from pytest_riskguard.errors import BaselineError, DataError, Remedy, UsageError
from pytest_riskguard.reports.numbers import percent, plain, signed
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from pytest_riskguard.serialization import to_plain
from pytest_riskguard.text import Names, clean, counted, listed

if TYPE_CHECKING:
    from pytest_riskguard.baselines.manifest import Manifest
    from pytest_riskguard.baselines.store import Changes, Store
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.data.runs import Run

#: How many queries that lose, and that gain, are shown.
MAX_SHOWN = 5


@click.group()
def baseline() -> None:
    """Store and manage baselines, the runs to judge against."""


# What is stored where, and scored with what.


def opened() -> Store:
    """The store of riskguard.yaml."""
    return store_of(surroundings())


def scoring_of(
    collection: Collection, default: Names | None = None, *, config: Config | None = None
) -> dict[str, Any]:
    """What scores a run; without measures those of riskguard.yaml, else the ``default``, if there is one."""
    config, measures = config or surroundings(), collection.measures
    qrels, topics = collection.files(config)
    if default is not None and not collection.scores:
        measures = measures or (() if config is None else config.all_measures) or default
    import_measures_from(Path.cwd() if config is None else config.path.parent, measures)
    if qrels is None and not collection.scores and config is None:
        raise UsageError(f"no qrels: give --qrels; {not_found_here()}")
    return {"qrels": None if collection.scores else qrels, "topics": topics, "measures": measures}


def _storing_options(command: Command) -> Command:
    """Name, run and options of a command that stores one."""
    for option in (
        flag("--allow-unanswered", help="Topics without an answer have no result: they count as 0."),
        flag(
            "--no-run",
            "keep_run",
            help="Do not keep the run itself, so it is never scored again.",
            flag_value=False,
            default=True,
        ),
        click.option("--note", default="", help="Why this run is trusted; kept in the manifest. `update` needs it."),
        collection_options("format", "ties"),
        click.argument("run", type=FILE, required=False),
        click.argument("name"),
    ):
        command = option(command)
    return command


def _run_of(run: Path | None, collection: Collection) -> GivenFile | Run:
    """The run that a command names, else what the candidate of riskguard.yaml answers."""
    if run is not None:
        return collection.file(run)
    from pytest_riskguard.engine import Engine
    from pytest_riskguard.live.candidates import live_of_file

    config = surroundings()
    qrels, topics = collection.files(config)
    live = None if config is None else live_of_file(Engine(qrels=qrels, topics=topics), config)
    if config is None or collection.scores or live is None:
        raise UsageError(
            "name the RUN to store; without one, the answers of riskguard.yaml's live candidate are stored, and it "
            "names none, such as `candidate: {http: ...}`"
        )
    with code_from(config):
        return live.retrieve()


# The commands that write.


@baseline.command()
@_storing_options
@flag("--replicate", help="RUN is another run of the same system as NAME, scored with its measures.")
def add(name: str, run: Path | None, *, collection: Collection, replicate: bool, **about: Any) -> None:
    """Store RUN as baseline NAME, with its scores.

    Without RUN, stores what the live candidate of riskguard.yaml answers now.
    """
    from pytest_riskguard.baselines import git

    store = opened()
    is_new_store = not store.root.exists()
    if replicate:
        if collection.scores:
            raise UsageError("--replicate: another run of the same system; --scores does not belong to it")
        given = _run_of(run, collection)
        number = store.add_replicate(name, given, **scoring_of(collection), **about)
        click.echo(f"stored replicate {number} of {name}: {_line(_replicate(store, name, number))}")
        return
    scoring, given = scoring_of(collection, (DEFAULT_MEASURE,)), _run_of(run, collection)
    store.add(name, given, scores=collection.scores, **scoring, **about)
    if is_new_store:
        git.prepare(store.root)
    click.echo(f"stored {name}: {_stored(store, name)}")


@baseline.command()
@_storing_options
@flag("--dry-run", help="Say what would change, and write nothing.")
@in_ci_option
def update(name: str, run: Path | None, *, collection: Collection, dry_run: bool, in_ci: bool, **about: Any) -> None:
    """Accept RUN as the new run of NAME, and keep the old one.

    The old run becomes the newest earlier run of NAME, which show and every gate can compare with. Without RUN,
    stores what the live candidate of riskguard.yaml answers now.
    """
    if not dry_run:
        refuse_unseen(in_ci, about["note"])
    store = opened()
    store.manifest(name)  # says that there is none before anything is read
    about |= {"scores": collection.scores, **scoring_of(collection, ())}
    replace_run(store, name, _run_of(run, collection), dry_run=dry_run, queries={}, **about)


@baseline.command()
@click.argument("name")
@collection_options(scores=False)
def rescore(name: str, *, collection: Collection) -> None:
    """Score the kept runs of NAME again.

    Uses today's judgements, query texts and libraries, and scores replicates too.
    """
    store = opened()
    before = store.read(name, lambda entry: entry.table)
    scoring = scoring_of(collection, None if before else (DEFAULT_MEASURE,))
    if scoring["qrels"] is None:
        raise UsageError("no qrels: give --qrels, or name them in riskguard.yaml, as `collection: {qrels: PATH}`")
    store.rescore(name, **scoring)
    click.echo(f"rescored {name}: {_stored(store, name)}")
    after = {scores.measure: scores for scores in store.read(name, lambda entry: entry.table)}
    if before:
        _tell_changes([(scores, after[scores.measure]) for scores in before if scores.measure in after], {})


@baseline.command()
@click.argument("name")
@config_option
def remove(name: str) -> None:
    """Delete stored baseline NAME.

    Its replicates and earlier runs are deleted too.
    """
    opened().remove(name)
    click.echo(f"removed {name}")


def replace_run(
    store: Store, name: str, run: GivenFile | Run, *, dry_run: bool, queries: Queries, **about: Any
) -> None:
    """Put a run in the place of a baseline's, and say what changes; ``about`` is as ``Store.update`` takes it."""
    old = store.manifest(name)
    changes = store.update(name, run, dry_run=dry_run, **about)
    if changes is None:
        click.echo(f"{name} already holds this run; nothing was written")
        return
    click.echo(
        f"would replace {name}; nothing was written" if dry_run else f"replaced {name}: {_stored(store, name)}"
    )
    if changes or old.is_judged:
        _tell_changes(changes, queries)
    if not dry_run:
        replicates = f" with {counted(len(old.replicates), 'replicate')}" if old.replicates else ""
        click.echo(f"kept the old run as {name}/{old.number:04d}{replicates}")


def _tell_changes(changes: Changes, queries: Queries) -> None:
    """Each mean before and after, the queries that lose and gain, and those that are scored on one side only."""
    sides = {"no longer scored": set[str](), "scored from now on": set[str]()}
    if not changes:
        click.echo("  nothing to compare with: the old scores are from other judgements or measures")
    for before, after in changes:
        difference = signed(after.mean - before.mean)
        click.echo(f"  {after.measure} {plain(before.mean)} -> {plain(after.mean)} ({difference})")
        old, new = (dict(zip(one.topics, one.values.tolist(), strict=True)) for one in (before, after))
        moved = {topic: new[topic] - old[topic] for topic in sorted(old.keys() & new.keys())}
        for sign, what in ((-1, "lose"), (1, "gain")):
            ordered = sorted(moved, key=lambda topic: -sign * moved[topic])
            topics = [topic for topic in ordered if sign * moved[topic] > ROUNDING_ERROR]
            if topics:
                click.echo(f"  {len(topics)} of {counted(len(moved), 'query', 'queries')} {what}, the most first:")
            for topic in topics[:MAX_SHOWN]:
                text = f"{clean(topic, limit=60)}  {clean(queries.get(topic, ''), limit=80)}"
                click.echo(f"    {plain(old[topic])} -> {plain(new[topic])}  {text}".rstrip())
            if rest := len(topics[MAX_SHOWN:]):
                click.echo(f"    and {rest} more")
        sides["no longer scored"] |= old.keys() - new.keys()
        sides["scored from now on"] |= new.keys() - old.keys()
    for what, alone in sides.items():
        if alone:
            click.echo(f"  {what}: {listed(sorted(alone), most=MAX_SHOWN)}")


# The commands that read.


@baseline.command(name="list")
@config_option
def list_() -> None:
    """List the stored baselines."""
    from pytest_riskguard.baselines.manifest import now
    from pytest_riskguard.gates.verdict import Origin
    from pytest_riskguard.reports.provenance import age

    store, damaged = opened(), list[DataError]()
    if not store.names():
        first = Remedy("store one with {}", "add NAME RUN").here(place_words)
        click.echo(f"no baselines in {store.root}; {first}", err=True)
    for name in store.names():
        with _noted(damaged, f"{name}\tdamaged"):
            held = Origin(name, stored=store.manifest(name).created)
            click.echo(f"{name}\t{_stored(store, name)}; {age(held, now())}")
    if damaged:
        raise damaged[0]


@contextmanager
def _noted(damaged: list[DataError], instead: str) -> Iterator[None]:
    """Keep damage for the end, when all else is shown, and show something ``instead``."""
    try:
        yield
    except DataError as error:
        damaged.append(error)
        click.echo(instead)


@baseline.command()
@click.argument("name")
@config_option
def show(name: str) -> None:
    """Show everything known about baseline NAME."""
    store, damaged = opened(), list[DataError]()
    manifest = store.manifest(name)
    with _noted(damaged, f"{name}: damaged"):
        click.echo(_stored(store, name))
    for key, value in to_plain(manifest).items():
        for part, one in value.items() if isinstance(value, dict) else [("", value)]:
            what = clean(f"{key}.{part}" if part else key)
            text = one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
            click.echo(f"  {what:<22} {clean(text, limit=500)}")
    for number in sorted(map(int, manifest.replicates)):
        with _noted(damaged, f"replicate {number}: damaged"):
            click.echo(f"replicate {number}: {_line(_replicate(store, name, number))}")
    if manifest.number > 1:
        with _noted(damaged, "history: damaged"):
            for line in _chain(store.read(name, lambda entry: [one.manifest for one in (*entry.history(), entry)])):
                click.echo(line)
    if damaged:
        raise damaged[0]


def _chain(runs: Sequence[Manifest]) -> Iterator[str]:
    """The runs that a baseline has held, oldest first."""
    yield f"history: {counted(len(runs) - 1, 'change')} accepted since {runs[0].created[:10]}"
    for run in runs:
        commit = "-" if run.git is None else run.git.commit[:7] + "+" * run.git.dirty
        number = "now" if run is runs[-1] else f"{run.number:04d}"
        yield f"  {number:<10} {run.created[:10]}  {commit:<8}  {clean(run.note, limit=50)}".rstrip()


@baseline.command()
@click.argument("names", nargs=-1)
@config_option
def verify(names: Names) -> None:
    """Check that baselines are what was stored.

    Compares all of them, or NAMES, with the digests in their manifests, replicates and earlier runs included.
    """
    store = opened()
    if not (names or store.names()):
        raise BaselineError("no baselines: nothing to verify", where=store.root)
    found = 0
    for name in names or store.names():
        faults = store.verify(name)
        found += len(faults)
        click.echo(f"{name}: {'; '.join(faults) or 'ok'}")
    if found:
        raise BaselineError(f"{counted(found, 'problem')} found")


# A baseline in words.


def _stored(store: Store, name: str) -> str:
    means = [f"{scores.measure} {plain(scores.mean)}" for scores in store.read(name, lambda entry: entry.table)]
    return _line(store.manifest(name), ", ".join(means))


def _replicate(store: Store, name: str, number: int) -> Manifest:
    return store.read(name, lambda entry: entry.replicate(number).manifest)


def _line(manifest: Manifest, means: str = "") -> str:
    """A baseline in one line, with the means of its measures if they are known."""
    unanswered = manifest.topics.unanswered
    judged = f"{percent(manifest.topics.judged or 0, 0)} judged" if manifest.has_run else "scores alone"
    parts = [
        counted(manifest.topics.scored if manifest.is_judged else len(manifest.topics.unknown), "topic"),
        means or ", ".join(manifest.measures),
        judged if manifest.is_judged else "stored without judgements",
        manifest.created,
        counted(manifest.number - 1, "earlier run") if manifest.number > 1 else "",
        counted(len(manifest.replicates), "replicate") if manifest.replicates else "",
        clean(manifest.note, limit=60),
    ]
    if unanswered:
        parts[0] += f" ({len(unanswered)} unanswered: {listed(unanswered, most=5)})"
    return "; ".join(filter(None, parts))
