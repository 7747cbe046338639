"""Reports of many gates: on the same runs, and on runs of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.findings import Documents, RankedDocument, TopicDocuments
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Inputs, Verdict
from tests.reports.html.verdicts import systems


def _judged(name: str, topics: int, *, seed: int, alpha: float) -> Verdict:
    """A verdict with all that its page needs: tags, digests, and rankings of the 40 worst topics."""
    candidate, baseline = systems(topics)
    candidate = replace(candidate, name=f"candidate {seed}", values=np.roll(candidate.values, seed))
    tags = {topic: {"kind": "code" if place % 3 else "prose"} for place, topic in enumerate(candidate.topics)}
    known = Topics(candidate.queries, tags)
    verdict = judge(gate_of(name, alpha=alpha, on_churn="fail"), candidate, baseline, topics=known, report=True)
    inputs = Inputs("sha256:qrels", f"sha256:{seed}", {"old": "sha256:old"})
    return replace(verdict, inputs=inputs, documents=_documents(verdict))


def _documents(verdict: Verdict) -> Documents:
    documents = tuple(f"article-{place:02d}-of-the-help-center" for place in range(16))
    ranks, gone = tuple(range(1, 11)), (None,) * 6
    rows = tuple(map(RankedDocument, documents, (3, 0, 1, None) * 4, (*ranks, *gone), (*gone, *ranks)))
    topics = tuple(TopicDocuments(row.topic, True, rows) for row in verdict.responsible_topics[:40])
    return Documents(10, topics, {document: f"Title of {document}" for document in documents})


def many_gates(count: int, *, topics: int) -> list[Verdict]:
    """Gates with different alphas on the same runs: one comparison."""
    return [_judged(f"alpha {place}", topics, seed=1, alpha=place / 2) for place in range(count)]


def many_candidates(count: int, *, topics: int) -> list[Verdict]:
    """One gate on each of many candidates: as many comparisons."""
    return [_judged(f"gate {place}", topics, seed=place, alpha=2.0) for place in range(count)]
