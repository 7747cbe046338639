"""Trained models compared, in words, tables and the Pareto curve: the same for a terminal, Markdown and a page."""

from __future__ import annotations

import math
from collections import Counter

from pytest_riskguard.ltr.report import Comparison, GateVerdict, ModelFigures, Outcome, TrainReport
from pytest_riskguard.reports import Plot, Section, Table, clean, counted, listed

#: How many models and baselines a sentence names; the rest are counted.
MAX_NAMED = 6
#: Warnings that a model trained to be better should raise, or that the table of verdicts shows.
_EXPECTED = ("significantly_better", "churn")
#: The symbol of an outcome, its colour, and its word.
_OUTCOMES: dict[Outcome, tuple[str, str, str]] = {
    "pass": ("disc", "win", "passed"),
    "fail": ("diamond", "loss", "failed"),
    "inconclusive": ("square", "muted", "inconclusive"),
    "incomparable": ("ring", "grey", "incomparable"),
}
_LEGEND = (
    "front: on the Pareto front, so no other model is as good in mean and risk and better in one of them; risk, "
    "reward: mean loss and mean win against the baseline; R/R: reward to risk; W/L: wins to losses; >20%: topics "
    "that lost more than 20% of the baseline's score; an average is that of each column over the baselines, so a "
    "ratio is the mean of ratios; a ratio of ∞: no loss; loss: the mean itself is significantly down; churn: it "
    "fails only because losses weigh more; p: p-value of TRisk; alpha*: the largest alpha that lets the model pass; "
    "-: there is none."
)


def section(report: TrainReport) -> Section:
    """For each measure the conclusions, and for each baseline the curve and the tables."""
    by_measure: dict[str | None, list[Comparison]] = {}
    for comparison in report.comparisons:
        by_measure.setdefault(comparison.measure, []).append(comparison)
    level = f"level {100 * report.level:g}%" + (f", tolerance {report.tolerance:g}" if report.tolerance else "")
    gate = f"{report.gate} at alpha {', '.join(f'{alpha:g}' for alpha in report.alphas)}, {level}"
    parts, answer = list[Section](), f"{counted(len(by_measure), 'measure')}"
    for measure, comparisons in by_measure.items():
        first, said = comparisons[0], conclusions(comparisons[0])
        if len(by_measure) == 1:
            answer, *said = said
        against = listed(first.baselines, most=MAX_NAMED)
        title = f"{clean(measure or 'scores', limit=40)}, {counted(first.topics, 'topic')}, "
        title += f"{counted(len(first.models), 'model')} against {against}; {gate}"
        parts.append(Section(title, said, list(map(_against, comparisons)), warnings=_problems(comparisons)))
    notes = [_LEGEND]
    if (number := len(report.verdicts)) > 1:
        corrected = f"corrected for their number ({report.correction})."
        alone = (
            f"each at level {100 * report.level:g}% on its own: the more there are, the more fail by chance. "
            "`--set family=auto` corrects for their number."
        )
        notes.insert(0, f"{number} verdicts, {alone if report.correction == 'none' else corrected}")
    return Section("Trained models", [answer], parts, notes=notes)


def conclusions(comparison: Comparison) -> list[str]:
    """Which models pass, what the gate says of the others, and what the best of those that pass gives up."""
    models, several = comparison.models, len(comparison.baselines) > 1
    passing = [model for model in models if model.outcome == "pass"]
    said = f"{len(passing)} of {counted(len(models), 'model')} pass the gate{' against every baseline' * several}"
    said += f": {listed(tuple(model.model for model in passing), most=MAX_NAMED)}" if passing else ""
    outcomes = Counter(model.outcome for model in models if model.outcome != "pass")
    others = ", ".join(f"{number} {_OUTCOMES[outcome][2]}" for outcome, number in outcomes.items())
    best = max(models, key=lambda model: model.mean)  # the first of equals
    lines = [f"{said}; of the others {others}" if others else said]
    if not passing:
        return [*lines, f"Best mean: {clean(best.model)}, {best.mean:.4f}"]
    chosen = max(passing, key=lambda model: model.mean)
    behind = ""
    if best.mean > chosen.mean:
        behind = f", {best.mean - chosen.mean:.4f} below {clean(best.model)}, {best.mean:.4f}"
    return [
        *lines,
        f"Best mean of those that pass: {clean(chosen.model)}, {chosen.mean:.4f}{behind}; {_count(chosen.losses)} "
        f"of {counted(comparison.topics, 'query', 'queries')} lost, {_count(chosen.losses_over_20_percent)} of them "
        "more than 20% of the baseline's score",
    ]


def _count(number: float) -> str:
    """A number of topics, which an average may break."""
    return f"{number:.0f}" if number == int(number) else f"{number:.1f}"


