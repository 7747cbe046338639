"""``riskguard baseline list``, ``show`` and ``verify``: what is stored, and whether it is intact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli.baseline.place import opened
from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.parameters import belonging, config_option, file_option, gate_options, surroundings
from pytest_riskguard.errors import BaselineError, DataError
from pytest_riskguard.gates.kinds import OPTIONS
from pytest_riskguard.text import clean, counted, listed, percent, plain, signed

if TYPE_CHECKING:
    from pytest_riskguard.baselines.entry import ScoreChange
    from pytest_riskguard.baselines.manifest import Manifest, Staleness
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.data.qrels import Qrels
    from pytest_riskguard.data.scores import TopicScores
    from pytest_riskguard.data.topics import Topics

#: What each kind of baseline stands for.
_MEANING = {
    "fixed": "no accepted change moves it",
    "previous": "moves with every accepted change",
    "release": "moves with every release",
    "best": "moves only to a run whose means are as high",
}


@click.command(name="list")
@file_option("--store", help="Another store: a folder or an address. [default: riskguard.yaml's, else baselines]")
@config_option()
def list_(store: Path | None) -> int:
    """List the stored baselines, and the digest of them all.

    By the digest riskguard.yaml pins a store at an address, behind it: s3://bucket/baselines#sha256:... It changes
    with every file of every baseline.
    """
    from pytest_riskguard.baselines.remote_stores import digest_of, shown
    from pytest_riskguard.data.remote import is_address

    if store is not None and is_address(store) and "#" not in str(store):
        click.echo(f"digest of all: {digest_of(store)}")  # the store can be read once this pins it
        return ExitStatus.PASSED
    baselines = opened(store)
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
@config_option()
@gate_options("alpha")
def show(name: str, *, alphas: tuple[float, ...]) -> int:
    """Show everything known about baseline NAME.

    If runs were promoted, this includes the effect of each accepted change, and of all of them together since the
    oldest run.
    """
    baselines = opened()
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
        for alpha in alphas or (OPTIONS["alpha"].default,):
            damaged += _drift(baselines, name, manifest.measure_names, alpha=alpha)
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


def _drift(store: Store, name: str, measures: Sequence[str], *, alpha: float) -> list[str]:
    """Print the effect of the accepted changes for each measure; return the problems."""
    from pytest_riskguard.gates.chain.history import drift
    from pytest_riskguard.reports.drift import explain

    (judgements, topics), problems = _collection(None), []
    for measure in measures:
        try:
            chain = [scored.scores for scored in store.lineage(name, measure, qrels=judgements)]
            steps = drift(chain, alpha=alpha, level=OPTIONS["level"].default, topics=topics)
        except DataError as error:
            problems.append(str(error))
            continue
        names = [scores.name.rpartition("/")[2] for scores in chain[:-1]]
        click.echo("")
        click.echo(explain(steps, names=[*names, "now"]))
    return list(dict.fromkeys(problems))


@click.command()
@click.argument("names", nargs=-1)
@config_option()
@file_option("--qrels", help="Qrels file that the scores were computed with. [default: riskguard.yaml's]")
@click.option(
    "--max-age",
    type=click.IntRange(min=0),
    metavar="DAYS",
    help="Fail for a baseline stored more than DAYS days ago.",
)
def verify(names: tuple[str, ...], *, qrels: Path | None, max_age: int | None) -> None:
    """Check that baselines are what was stored.

    Compares all of them, or NAMES, with the digests in their manifests, and scores their runs again to compare,
    replicates and earlier runs included.
    """
    from pytest_riskguard.baselines.remote_stores import shown

    baselines = opened()
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
    from pytest_riskguard.data.topics import read_collection, read_topics

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
    return f"ok ({'; '.join(unchecked)})" if unchecked else "ok"


COMMANDS = (list_, show, verify)


#: How many of the topics that fall are shown.
MAX_FALLS = 5


def means_of(table: Sequence[TopicScores]) -> dict[str, float]:
    """The mean of each measure."""
    return {str(scores.measure): scores.mean for scores in table}


def in_a_line(manifest: Manifest, means: Mapping[str, float] | None = None, stale: Staleness | None = None) -> str:
    """A baseline in one line, with the means of its measures if they are known."""
    judged = (
        "; scores alone"
        if not manifest.has_run
        else ""
        if manifest.judged is None
        else f"; {percent(manifest.judged.share, 0)} judged"
    )
    speed = "" if manifest.latency is None else f"; {manifest.latency}"
    note = f"; {clean(manifest.note, limit=60)}" if manifest.note else ""
    replicates = f"; {counted(len(manifest.replicates), 'replicate')}" if manifest.replicates else ""
    history = f"; {counted(len(manifest.history), 'earlier run')}" if manifest.history else ""
    kind = f"; {manifest.kind}" if stale is not None or manifest.kind != "fixed" else ""
    age = "" if stale is None else f", {stale_in_words(stale)}"
    start = f"{topics_in_words(manifest)}; {measures_in_words(manifest, means or {})}{judged}; {manifest.created}"
    return f"{start}{kind}{age}{history}{replicates}{speed}{note}"


def measures_in_words(manifest: Manifest, means: Mapping[str, float]) -> str:
    """``nDCG@10 0.4312, AP 0.2911``; without its mean, only the name of a measure."""
    names = manifest.measure_names
    return ", ".join(f"{name} {plain(means[name])}" if name in means else name for name in names)


def metadata_in_words(manifest: Manifest) -> str:
    """``index=v7, model=small``."""
    return ", ".join(f"{clean(key)}={clean(value, limit=500)}" for key, value in manifest.metadata.items())


def judged_in_words(manifest: Manifest) -> str:
    """How much of the run is judged."""
    judged = manifest.judged
    if not manifest.has_run:
        return "unknown: scores were stored, no run"
    if judged is None:
        return "unknown"
    return (
        f"{judged.topics} of {counted(manifest.topics.scored, 'topic')} retrieve a judged document; "
        f"{percent(judged.share, 0)} of the first 10 documents are judged"
    )


def stale_in_words(stale: Staleness) -> str:
    """``stored 412 days ago; 7 changes accepted since``."""
    when = f"{counted(stale.days, 'day')} ago" if stale.days else "today"
    since = f", {counted(stale.accepted_since, 'change')} accepted since" if stale.accepted_since else ""
    return f"stored {when}{since}"


def topics_in_words(manifest: Manifest) -> str:
    """How many topics are scored, and which were not answered."""
    text, unanswered = counted(manifest.topics.scored, "topic"), manifest.topics.unanswered
    return f"{text} ({len(unanswered)} unanswered: {listed(unanswered, most=5)})" if unanswered else text


def change_lines(changes: Sequence[ScoreChange]) -> Iterator[str]:
    """Each mean before and after, the topics that fall, worst first, and those that are scored on one side only."""
    if not changes:
        yield "  nothing to compare with: the old scores are damaged, or from other judgements or measures"
    for change in changes:
        difference = signed(change.after - change.before)
        yield f"  {change.measure} {plain(change.before)} -> {plain(change.after)} ({difference})"
        if change.fallen:
            worst = change.fallen[:MAX_FALLS]
            falls = ", ".join(f"{clean(f.topic, limit=60)} {plain(f.before)} -> {plain(f.after)}" for f in worst)
            more = f" and {len(change.fallen) - len(worst)} more" if len(change.fallen) > len(worst) else ""
            verb = "fall" if len(change.fallen) > 1 else "falls"
            yield f"    {len(change.fallen)} of {counted(change.topics, 'topic')} {verb}: {falls}{more}"
    if changes and changes[0].gone:
        yield f"  no longer scored: {listed(changes[0].gone, most=MAX_FALLS)}"
    if changes and changes[0].added:
        yield f"  scored from now on: {listed(changes[0].added, most=MAX_FALLS)}"
