"""The scores of a stored baseline on the judgements and query texts of today."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_riskguard.baselines import environment, queries
from pytest_riskguard.baselines.entry import RUN, SCORES, StoredBaseline
from pytest_riskguard.baselines.manifest import EarlierRun, Manifest, StoredMeasure, StoredReplicate
from pytest_riskguard.baselines.scored import Scored
from pytest_riskguard.data import cache
from pytest_riskguard.data.judged import JudgedRun, depth_for
from pytest_riskguard.data.measures import parse_measure, provider_of
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.run_scores import ScoredRun, scored_run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError, RiskguardError, UsageError
from pytest_riskguard.text import counted, listed

#: Stored scores may differ this much from those of the run: other builds of the same libraries round differently.
ROUNDING = 1e-9


class KeptRun:
    """``run.gz`` of a baseline on some judgements; ``together`` are measures that will be asked for.

    The first score that is asked for is computed together with these, in one pass that checks the digest too; or it
    comes from the cache, and the file is compared with its digest all the same. ``depth`` is how many ranks are kept
    whole; by default as many as the measures need.
    """

    def __init__(
        self, baseline: StoredBaseline, qrels: Qrels, together: Sequence[str] = (), *, depth: int | None = None
    ) -> None:
        self.baseline, self.qrels = baseline, qrels
        self._together = tuple(together)
        self._depth = depth or (_depth_for(together, qrels) if together else None)
        self._scores: dict[str, TopicScores] = {}
        self._is_checked = False
        #: What a pass over the run kept; None before any.
        self.run: JudgedRun | None = None

    def scores(self, *measures: str) -> tuple[TopicScores, ...]:
        """The run's scores; ``bad_baseline`` if the run is not the one that was stored."""
        missing = [measure for measure in measures if measure not in self._scores]
        if missing:
            together = tuple(dict.fromkeys([*missing, *self._together]))
            self._together = ()
            try:
                self._score(together)
            except RiskguardError:
                if together == tuple(missing):
                    raise
                self._score(missing)  # what is wrong may concern another measure only
        return tuple(self._scores[measure] for measure in measures)

    def judged_for(self, measure: str) -> JudgedRun:
        """What a reading keeps for reports about a measure; raises like ``scores``."""
        if self.run is None:
            self.scores(measure)
        return self._fetched()

    def check(self) -> None:
        """Check that the run is the one that was stored, unless that was done."""
        if not self._is_checked:
            self.baseline.check_run()
            self._is_checked = True

    def emptied(self, least: float) -> frozenset[str]:
        """The scored topics for which the run, which was scored, retrieves no document graded ``least`` or higher."""
        run, arrays = self._fetched(), self.qrels.arrays
        rows = run.judgements
        relevant = np.concatenate([[0], np.cumsum((rows >= 0) & (arrays.grades[rows] >= least))])
        found = np.diff(relevant[run.offsets]) > 0
        answered = {topic for topic, is_found in zip(run.topics, found.tolist(), strict=True) if is_found}
        return frozenset(self.qrels.topics) - answered

    def _fetched(self) -> JudgedRun:
        if self.run is None:
            self.run = self._read([next(iter(self._scores))]).run
        return self.run

    def _score(self, measures: Sequence[str]) -> None:
        baseline = self.baseline
        key = baseline.manifest.digests.run
        found = cache.find(key, self.qrels, measures, name=baseline.place, queries=self.qrels.texts)
        if found is None:
            scored = self._read(measures)
            found = scored.scores, scored.ties
            cache.keep(key, self.qrels, *found)
        self.check()  # the file has to be the one that was stored, whatever the cache has
        self._scores |= {str(scores.measure): scores for scores in found[0]}

    def _read(self, measures: Sequence[str]) -> ScoredRun:
        baseline = self.baseline
        depth = self._depth or _depth_for([*measures, *self._scores], self.qrels)
        try:
            scored = scored_run(baseline.file(RUN), self.qrels, measures, name=baseline.place, depth=depth)
        except DataError:
            baseline.check_run()  # damage is named as such
            raise
        if scored.run.digest != baseline.manifest.digests.run:
            baseline.check_run()
            raise baseline.error(f"{RUN} changed while it was being read; try again")
        self.run, self._is_checked = scored.run, True
        return scored


def _depth_for(measures: Sequence[str], qrels: Qrels) -> int:
    return depth_for(list(map(parse_measure, measures)), qrels)


