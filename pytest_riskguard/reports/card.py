"""What every report shows first: what to do with a change; a verdict in a line and in words, queries, next steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import ResponsibleTopic, Slice
from pytest_riskguard.gates.verdict import Commands, Verdict, VerdictWarning
from pytest_riskguard.reports.figures import floored
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.wording import headlines
from pytest_riskguard.reports.wording.paragraph import paragraph
from pytest_riskguard.reports.wording.sentences import digits_of, limits_of, remedy, times, weakness
from pytest_riskguard.text import clean, counted, percent, short, signed

#: What is wrong with data that cannot be compared is cut to this length.
MAX_PROBLEM = 2000
#: Warnings whose fact the card states.
_STATED = ("churn", "significantly_better", "few_changed_topics", "rests_on_unjudged")
Tone = Literal["stop", "caution", "go"]
#: What a tone looks like in a text, and what a pass is called that a reader should not take as it is.
MARKS: dict[Tone, str] = {"stop": "✗", "caution": "!", "go": "✓"}
WITH_CARE = "with care"
_PASSES = {"caution": f"Passes {WITH_CARE}", "go": "Passes"}


@frozen
class Step:
    """What to do next: in words, and the shell command for it; empty if there is none."""

    text: str
    command: str = ""


@frozen
class Card:
    """A verdict at a glance, as text of which formats escape other people's names; figures are the JSON's, rounded.

    ``line`` says in at most 80 columns who got worse, how much, and what may; ``estimate`` has the figure that
    decided, ``why`` the statistics in one line. ``worst`` are all topics that explain the outcome, most harmful
    first; ``slices`` all with a figure of their own, riskiest first. ``advice`` is about the whole run; where that is
    another than this verdict's own, it says only how this gate ended.
    """

    tone: Tone
    advice: str
    line: str
    estimate: str
    paragraph: str
    why: str
    worst: tuple[ResponsibleTopic, ...]
    slices: tuple[Slice, ...]
    steps: tuple[Step, ...]


def card(
    verdict: Verdict,
    *,
    run: Sequence[Verdict] = (),
    complete: bool = True,
    reproduce: str | None = None,
    report: str | None = None,
    here: bool = False,
) -> Card:
    """The card.

    ``run`` are all verdicts of the run, which is ``complete`` if every gate has one. ``reproduce`` is the command
    that judges the gate again, ``report`` the file of a longer report. Read ``here``, in the folder where it was
    judged, it has the verdict's commands.
    """
    return Card(
        tone=tone(verdict),
        advice=_advice(verdict, run, complete=complete),
        line=headlines.line(verdict),
        estimate=headlines.estimate(verdict),
        paragraph=_paragraph(verdict),
        why=_why(verdict),
        worst=Shown(verdict).losers,
        slices=Shown(verdict).slices_by_risk,
        steps=tuple(_steps(verdict, run, complete, reproduce, report, verdict.commands if here else None)),
    )


def tone(verdict: Verdict) -> Tone:
    """Whether a verdict stops a change, lets it go, or lets it go with care."""
    if not verdict.passed:
        return "stop"
    careful = verdict.outcome == "inconclusive" or Shown(verdict).is_churn or any(weakness(verdict))
    return "caution" if careful else "go"


def word(verdict: Verdict) -> str:
    """How a gate ended: the outcome, or ``pass with care``."""
    careful = verdict.outcome == "pass" and tone(verdict) == "caution"
    return f"pass {WITH_CARE}" if careful else verdict.outcome


def advice(verdicts: Sequence[Verdict], *, complete: bool = True) -> tuple[Tone, str]:
    """What to do with a change, by all that was asked about it."""
    tones = {tone(verdict) for verdict in verdicts}
    if "stop" in tones:
        failed = any(verdict.outcome == "fail" for verdict in verdicts)
        return ("stop", "Don't ship" if failed else "No verdict")
    if not (tones and complete) or all(verdict.outcome == "inconclusive" for verdict in verdicts):
        return ("caution", "No verdict")
    return ("caution", f"Ship {WITH_CARE}") if "caution" in tones else ("go", "Ship")


def _advice(verdict: Verdict, run: Sequence[Verdict], *, complete: bool) -> str:
    own = advice([verdict])[1]
    if verdict.outcome != "pass" or own == advice(_same_change(verdict, run), complete=complete)[1]:
        return own
    return _PASSES[tone(verdict)]


def _same_change(verdict: Verdict, run: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of a run on this candidate."""
    return [one for one in run if one.candidate == verdict.candidate] or [verdict]


