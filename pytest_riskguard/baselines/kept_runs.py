"""The kept run of a stored baseline, read once for all that is asked of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_riskguard.baselines.entry import RUN, StoredBaseline
from pytest_riskguard.errors import DataError, RiskguardError
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring.judged_runs import JudgedRun
from pytest_riskguard.evaluation.scoring.run_scores import scored_run


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
