"""The scores of a stored baseline on the judgements and query texts of today."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_riskguard.baselines import queries
from pytest_riskguard.baselines.entry import RUN, Entry
from pytest_riskguard.baselines.stored_files import Scored
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

    def emptied(self, least: float, measure: str) -> frozenset[str]:
        """The scored topics for which the run retrieves no document graded ``least`` or higher."""
        run, arrays = self.judged(measure), self.qrels.arrays
        rows = run.judgements
        relevant = np.concatenate([[0], np.cumsum((rows >= 0) & (arrays.grades[rows] >= least))])
        found = np.diff(relevant[run.offsets]) > 0
        answered = {topic for topic, is_found in zip(run.topics, found.tolist(), strict=True) if is_found}
        return frozenset(self.qrels.topics) - answered

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
    if qrels is not None and entry.manifest.has_run:
        kept = KeptRun(entry, qrels)
        if entry.manifest.run_kept and len(measures) > 1:
            with suppress(RiskguardError):  # what is wrong may concern one of the measures only
                kept.scores(*measures)
    found: dict[str, Scored | RiskguardError] = {}
    for measure in measures:
        try:
            found[measure] = _present(entry, measure, kept, topics, accept=accept)
        except RiskguardError as error:
            found[measure] = error
    return found


def _present(entry: Entry, measure: str, kept: KeptRun | None, topics: Topics | None, *, accept: bool) -> Scored:
    """The scores and all that has changed; ``inputs_changed`` for topics that count less, unless that is accepted."""
    if kept is None:
        scored = Scored(entry.stored(measure))
        among, judgements = set(scored.scores.topics), ""
    else:
        before = entry.table[0].topics
        scored = replace(_on_judgements(kept, measure), run=kept.run)
        unasked = tuple(sorted(set(scored.scores.unanswered) - set(before)))
        accepted = scored.scores.unanswered if entry.manifest.allow_unanswered else unasked
        gone = tuple(sorted(set(before) - set(kept.qrels.topics)))
        scored = replace(scored, scores=replace(scored.scores, accepted=accepted), gone=gone, unasked=unasked)
        among, judgements = set(before) & set(kept.qrels.topics), kept.qrels.path_name
    stored = entry.manifest.digests.topics
    if topics is not None and topics.digest != stored:
        reassigned = queries.changed(entry.topics(), topics, among)
        rephrased = reassigned.pop(queries.TEXT, ())
        scored = replace(scored, rephrased=rephrased, reassigned=reassigned, topics_changed=stored is not None)
    if not accept and any((scored.gone, scored.emptied, scored.much_diluted, scored.rephrased)):
        texts = "" if topics is None else topics.path_name
        raise entry.error(*_shrunk(entry, scored, judgements, texts), reason="inputs_changed")
    return scored


def _on_judgements(kept: KeptRun, measure: str) -> Scored:
    """The scores on the judgements of today, and what differs from the stored ones."""
    entry, qrels, manifest = kept.entry, kept.qrels, kept.entry.manifest
    same_qrels = manifest.digests.qrels == qrels.digest
    table = entry.table
    own = next((scores for scores in table if scores.measure == measure), None)
    if not manifest.run_kept:
        if same_qrels and own is not None:
            return Scored(replace(own, without_relevant=qrels.without_relevant), backed=False)
        problem, reason = entry.lack_of(measure), "missing_input"
        if not same_qrels:
            problem, reason = f"{qrels.path_name} has changed since it was scored", "inputs_changed"
        remedy = Remedy("store it again with {}", entry.renewal) if "/" not in entry.place else entry.remedy
        raise entry.error(f"{problem}, and its run was not kept", remedy, reason=reason)
    if same_qrels:
        (scores,) = kept.scores(measure)
        rescored = own is not None and not _agree(own, scores)
        return Scored(scores, rescored=rescored, stored_mean=own.mean if own is not None and rescored else None)
    stored = own or table[0]
    (scores,), now = kept.scores(measure), stored
    with suppress(RiskguardError):  # the stored measure may not take these judgements
        (now,) = kept.scores(str(stored.measure))
    empty = kept.emptied(_least_relevant(measure if own else None, qrels), measure)
    scored_before = np.any([scores.values > 0 for scores in ([own] if own else table)], axis=0)
    pairs = zip(table[0].topics, scored_before, strict=True)
    emptied = tuple(topic for topic, had in pairs if had and topic in empty)
    return Scored(
        scores,
        rescored=True,
        stored_mean=own.mean if own else None,
        emptied=emptied,
        diluted=_diluted(stored, now, without=emptied),
    )


def _agree(stored: TopicScores, scored: TopicScores) -> bool:
    """Whether two systems' scores of a measure are the same but for rounding."""
    return stored.topics == scored.topics and bool(np.all(np.abs(stored.values - scored.values) <= ROUNDING))


def _diluted(stored: TopicScores, now: TopicScores, *, without: Collection[str]) -> dict[str, float]:
    """The topics in which a run scores less than half of what it did, with the old score by the new one, or 0."""
    before = dict(zip(stored.topics, stored.values.tolist(), strict=True))
    pairs = zip(now.topics, now.values.tolist(), strict=True)
    return {
        topic: before[topic] / value if value > 0 else 0.0
        for topic, value in pairs
        if topic not in without and value < before.get(topic, 0.0) / 2
    }


def _least_relevant(measure: str | None, qrels: Qrels) -> float:
    """The lowest grade that is relevant for a measure; without one, for measures in general."""
    asked: Any = 1 if measure is None else parse_measure(measure).params.get("rel", 1)
    if asked != 1:
        return float(asked)
    if qrels.rules.relevant_from is not None:
        return qrels.rules.relevant_from
    return math.ulp(0.0) if qrels.is_real else 1.0


#: What the topics that count less have in common.
_LOST = {
    "gone": "{judgements} no longer has a relevant document for",
    "emptied": "its run no longer retrieves a relevant document, though it did when stored, for",
    "much_diluted": "by {judgements} losses would hardly show, as its run scores less than half of what it did when "
    "stored in",
    "rephrased": "{texts} has a different query text than when it was stored for",
}


def _shrunk(entry: Entry, scored: Scored, judgements: str, texts: str) -> tuple[str, Remedy]:
    """The topics that the baseline was scored on and that count less or have another text; and what to do."""
    lost = {words: topics for what, words in _LOST.items() if (topics := getattr(scored, what))}
    said = [
        f"{words.format(judgements=judgements, texts=texts)} {counted(len(topics), 'topic')} "
        f"({listed(tuple(topics), most=5)})"
        for words, topics in lost.items()
    ]
    text, commands = "accept this with {}", [f"rescore {entry.name}"]
    if scored.rephrased:
        text, commands = "store what answers the new texts with {}, or " + text, [entry.renewal, *commands]
        if not entry.manifest.has_run:
            text, commands = "store what answers the new texts with {}", [entry.renewal]
    return "; ".join(said), Remedy(f"restore the files, or {text}", *commands)
