"""What every report shows of a verdict first: advice, headline, a paragraph, the worst queries, what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_riskguard.gates.findings import ResponsibleTopic, Slice
from pytest_riskguard.gates.verdict import Verdict, VerdictWarning
from pytest_riskguard.reports.figures import floored
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.wording import headlines
from pytest_riskguard.reports.wording.paragraph import paragraph
from pytest_riskguard.reports.wording.remedies import remedy
from pytest_riskguard.reports.wording.sentences import times, weakness
from pytest_riskguard.text import clean, counted, percent, signed

#: What is wrong with data that cannot be compared is cut to this length.
MAX_PROBLEM = 2000
#: The longest name in a command.
_MAX_NAME = 60
#: Warnings whose fact the card states.
_STATED = ("churn", "refresh_baseline", "few_changed_topics", "rests_on_unjudged")
Tone = Literal["stop", "caution", "go"]


@dataclass(frozen=True)
class Step:
    """What to do next: in words, and the shell command for it; empty if there is none."""

    text: str
    command: str = ""


@dataclass(frozen=True)
class Card:
    """A verdict at a glance, as text of which formats escape other people's names; figures are the JSON's, rounded.

    ``headline`` has no figures; with ``figures`` after it, it keeps to 80 columns. ``why`` has the statistics in one
    line. ``worst`` are all topics that explain the outcome, most harmful first; ``slices`` all with a figure of their
    own, riskiest first.
    """

    tone: Tone
    advice: str
    headline: str
    figures: str
    paragraph: str
    why: str
    worst: tuple[ResponsibleTopic, ...]
    slices: tuple[Slice, ...]
    steps: tuple[Step, ...]

    @property
    def line(self) -> str:
        """Headline and figures."""
        return f"{self.headline}: {self.figures}" if self.figures else self.headline


def card(verdict: Verdict, *, reproduce: str | None = None, report: str | None = None) -> Card:
    """The card; ``reproduce`` is the command that judges the gate again, ``report`` the file of a longer report."""
    tone = _tone(verdict)
    return Card(
        tone=tone,
        advice=_advice(verdict, tone),
        headline=headlines.headline(verdict),
        figures=headlines.figures(verdict),
        paragraph=_paragraph(verdict),
        why=_why(verdict),
        worst=_worst(verdict),
        slices=Shown(verdict).slices_by_risk,
        steps=tuple(_steps(verdict, reproduce, report)),
    )


def _tone(verdict: Verdict) -> Tone:
    if not verdict.passed:
        return "stop"
    careful = verdict.outcome == "inconclusive" or Shown(verdict).is_churn or any(weakness(verdict))
    return "caution" if careful else "go"


def _advice(verdict: Verdict, tone: Tone) -> str:
    if verdict.outcome in ("inconclusive", "incomparable"):
        return "No verdict"
    return {"stop": "Don't ship", "caution": "Ship with care", "go": "Ship"}[tone]


def _paragraph(verdict: Verdict) -> str:
    if verdict.outcome == "incomparable":
        return f"Nothing was compared: {clean(verdict.problem or '', limit=MAX_PROBLEM).rstrip('.')}."
    return paragraph(verdict)


def _why(verdict: Verdict) -> str:
    """The statistics in one line of words."""
    shown, interval = Shown(verdict), verdict.decisive_interval
    if verdict.asked.by_topic:
        return shown.requirement
    if verdict.outcome == "incomparable" or shown.risk is None or shown.is_identical:
        return ""
    name = f"GeoRisk{shown.suffix} difference" if verdict.asked.is_pool else shown.urisk
    digits = headlines.digits_of(verdict)
    if interval is None:
        return f"{name} {shown.value(shown.risk, digits)}"
    bound = 0.0 - verdict.tolerance
    limits = (interval.lower, interval.upper)
    lower, upper = limits if shown.sign > 0 else limits[::-1]
    at = shown.value(bound, digits) if bound else "0"
    plus, minus = ("stay above", "stay below") if verdict.asked.must_show else ("reach", "go down to")
    must = f"must {plus if shown.sign > 0 else minus} {at}"
    if verdict.asked.side == "both":
        must = f"must stay between {signed(bound, digits)} and {signed(-bound, digits)}"
    remarks = "; ".join(filter(None, (_weight(verdict), _star(verdict))))
    return (
        f"{name} {shown.value(shown.risk, digits)}, {_level(interval.level)} interval "
        f"{shown.value(lower, digits)} to {shown.value(upper, digits)}, {must}" + (f" ({remarks})" if remarks else "")
    )


def _level(level: float) -> str:
    """``95%``, ``98.33%``."""
    text = f"{100 * level:.4g}%"
    return percent(level) if text == "100%" else text


def _weight(verdict: Verdict) -> str:
    if verdict.tradeoff == "smooth":
        return "larger losses count more"
    return f"at alpha {verdict.alpha:.6g} losses count {times(verdict)}" if verdict.alpha > 0 else ""


def _star(verdict: Verdict) -> str:
    """The alpha up to which the gate would pass."""
    star, shown = verdict.estimates.alpha_star, Shown(verdict)
    if star == "any" and verdict.outcome == "pass":
        return "it passes at any alpha"
    if not isinstance(star, float) or (verdict.outcome != "pass" and not shown.is_churn):
        return ""
    return f"it {'would pass' if shown.is_churn else 'passes'} up to alpha {floored(star)}"


def _worst(verdict: Verdict) -> tuple[ResponsibleTopic, ...]:
    """The topics that a failure lists; for a pass, those that lost."""
    return Shown(verdict).losers


def _steps(verdict: Verdict, reproduce: str | None, report: str | None) -> Iterator[Step]:
    if (what := remedy(verdict)) is not None:
        yield Step(*what)
    if not verdict.passed and reproduce:
        yield Step("Reproduce", reproduce)
    if report:
        yield Step(f"Report: {clean(report)}")
    unjudged = verdict.judgements
    if unjudged is not None and unjudged.depends:
        verb = "is" if unjudged.documents == 1 else "are"
        documents = counted(unjudged.documents, f"top-{unjudged.depth} document")
        yield Step(f"{documents} {verb} unjudged; list those to judge first", _judge_next(verdict))
    if (promote := promotion(verdict)) is not None:
        yield promote


def promotion(verdict: Verdict) -> Step | None:
    """That a significantly better candidate may become the baseline."""
    if verdict.yardstick is not None or not Shown(verdict).has("refresh_baseline"):
        return None
    return Step("Once it is released, store it as the baseline", _promote(verdict))


def _judge_next(verdict: Verdict) -> str:
    """The command that lists documents to judge; the paths of its run are the reader's to fill in."""
    parts = ["riskguard", "judge-next", "CANDIDATE.run", "--baseline", _quoted(verdict.baselines[0], "BASELINE")]
    if verdict.measure and verdict.measure != "nDCG@10":  # the default of the command
        parts += ["--measure", _quoted(verdict.measure, "MEASURE")]
    if verdict.kind != "not_significantly_risky":
        parts += ["--gate", verdict.kind]
    elif verdict.alpha != 1:
        parts += ["--alpha", f"{verdict.alpha:.12g}"]
    return " ".join(parts)


def _promote(verdict: Verdict) -> str:
    return f"riskguard baseline update {_quoted(verdict.baselines[0], 'BASELINE')} CANDIDATE.run"


def _quoted(name: str, placeholder: str) -> str:
    """Other people's text as one word of a shell command; what cannot be printed as it is, the reader fills in."""
    return shlex.quote(name) if clean(name, limit=_MAX_NAME) == name else placeholder


def unsaid(verdict: Verdict) -> list[VerdictWarning]:
    """The warnings that the card does not state in other words."""
    missing = Shown(verdict).unanswered
    stated = f"the candidate did not answer {counted(missing, 'topic')} "
    return [
        warning
        for warning in verdict.warnings
        if warning.code not in _STATED
        and not (warning.code == "missing_topics" and missing and warning.message.startswith(stated))
    ]
