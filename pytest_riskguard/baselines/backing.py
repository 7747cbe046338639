"""Whether what is stored is true: each file equals its digest, and the scores are those of the kept run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from pytest_riskguard.baselines import environment
from pytest_riskguard.baselines.entry import MANIFEST, RUN, SCORES, StoredBaseline
from pytest_riskguard.baselines.manifest import EarlierRun, Manifest, StoredMeasure, StoredReplicate
from pytest_riskguard.errors import DataError, RiskguardError, UsageError
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.measures import parse_measure, provider_of
from pytest_riskguard.evaluation.score_cache import Wanted, text_scores
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring.judged_runs import JudgedRun, depth_for
from pytest_riskguard.evaluation.scoring.run_scores import ScoredRun, scored_run
from pytest_riskguard.text import counted

#: Stored scores may differ this much from those of the run: other builds of the same libraries round differently.
ROUNDING = 1e-9

#: The scores of each run that was found to match its stored scores in this process, by the content compared.
_backed: dict[tuple[Hashable, ...], Mapping[str, TopicScores]] = {}


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
        self._fetch: Callable[[], JudgedRun] | None = None
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
            if self._fetch is None:
                raise ValueError("no score was asked for yet")
            self.run = self._fetch()
        return self.run

    def _score(self, measures: Sequence[str]) -> None:
        depth = self._depth or _depth_for(measures, self.qrels)
        wanted = Wanted(self.qrels, measures, depth, self.baseline.place, self.qrels.texts)
        scored = text_scores(
            self.baseline.manifest.digests.run, wanted, lambda missing: self._read(missing, depth=depth)
        )
        self.check()  # the file has to be the one that was stored, whatever the cache has
        self._fetch = scored.fetch
        self._scores |= {str(scores.measure): scores for scores in scored.scores}

    def _read(self, measures: Sequence[str], *, depth: int) -> ScoredRun:
        baseline = self.baseline
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


def check_scores(kept: KeptRun, table: Sequence[TopicScores]) -> Mapping[str, TopicScores]:
    """Check that the kept run scores what is stored, once in a process; return the run's scores by measure.

    The judgements are those that the scores were computed with. Measures that other versions of the libraries
    computed are not compared; their stored scores are never used.
    """
    baseline, manifest = kept.baseline, kept.baseline.manifest
    names = tuple(measure.name for measure in manifest.measures if same_libraries(manifest, measure))
    key = (manifest.digests.run, manifest.digests.scores, kept.qrels.digest, names, manifest.topics)
    if not manifest.run_kept or not names:
        kept.check()
        return {}
    if key in _backed:
        kept.check()
    else:
        of_run = dict(zip(names, kept.scores(*names), strict=True))
        for stored in table:
            if stored.measure in of_run:
                _compare(baseline, stored, of_run[stored.measure])
        _backed[key] = of_run
    return _backed[key]


def _compare(baseline: StoredBaseline, stored: TopicScores, scored: TopicScores) -> None:
    topics = baseline.manifest.topics
    if (scored.unanswered, scored.unknown) != (topics.unanswered, topics.unknown):
        raise baseline.error(f"{MANIFEST} names other unanswered or unknown topics than {RUN}; {baseline.remedy}")
    if stored.topics != scored.topics:
        raise baseline.error(f"{SCORES} does not hold the topics that {RUN} is scored on; {baseline.remedy}")
    differences = np.abs(stored.values - scored.values)
    if not np.all(differences <= ROUNDING):
        worst = int(np.argmax(differences))
        raise baseline.error(
            f"{SCORES} does not hold the scores of {RUN}: {scored.measure} of topic {scored.topics[worst]!r} is "
            f"stored as {stored.values[worst]:.6g}, the run scores {scored.values[worst]:.6g} (the worst of "
            f"{counted(int(np.sum(differences > ROUNDING)), 'topic')}); {baseline.remedy}"
        )


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
            check_scores(KeptRun(baseline, qrels), table)
    except DataError as error:
        found.insert(0, error.problem)
    entries: tuple[StoredReplicate | EarlierRun, ...] = (*manifest.replicates, *manifest.history)
    for entry in entries:
        try:
            found += problems(baseline.listed(entry), qrels)
        except DataError as error:
            found.append(error.problem)
    return list(dict.fromkeys(found))  # a link is reported twice
