"""What the template shows of one verdict."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from pytest_riskguard.gates.findings import Judgements, TopicDocuments
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts import Chart, charts
from pytest_riskguard.reports.html.charts.svg import svg
from pytest_riskguard.reports.html.rows import TopicRow, topic_rows
from pytest_riskguard.reports.sections import figures
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import counted, percent, short

_MARKS = {"pass": "✓", "fail": "✗", "inconclusive": "?", "incomparable": "!"}
_OUTCOMES = {"pass": "passes", "fail": "fails", "inconclusive": "inconclusive", "incomparable": "incomparable"}
_KINDS = {
    "not_significantly_risky": "not significantly risky",
    "not_inferior": "not inferior",
    "no_topic_collapse": "no topic collapses",
    "georisk_not_worse": "GeoRisk not worse than the reference's",
}


@dataclass(frozen=True)
class Drawing:
    """A chart drawn; ``name`` is its id in the page."""

    name: str
    chart: Chart
    svg: Markup


@dataclass(frozen=True)
class GateView:
    """A verdict with the texts and drawings of its section; ``name`` is its id in the page."""

    name: str
    verdict: Verdict
    shown: Shown
    figures: list[str]
    drawings: list[Drawing]
    rows: list[TopicRow]

    @property
    def mark(self) -> str:
        """The outcome as a sign, beside the word."""
        return _MARKS[self.verdict.outcome]

    @property
    def outcome(self) -> str:
        """The outcome as a word."""
        return _OUTCOMES[self.verdict.outcome]

    @property
    def kind(self) -> str:
        """What the gate asks for."""
        return _KINDS.get(self.verdict.kind, self.verdict.kind)

    @property
    def estimate(self) -> str:
        """The risk and the interval that decided."""
        undecided = self.verdict.outcome == "incomparable" or self.verdict.kind == "no_topic_collapse"
        return "" if undecided else self.shown.estimate

    @property
    def against(self) -> str:
        """The baseline, or the reference of a pool."""
        pool = self.verdict.pool
        return ", ".join(self.verdict.baselines) if pool is None else pool.decided_by

    def risk(self, value: float | None) -> str:
        """A figure of risk, where there is one."""
        return "" if value is None else self.shown.value(value)

    def between(self, lower: float | None, upper: float | None) -> str:
        """Two limits, where there are any."""
        return "too few topics" if lower is None or upper is None else self.shown.limits(lower, upper)

    @property
    def settings(self) -> list[tuple[str, str]]:
        """The options of the gate."""
        v = self.verdict
        settings = [
            ("kind", v.kind),
            ("alpha", short(v.alpha)),
            ("level", percent(v.level)),
            ("method", v.method),
            ("tolerance", short(v.tolerance)),
            ("tradeoff", v.tradeoff),
            ("convention", v.convention),
            ("on_churn", v.on_churn),
            ("on_inconclusive", v.on_inconclusive),
            ("missing", v.missing),
            ("weighted", "yes" if v.weighted else "no"),
            ("replicates", str(v.replicates)),
        ]
        limits = (("max_loss", v.max_loss), ("max_share", v.max_share))
        settings += [(name, short(limit)) for name, limit in limits if limit is not None]
        return [*settings, ("protected", counted(len(v.protected), "topic"))] if v.protected else settings

    @property
    def digests(self) -> list[tuple[str, str]]:
        """What was compared, by digest."""
        inputs = self.verdict.inputs
        if inputs is None:
            return []
        digests = [("qrels", inputs.qrels), ("candidate", inputs.candidate)]
        digests += [(f"baseline {name}", digest) for name, digest in inputs.baselines.items()]
        digests += [(f"replicate {place}", digest) for place, digest in enumerate(inputs.replicates, 1)]
        return [(name, digest or "none: it could not be read, or is not a file") for name, digest in digests]

    def about_effects(self, documents: TopicDocuments) -> str:
        """A note on what the effects of documents add up to."""
        depth = f"the first {documents.depth} ranks" if documents.depth else "all ranks"
        if documents.exact:
            return f"The measure looks at {depth}. The effects add up to the topic's difference."
        return (
            f"The measure looks at {depth}. An effect is what restoring this document alone to its baseline rank "
            "would gain; effects need not add up."
        )

    def judged(self, judgements: Judgements) -> str:
        """Whether the verdict rests on unjudged documents."""
        where = self.shown.unjudged(judgements)
        if not judgements.documents:
            return f"Every document in the first {judgements.depth} ranks was judged."
        if judgements.depends:
            return f"This verdict rests on {where}. riskguard judge-next lists those to judge first."
        return f"The outcome does not depend on {where}."


def view(verdict: Verdict, *, name: str) -> GateView:
    """A verdict ready to be shown."""
    comparable, rows = verdict.outcome != "incomparable", topic_rows(verdict, name=name)
    drawings = [_drawing(chart, f"{name}-chart-{chart.key}") for chart in charts(verdict)] if comparable else []
    return GateView(name, verdict, Shown(verdict), figures(verdict) if comparable else [], drawings, rows)


def _drawing(chart: Chart, name: str) -> Drawing:
    drawn = svg(chart.spec, name=name, title=chart.title, description=chart.description)
    return Drawing(name, chart, Markup(drawn))  # noqa: S704 - svg() lets known elements and escaped text through
