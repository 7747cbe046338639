"""What the template shows of one verdict."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from pytest_riskguard.gates.findings import IfJudged, Judgements, MovedDocument, TopicDocuments
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.figures import estimate, figures, margin, percent, shown
from pytest_riskguard.reports.html.charts import charts
from pytest_riskguard.reports.html.charts.svg import size, svg
from pytest_riskguard.reports.html.rows import TopicRow, topic_rows
from pytest_riskguard.reports.terminal import headline
from pytest_riskguard.text import counted, plain, short, signed

_MARKS = {"pass": "✓", "fail": "✗", "inconclusive": "?", "incomparable": "!"}
_SAID = {"pass": "passes", "fail": "fails", "inconclusive": "inconclusive", "incomparable": "incomparable"}
_KINDS = {
    "not_significantly_risky": "not significantly risky",
    "not_inferior": "not inferior",
    "no_topic_collapse": "no topic collapses",
    "georisk_not_worse": "GeoRisk not worse than the reference's",
}
_IF = {
    "irrelevant": "none of them is relevant (as scored)",
    "relevant": "all have the highest grade of their topic",
    "candidate_relevant": "only those that the candidate shows have it",
    "baseline_relevant": "only those that the baseline shows have it",
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
    headline: str
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
        return estimate(self.verdict)

    @property
    def margin(self) -> float | None:
        """How far the limit that decided is from the bound."""
        return margin(self.verdict)

    @property
    def against(self) -> str:
        """The baseline, or the reference of a pool."""
        if self.verdict.pool is not None:
            return self.verdict.pool.decided_by
        return ", ".join(self.verdict.baselines)

    def risk(self, value: float | None) -> str:
        """A figure of risk in the verdict's convention."""
        return "" if value is None else shown(self.verdict, value)

    def between(self, lower: float | None, upper: float | None) -> str:
        """Two limits in the verdict's convention."""
        if lower is None or upper is None:
            return "too few topics"
        ends = [self.risk(lower), self.risk(upper)]
        return "[" + ", ".join(reversed(ends) if self.verdict.convention == "minus" else ends) + "]"

    @property
    def question(self) -> list[tuple[str, str]]:
        """How the gate was asked."""
        v = self.verdict
        told = [
            ("kind", v.kind),
            ("alpha", short(v.alpha)),
            ("level", f"{percent(v.level)} %"),
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
        told += [("max_loss", short(v.max_loss))] if v.max_loss is not None else []
        told += [("max_share", short(v.max_share))] if v.max_share is not None else []
        told += [("protected", counted(len(v.protected), "topic"))] if v.protected else []
        return told

    @property
    def digests(self) -> list[tuple[str, str]]:
        """What was compared, by digest."""
        inputs = self.verdict.inputs
        if inputs is None:
            return []
        told = [("qrels", inputs.qrels), ("candidate", inputs.candidate)]
        told += [(f"baseline {name}", digest) for name, digest in inputs.baselines.items()]
        told += [(f"replicate {place}", digest) for place, digest in enumerate(inputs.replicates, 1)]
        return [(name, digest or "none: it could not be read, or is no file") for name, digest in told]

    def documents_id(self, place: int) -> str:
        """Where the documents of a topic stand in the page."""
        return f"{self.name}-documents-{place}"

    def documents_said(self, documents: TopicDocuments) -> str:
        """What effects add up to."""
        depth = f"the first {documents.depth} ranks" if documents.depth else "all ranks"
        if documents.exact:
            return f"The measure looks at {depth}. The effects add up to the topic's difference."
        return (
            f"The measure looks at {depth}. An effect is what putting this document alone back where the baseline "
            "had it would undo; they need not add up."
        )

    def grade(self, document: MovedDocument) -> str:
        """A grade in words."""
        return "not judged" if document.grade is None else str(document.grade)

    def rank(self, rank: int | None) -> str:
        """A rank in words."""
        return "not in the run" if rank is None else str(rank)

    def effect(self, document: MovedDocument) -> str:
        """What the document is worth."""
        return signed(document.effect)

    def judged(self, holes: Judgements) -> str:
        """Whether the verdict rests on what nobody judged."""
        where = (
            f"{counted(holes.documents, 'document')} in the first {holes.depth} ranks that nobody judged "
            f"({holes.candidate} of the candidate, {holes.baseline} of the baseline)"
        )
        if not holes.documents:
            return f"Every document in the first {holes.depth} ranks was judged."
        if holes.depends:
            return f"This verdict rests on {where}. riskguard judge-next lists those to judge first."
        return f"The outcome is the same whatever the grades of {where}."

    def case(self, case: IfJudged) -> str:
        """One of the cases that bound the verdict."""
        return _IF[case.case]

    def probability(self, value: float | None) -> str:
        """A p-value."""
        if value is None:
            return ""
        return "< 0.0001" if value < 1e-4 else plain(value)


def view(verdict: Verdict, *, name: str) -> GateView:
    """A verdict ready to be shown."""
    comparable = verdict.outcome != "incomparable"
    return GateView(
        name=name,
        verdict=verdict,
        headline=headline(verdict),
        figures=figures(verdict) if comparable else [],
        drawings=_drawings(verdict, name=name) if comparable else [],
        rows=topic_rows(verdict, name=name),
    )


def _drawings(verdict: Verdict, *, name: str) -> list[Drawing]:
    found = []
    for chart in charts(verdict):
        drawn = svg(chart.spec, name=f"{name}-chart-{chart.key}", title=chart.title, description=chart.description)
        width, height = size(drawn)
        found.append(
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
    return found