def _false_scores(kept: KeptRun, table: Sequence[TopicScores]) -> list[str]:
    """What is wrong with stored scores, given the run on the judgements that they were computed with.

    Measures that other versions of the libraries computed are not compared.
    """
    baseline, manifest = kept.baseline, kept.baseline.manifest
    names = tuple(measure.name for measure in manifest.measures if same_libraries(manifest, measure))
    if not manifest.run_kept or not names:
        return []
    of_run = dict(zip(names, kept.scores(*names), strict=True))
    false = [one for one in table if one.measure in of_run and not _agree(one, of_run[one.measure])]
    return [
        baseline.error(f"{SCORES} does not hold the scores of {RUN} ({one.measure}); {baseline.remedy}").problem
        for one in false
    ]


def _agree(stored: TopicScores, scored: TopicScores) -> bool:
    """Whether two systems' scores of a measure are the same but for rounding."""
    return stored.topics == scored.topics and bool(np.all(np.abs(stored.values - scored.values) <= ROUNDING))


def same_libraries(manifest: Manifest, measure: StoredMeasure) -> bool:
    """Whether the libraries that scored a baseline are installed here in the same versions."""
    with suppress(UsageError):  # the provider is not installed here
        provider_of(parse_measure(measure.name))
        return manifest.versions.get("ir-measures") == environment.distribution_version(
            "ir-measures"
        ) and measure.version == environment.provider_version(measure.provider)
    return False


def problems(baseline: StoredBaseline, qrels: Qrels | None = None) -> list[str]:
    """Every problem of a baseline, its replicates and earlier runs, as text.

    Scores that were computed with ``qrels`` are compared with what their runs score.
    """
    try:
        manifest = baseline.manifest
    except DataError as error:
        return [error.problem]
    found = []
    for check in (baseline.check_run, baseline.texts, baseline.replicates, baseline.history):
        try:
            check()
        except DataError as error:
            found.append(error.problem)
    try:
        table = baseline.table()
        if qrels is not None and qrels.digest == manifest.digests.qrels and not found:
            found += _false_scores(KeptRun(baseline, qrels), table)
    except DataError as error:
        found.insert(0, error.problem)
    entries: tuple[StoredReplicate | EarlierRun, ...] = (*manifest.replicates, *manifest.history)
    for entry in entries:
        try:
            found += problems(baseline.listed(entry), qrels)
        except DataError as error:
            found.append(error.problem)
    return list(dict.fromkeys(found))  # a link is reported twice


def present_scores(
    baseline: StoredBaseline,
    measure: str,
    qrels: Qrels | None,
    *,
    topics: Topics | None = None,
    accept: bool = False,
    kept: KeptRun | None = None,
) -> Scored:
    """What ``Store.scores`` returns; ``measure`` is spelled as ir-measures prints it.

    ``kept`` is the baseline's run on these judgements, if several measures are asked for.
    """
    if qrels is None or not baseline.manifest.has_run:
        return _given(baseline, measure, topics, accept=accept)
    table, kept = baseline.table(), kept or KeptRun(baseline, qrels)
    scored, before = replace(_present(kept, measure, table), run=kept.run), table[0].topics
    gone = tuple(sorted(set(before) - set(qrels.topics)))
    known = _as_known(scored, baseline, topics, set(before) & set(qrels.topics))
    fewer = (*gone, *scored.emptied, *scored.much_diluted, *known.rephrased)
    if fewer and not accept:
        topics_name = "" if topics is None else topics.path_name
        problem = _shrunk(baseline, replace(known, gone=gone), qrels.path_name, topics_name)
        raise baseline.error(problem, reason="inputs_changed")
    unasked = tuple(sorted(set(scored.scores.unanswered) - set(before)))
    accepted = scored.scores.unanswered if baseline.manifest.allow_unanswered else unasked
    return replace(
        known,
        scores=replace(scored.scores, accepted=accepted),
        gone=gone,
        unasked=unasked,
    )


def _as_known(scored: Scored, baseline: StoredBaseline, topics: Topics | None, among: Collection[str]) -> Scored:
    """The scores with what the topics file says otherwise than when they were stored."""
    stored = baseline.manifest.digests.topics
    if topics is None or topics.digest == stored:
        return scored
    rows = baseline.texts()
    return replace(
        scored,
        rephrased=queries.rephrased(rows, topics.queries, among),
        reassigned=queries.reassigned(rows, topics, among),
        topics_changed=stored is not None,
    )


def _given(baseline: StoredBaseline, measure: str, topics: Topics | None, *, accept: bool) -> Scored:
    """Scores as they were stored, whatever the judgements; the query texts must still be the same."""
    scores = as_stored(baseline, measure)
    known = _as_known(Scored(scores), baseline, topics, {*scores.topics})
    if known.rephrased and not accept:
        problem = _shrunk(baseline, known, "", "" if topics is None else topics.path_name)
        raise baseline.error(problem, reason="inputs_changed")
    return known


