"""``no_surprise``: how many rankings changed more than they may."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

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
from pytest_riskguard.gates.rankings import DEPTH, Change, Rankings, cause, changes
from pytest_riskguard.gates.verdict import Deferred, Findings, Inputs, Verdict, VerdictWarning
from pytest_riskguard.text import counted, listed

#: What the figures of a topic are.
MEASURE = f"RBO@{DEPTH}"
#: The most topics whose rankings a report has.
MAX_SHOWN = 50
#: A baseline may leave this share of the queries, or one, to the candidate.
FEW = 0.05


def judge_rankings(
    gate: NoSurprise,
    candidate: Rankings,
    baseline: Rankings,
    *,
    queries: Mapping[str, str],
    among: Collection[str] | None = None,
) -> Verdict:
    """The verdict on two systems' rankings, of some topics only if ``among`` names them.

    ``DataError`` where they answer other queries (``no_common_topic``, ``bad_baseline``).
    """
    found = changes(baseline.lists, candidate.lists, among)
    refuse_unrelated(found, candidate.name, baseline.name)
    new = tuple(sorted(one.topic for one in found if one.is_new))
    if len(new) > max(1.0, FEW * len(found)):
        raise DataError(
            f"{baseline.name} did not answer {len(new)} of {counted(len(found), 'query', 'queries')} that "
            f"{candidate.name} answered ({listed(new, most=5)}), so nothing says whether they changed",
            reason="bad_baseline",
            remedy="compare with a run of the same queries",
        )
    beyond = _beyond(gate, found)
    broken = {limit: topics for limit, topics in beyond.items() if len(topics) > (gate.most(limit, len(found)) or 0)}
    changed = [one for one in found if one.is_changed]
    mean = sum(one.rbo for one in found) / len(found)
    shown = [one for one in changed if any(one.topic in topics for topics in broken.values())] or changed
    rows = [
        ResponsibleTopic(
            topic=one.topic,
            query=queries.get(one.topic),
            candidate=one.rbo,
            baseline=1.0,
            difference=one.rbo - 1.0,
            contribution=(one.rbo - 1.0) / len(found),
            share=None,
            flagged=False,
            exceeds=tuple(limit for limit, topics in broken.items() if one.topic in topics),
        )
        for one in shown[:MAX_LISTED]
    ]
    empty = [one.topic for one in found if one.is_empty]
    lists = {"responsible_topics": len(shown), "missing_in_candidate": len(empty)}
    why = cause(baseline.lists, candidate.lists) if broken else ""
    findings = Findings(
        warnings=(VerdictWarning("suspicious_run", why),) if why else (),
        topics=TopicCounts(
            count=len(found),
            changed=len(changed),
            losses=len(changed),
            ties=len(found) - len(changed),
            missing_in_candidate=tuple(sorted(empty)[:MAX_LISTED]),
            left_out={name: size - MAX_LISTED for name, size in lists.items() if size > MAX_LISTED},
        ),
        estimates=Estimates(
            candidate_mean=mean,
            baseline_mean=1.0,
            mean_difference=mean - 1.0,
            collapsed=len(set().union(*broken.values())),
            surprises={limit: len(topics) for limit, topics in beyond.items()},
        ),
        responsible_topics=tuple(rows),
    )
    return Verdict(
        asked=gate,
        outcome="fail" if broken else "pass",
        reason="surprise" if broken else None,
        measure=MEASURE,
        candidate=candidate.name,
        baselines=(baseline.name,),
        inputs=Inputs(None, candidate.digest, {baseline.name: baseline.digest}),
        findings=Deferred.of(findings),
        documents=_documents(shown[:MAX_SHOWN]),
    )


def _beyond(gate: NoSurprise, found: list[Change]) -> dict[str, frozenset[str]]:
    """The topics beyond each limit that the gate has, by the name of its option."""
    says: Mapping[str, Callable[[Change], bool]] = {
        "max_empty": lambda one: one.is_empty,
        "max_shorter": lambda one: one.is_shorter,
        "max_changed_first": lambda one: one.is_other_first,
        "min_overlap": lambda one: not (one.is_new or one.overlap >= gate.min_overlap),
    }
    return {
        limit: frozenset(one.topic for one in found if holds(one))
        for limit, holds in says.items()
        if gate.most(limit, len(found)) is not None
    }


def refuse_unrelated(found: Sequence[Change], candidate: str, baseline: str) -> None:
    """``DataError`` (``no_common_topic``) if no query is answered by both."""
    if all(one.is_new or one.is_empty for one in found):
        said = [
            f"{name} (such as {topic!r:.60})"
            for name, topic in (
                (baseline, next((one.topic for one in found if one.before), "")),
                (candidate, next((one.topic for one in found if one.after), "")),
            )
        ]
        raise DataError(f"{' and '.join(said)} have no topic in common", reason="no_common_topic")


def _documents(shown: list[Change]) -> Documents | None:
    """Both rankings of some topics."""
    topics = []
    for one in shown:
        before, after = ({document: rank for rank, document in enumerate(side, 1)} for side in one.sides)
        rows = [RankedDocument(name, None, before.get(name), after.get(name)) for name in before | after]
        rows.sort(key=lambda row: (row.best_rank, row.baseline_rank is None, row.document))
        topics.append(TopicDocuments(one.topic, exact=False, documents=tuple(rows)))
    return Documents(DEPTH, tuple(topics)) if topics else None
