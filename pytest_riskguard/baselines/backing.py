"""Whether what is stored is true: each file equals its digest, and the scores are those of the kept run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from pytest_riskguard.baselines import environment
from pytest_riskguard.baselines.entry import MANIFEST, RUN, SCORES, StoredBaseline
from pytest_riskguard.baselines.manifest import EarlierRun, Manifest, StoredMeasure, StoredReplicate
from pytest_riskguard.errors import DataError, RiskguardError, UsageError
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.measures import parse_measure, provider_of
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring.judged_runs import JudgedRun
from pytest_riskguard.evaluation.scoring.run_scores import scored_run
from pytest_riskguard.text import counted

#: Stored scores may differ this much from those of the run: other builds of the same libraries round differently.
ROUNDING = 1e-9

#: The scores of each run that was found to match its stored scores in this process, by the content compared.
_backed: dict[tuple[Hashable, ...], Mapping[str, TopicScores]] = {}


class KeptRun:
    """``run.gz`` of a baseline on some judgements; ``together`` are measures that will be asked for.

    The first score that is asked for is computed together with these, in one pass that checks the digest too.
    """

    def __init__(self, baseline: StoredBaseline, qrels: Qrels, together: Sequence[str] = ()) -> None:
        self.baseline, self.qrels = baseline, qrels
        self._together = tuple(together)
        self._scores: dict[str, TopicScores] = {}
        #: What the last pass kept; None before any.
        self.run: JudgedRun | None = None

    def scores(self, *measures: str) -> tuple[TopicScores, ...]:
        """The run's scores; ``bad_baseline`` if the run is not the one that was stored."""
        missing = [measure for measure in measures if measure not in self._scores]
        if missing:
            together = tuple(dict.fromkeys([*missing, *self._together]))
            self._together = ()
            try:
                self._read(together)
            except RiskguardError:
                if together == tuple(missing):
                    raise
                self._read(missing)  # what is wrong may concern another measure only
        return tuple(self._scores[measure] for measure in measures)

    def judged_for(self, measure: str) -> JudgedRun:
        """What a reading keeps for reports about a measure; raises like ``scores``."""
        if self.run is None:
            self.scores(measure)
        if self.run is None:
            raise AssertionError("a reading keeps a run")
        return self.run

    def check(self) -> None:
        """Check that the run is the one that was stored, unless a pass has done so."""
        if self.run is None:
            self.baseline.check_run()

    def emptied(self, least: float) -> frozenset[str]:
        """The scored topics for which the run, once it is read, retrieves no document graded ``least`` or higher."""
        run, arrays = self.run, self.qrels.arrays
        if run is None:
            raise ValueError("no score was asked for yet")
        rows = run.judgements
        relevant = np.concatenate([[0], np.cumsum((rows >= 0) & (arrays.grades[rows] >= least))])
        found = np.diff(relevant[run.offsets]) > 0
        answered = {topic for topic, is_found in zip(run.topics, found.tolist(), strict=True) if is_found}
        return frozenset(self.qrels.topics) - answered

    def _read(self, measures: Sequence[str]) -> None:
        baseline = self.baseline
        try:
            scored = scored_run(baseline.file(RUN), self.qrels, measures, name=baseline.place)
        except DataError:
            baseline.check_run()  # damage is named as such
            raise
        if scored.run.digest != baseline.manifest.digests.run:
            baseline.check_run()
            raise baseline.error(f"{RUN} changed while it was being read; try again")
        self.run = scored.run
        self._scores |= {str(scores.measure): scores for scores in scored.scores}


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
