"""Trained models compared, in words, tables and the Pareto curve: the same for a terminal, Markdown and a page."""

from __future__ import annotations

import math
from collections import Counter

from pytest_riskguard.ltr.report import (
    AskedGate,
    GateVerdict,
    JudgedAgainst,
    MeasuredModels,
    Outcome,
    TrainReport,
)
from pytest_riskguard.reports import Plot, Section, Table, clean, counted, listed

#: How many models and baselines a sentence names; the rest are counted.
MAX_NAMED = 6
#: Baselines that are open from the start, beside the average over them.
MAX_OPEN = 2
#: Warnings that a model trained to be better should raise, or that something else says.
_EXPECTED = ("significantly_better", "churn", "missing_topics")
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
    "ratio is the mean of ratios; a ratio of ∞: no loss, of -: neither win nor loss, in an average against at least "
    "one baseline; loss: the mean itself is significantly down; churn: it fails only because losses weigh more; p: "
    "p-value of TRisk; alpha*: the largest alpha that lets the model pass; -: there is none."
)


def section(report: TrainReport) -> Section:
    """For each measure the conclusions, and for each baseline the curve and the tables."""
    answer = f"{counted(len(report.models), 'model')} by {counted(len(report.measures), 'measure')}"
    if len(report.measures) == 1:
        answer = conclusions(report.measures[0])[0]
    return Section(
        "Trained models",
        [answer],
        [_measured(report, measured) for measured in report.measures],
        notes=[*_remarks(report), _LEGEND],
    )


def _measured(report: TrainReport, measured: MeasuredModels) -> Section:
    weighted = ", weighted" if measured.weighted else ""
    against = f"against {listed(report.baselines, most=MAX_NAMED)}"
    return Section(
        f"{clean(measured.measure or 'scores', limit=40)}, {counted(measured.topics, 'topic')}{weighted}, "
        f"{counted(len(report.models), 'model')} {against}; {_settings(report.gate)}",
        conclusions(measured)[len(report.measures) == 1 :],  # the first one is that of the report
        [_against(report, measured, table) for table in measured.tables],
        warnings=_problems(measured),
    )


def _settings(asked: AskedGate) -> str:
    """How the gate was asked, without what is the default anyway."""
    words = [f"alpha {', '.join(f'{alpha:g}' for alpha in asked.alphas)}", f"level {100 * asked.level:g}%"]
    words += [f"method {asked.method}"] if asked.method != "auto" else []
    words += [f"tolerance {asked.tolerance:g}"] if asked.tolerance else []
    words += [f"trade-off {asked.tradeoff}"] if asked.tradeoff != "linear" else []
    return f"{asked.kind} at {', '.join(words)}"


def _against(report: TrainReport, measured: MeasuredModels, table: JudgedAgainst) -> Section:
    is_average = len(table.baselines) > 1
    return Section(
        f"{_title(table)}, mean {table.baseline_mean:.4f}",
        parts=[
            pareto_curve(table, measure=measured.measure),
            figures_table(table),
            *([] if is_average else [verdicts_table(table, alphas=len(report.gate.alphas))]),
        ],
        is_open=is_average or len(report.baselines) <= MAX_OPEN,
    )


def _title(table: JudgedAgainst) -> str:
    if len(table.baselines) > 1:
        return f"Average over {counted(len(table.baselines), 'baseline')}"
    return f"Against {_short(table.baselines[0])}"


def _short(name: str) -> str:
    return clean(name, limit=60)


# ---- sentences


def conclusions(measured: MeasuredModels) -> list[str]:
    """Which models pass, what the gate says of the others, and what the best of those that pass gives up."""
    models = measured.tables[0].models
    passing = [model for model in models if model.passes]
    said = f"{len(passing)} of {counted(len(models), 'model')} pass the gate"
    said += " against every baseline" if len(measured.against) > 1 else ""
    said += f": {listed(tuple(model.figures.model for model in passing), most=MAX_NAMED)}" if passing else ""
    outcomes = Counter(model.outcome for model in models if not model.passes)
    others = ", ".join(f"{number} {_OUTCOMES[outcome][2]}" for outcome, number in outcomes.items())
    lines = [f"{said}; of the others {others}" if others else said]
    best = max((model.figures for model in models), key=lambda figures: figures.mean)  # the first of equals
    top = f"{clean(best.model)}, {best.mean:.4f}"
    if not passing:
        return [*lines, f"Best mean: {top}"]
    chosen = max((model.figures for model in passing), key=lambda figures: figures.mean)
    behind = f", {best.mean - chosen.mean:.4f} below {top}" if best.mean > chosen.mean else ""
    digits = int(len(measured.against) > 1)
    lost, large = (f"{number:.{digits}f}" for number in (chosen.losses, chosen.losses_over_20_percent))
    lines.append(
        f"Best mean of those that pass: {clean(chosen.model)}, {chosen.mean:.4f}{behind}; {lost} of "
        f"{counted(measured.topics, 'query', 'queries')} lost, {large} of them more than 20% of the baseline's score"
    )
    return lines


