"""What the template shows of one verdict."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from pytest_riskguard.gates.findings import Judgements, MovedDocument, TopicDocuments
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts import charts
from pytest_riskguard.reports.html.charts.svg import size, svg
from pytest_riskguard.reports.html.rows import TopicRow, topic_rows
from pytest_riskguard.reports.sections import figures
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import counted, percent, probability, short, signed

_MARKS = {"pass": "✓", "fail": "✗", "inconclusive": "?", "incomparable": "!"}
_SAID = {"pass": "passes", "fail": "fails", "inconclusive": "inconclusive", "incomparable": "incomparable"}
_KINDS = {
    "not_significantly_risky": "not significantly risky",
    "not_inferior": "not inferior",
    "no_topic_collapse": "no topic collapses",
    "georisk_not_worse": "GeoRisk not worse than the reference's",
}


@dataclass(frozen=True)
class Drawing:
    """A chart with its words; sizes in pixels."""

    name: str
    title: str
    caption: str
    description: str
    svg: Markup
    width: int
    height: int
    wide: bool


@dataclass(frozen=True)
class GateView:
    """A verdict, and what of it is put into words or drawn here; ``name`` is its id in the page."""

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
    def said(self) -> str:
        """The outcome as a word."""
        return _SAID[self.verdict.outcome]

    @property
    def kind(self) -> str:
        """What the gate asks for."""
        return _KINDS.get(self.verdict.kind, self.verdict.kind)

    @property
    def estimate(self) -> str:
        """The risk and the interval that decided."""
        if self.verdict.outcome == "incomparable" or self.verdict.kind == "no_topic_collapse":
            return ""
        return self.shown.estimate

    @property
    def against(self) -> str:
        """The baseline, or the reference of a pool."""
        if self.verdict.pool is not None:
            return self.verdict.pool.decided_by
        return ", ".join(self.verdict.baselines)

    def risk(self, value: float | None) -> str:
        """A figure of risk, where there is one."""
        return "" if value is None else self.shown.value(value)

    def between(self, lower: float | None, upper: float | None) -> str:
        """Two limits, where there are any."""
        return "too few topics" if lower is None or upper is None else self.shown.limits(lower, upper)

    @property
    def question(self) -> list[tuple[str, str]]:
        """How the gate was asked."""
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
        settings += [("max_loss", short(v.max_loss))] if v.max_loss is not None else []
        settings += [("max_share", short(v.max_share))] if v.max_share is not None else []
        settings += [("protected", counted(len(v.protected), "topic"))] if v.protected else []
        return settings

    @property
    def digests(self) -> list[tuple[str, str]]:
        """What was compared, by digest."""
        inputs = self.verdict.inputs
        if inputs is None:
            return []
        inputs_shown = [("qrels", inputs.qrels), ("candidate", inputs.candidate)]
        inputs_shown += [(f"baseline {name}", digest) for name, digest in inputs.baselines.items()]
        inputs_shown += [(f"replicate {place}", digest) for place, digest in enumerate(inputs.replicates, 1)]
        return [(name, digest or "none: it could not be read, or is not a file") for name, digest in inputs_shown]

    def documents_id(self, place: int) -> str:
        """Where the documents of a topic stand in the page."""
        return f"{self.name}-documents-{place}"

    def documents_said(self, documents: TopicDocuments) -> str:
        """What effects add up to."""
        depth = f"the first {documents.depth} ranks" if documents.depth else "all ranks"
        if documents.exact:
            return f"The measure looks at {depth}. The effects add up to the topic's difference."
        return (
            f"The measure looks at {depth}. An effect is what restoring this document alone to its baseline rank "
            "would gain; effects need not add up."
        )

    def grade(self, document: MovedDocument) -> str:
        """A grade in words."""
        return "unjudged" if document.grade is None else str(document.grade)

    def rank(self, rank: int | None) -> str:
        """A rank in words."""
        return "not in the run" if rank is None else str(rank)

    def effect(self, document: MovedDocument) -> str:
        """What the document is worth."""
        return signed(document.effect)

    def judged(self, judgements: Judgements) -> str:
        """Whether the verdict rests on unjudged documents."""
        where = self.shown.unjudged(judgements)
        if not judgements.documents:
            return f"Every document in the first {judgements.depth} ranks was judged."
        if judgements.depends:
            return f"This verdict rests on {where}. riskguard judge-next lists those to judge first."
        return f"The outcome does not depend on {where}."

    def probability(self, value: float | None) -> str:
        """A p-value, where there is one."""
        return "" if value is None else probability(value)


def view(verdict: Verdict, *, name: str) -> GateView:
    """A verdict ready to be shown."""
    comparable = verdict.outcome != "incomparable"
    return GateView(
        name=name,
        verdict=verdict,
        shown=Shown(verdict),
        figures=figures(verdict) if comparable else [],
        drawings=_drawings(verdict, name=name) if comparable else [],
        rows=topic_rows(verdict, name=name),
    )


def _drawings(verdict: Verdict, *, name: str) -> list[Drawing]:
    drawings = []
    for chart in charts(verdict):
        drawn = svg(chart.spec, name=f"{name}-chart-{chart.key}", title=chart.title, description=chart.description)
        width, height = size(drawn)
        drawings.append(
            Drawing(
                name=f"{name}-chart-{chart.key}",
                title=chart.title,
                caption=chart.caption,
                description=chart.description,
                svg=Markup(drawn),  # noqa: S704 - svg() lets known elements and escaped text through
                width=width,
                height=height,
                wide=chart.wide,
            )
        )
    return drawings
