"""Reports on trained models, made without files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_riskguard.data import TopicScores
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import NotSignificantlyRisky
from pytest_riskguard.gates.verdict import Inputs, Verdict
from pytest_riskguard.ltr.report import AskedGate, TrainReport, judged_models

TOPICS = 60
RNG = np.random.default_rng(17)
PROD, BM25 = 0.2 + 0.6 * RNG.random(TOPICS), 0.1 + 0.5 * RNG.random(TOPICS)


def model(gain: float, churn: float, *, seed: int) -> Any:
    """Scores above ``PROD`` by ``gain``, with noise of size ``churn``."""
    return np.clip(PROD + gain + churn * np.random.default_rng(seed).standard_normal(TOPICS), 0, 1)


#: From the highest mean and risk to a model that is risky.
MODELS = {
    "lambdamart": model(0.1, 0.2, seed=1),
    "u-cro-1": model(0.05, 0.1, seed=2),
    "u-cro-5": model(0.02, 0.02, seed=3),
    "broken": model(-0.1, 0.1, seed=4),
}
BASELINES = {"prod": PROD, "bm25": BM25}


def report_of(
    models: Mapping[str, Any] | None = None,
    baselines: Mapping[str, Any] | None = None,
    *,
    alphas: Sequence[float] = (1.0,),
    measure: str | None = "nDCG@10",
    change: Any = lambda verdict: verdict,
    missing: Mapping[str, int] | None = None,
    **options: Any,
) -> TrainReport:
    """The report on these models; ``change`` is asked about each verdict."""
    models, baselines = models or MODELS, baselines or BASELINES
    options = {"tolerance": 0.0, "on_churn": "fail", **options}
    gates = [NotSignificantlyRisky(alpha=alpha, **options) for alpha in alphas]
    verdicts: list[Verdict] = [
        change(judged(gate, of_model, of_baseline))
        for of_baseline in scores(baselines, measure)
        for of_model in scores(models, measure)
        for gate in gates
    ]
    return TrainReport(
        gate=AskedGate.of(verdicts),
        models=tuple(models),
        baselines=tuple(baselines),
        qrels=None,
        digests=dict.fromkeys([*models, *baselines]),
        measures=(judged_models(measure, models, baselines, verdicts, missing_topics=missing or {}),),
    )


def judged(gate: NotSignificantlyRisky, candidate: TopicScores, baseline: TopicScores) -> Verdict:
    verdict = judge(gate, candidate, baseline)
    return replace(verdict, inputs=Inputs(candidate=candidate.digest, baselines={baseline.name: baseline.digest}))


def scores(systems: Mapping[str, Any], measure: str | None) -> list[TopicScores]:
    """Each system's scores, with a digest that tells whether two are the same."""
    return [
        TopicScores(
            name,
            measure,
            tuple(f"q{place:04d}" for place in range(len(values))),
            np.array(values),
            digest=f"sha256:{hash(tuple(values)):x}",
        )
        for name, values in systems.items()
    ]