def _present(kept: KeptRun, measure: str, table: Sequence[TopicScores]) -> Scored:
    baseline, manifest, qrels = kept.baseline, kept.baseline.manifest, kept.qrels
    same_qrels = manifest.digests.qrels == qrels.digest
    own = next((scores for scores in table if scores.measure == measure), None)
    if manifest.run_kept and same_qrels:
        (scores,) = kept.scores(measure)
        changed = own is not None and not _agree(own, scores)
        return Scored(scores, rescored=changed, stored_mean=own.mean if own is not None and changed else None)
    if manifest.run_kept:
        return _rescored(kept, measure, table)
    if same_qrels and own is not None:
        stored = replace(_completed(baseline, own), without_relevant=qrels.without_relevant)
        return Scored(stored, backed=False)
    if same_qrels:
        problem, reason = _without(baseline, measure), "missing_input"
    else:
        problem, reason = f"{qrels.path_name} has changed since it was scored", "inputs_changed"
    remedy = f"store it again with {baseline.command}" if baseline.earlier is None else baseline.remedy
    raise baseline.error(f"{problem}, and its run was not kept; {remedy}", reason=reason)


def _rescored(kept: KeptRun, measure: str, table: Sequence[TopicScores]) -> Scored:
    """The scores of the kept run on other judgements, and the topics in which little or nothing is left to lose."""
    own = [scores for scores in table if scores.measure == measure]
    stored = (own or table)[0]
    try:
        scores, now = kept.scores(measure, str(stored.measure))
    except RiskguardError:
        if own:
            raise
        (scores,), now = kept.scores(measure), stored  # the stored measure does not take these judgements
    empty = kept.emptied(_least_relevant(measure if own else None, kept.qrels))
    before = np.any([scores.values > 0 for scores in own or table], axis=0)
    pairs = zip(table[0].topics, before, strict=True)
    emptied = tuple(topic for topic, had in pairs if had and topic in empty)
    return Scored(
        scores,
        rescored=True,
        stored_mean=own[0].mean if own else None,
        emptied=emptied,
        diluted=_diluted(stored, now, without=emptied),
    )


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


def as_stored(baseline: StoredBaseline, measure: str) -> TopicScores:
    """The stored scores of a measure, on the judgements that they were computed with."""
    baseline.check_run()
    for scores in baseline.table():
        if scores.measure == measure:
            return _completed(baseline, scores)
    raise baseline.error(_without(baseline, measure), reason="missing_input")


def _completed(baseline: StoredBaseline, scores: TopicScores) -> TopicScores:
    """Scores of the table with what the manifest says about their run and judgements."""
    digests, topics = baseline.manifest.digests, baseline.manifest.topics
    return replace(
        scores,
        digest=digests.run,
        qrels_digest=digests.qrels,
        unanswered=topics.unanswered,
        unknown=topics.unknown,
        from_run=baseline.manifest.has_run,
    )


def _without(baseline: StoredBaseline, measure: str) -> str:
    return f"it has scores of {', '.join(baseline.manifest.measure_names)}, not of {measure}"


def _shrunk(baseline: StoredBaseline, scored: Scored, qrels_name: str, topics_name: str) -> str:
    """The topics that the baseline was scored on and that count less or have another text; and what to do."""
    gone, emptied, diluted, rephrased = scored.gone, scored.emptied, scored.much_diluted, scored.rephrased
    parts = []
    if gone:
        verb = "have" if len(gone) > 1 else "has"
        parts.append(f"{_some(gone)} that it was scored on no longer {verb} a relevant document in {qrels_name}")
    if emptied:
        parts.append(
            f"its run no longer retrieves a relevant document in {_some(emptied)}, though it did when stored"
        )
    if diluted:
        parts.append(
            f"by {qrels_name} its run scores less than half of what it did when stored in {_some(diluted)}: losses "
            "there would hardly show"
        )
    if rephrased:
        parts.append(f"{_some(rephrased)} had a different query text when it was stored than in {topics_name} now")
    remedy = f"accept this with `riskguard baseline rescore {baseline.name}`"
    if rephrased and not baseline.manifest.has_run:
        remedy = f"store scores for the new texts with {baseline.command}"
    elif rephrased:
        remedy = f"store a run that answers the new texts with {baseline.command}, or {remedy}"
    several = sum(map(len, (gone, emptied, diluted, rephrased))) > 1
    return f"{'; '.join(parts)}; restore {'them' if several else 'it'}, or {remedy}"


def _some(topics: Sequence[str]) -> str:
    return f"{counted(len(topics), 'topic')} ({listed(tuple(topics), most=5)})"
