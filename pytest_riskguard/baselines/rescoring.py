"""The scores of a stored baseline on the judgements and query texts of today."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_riskguard.baselines import queries
from pytest_riskguard.baselines.entry import RUN, Entry
from pytest_riskguard.baselines.stored_files import MOST_DILUTED, Scored
from pytest_riskguard.data.ids import topics_with
from pytest_riskguard.data.judged import JudgedRun, depth_for
from pytest_riskguard.data.measures import measure_name, parse_measure
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.run_scores import ScoredRun, scored_run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError, Remedy, RiskguardError, UsageError
from pytest_riskguard.text import counted, listed

#: Stored scores may differ this much from those of the run: other builds of the same libraries round differently.
ROUNDING = 1e-9


class KeptRun:
    """``run.gz`` of an entry on some judgements; ``depth`` is how many ranks are kept whole."""

    def __init__(self, entry: Entry, qrels: Qrels, *, depth: int | None = None) -> None:
        self.entry, self.qrels, self._depth = entry, qrels, depth
        self._scores: dict[str, TopicScores] = {}
        #: What a reading kept; None before any.
        self.run: JudgedRun | None = None

    def scores(self, *measures: str) -> tuple[TopicScores, ...]:
        """The run's scores, in one reading; ``bad_baseline`` if it is another run."""
        if missing := [measure for measure in measures if measure not in self._scores]:
            self._scores |= {str(scores.measure): scores for scores in self._read(missing).scores}
        return tuple(self._scores[measure] for measure in measures)

    def judged(self, measure: str) -> JudgedRun:
        """What a reading keeps for reports about a measure; raises like ``scores``."""
        return self.run or self._read([measure]).run

    def _read(self, measures: Sequence[str]) -> ScoredRun:
        entry = self.entry
        depth = self._depth or depth_for(list(map(parse_measure, [*measures, *self._scores])), self.qrels)
        try:
            scored = scored_run(entry.kept_run, self.qrels, measures, name=entry.place, depth=depth)
        except DataError:
            entry.check_run()  # damage is named as such
            raise
        if scored.run.digest != entry.manifest.digests.run:
            entry.check_run()
            raise entry.error(f"{RUN} changed while it was being read", "try again")
        self.run = scored.run
        return scored


def score(
    entry: Entry, measure: str, qrels: Qrels | None, topics: Topics | None = None, *, accept: bool = False
) -> Scored:
    """The scores of an entry as ``Store.scores`` says."""
    try:
        measure = measure_name(measure)
    except UsageError:  # scores that somebody gave may have any name
        if qrels is not None and entry.manifest.has_run:
            raise
    scored = present_scores(entry, [measure], qrels, topics, accept=accept)[measure]
    if isinstance(scored, RiskguardError):
        raise scored
    return scored


def present_scores(
    entry: Entry, measures: Sequence[str], qrels: Qrels | None, topics: Topics | None = None, *, accept: bool = False
) -> dict[str, Scored | RiskguardError]:
    """What ``score`` returns or raises for each measure, spelled as ir-measures does; one reading is for all."""
    kept = None
    if qrels is not None and entry.manifest.run_kept:
        kept = KeptRun(entry, qrels)
        if len(measures) > 1:
            with suppress(RiskguardError):  # what is wrong may concern one of the measures only
                kept.scores(*measures)
    present: dict[str, Scored | RiskguardError] = {}
    for measure in measures:
        try:
            if kept is not None and accept and not entry.manifest.is_judged:
                present[measure] = Scored(kept.scores(measure)[0])
                continue
            entry.refuse_unjudged()
            if kept is not None:
                scored = replace(_of_run(kept, measure), run=kept.run)
            elif qrels is not None and entry.manifest.has_run:
                scored = _without_run(entry, measure, qrels)
            else:
                scored = Scored(entry.stored(measure))
            present[measure] = _compared(entry, scored, qrels, topics, accept=accept)
        except RiskguardError as error:
            present[measure] = error
    return present


