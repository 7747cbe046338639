"""``riskguard accept``: what a report judged becomes the baseline, the very run and nothing that changed since."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.baselines.stored_files import same_file
from pytest_riskguard.cli.baseline import kept_as, replaced_line, scoring_of
from pytest_riskguard.cli.options import (
    DEFAULT_STORE,
    FILE,
    Collection,
    allow_unanswered_option,
    collection_options,
    config_path,
    flag,
    in_ci_option,
    is_config_given,
    refuse_in_ci,
    stored_in,
)
from pytest_riskguard.config.load import find_config, load_config
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.errors import BaselineError, DataError, FileError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.verdict import HOW_READ
from pytest_riskguard.reports.numbers import plain, signed
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from pytest_riskguard.text import clean, counted, named

if TYPE_CHECKING:
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.data.scores import TopicScores
    from pytest_riskguard.gates.verdict import JudgedFile, Verdict
    from pytest_riskguard.reports.comparisons import Report

#: How many queries that lose, and that gain, are shown.
MAX_SHOWN = 10
#: A loss that is counted apart, of measures from 0 to 1: the one of which the gates of ``compare`` allow few.
LARGE = 0.3
_YAML = (".yaml", ".yml")


@frozen(eq=False)
class Pair:
    """A candidate and the stored baseline whose place it takes, with the verdicts of the report on both."""

    config: Config | None
    store: Store
    baseline: str
    candidate: str
    verdicts: Sequence[Verdict]


@click.command()
@click.argument("report", type=FILE)
@click.argument("name", required=False)
@click.option("--note", default="", help="Why the new run is trusted, for the reviewer; kept in the manifest.")
@flag("--dry-run", help="Say which queries would lose and gain for good, and write nothing.")
@allow_unanswered_option
@in_ci_option
@collection_options(scores=False)
def accept(
    report: Path, name: str | None, *, collection: Collection, note: str, dry_run: bool, in_ci: bool, **about: Any
) -> None:
    """Make what a JSON report judged the new baseline.

    The run must be the one that was judged; answers of a live system are taken from the folder beside the report. The
    old run is kept as an earlier run. NAME is a baseline, a candidate, BASELINE=CANDIDATE or a gate, where the report
    has several. Of a report over several riskguard.yaml each store is updated, with --config that of one.
    """
    from pytest_riskguard.reports.comparisons import summary
    from pytest_riskguard.reports.json import read

    if not dry_run:
        refuse_in_ci(in_ci)
        if not note.strip():
            raise UsageError("riskguard accept needs --note: say why the new run is trusted, for the reviewer")
    content = read(report)
    work = []
    for pair in _chosen(content, name):
        given, texts = _verified(pair, report, content, collection)
        changes = pair.store.update(pair.baseline, dry_run=True, **about, **given)
        work.append((pair, given, texts, changes))
    for line in summary(content.gates):
        click.echo(line)
    for pair, given, texts, changes in work:
        if len(work) > 1 and pair.config is not None:
            click.echo(f"{Path(os.path.relpath(pair.config.path)).as_posix()}:")
        if changes is None:
            click.echo(f"{pair.baseline} already holds this run; nothing was written")
            continue
        for line in _told(pair, changes, texts):
            click.echo(line)
        if dry_run:
            click.echo(f"would replace {pair.baseline}; nothing was written")
            continue
        old = pair.store.manifest(pair.baseline)
        pair.store.update(pair.baseline, note=note, **about, **given)
        click.echo(replaced_line(pair.store, pair.baseline))
        click.echo(kept_as(old))


# What is accepted in whose place.


def _chosen(content: Report, name: str | None) -> list[Pair]:
    """The pair of each riskguard.yaml of the report that is meant; ``UsageError`` unless it is clear which."""
    found, known = list[Pair](), list[str]()
    for path, verdicts in _by_config(content).items():
        config = None if path is None else load_config(path, require_gates=False)
        store = stored_in(DEFAULT_STORE if config is None else config.store)
        pairs: dict[tuple[str, str], list[Verdict]] = {}
        stored = store.names()
        for verdict in verdicts:
            judged = {one.partition("/")[0] for one in verdict.baselines}
            for baseline in (one for one in stored if one in judged):
                gate, candidate = verdict.gate, verdict.candidate
                names = (baseline, candidate, f"{baseline}={candidate}", gate.partition("[")[0], gate)
                known += names
                if name in (None, *names):
                    pairs.setdefault((baseline, candidate), []).append(verdict)
        several = [f"{baseline}={candidate}" for baseline, candidate in pairs]
        for (baseline, candidate), about in pairs.items():
            if len({_digest(verdict) for verdict in about} - {None}) > 1:  # runs of one name
                several += [verdict.gate for verdict in about]
            found.append(Pair(config, store, baseline, candidate, about))
        if len(several) > 1:
            raise UsageError(f"the report judged {named(several, most=10)}: name the one to accept")
    if not found:
        hint = f"; there are {named([*dict.fromkeys(known)], most=10)}" if known else ""
        what = "a stored baseline" if name is None else f"{name!r:.60}"
        raise UsageError(f"the report compares nothing with {what}{hint}")
    return found


def _by_config(content: Report) -> dict[Path | None, list[Verdict]]:
    """The verdicts by the riskguard.yaml of their gates; with --config only those of one."""
    owners = {place: gate.file for gate in content.gates for place in gate.verdicts}
    chosen, found = config_path() if is_config_given() else None, dict[Path | None, list["Verdict"]]()
    for place, verdict in enumerate(content.verdicts):
        own = _config_of(owners[place]) if place in owners else config_path()
        if chosen is None and own is None and place in owners:
            raise UsageError(
                f"{clean(owners[place])}, whose gates were judged, is not here: go to the folder where they were, or "
                "name the riskguard.yaml with --config"
            )
        if chosen is None or own in (None, chosen) or same_file(own, chosen):
            found.setdefault(chosen or own, []).append(verdict)
    if chosen is not None and not found:
        raise UsageError(f"the report has no gate of {chosen}")
    return found


def _config_of(file: str) -> Path | None:
    """The riskguard.yaml of a gate, whose file was named here or, by pytest, in a folder above."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / file).is_file():
            path = Path(os.path.abspath(folder / file))  # noqa: PTH100 - links stay
            return path if path.suffix.lower() in _YAML else find_config(path)
    return None


