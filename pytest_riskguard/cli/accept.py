"""``riskguard accept``: what a report judged becomes the baseline, the very run and nothing that changed since."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.baselines.stored_files import same_file
from pytest_riskguard.cli.baseline import replace_run, scoring_of
from pytest_riskguard.cli.options import (
    FILE,
    Collection,
    config_option,
    config_path,
    flag,
    in_ci_option,
    is_config_given,
    not_found_here,
    refuse_unseen,
    store_of,
)
from pytest_riskguard.config.load import find_config, load_config
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.errors import BaselineError, DataError, FileError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.verdict import HOW_READ, JudgedFile, Verdict
from pytest_riskguard.text import clean, named

if TYPE_CHECKING:
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.reports.comparisons import Report

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
@in_ci_option
@config_option
def accept(report: Path, name: str | None, *, note: str, dry_run: bool, in_ci: bool) -> None:
    """Make what a JSON report judged the new baseline.

    The run must be the one that was judged; answers of a live system are taken from the folder beside the report. The
    old run is kept as an earlier run. NAME is a baseline, a candidate, BASELINE=CANDIDATE or a gate, where the report
    has several. Of a report over several riskguard.yaml each store is updated, with --config that of one.
    """
    from pytest_riskguard.reports.comparisons import answer, summary
    from pytest_riskguard.reports.json import read

    if not dry_run:
        refuse_unseen(in_ci, note)
    content = read(report)
    pairs = _chosen(content, name)
    verified = [_verified(pair, report, content) for pair in pairs]
    for line in summary(content.gates):
        click.echo(line)
    for pair, given in zip(pairs, verified, strict=True):
        if len(pairs) > 1 and pair.config is not None:
            click.echo(f"{Path(os.path.relpath(pair.config.path)).as_posix()}:")
        click.echo(f"{pair.baseline}: {answer(pair.verdicts).counts}")
        replace_run(pair.store, pair.baseline, note=note, dry_run=dry_run, **given)


# What is accepted in whose place.


def _chosen(content: Report, name: str | None) -> list[Pair]:
    """The pair of each riskguard.yaml of the report that is meant; ``UsageError`` unless it is clear which."""
    found, known, services = list[Pair](), list[str](), _by_config(content)
    for path, verdicts in services.items():
        config = None if path is None else load_config(path, require_gates=False)
        store = store_of(config)
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
        way = "; of one riskguard.yaml alone: --config FILE" if len(services) > 1 else ""
        raise UsageError(f"the report compares nothing with {what}{hint}{way}")
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


def _verified(pair: Pair, report: Path, content: Report) -> dict[str, Any]:
    """What ``replace_run`` is given; ``RiskguardError`` if that, or the baseline, is not what was judged."""
    from pytest_riskguard.engine import Engine
    from pytest_riskguard.engine.question import RunFile, ScoreFile

    for verdict in pair.verdicts:
        if verdict.outcome == "incomparable":
            problem = f"{clean(verdict.gate)} could not be compared ({clean(verdict.problem or '')})"
            raise DataError(f"{problem}: nobody knows what would be accepted", reason=verdict.reason)
    file, path = _file_of(pair, report, content)
    if pair.config is None and not file.scores:
        update = f"riskguard baseline update {pair.baseline} RUN --qrels QRELS --note WHY"
        raise UsageError(f"{not_found_here()}; without one, `{update}`")
    inputs = pair.verdicts[0].inputs
    scoring = scoring_of(Collection(scores=file.scores), (), config=pair.config)
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
    # the queries without an answer were judged too, and those that lose by it are shown
    about = {"queries": sources.queries, "scores": file.scores, "keep_run": kept, "allow_unanswered": True}
    return {"run": given, **about, **scoring}


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