def _problems(comparisons: list[Comparison]) -> list[str]:
    """Why models could not be compared, and what the gate warns of."""
    found, warned = [], dict[str, list[str]]()
    for comparison in comparisons:
        for verdict in comparison.verdicts:
            pair = f"{_short(verdict.model)} against {_short(comparison.baselines[0])}"
            if verdict.problem is not None:
                found.append(f"{pair} cannot be compared: {clean(verdict.problem, limit=1000)}")
            for code in set(verdict.warnings).difference(_EXPECTED):
                warned.setdefault(code, []).append(pair)
    found += [f"warning {code}: {listed(tuple(dict.fromkeys(warned[code])), most=2)}" for code in sorted(warned)]
    found += ["riskguard compare on such a pair explains its warnings"] if warned else []
    return list(dict.fromkeys(found))


def _against(comparison: Comparison) -> Section:
    parts: list[Table | Plot | Section] = [pareto_curve(comparison), figures_table(comparison)]
    parts += [verdicts_table(comparison)] if comparison.verdicts else []
    return Section(f"{_title(comparison)}, mean {comparison.baseline_mean:.4f}", parts=parts)


def _title(comparison: Comparison) -> str:
    if len(comparison.baselines) > 1:
        return f"Average over {counted(len(comparison.baselines), 'baseline')}"
    return f"Against {_short(comparison.baselines[0])}"


def _short(name: str) -> str:
    return clean(name, limit=60)


def figures_table(comparison: Comparison) -> Table:
    """The papers' columns, a row for each model."""
    number = ".0f" if comparison.verdicts else ".1f"
    columns = {"model": "name", **dict.fromkeys(("mean", "risk", "reward"), ".4f"), "R/R": ".3f"}
    columns |= {"wins": number, "losses": number, "W/L": ".2f", ">20%": number, "front": "text"}
    return Table("", columns, [_row(model) for model in comparison.models], none="-")


def _row(one: ModelFigures) -> tuple[object, ...]:
    ratios = one.reward_to_risk, one.wins, one.losses, one.win_to_loss, one.losses_over_20_percent
    return one.model, one.mean, one.risk, one.reward, *ratios, "yes" if one.on_front else ""


def verdicts_table(comparison: Comparison) -> Table:
    """The gate's answers, a row for each model and alpha."""
    columns = {"model": "name", "alpha": "g", "verdict": "text", "URisk": "+.4f", "interval": "+.4f"}
    columns |= {"TRisk": "+.2f", "p": "p", "alpha*": "g"}
    several = len({verdict.alpha for verdict in comparison.verdicts}) > 1
    rows = [
        (
            verdict.model,
            verdict.alpha if several else "",
            _answer(verdict),
            verdict.urisk,
            (verdict.lower, verdict.upper),
            verdict.trisk,
            verdict.p_value,
            _alpha_star(verdict),
        )
        for verdict in comparison.verdicts
    ]
    return Table(f"The gate against {_short(comparison.baselines[0])}", columns, rows, none="-")


def _answer(verdict: GateVerdict) -> str:
    """``pass``, or why not: ``loss``, ``churn``, ``too_few_topics``."""
    return "pass" if verdict.outcome == "pass" else verdict.reason or verdict.outcome


def _alpha_star(verdict: GateVerdict) -> float | str | None:
    """The largest alpha that lets the model pass, rounded down."""
    star = verdict.alpha_star
    return math.floor(1000 * star) / 1000 if isinstance(star, float) else star


def pareto_curve(comparison: Comparison) -> Plot:
    """Every model as a point; a line through those on the Pareto front has no model beyond it.

    A single baseline is a point too, whose risk is 0; it is not a model and never on the front.
    """
    title = _title(comparison)
    against = title[0].lower() + title[1:]
    front = sorted(
        (model for model in comparison.models if model.on_front), key=lambda model: (model.risk, model.mean)
    )
    first = tuple(f"{one.model} (mean {one.mean:.4f}, risk {one.risk:.4f})" for one in front)
    plot = Plot(
        f"Mean and risk, {against}",
        "risk: mean loss, less is better",
        f"mean {clean(comparison.measure or 'score', limit=40)}, more is better",
        description=(
            f"{counted(len(comparison.models), 'model')}, {against}, whose mean is {comparison.baseline_mean:.4f}. "
            f"On the Pareto front, least risk first: {listed(first, most=2 * MAX_NAMED)}."
        ),
        caption=(
            "Each mark is a model. The line runs through the models on the Pareto front; no model lies above and to "
            "the left of it. A cross is the baseline: models below it have a lower mean."
        ),
    )
    for model in comparison.models:
        symbol, colour, means = _OUTCOMES[model.outcome]
        plot.point(
            model.risk,
            model.mean,
            f"{_short(model.model)}: mean {model.mean:.4f}, risk {model.risk:.4f}: {means}",
            symbol=symbol,
            colour=colour,
            means=means,
            name=model.model,
        )
    # from the lower edge up to the first model, then right and up to each next one, and on to the right edge
    edge = [(front[0].risk, -math.inf)]
    for model in front:
        edge += [(model.risk, edge[-1][1]), (model.risk, model.mean)]
    plot.line([*edge, (math.inf, front[-1].mean)], means="no model beyond")
    if comparison.verdicts:
        name, mean = _short(comparison.baselines[0]), comparison.baseline_mean
        text = f"baseline {name}: mean {mean:.4f}, risk 0"
        plot.point(0.0, mean, text, symbol="cross", colour="ink", means="baseline", name=f"baseline {name}")
    return plot