# Whether it is still what was judged.


def _digest(verdict: Verdict) -> str | None:
    return None if verdict.inputs is None else verdict.inputs.candidate


def _verified(
    pair: Pair, report: Path, content: Report, collection: Collection
) -> tuple[dict[str, Any], Mapping[str, str]]:
    """What the store is given, and the query texts.

    ``RiskguardError`` if that, or the baseline, is not what was judged.
    """
    from pytest_riskguard.engine import Engine
    from pytest_riskguard.engine.question import RunFile, ScoreFile

    for verdict in pair.verdicts:
        if verdict.outcome == "incomparable":
            problem = f"{clean(verdict.gate)} could not be compared ({clean(verdict.problem or '')})"
            raise DataError(f"{problem}: nobody knows what would be accepted", reason=verdict.reason)
    file, path = _file_of(pair, report, content)
    collection, inputs = replace(collection, scores=file.scores), pair.verdicts[0].inputs
    scoring = scoring_of(collection, (), config=pair.config)
    given = GivenFile(path, **{part: getattr(file, part) for part in HOW_READ})
    sources = Engine(qrels=scoring["qrels"], topics=scoring["topics"]).sources
    if file.scores:
        digest = sources.scored(ScoreFile(given), pair.verdicts[0].measure).scores.digest
    else:
        digest = sources.rankings(RunFile(given)).digest
    if digest != (file.kept or file.digest):
        raise FileError(path, None, "not the run that was judged: it changed since", "judge it again")
    old = pair.store.manifest(pair.baseline)
    assert inputs is not None
    if inputs.baselines.get(pair.baseline) not in (None, old.digests.run) and old.digests.run != digest:
        raise BaselineError(
            "holds another run than was judged against: it was replaced since, or --baseline named one",
            where=pair.store.root / pair.baseline,
            reason="inputs_changed",
            remedy="judge it against this one first",
        )
    if scoring["qrels"] is not None and inputs.qrels not in (None, sources.qrels.digest):
        click.echo("the judgements changed since the report: all scores here are those of today's")
    kept = old.run_kept or not old.has_run
    return {"run": given, "scores": file.scores, "keep_run": kept, **scoring}, sources.queries


