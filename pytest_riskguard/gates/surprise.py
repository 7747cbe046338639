"""``no_surprise``: how many rankings changed more than they may."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.documents import in_order, titled
from pytest_riskguard.gates.findings import (
    MAX_LISTED,
    Documents,
    Estimates,
    RankedDocument,
    ResponsibleTopic,
    TopicCounts,
    TopicDocuments,
)
from pytest_riskguard.gates.kinds import NoSurprise
from pytest_riskguard.gates.rankings import DEPTH, EMPTY, LIMITED, NEW, Change, Difference
from pytest_riskguard.gates.verdict import Deferred, Findings, Inputs, Verdict, VerdictWarning
from pytest_riskguard.text import counted, listed

if TYPE_CHECKING:
    from pytest_riskguard.data.titles import DocumentTitles

#: What the figures of a topic are.
MEASURE = f"RBO@{DEPTH}"
#: The most topics whose rankings a report has.
MAX_SHOWN = 50
#: A baseline may leave this share of the queries, or one, to the candidate: people also ask what nothing answers.
FEW = 0.25


def judge_rankings(gate: NoSurprise, difference: Difference, titles: DocumentTitles) -> Verdict:
    """The verdict on two systems' rankings; ``DataError`` (``bad_baseline``) where the old one left out too much."""
    baseline, candidate, found = difference.before, difference.after, difference.changes
    n, new = len(found), sorted(one.topic for one in found if NEW in one.what)
    if len(new) > max(1.0, FEW * n):
        raise DataError(
            f"{baseline.name} did not answer {len(new)} of {counted(n, 'query', 'queries')} that {candidate.name} "
            f"answered ({listed(new, most=5)}), so nothing says whether they changed",
            reason="bad_baseline",
            remedy="compare with a run of the same queries, or leave those without a result out of the other",
        )
    limits = {limit: most for limit in LIMITED if (most := gate.most(limit, n)) is not None}
    beyond = {limit: {one.topic for one in found if _is_beyond(gate, limit, one)} for limit in limits}
    broken = [limit for limit, most in limits.items() if len(beyond[limit]) > most]
    exceeds = {one.topic: tuple(limit for limit in broken if one.topic in beyond[limit]) for one in found}
    shown = [one for one in found if exceeds[one.topic]] or difference.changed
    rows = [
        ResponsibleTopic(
            one.topic,
            difference.queries.get(one.topic),
            candidate=one.rbo,
            baseline=1.0,
            difference=one.rbo - 1.0,
            contribution=(one.rbo - 1.0) / n,
            share=None,
            flagged=False,
            exceeds=exceeds[one.topic],
        )
        for one in shown
    ]
    mean, why = fmean(one.rbo for one in found), difference.cause
    empty, changed = tuple(sorted(one.topic for one in found if EMPTY in one.what)), len(difference.changed)
    lists = {"responsible_topics": len(rows), "missing_in_candidate": len(empty)}
    left_out = {name: size - MAX_LISTED for name, size in lists.items() if size > MAX_LISTED}
    surprises = {limit: len(topics) for limit, topics in beyond.items()}
    findings = Findings(
        warnings=(VerdictWarning("suspicious_run", why),) if why else (),
        topics=TopicCounts(n, changed, 0, changed, n - changed, empty[:MAX_LISTED], left_out),
        estimates=Estimates(mean, 1.0, mean - 1.0, collapsed=len(rows) if broken else 0, surprises=surprises),
        responsible_topics=tuple(rows[:MAX_LISTED]),
    )
    documents = Documents(DEPTH, tuple(map(_documents, shown[:MAX_SHOWN])))
    return Verdict(
        gate,
        "fail" if broken else "pass",
        reason="surprise" if broken else None,
        measure=MEASURE,
        candidate=candidate.name,
        baselines=(baseline.name,),
        inputs=Inputs(None, candidate.digest, {baseline.name: baseline.digest}),
        findings=Deferred(lambda: findings),
        documents=titled(documents, titles) if shown else None,
    )


def _is_beyond(gate: NoSurprise, limit: str, one: Change) -> bool:
    """Whether a query is beyond the limit of this option."""
    if limit == "min_overlap":
        return one.overlap < gate.min_overlap and NEW not in one.what
    return LIMITED[limit] in one.what


def _documents(one: Change) -> TopicDocuments:
    """Both rankings of a topic."""
    before, after = ({name: rank for rank, name in enumerate(side, 1)} for side in (one.before, one.after))
    rows = (RankedDocument(name, None, before.get(name), after.get(name)) for name in before | after)
    return TopicDocuments(one.topic, exact=False, documents=in_order(rows))
