"""The commands of ``riskguard baseline`` that write: add, update, promote, rescore and remove.

Each says what changes, for the person who reviews it; replacing a baseline needs a note that says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.baselines.manifest import FIXED, KINDS
from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.cli.baseline.place import (
    DEFAULT_MEASURES,
    Place,
    no_run_option,
    opened,
    scores_option,
    scoring_options,
    storing_options,
)
from pytest_riskguard.cli.baseline.stored import change_lines, in_a_line, means_of
from pytest_riskguard.cli.check import code_from, live_systems
from pytest_riskguard.cli.parameters import FILE, config_option, read_as, surroundings
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.errors import BaselineError, UsageError
from pytest_riskguard.text import counted, listed

if TYPE_CHECKING:
    from pytest_riskguard.baselines.entry import Replacement
    from pytest_riskguard.baselines.manifest import Manifest
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.data.given_file import GivenFile
    from pytest_riskguard.data.runs import Run

_dry_run = click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")


@click.command()
@click.argument("name")
@click.argument("run", type=FILE, required=False)
@storing_options(f"{DEFAULT_MEASURES}; with --replicate those of NAME", no_run_option, scores_option)
@click.option("--kind", type=click.Choice(KINDS), help="What NAME stands for. [default: fixed]")
@click.option("--replicate", is_flag=True, help="RUN is another run of the same system as NAME.")
def add(
    name: str,
    run: Path | None,
    *,
    place: Place,
    settings: dict[str, Any],
    kind: str | None,
    replicate: bool,
    scores: bool,
    **options: Any,
) -> None:
    """Store RUN as baseline NAME, with its scores.

    Without RUN, stores what the live candidate of riskguard.yaml answers now, and how fast.
    """
    if replicate and kind is not None:
        raise UsageError("--kind says what a baseline stands for; a replicate is only another run of it")
    if replicate and scores:
        raise UsageError("--scores: a replicate is another run of a system; per-topic scores are not a run")
    if not replicate:
        from pytest_riskguard.baselines import git

        is_new_store = not place.store.place.exists()
        given = _given(run, place, settings, options, scores=scores)
        manifest = place.store.add(name, given, **place.storing(scores=scores), kind=kind or FIXED, **options)
        if is_new_store:
            git.prepare(place.store.root)
        click.echo(f"stored {name}: {_with_means(place.store, name, manifest)}")
        return
    if options["metadata"]:
        raise UsageError("--meta says something about a baseline; a replicate is only another run of its system")
    given = _given(run, place, settings, dict(options), scores=scores)
    number = place.store.add_replicate(name, given, **place.scoring(place.measures), **options)
    click.echo(f"stored replicate {number} of {name}: {in_a_line(place.store.replicate_manifest(name, number))}")


def _given(
    run: Path | None, place: Place, settings: dict[str, Any], options: dict[str, Any], *, scores: bool
) -> GivenFile | Run:
    """The run that a command names, else what the candidate of riskguard.yaml answers, with its metadata."""
    if run is not None:
        return read_as(run, settings)
    if scores:
        raise UsageError("--scores: name the file of per-topic scores")
    rankings, metadata = live_answers(place.sources)
    options["metadata"] = options["metadata"] or metadata
    return rankings


def _with_means(store: Store, name: str, manifest: Manifest) -> str:
    return in_a_line(manifest, means_of(store.stored_scores(name)))


@click.command()
@click.argument("name")
@click.argument("run", type=FILE, required=False)
@storing_options(DEFAULT_MEASURES, no_run_option, scores_option)
@click.option("--kind", type=click.Choice(KINDS), help="What NAME stands for from now on. [default: as before]")
@_dry_run
def update(
    name: str,
    run: Path | None,
    *,
    place: Place,
    settings: dict[str, Any],
    note: str,
    scores: bool,
    dry_run: bool,
    **options: Any,
) -> None:
    """Replace stored baseline NAME with RUN.

    Without RUN, stores what the live candidate of riskguard.yaml answers now, and how fast. The replaced
    run is lost; promote keeps it as an earlier run.
    """
    _check_note("update", note, dry_run=dry_run)
    old = None
    with suppress(BaselineError):  # it may be damaged
        old = place.store.manifest(name)
    given = _given(run, place, settings, options, scores=scores)
    scoring = place.storing(scores=scores)
    replacement = place.store.update(name, given, **scoring, note=note, dry_run=dry_run, **options)
    _tell_replaced(place.store, name, old, replacement)


def _tell_replaced(store: Store, name: str, old: Manifest | None, replacement: Replacement) -> None:
    """Print what has changed, or would change; ``old`` is None if it was damaged."""
    manifest = replacement.manifest
    is_same = old is not None and old.digests.run == replacement.run
    if manifest is None:
        same = " with the run that it already has" if is_same else ""
        click.echo(f"would replace {name}{same}; nothing was written")
    else:
        click.echo(f"replaced {name}: {_with_means(store, name, manifest)}")
    for line in change_lines(replacement.changes):
        click.echo(line)
    if old is not None and old.replicates and not is_same:
        verb = "would remove" if manifest is None else "removed"
        replicates = counted(len(old.replicates), "replicate")
        click.echo(f"{verb} {replicates} of {name}: they were stored for the run that was replaced")
    if manifest is not None and manifest.history:
        line = f"kept {counted(len(manifest.history), 'earlier run')} of {name}"
        if not is_same:
            line += "; the run that was replaced is not among them (baseline promote keeps it)"
        click.echo(line)


@click.command()
@click.argument("name")
@click.argument("run")
@storing_options("riskguard.yaml's; those of NAME are always scored too")
@click.option("--kind", type=click.Choice(KINDS[1:]), help="What NAME stands for from now on. [default: as before]")
@_dry_run
def promote(
    name: str, run: str, *, place: Place, settings: dict[str, Any], note: str, dry_run: bool, **options: Any
) -> None:
    """Accept RUN as the new run of NAME, and keep the old one.

    RUN is a run file or the name of a stored baseline. The old run becomes the newest earlier run of NAME, which
    show and every gate can compare with. A best baseline does not change if the mean of any measure would fall.
    """
    path, stored = _run_or_stored(run, place.store)
    if stored is not None:
        note = note if note.strip() else stored.note
        options["metadata"] = options["metadata"] or stored.metadata
    _check_note("promote", note, dry_run=dry_run)
    measures = place.measures or place.default_measures
    given = path if stored is not None else read_as(path, settings)
    promotion = place.store.promote(name, given, **place.scoring(measures), note=note, dry_run=dry_run, **options)
    manifest = promotion.manifest
    if not promotion.moved:
        click.echo(f"{name} stays as it is: its kind is best, and a mean would fall")
    elif dry_run:
        click.echo(f"would promote {name}; nothing was written")
    else:
        click.echo(f"promoted {name}: {_with_means(place.store, name, manifest)}")
    for line in change_lines(promotion.changes):
        click.echo(line)
    if promotion.moved and not dry_run:
        accepted = f"{counted(len(manifest.history), 'change')} accepted since {manifest.history[0].created}"
        click.echo(f"kept the old run as {name}/{manifest.history[-1].folder}; {accepted}")


def _run_or_stored(text: str, store: Store) -> tuple[Path, Manifest | None]:
    """A run file, or the run of a stored baseline with its manifest."""
    path = Path(text)
    is_stored = name_problem(text) is None and text in store.names()
    if path.exists() and is_stored:
        raise UsageError(f"{text} is both a file and a stored baseline: write ./{text} for the file, or rename it")
    if is_stored:
        return store.run(text), store.manifest(text)
    if not GivenFile.of(path).path.exists():
        names = ", ".join(store.names()) or "none"
        raise BaselineError(
            f"{text}: no such file, and no baseline of that name (the store holds {names})", reason="missing_input"
        )
    return path, None


def _check_note(command: str, note: str, *, dry_run: bool) -> None:
    """Refuse to replace a baseline without a reason."""
    if not (note.strip() or dry_run):
        raise UsageError(
            f"riskguard baseline {command} needs --note: say why the new run is trusted, for the reviewer"
        )


@click.command()
@click.argument("name")
@scoring_options("those of NAME")
def rescore(name: str, *, place: Place) -> None:
    """Score the kept runs of NAME again.

    Uses today's judgements, query texts and libraries, and scores replicates and earlier runs too.
    """
    from pytest_riskguard.baselines.entry import changes_between

    before, accepted = place.store.stored_scores(name), _otherwise_known(place, name)
    unscored = place.store.rescore(name, **place.scoring(place.measures))
    click.echo(f"rescored {name}: {_with_means(place.store, name, place.store.manifest(name))}")
    for line in change_lines(changes_between(before, place.store.stored_scores(name))):
        click.echo(line)
    for what, topics in accepted.items():
        click.echo(f"  another {what} of {counted(len(topics), 'topic')}: {listed(topics, most=5)}")
    for other in unscored:
        click.echo(f"{other} keeps its old scores: its run was not kept")


def _otherwise_known(place: Place, name: str) -> Mapping[str, tuple[str, ...]]:
    """The topics whose text, weight, cluster or stratum is not that of the stored baseline."""
    from pytest_riskguard.data.topics import read_collection

    with suppress(BaselineError):  # damaged, which rescoring says
        qrels, topics = read_collection(place.sources["qrels"] or Path(), place.sources["topics"])
        measure = place.store.manifest(name).measure_names[0]
        known = place.store.scores(name, measure, qrels=qrels, topics=topics, accept=True)
        return ({"text": known.rephrased} if known.rephrased else {}) | dict(known.reassigned)
    return {}


@click.command()
@click.argument("name")
@config_option()
@click.option("--replicate", type=click.IntRange(min=1), help="Delete only the replicate with this number.")
def remove(name: str, *, replicate: int | None) -> None:
    """Delete stored baseline NAME.

    Its replicates and earlier runs are deleted too.
    """
    baselines = opened()
    what = name if replicate is None else f"replicate {replicate} of {name}"
    try:
        if replicate is None:
            lost = _with_means(baselines, name, baselines.manifest(name))
        else:
            lost = in_a_line(baselines.replicate_manifest(name, replicate))
    except BaselineError as error:
        if error.reason == "missing_input":
            raise
        lost = "damaged"
    if replicate is None:
        baselines.remove(name)
    else:
        baselines.remove_replicate(name, replicate)
    click.echo(f"removed {what}: {lost}")


COMMANDS = (add, update, promote, rescore, remove)


def live_answers(sources: Mapping[str, Path | GivenFile | None]) -> tuple[Run, dict[str, str]]:
    """The candidate's answers for the judged topics of a collection, and its metadata.

    ``UsageError`` without a live candidate, ``DataError`` if it fails.
    """
    from pytest_riskguard.config.candidate_settings import key_of
    from pytest_riskguard.config.setting_types import Queried
    from pytest_riskguard.engine import Engine

    settings = surroundings()
    candidate = None if settings is None else settings.candidate
    if settings is None or not isinstance(candidate, Queried):
        raise UsageError(
            "name the RUN to store; without one, the answers of riskguard.yaml's live candidate are stored, and it "
            "names none, such as `candidate: {http: ...}`"
        )
    engine = Engine(qrels=sources["qrels"], topics=sources["topics"])
    line = settings.line("candidate", key_of(candidate))
    live = live_systems(settings, engine)(candidate, line)
    with code_from(settings.path.parent):
        return live.retrieve(), dict(live.metadata)