def _file_of(pair: Pair, report: Path, content: Report) -> tuple[JudgedFile, Path]:
    """The file of the candidate, and where it is now."""
    from pytest_riskguard.reports.kept_runs import folder_of

    folder = Path() if pair.config is None else pair.config.path.parent
    digests, found = {_digest(verdict) for verdict in pair.verdicts}, list[tuple["JudgedFile", Path]]()
    for file in () if content.provenance is None else content.provenance.files:
        if file.candidate == pair.candidate and file.digest in digests:
            found.append((file, folder_of(report) / Path(file.path).name if file.kept else folder / file.path))
    if not found:
        raise UsageError(
            f"the report does not say where {pair.candidate!r:.60} is: one that is written to a .json file does, "
            "unless that is an address, or scores in memory",
            remedy=f"store a run with `riskguard baseline update {pair.baseline} RUN --note WHY`",
        )
    return max(found, key=lambda one: one[1].exists())  # the same run of another service may be elsewhere


# What changes for good.


def _told(pair: Pair, changes: Sequence[tuple[TopicScores, TopicScores]], texts: Mapping[str, str]) -> Iterator[str]:
    """How the gates ended, and which queries lose and gain for good."""
    from pytest_riskguard.reports.comparisons import answer

    title = f"{pair.baseline}: {answer(pair.verdicts).counts}"
    measure = pair.verdicts[0].measure
    ordered = sorted(changes, key=lambda change: change[1].measure != measure)  # what was judged comes first
    if not ordered:
        why = "the old scores are from other judgements or measures"
        if not pair.store.manifest(pair.baseline).is_judged:
            why = "it was stored without judgements"
        yield f"{title}; nothing to compare with: {why}"
        return
    old, new = (dict(zip(one.topics, one.values.tolist(), strict=True)) for one in ordered[0])
    moved = {topic: new[topic] - old[topic] for topic in sorted(old.keys() & new.keys())}
    losses = sorted((topic for topic in moved if moved[topic] < -ROUNDING_ERROR), key=lambda topic: moved[topic])
    gains = sorted((topic for topic in moved if moved[topic] > ROUNDING_ERROR), key=lambda topic: -moved[topic])
    large = sum(moved[topic] < -LARGE for topic in losses) if max(*old.values(), *new.values()) <= 1 else 0
    said = counted(len(losses), "query that loses", "queries that lose")
    if large:
        said += f" more than {LARGE:.2f}" if large == len(losses) else f", {large} of them more than {LARGE:.2f}"
    yield f"{title}; accepting {said}" if losses else f"{title}; no query loses"
    for before, after in ordered:
        yield f"  {after.measure} {plain(before.mean)} -> {plain(after.mean)} ({signed(after.mean - before.mean)})"
    for what, topics in (("lose", losses), ("gain", gains)):
        if topics:
            yield f"  {len(topics)} of {counted(len(moved), 'query', 'queries')} {what} for good, the most first:"
        for topic in topics[:MAX_SHOWN]:
            text = f"{clean(topic, limit=40)}  {clean(texts.get(topic, ''), limit=80)}"
            yield f"    {plain(old[topic])} -> {plain(new[topic])}  {text}".rstrip()
        if rest := len(topics[MAX_SHOWN:]):
            yield f"    and {rest} more"
    for what, alone in (
        ("no longer scored", old.keys() - new.keys()),
        ("scored from now on", new.keys() - old.keys()),
    ):
        if alone:
            yield f"  {what}: {counted(len(alone), 'query', 'queries')}"
