"""``no_surprise``: how many rankings changed more than they may."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pytest_riskguard.errors import DataError
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
from pytest_riskguard.gates.rankings import (
    DEPTH,
    EMPTY,
    NEW,
    OTHER_FIRST,
    SHORTER,
    Change,
    Rankings,
    cause,
    changes,
)
from pytest_riskguard.gates.verdict import Deferred, Findings, Inputs, Verdict, VerdictWarning
from pytest_riskguard.text import counted, listed

#: What the figures of a topic are.
MEASURE = f"RBO@{DEPTH}"
#: The most topics whose rankings a report has.
MAX_SHOWN = 50
#: A baseline may leave this share of the queries, or one, to the candidate.
FEW = 0.05
#: What of a query each limit counts.
_COUNTED = {"max_empty": EMPTY, "max_shorter": SHORTER, "max_changed_first": OTHER_FIRST}


def judge_rankings(
    gate: NoSurprise, candidate: Rankings, baseline: Rankings, *, among: Collection[str] | None = None
) -> Verdict:
    """The verdict on two systems' rankings, of some topics only if ``among`` names them.

    ``DataError`` where they answer other queries (``no_common_topic``, ``bad_baseline``).
    """
    found = changes(baseline.lists, candidate.lists, among)
    refuse_unrelated(found, candidate.name, baseline.name)
    n, new = len(found), sorted(one.topic for one in found if NEW in one.what)
    if len(new) > max(1.0, FEW * n):
        raise DataError(
            f"{baseline.name} did not answer {len(new)} of {counted(n, 'query', 'queries')} that {candidate.name} "
            f"answered ({listed(tuple(new), most=5)}), so nothing says whether they changed",
            reason="bad_baseline",
            remedy="compare with a run of the same queries",
        )
    beyond = {one.topic: _beyond(gate, one) for one in found}
    surprises = {
        limit: sum(limit in limits for limits in beyond.values())
        for limit in (*_COUNTED, "min_overlap")
        if gate.most(limit, n) is not None
    }
    broken = {limit for limit, number in surprises.items() if number > (gate.most(limit, n) or 0)}
    changed, queries = [one for one in found if one.is_changed], {**baseline.queries, **candidate.queries}
    shown = [one for one in changed if broken & beyond[one.topic]] or changed
    rows = [
        ResponsibleTopic(
            one.topic,
            queries.get(one.topic),
            candidate=one.rbo,
            baseline=1.0,
            difference=one.rbo - 1.0,
            contribution=(one.rbo - 1.0) / n,
            share=None,
            flagged=False,
            exceeds=tuple(limit for limit in surprises if limit in broken & beyond[one.topic]),
        )
        for one in shown
    ]
    mean, why = sum(one.rbo for one in found) / n, cause(baseline.lists, candidate.lists) if broken else ""
    empty = tuple(sorted(one.topic for one in found if EMPTY in one.what))
    lists = {"responsible_topics": len(rows), "missing_in_candidate": len(empty)}
    left_out = {name: size - MAX_LISTED for name, size in lists.items() if size > MAX_LISTED}
    findings = Findings(
        warnings=(VerdictWarning("suspicious_run", why),) if why else (),
        topics=TopicCounts(n, len(changed), 0, len(changed), n - len(changed), empty[:MAX_LISTED], left_out),
        estimates=Estimates(mean, 1.0, mean - 1.0, collapsed=len(rows) if broken else 0, surprises=surprises),
        responsible_topics=tuple(rows[:MAX_LISTED]),
    )
    return Verdict(
        gate,
        "fail" if broken else "pass",
        reason="surprise" if broken else None,
        measure=MEASURE,
        candidate=candidate.name,
        baselines=(baseline.name,),
        inputs=Inputs(None, candidate.digest, {baseline.name: baseline.digest}),
        findings=Deferred(lambda: findings),
        documents=Documents(DEPTH, tuple(map(_documents, shown[:MAX_SHOWN]))) if shown else None,
    )


def _beyond(gate: NoSurprise, one: Change) -> set[str]:
    """The limits that a query is beyond, by the names of their options."""
    limits = {limit for limit, word in _COUNTED.items() if word in one.what}
    return limits if NEW in one.what or one.overlap >= gate.min_overlap else {*limits, "min_overlap"}


def refuse_unrelated(found: Sequence[Change], candidate: str, baseline: str) -> None:
    """``DataError`` (``no_common_topic``) if no query is answered by both."""
    by_one = {one.what: one.topic for one in reversed(found) if one.what in ((EMPTY,), (NEW,))}
    if all(one.what in by_one for one in found):
        said = [
            f"{name} (such as {by_one.get((word,), '')!r:.60})"
            for name, word in ((baseline, EMPTY), (candidate, NEW))
        ]
        raise DataError(f"{' and '.join(said)} have no topic in common", reason="no_common_topic")


def _documents(one: Change) -> TopicDocuments:
    """Both rankings of a topic."""
    before, after = ({name: rank for rank, name in enumerate(side, 1)} for side in (one.before, one.after))
    rows = [RankedDocument(name, None, before.get(name), after.get(name)) for name in before | after]
    rows.sort(key=lambda row: (row.best_rank, row.baseline_rank is None, row.document))
    return TopicDocuments(one.topic, exact=False, documents=tuple(rows))
