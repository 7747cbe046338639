"""Whether what is stored is true: each file equals its digest, and the scores are those of the kept run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from pytest_riskguard.baselines import environment
from pytest_riskguard.baselines.entry import MANIFEST, RUN, SCORES, StoredBaseline
from pytest_riskguard.baselines.kept_runs import KeptRun
from pytest_riskguard.baselines.manifest import EarlierRun, Manifest, StoredMeasure, StoredReplicate
from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.measures import parse_measure, provider_of
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.text import counted

#: Stored scores may differ this much from those of the run: other builds of the same libraries round differently.
ROUNDING = 1e-9

#: The scores of each run that was found to match its stored scores in this process, by the content compared.
_backed: dict[tuple[Hashable, ...], Mapping[str, TopicScores]] = {}


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