def _problems(measured: MeasuredModels) -> list[str]:
    """Why models could not be compared, and what the gate warns of."""
    found, warned = [], dict[str, dict[str, None]]()
    for table in measured.against:
        for model in table.models:
            pair = f"{_short(model.figures.model)} against {_short(table.baselines[0])}"
            for verdict in model.verdicts:
                if verdict.problem is not None:
                    found.append(f"{pair} cannot be compared: {clean(verdict.problem, limit=1000)}")
                for code in verdict.warnings:
                    if code not in _EXPECTED:
                        warned.setdefault(code, {})[pair] = None
    if missing := measured.missing_topics:
        of = tuple(f"{counted(number, 'topic')} of {_short(name)}" for name, number in missing.items())
        found.append(f"warning missing_topics, each of which scores 0: {listed(of, most=MAX_NAMED)}")
    found += [f"warning {code}: {listed(tuple(pairs), most=2)}" for code, pairs in warned.items()]
    found += ["riskguard compare on such a pair explains its warnings"] if warned else []
    return list(dict.fromkeys(found))


def _remarks(report: TrainReport) -> list[str]:
    """What holds for the whole report: the number of verdicts, and the choice of a model."""
    asked, found = report.gate, []
    if asked.verdicts > 1 and asked.correction == "none":
        found.append(
            f"{asked.verdicts} verdicts, each at level {100 * asked.level:g}% on its own: the more there are, the "
            "more fail by chance. `--set family=auto` corrects for their number."
        )
    elif asked.verdicts > 1:
        found.append(
            f"{asked.verdicts} verdicts, corrected for their number ({asked.correction.replace('_', '-').title()})."
        )
    if len(report.models) > 1:
        found.append(
            "A model chosen here was chosen on these topics: judge it once more on topics that played no part."
        )
    return found


# ---- tables and the curve


def figures_table(table: JudgedAgainst) -> Table:
    """The papers' columns, a row for each model."""
    number = f".{int(len(table.baselines) > 1)}f"
    columns = {"model": "name", **dict.fromkeys(("mean", "risk", "reward"), ".4f"), "R/R": ".3f"}
    columns |= {"wins": number, "losses": number, "W/L": ".2f", ">20%": number, "front": "text"}
    rows = [
        (
            one.model,
            one.mean,
            one.risk,
            one.reward,
            one.reward_to_risk,
            one.wins,
            one.losses,
            one.win_to_loss,
            one.losses_over_20_percent,
            "yes" if one.on_front else "",
        )
        for one in (model.figures for model in table.models)
    ]
    return Table("", columns, rows, none="-")


def verdicts_table(table: JudgedAgainst, *, alphas: int) -> Table:
    """The gate's answers, a row for each model and alpha."""
    columns = {"model": "name", "alpha": "g", "verdict": "text", "URisk": "+.4f", "interval": "+.4f"}
    columns |= {"TRisk": "+.2f", "p": "p", "alpha*": "g"}
    rows = [
        (
            model.figures.model,
            verdict.alpha if alphas > 1 else "",
            _answer(verdict),
            verdict.urisk,
            (verdict.lower, verdict.upper),
            verdict.trisk,
            verdict.p_value,
            _alpha_star(verdict),
        )
        for model in table.models
        for verdict in model.verdicts
    ]
    return Table(f"The gate against {_short(table.baselines[0])}", columns, rows, none="-")


def _answer(verdict: GateVerdict) -> str:
    """``pass``, or why not: ``loss``, ``churn``, ``too_few_topics``."""
    if verdict.outcome == "pass":
        return "same run" if verdict.same_run else "pass"
    return verdict.reason or verdict.outcome


def _alpha_star(verdict: GateVerdict) -> float | str | None:
    """The largest alpha that lets the model pass, rounded down."""
    star = verdict.alpha_star
    return math.floor(1000 * star) / 1000 if isinstance(star, float) else star


def pareto_curve(table: JudgedAgainst, *, measure: str | None) -> Plot:
    """Every model as a point; a line through those on the Pareto front has no model beyond it.

    A single baseline is a point too, whose risk is 0; it is not a model and never on the front.
    """
    alone = len(table.baselines) == 1
    against = _title(table)[0].lower() + _title(table)[1:]
    front = [model.figures for model in table.models if model.figures.on_front]
    front = sorted(front, key=lambda figures: (figures.risk, figures.mean))
    first = tuple(f"{one.model} (mean {one.mean:.4f}, risk {one.risk:.4f})" for one in front)
    said = f"{counted(len(table.models), 'model')}, {against}, whose mean is {table.baseline_mean:.4f}. "
    said += f"On the Pareto front, least risk first: {listed(first, most=2 * MAX_NAMED)}."
    plot = Plot(
        f"Mean and risk, {against}",
        "risk: mean loss, less is better",
        f"mean {clean(measure or 'score', limit=40)}, more is better",
        description=said,
        caption=(
            "Each mark is a model. The line runs through the models on the Pareto front; no model lies above and to "
            "the left of it. A cross is the baseline: models below it have a lower mean."
        ),
    )
    for model in table.models:
        figures, outcome = model.figures, "pass" if model.passes else model.outcome
        symbol, colour, means = _OUTCOMES[outcome]
        plot.point(
            figures.risk,
            figures.mean,
            f"{_short(figures.model)}: mean {figures.mean:.4f}, risk {figures.risk:.4f}: {means}",
            symbol=symbol,
            colour=colour,
            means=means,
            name=figures.model,
        )
    # from the lower edge up to the first model, then right and up to each next one, and on to the right edge
    edge = [(front[0].risk, -math.inf)]
    for figures in front:
        edge += [(figures.risk, edge[-1][1]), (figures.risk, figures.mean)]
    plot.line([*edge, (math.inf, front[-1].mean)], means="no model beyond")
    if alone:
        name, mean = _short(table.baselines[0]), table.baseline_mean
        text = f"baseline {name}: mean {mean:.4f}, risk 0"
        plot.point(0.0, mean, text, symbol="cross", colour="ink", means="baseline", name=f"baseline {name}")
    return plot