def _compared(entry: Entry, scored: Scored, qrels: Qrels | None, topics: Topics | None, *, accept: bool) -> Scored:
    """The scores with all that has changed; ``inputs_changed`` for topics that count less, unless it is accepted."""
    among = set(scored.scores.topics)
    if qrels is not None and entry.manifest.has_run:
        before = set(entry.table[0].topics)
        unasked = tuple(sorted(set(scored.scores.unanswered) - before))
        accepted = scored.scores.unanswered if entry.manifest.allow_unanswered else unasked
        gone = tuple(sorted(before - set(qrels.topics)))
        scored = replace(scored, scores=replace(scored.scores, accepted=accepted), gone=gone, unasked=unasked)
        among = before & set(qrels.topics)
    stored = entry.manifest.digests.topics
    if topics is not None and topics.digest != stored:
        reassigned = queries.changed(entry.topics(), topics, among)
        rephrased = reassigned.pop(queries.TEXT, ())
        scored = replace(scored, rephrased=rephrased, reassigned=reassigned, topics_changed=stored is not None)
    # more than honest changes of judgements leave (docs/reference/store.md)
    much_diluted = len(scored.diluted) > max(MOST_DILUTED, scored.scores.a_few)
    lost = (
        (qrels, "no relevant document left", scored.gone),
        (qrels, "no relevant document left that its run retrieves", scored.emptied),
        (qrels, "less than half of the stored score left", tuple(scored.diluted) * much_diluted),
        (topics, "another query text", scored.rephrased),
    )
    said = [
        f"{file.path_name}: {words} in {counted(len(names), 'topic')} ({listed(names, most=5)})"
        for file, words, names in lost
        if names and file is not None
    ]
    if said and not accept:
        commands = [f"rescore {entry.name}"] * entry.manifest.run_kept + [entry.renewal] * bool(scored.rephrased)
        raise entry.error(
            f"{'; '.join(said)}; where a file changed after the baseline was stored, a loss would hardly show",
            Remedy(f"restore the files, or accept this with {' or '.join(['{}'] * len(commands))}", *commands),
            reason="inputs_changed",
        )
    return scored


def _without_run(entry: Entry, measure: str, qrels: Qrels) -> Scored:
    """The stored scores, if they are of these judgements."""
    problem, reason = f"{qrels.path_name} has changed since it was scored", "inputs_changed"
    if entry.manifest.digests.qrels == qrels.digest:
        for own in entry.table:
            if own.measure == measure:
                return Scored(replace(own, without_relevant=qrels.without_relevant), backed=False)
        problem, reason = entry.lack_of(measure), "missing_input"
    remedy = Remedy("store it again with {}", entry.renewal) if "/" not in entry.place else entry.remedy
    raise entry.error(f"{problem}, and its run was not kept", remedy, reason=reason)


def _of_run(kept: KeptRun, measure: str) -> Scored:
    """The run's scores on the judgements of today, and what differs from the stored ones."""
    qrels, table = kept.qrels, kept.entry.table
    own = next((scores for scores in table if scores.measure == measure), None)
    (scores,) = kept.scores(measure)
    if kept.entry.manifest.digests.qrels == qrels.digest:
        if own is None:
            return Scored(scores)
        is_same = own.topics == scores.topics and np.all(np.abs(own.values - scores.values) <= ROUNDING)
        return Scored(scores) if is_same else Scored(scores, rescored=True, stored_mean=own.mean)
    stored = now = own or table[0]
    with suppress(RiskguardError):  # the stored measure may not take these judgements
        (now,) = kept.scores(str(stored.measure))
    run, grades = kept.judged(measure), qrels.arrays.grades
    least: Any = 1 if own is None else parse_measure(measure).params.get("rel", 1)
    is_relevant = qrels.rules.is_relevant(grades) if least == 1 else grades >= least
    found = topics_with((run.judgements >= 0) & is_relevant[run.judgements], run.offsets)
    empty = set(qrels.topics).difference(topic for topic, is_found in zip(run.topics, found, strict=True) if is_found)
    had = np.any([scores.values > 0 for scores in ([own] if own else table)], axis=0)
    emptied = tuple(topic for topic, one in zip(table[0].topics, had, strict=True) if one and topic in empty)
    before = dict(zip(stored.topics, stored.values.tolist(), strict=True))
    diluted = {
        topic: before[topic] / value if value > 0 else 0.0
        for topic, value in zip(now.topics, now.values.tolist(), strict=True)
        if topic not in emptied and value < before.get(topic, 0.0) / 2
    }
    mean = own.mean if own else None
    return Scored(scores, rescored=True, stored_mean=mean, emptied=emptied, diluted=diluted)
