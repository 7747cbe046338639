"""Made-up verdicts with all that a page can show."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache, wraps
from typing import Any, TypeVar

import numpy as np

from pytest_riskguard.data import TopicScores
from pytest_riskguard.gates.findings import (
    Documents,
    Exhibits,
    IfJudged,
    Judgements,
    RankedDocument,
    TopicDocuments,
)
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Origin, Verdict
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.html import render
from pytest_riskguard.reports.html.charts import charts
from pytest_riskguard.reports.html.charts.plots import Plot
from pytest_riskguard.reports.provenance import Provenance
from tests.gates.conftest import judge_pool
from tests.reports.hostile import verdict_with
from tests.verdicts import altered

R = TypeVar("R")


def once(function: Callable[..., R]) -> Callable[..., R]:
    """Call a function once for the same objects: verdicts have no hash, and pages take long to draw."""
    results: dict[tuple[int, ...], tuple[tuple[Any, ...], R]] = {}

    @wraps(function)
    def call(*arguments: Any) -> R:
        key = tuple(map(id, arguments))
        if key not in results:
            results[key] = (
                arguments,
                function(*arguments),
            )  # keeps the arguments, so that their ids stay theirs
        return results[key][1]

    return call


@once
def page_of(*verdicts: Verdict) -> str:
    """The page of these verdicts."""
    return render(Report(verdicts))


@once
def charts_of(verdict: Verdict) -> dict[str, Plot]:
    """The charts of a verdict by their keys."""
    return {chart.key: chart for chart in charts(verdict)}


@cache
def systems(n: int, *, shift: float = -0.03) -> tuple[TopicScores, TopicScores]:
    """Candidate and baseline; a third of the topics does not change."""
    rng = np.random.default_rng(n)
    topics = tuple(f"q{i:05d}" for i in range(n))
    queries = {topic: f"how do I reset my washing machine {topic}" for topic in topics}
    base = np.round(rng.uniform(0.2, 0.8, n), 3)
    ours = np.clip(np.round(base + rng.normal(shift, 0.12, n) * (rng.random(n) < 0.67), 3), 0, 1)
    return (
        TopicScores("new", "nDCG@10", topics, ours, queries),
        TopicScores("old", "nDCG@10", topics, base, queries),
    )


@cache
def pair(n: int, *, shift: float = -0.03, name: str | None = None, **options: Any) -> Verdict:
    """A gate on two systems."""
    asked = {"alpha": 2.0, **({} if "kind" in options else {"on_churn": "fail"}), **options}
    gate = gate_of(name or f"of {n} topics", **asked)
    return judge(gate, *systems(n, shift=shift), report=True)


@cache
def pool(n: int = 50) -> Verdict:
    """A gate on a pool of four."""
    rng = np.random.default_rng(1)
    ours, old = systems(n)
    others = [
        replace(old, name=name, values=np.clip(old.values + spread * rng.normal(0, 1, n), 0, 1))
        for name, spread in (("bm25", 0.05), ("dense", 0.2))
    ]
    return judge_pool(gate_of("in a pool", kind="georisk_not_worse", alpha=5.0), ours, [old, *others], report=True)


@once
def with_documents(verdict: Verdict) -> Verdict:
    """Documents and judgements for the worst topics."""
    worst = [row.topic for row in verdict.responsible_topics[:3]]
    moved = (RankedDocument("manual-17", 2, 1, 14, -0.3), RankedDocument("manual-4", 1, None, 3, 0.05))
    new = (RankedDocument("forum-99", None, 30, 1),)
    holes = Judgements(
        candidate=12,
        baseline=3,
        documents=14,
        cases=(IfJudged("irrelevant", -0.05, "fail"), IfJudged("relevant", 0.01, "pass")),
        depends=True,
    )
    topics = tuple(TopicDocuments(topic, True, (*moved, *new)) for topic in worst)
    return replace(verdict, documents=Documents(10, topics), judgements=holes)


@cache
def wide_pool(n: int) -> Verdict:
    """A gate on a pool of this many systems, whose long names differ only at their ends."""
    rng = np.random.default_rng(n)
    ours, old = systems(50)
    names = [f"rm-cata-filtered-with-feedback-{place}" for place in range(n - 2)]
    others = [replace(old, name=name, values=np.clip(old.values + rng.normal(0, 0.1, 50), 0, 1)) for name in names]
    gate = gate_of("in a large pool", kind="georisk_not_worse", alpha=5.0)
    return judge_pool(gate, ours, [old, *others], report=True)


DOCS = "https://docs.example.org/"


@once
def with_rankings(verdict: Verdict) -> Verdict:
    """Rankings of the worst topic, of which documents have a title or an address."""
    documents = (
        RankedDocument("d-1", 3, 1, None),
        RankedDocument("d-2", None, None, 1),
        RankedDocument("d 3", 0, 2, 62),
    )
    others = () if verdict.documents is None else verdict.documents.topics[1:]
    known = Documents(
        3,
        (TopicDocuments(verdict.responsible_topics[0].topic, True, documents), *others),
        {"d-1": "Kettle & <b>sensor</b>"},
        {"d-1": "https://example.org/1", "d-2": f"{DOCS}d-2", "d 3": f"{DOCS}d%203"},
    )
    return replace(verdict, documents=known)


def provenance(*, age: float) -> Provenance:
    """A report of a pull request, with a baseline of an age."""
    candidate = Origin("new")
    stored = datetime(2026, 11, 22, 18) - timedelta(days=age)
    baseline = Origin("old", "17b6cfd00000", "release", stored.isoformat())
    return Provenance(
        date="2026-11-22T18:00:00",
        commit="a1b2c3d4e5f6",
        branch="stemming",
        pull_request="1841",
        repository="https://git.example.org/acme/search",
        run_url="https://ci.example.org/run/9",
        candidate=candidate,
        baselines=(baseline,),
    )


def tagged(verdict: Verdict, **tags: tuple[str, ...]) -> Verdict:
    """Tags as columns of the topics."""
    assert verdict.exhibits is not None
    return replace(verdict, exhibits=replace(verdict.exhibits, tags=tags))


@once
def bare(verdict: Verdict) -> Verdict:
    """The verdict without what is drawn and what explains it."""
    return altered(verdict, exhibits=None, slices=(), documents=None, judgements=None, intervals=())


def hostile(text: str) -> Verdict:
    """A verdict in which every text of others is ``text``, in the charts' data and the rankings too."""
    verdict = verdict_with(text)
    rows = verdict.responsible_topics
    columns = Exhibits(
        topics=tuple(row.topic for row in rows),
        queries=tuple(text for _ in rows),
        candidate=tuple(row.candidate for row in rows),
        baseline=tuple(row.baseline for row in rows),
        contributions=tuple(row.contribution for row in rows),
        standardised=tuple(row.standardised for row in rows),
        critical_value=2.0,
        tags={text: tuple(text for _ in rows)},
    )
    documents = (RankedDocument(text, 3, 1, None), RankedDocument(f"{text}2", None, None, 1))
    known = Documents(10, (TopicDocuments(rows[0].topic, True, documents),), {text: text[:300]})
    return altered(verdict, exhibits=columns, documents=known)