def _paragraph(verdict: Verdict) -> str:
    if verdict.outcome == "incomparable":
        return f"Nothing was compared: {clean(verdict.problem or '', limit=MAX_PROBLEM).rstrip('.')}."
    return paragraph(verdict)


def _why(verdict: Verdict) -> str:
    """The statistics in one line of words."""
    shown, interval = Shown(verdict), verdict.decisive_interval
    if verdict.asked.by_topic:
        return shown.allowed if len(limits_of(verdict)) > 1 else ""
    if verdict.outcome == "incomparable" or shown.risk is None or shown.is_identical:
        return ""
    name = "GeoRisk difference" if verdict.asked.is_pool else shown.urisk
    digits = digits_of(verdict)
    if interval is None:
        return f"{name} {signed(shown.risk, digits)}"
    bound = 0.0 - verdict.tolerance
    lower, upper = interval.lower, interval.upper
    at = f"{'-' if bound < 0 else '+'}{short(verdict.tolerance)}" if bound else "0"
    must = f"must {'stay above' if verdict.asked.must_show else 'reach'} {at}"
    if verdict.asked.side == "both":
        must = f"must stay between -{short(verdict.tolerance)} and +{short(verdict.tolerance)}"
    remarks = "; ".join(filter(None, (_weight(verdict), _star(verdict))))
    return (
        f"{name} {signed(shown.risk, digits)}, {_level(interval.level)} interval "
        f"{signed(lower, digits)} to {signed(upper, digits)}, {must}" + (f" ({remarks})" if remarks else "")
    )


def _level(level: float) -> str:
    """``95%``, ``98.33%``."""
    text = f"{100 * level:.4g}%"
    return percent(level) if text == "100%" else text


def _weight(verdict: Verdict) -> str:
    if verdict.tradeoff == "smooth":
        return "larger losses count more"
    at = f"alpha {verdict.alpha:.6g}"
    return f"at {at} losses count {times(verdict)}" if verdict.alpha > 0 else ""


def _star(verdict: Verdict) -> str:
    """The alpha up to which the gate would pass."""
    star, shown = verdict.estimates.alpha_star, Shown(verdict)
    if star == "any" and verdict.outcome == "pass" and not shown.is_churn:
        return "it passes at any alpha"
    if not isinstance(star, float) or (verdict.outcome != "pass" and not shown.is_churn):
        return ""
    return f"it {'would pass' if shown.is_churn else 'passes'} up to alpha {floored(star)}"


def _steps(
    verdict: Verdict,
    run: Sequence[Verdict],
    complete: bool,
    reproduce: str | None,
    report: str | None,
    commands: Commands | None,
) -> Iterator[Step]:
    known = commands or Commands()
    if (what := remedy(verdict)) is not None:
        yield Step(what, known.verify if verdict.reason == "bad_baseline" else "")
    if not verdict.passed and reproduce:
        yield Step("Reproduce", reproduce)
    if report:
        yield Step(f"Report: {clean(report)}")
    unjudged = verdict.judgements
    if unjudged is not None and unjudged.depends:
        verb = "is" if unjudged.documents == 1 else "are"
        documents = counted(unjudged.documents, f"top-{unjudged.depth} document")
        lists = "list those to judge first" if known.judge_next else "judge-next lists those to judge first"
        yield Step(f"{documents} {verb} unjudged; {lists}", known.judge_next)
    if (promote := promotion(verdict, run, complete=complete, commands=commands)) is not None:
        yield promote


def promotion(
    verdict: Verdict, run: Sequence[Verdict] = (), *, complete: bool = True, commands: Commands | None = None
) -> Step | None:
    """That a significantly better candidate may become the baseline, if every gate of the run lets it pass.

    Nothing is advised where the run has several baselines, of which it would replace one, or its own is not stored.
    """
    if verdict.yardstick is not None or not Shown(verdict).has("significantly_better"):
        return None
    same = _same_change(verdict, run)
    baselines = {name.partition("/")[0] for one in same for name in one.baselines}
    if not complete or len(baselines) > 1 or any(one.outcome != "pass" for one in same):
        return None
    if commands is None:
        return Step("Once it is released, it can become the baseline")
    return Step("Once it is released, store it as the baseline", commands.update) if commands.update else None


def unsaid(verdict: Verdict, *, with_paragraph: bool = True) -> list[VerdictWarning]:
    """The warnings that the card, with its paragraph or without, does not state in other words."""
    missing = Shown(verdict).unanswered
    stated = f"the candidate did not answer {counted(missing, 'topic')} "
    return [
        warning
        for warning in verdict.warnings
        if warning.code not in _STATED
        and not (
            with_paragraph and warning.code == "missing_topics" and missing and warning.message.startswith(stated)
        )
    ]
