"""Trained models compared, in words: tables for every format, conclusions, and the text for a terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_riskguard.gates.verdict import Outcome
from pytest_riskguard.ltr.model_comparison import ModelFigures
from pytest_riskguard.ltr.report import (
    AskedGate,
    GateVerdict,
    JudgedAgainst,
    MeasuredModels,
    TrainReport,
)
from pytest_riskguard.reports.card import WITH_CARE
from pytest_riskguard.reports.figures import CORRECTIONS, floored
from pytest_riskguard.reports.names import ends, shortened
from pytest_riskguard.reports.sections import Column, Table
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.text import clean, counted, listed, percent, plain, probability, short, signed

#: No table is readable at a smaller width.
MIN_WIDTH = 80
#: How many models a sentence names; the rest are counted.
MAX_NAMED = 6
#: Columns that the name of a model may take on a terminal, and those that it keeps.
_NAME_WIDTH, _MIN_NAME = 24, 8
#: From this many wins or losses on, their averages are shown as whole numbers.
_MANY = 1000
#: Warnings that a model which was trained to be better should raise, or that the table of verdicts says.
_EXPECTED = ("significantly_better", "churn")
#: The warning about topics without an answer, which are counted for each system.
_MISSING = "missing_topics"
#: The longest name in a sentence, and how much means may differ that are called equal.
_IN_SENTENCE, _EQUAL = 60, 1e-12
#: What happened to models that do not pass, of one and of several.
_NOT_PASSING: dict[Outcome, tuple[str, str]] = {
    "fail": ("fails", "fail"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
    "incomparable": ("cannot be compared", "cannot be compared"),
}
_UNDECIDED = {"too_few_topics": "too few topics", "too_weak": "a loss of max_mde could have been missed"}
#: What the answers in a table mean, apart from ``pass``.
_ANSWERS = {
    "loss": "the mean itself is significantly down",
    "churn": "the mean itself is not significantly down; it fails only because losses weigh more",
    "pass with care": "the mean itself is not significantly down; only on_churn: warn lets it pass",
    "inconclusive": "the gate has no answer",
    "incomparable": "the gate could not compare the data",
    "same run": "the model's run is the baseline's own, which passes",
}


def explain(report: TrainReport, *, width: int) -> str:
    """For each measure its conclusions and tables; then what to know about the number of verdicts, and a legend."""
    width = max(width, MIN_WIDTH)
    blocks = [block for measured in report.measures for block in _blocks(report, measured, width)]
    said = remarks(report)
    if any("…" in line for block in blocks for line in block.splitlines()):
        said.append("…: part of a name that did not fit; the files of --json and --markdown have full names.")
    notes = layout.wrapped(said, width=width, indent="", hanging="")
    return "\n\n".join([*blocks, "\n".join(notes)])


def _blocks(report: TrainReport, measured: MeasuredModels, width: int) -> Iterator[str]:
    lines = layout.wrapped([heading(report, measured)], width=width, indent="", hanging="")
    yield "\n".join([*lines, *layout.wrapped(conclusions(measured), width=width)])
    for table in measured.tables:
        yield _drawn(figures_table(table), width)
        if table is not measured.macro_average:
            yield _drawn(verdicts_table(table, alphas=len(report.gate.alphas)), width)
    if problems_of := problems(measured):
        yield "\n".join(layout.wrapped(problems_of, width=width))


# ---- words for every format


def heading(report: TrainReport, measured: MeasuredModels) -> str:
    """What was compared, and how it was judged."""
    asked, baselines = report.gate, report.baselines
    against = f"against {listed(baselines, most=3)}" if len(baselines) <= 3 else f"against {len(baselines)} baselines"
    return (
        f"{clean(measured.measure or 'scores')}, {counted(measured.topics, 'topic')}, "
        f"{counted(len(report.models), 'model')} {against}; {settings(asked)}"
    )


def settings(asked: AskedGate) -> str:
    """How the gate was asked, without what is the default anyway."""
    words = [f"alpha {', '.join(map(short, asked.alphas))}", f"level {percent(asked.level)}"]
    words += [f"method {asked.method}"] if asked.method != "auto" else []
    words += [f"tolerance {short(asked.tolerance)}"] if asked.tolerance else []
    words += [f"trade-off {asked.tradeoff}"] if asked.tradeoff != "linear" else []
    return f"{asked.kind} at {', '.join(words)}"


def conclusions(measured: MeasuredModels) -> list[str]:
    """Which models pass, what the gate says of the others, and what the best of those that pass gives up."""
    models, best = measured.overall.models, measured.best
    everywhere = " against every baseline" if len(measured.against) > 1 else ""
    top = _best_of(measured, best.of_all)
    others = _others(measured)
    if len(models) == 1:
        passes = "passes" if best.passing else "does not pass"
        why = "" if others is None else f": it {others}"
        cost = _cost(measured, best.passing, top) if best.passing else ""
        return [f"{top.names} {passes} the gate{everywhere}{why}; its mean: {plain(top.mean)}{cost}"]
    if best.passing is None or best.given_up is None:
        none = "Neither model" if len(models) == 2 else f"None of the {len(models)} models"
        why = "" if others is None else f": {others}"
        return [f"{none} passes the gate{everywhere}{why}", f"Best mean: {top.said}"]
    shown = _sentence_names(measured)
    verb = "passes" if len(measured.passing) == 1 else "pass"
    passing = listed(tuple(shown[name] for name in measured.passing), most=MAX_NAMED)
    found = [f"{len(measured.passing)} of {len(models)} models {verb} the gate{everywhere}: {passing}"]
    found += [] if others is None else [f"Of the others, {others}"]
    best_passing = _best_of(measured, best.passing, among=measured.passing)
    if math.isclose(best_passing.mean, top.mean, rel_tol=_EQUAL):
        verb = "pass" if best_passing.several else "passes"
        return [*found, f"Best mean: {best_passing.said}, which {verb}{_cost(measured, best.passing, best_passing)}"]
    share = f" ({percent(best.given_up / top.mean, 1)})" if top.mean > 0 else ""
    gives = "they give up" if best_passing.several else "it gives up"
    return [
        *found,
        f"Best mean of these: {best_passing.said}; {gives} {plain(best.given_up)}{share} against {top.said}, which "
        f"{'do' if top.several else 'does'} not pass{_cost(measured, best.passing, best_passing)}",
    ]


def _cost(measured: MeasuredModels, name: str, best: _Best) -> str:
    """How many queries a model that passes loses: ``; 40 of 200 queries lost, 26 of them more than 20%``.

    Empty where several models have the same mean, of which each has its own losses.
    """
    if best.several:
        return ""
    figures, averaged = measured.model(name).figures, len(measured.against) > 1
    if not figures.losses:
        return "; no query lost"
    digits = int(averaged)
    lost = f"{plain(figures.losses, digits)} of {counted(measured.topics, 'query', 'queries')} lost"
    average = " on average over the baselines" if averaged else ""
    large = plain(figures.losses_over_20_percent, digits) if figures.losses_over_20_percent else "none"
    return f"; {lost}{average}, {large} of them more than 20% of the baseline's score"


@dataclass(frozen=True)
class _Best:
    """Models that share a mean, with their names as they stand in a sentence."""

    names: str
    mean: float
    several: bool

    @property
    def said(self) -> str:
        return f"{self.names}, {plain(self.mean)}{' each' if self.several else ''}"


def _best_of(measured: MeasuredModels, name: str, *, among: Sequence[str] | None = None) -> _Best:
    """The model and all others, of those asked about, that have the same mean."""
    mean, shown = measured.model(name).figures.mean, _sentence_names(measured)
    equal = tuple(
        shown[one.figures.model]
        for one in measured.overall.models
        if (among is None or one.figures.model in among) and math.isclose(one.figures.mean, mean, rel_tol=_EQUAL)
    )
    return _Best(listed(equal, most=MAX_NAMED), mean, len(equal) > 1)


def _others(measured: MeasuredModels) -> str | None:
    """What the gate says of models that do not pass; None where all of them fail."""
    models = measured.overall.models
    outcomes = Counter(model.outcome for model in models if not model.passes)
    if not outcomes.keys() - {"fail"}:
        return None
    found = []
    for outcome, (one, many) in _NOT_PASSING.items():
        if number := outcomes[outcome]:
            is_all = number == len(models) > 1
            subject = ("both" if number == 2 else "all") if is_all else str(number)
            why = f" ({', '.join(_undecided(measured))})" if outcome == "inconclusive" else ""
            found.append(f"{f'{subject} ' if len(models) > 1 else ''}{one if number == 1 else many}{why}")
    return ", ".join(found)


def _undecided(measured: MeasuredModels) -> list[str]:
    """Why the gate has no answer."""
    verdicts = [verdict for table in measured.against for model in table.models for verdict in model.verdicts]
    reasons = dict.fromkeys(verdict.reason or "" for verdict in verdicts if verdict.outcome == "inconclusive")
    return [_UNDECIDED.get(reason, clean(reason)) for reason in reasons]


def _sentence_names(measured: MeasuredModels) -> dict[str, str]:
    return _short_names([model.figures.model for model in measured.overall.models], _IN_SENTENCE)


def title_of(table: JudgedAgainst) -> str:
    """Which baselines a table is about."""
    if len(table.baselines) > 1:
        return f"Average over {counted(len(table.baselines), 'baseline')}"
    return f"Against {_named(table.baselines[0])}"


def figures_table(table: JudgedAgainst) -> Table:
    """The papers' columns, a row for each model."""
    # a decimal for averages over few topics; with many it says nothing
    most = max(max(model.figures.wins, model.figures.losses) for model in table.models)
    digits = int(len(table.baselines) > 1 and most < _MANY)
    columns = (
        Column("model", "name"),
        *(Column(label, "number") for label in ("mean", "risk", "reward", "R/R")),
        *(Column(label, "number") for label in ("wins", "losses", "W/L", ">20%")),
        Column("front"),
    )
    rows = tuple(_figures_row(model.figures, digits=digits) for model in table.models)
    return Table(f"{title_of(table)}, mean {plain(table.baseline_mean)}", columns, rows)


def _figures_row(figures: ModelFigures, *, digits: int) -> tuple[str, ...]:
    return (
        figures.model,
        plain(figures.mean),
        plain(figures.risk),
        plain(figures.reward),
        ratio(figures.reward_to_risk, 3),
        plain(figures.wins, digits),
        plain(figures.losses, digits),
        ratio(figures.win_to_loss, 2),
        plain(figures.losses_over_20_percent, digits),
        "yes" if figures.on_front else "",
    )


def ratio(value: float | None, digits: int) -> str:
    """A ratio: infinite where there is no loss, nothing where there is no win either."""
    if value is None:
        return "-"
    return "∞" if math.isinf(value) else plain(value, digits)


def verdicts_table(table: JudgedAgainst, *, alphas: int) -> Table:
    """The gate's answers, a row for each model and alpha."""
    columns = (
        Column("model", "name"),
        *((Column("alpha", "number"),) if alphas > 1 else ()),
        Column("verdict"),
        Column("URisk", "number"),
        Column("interval", "number"),
        Column("TRisk", "number"),
        Column("p", "number"),
        Column("alpha*", "number"),
    )
    rows = tuple(
        (
            model.figures.model,
            *((short(verdict.alpha),) if alphas > 1 else ()),
            answer(verdict),
            "-" if verdict.urisk is None else signed(verdict.urisk),
            _limits(verdict),
            "-" if verdict.trisk is None else signed(verdict.trisk, 2),
            "-" if verdict.p_value is None else probability(verdict.p_value),
            alpha_star(verdict),
        )
        for model in table.models
        for verdict in model.verdicts
    )
    return Table(f"The gate against {_named(table.baselines[0])}", columns, rows)


def answer(verdict: GateVerdict) -> str:
    """``pass``, ``pass with care``, or why not: ``loss``, ``churn``; the outcome where the gate has no answer."""
    if verdict.outcome == "pass":
        careful = f"pass {WITH_CARE}" if "churn" in verdict.warnings else "pass"
        return "same run" if verdict.same_run else careful
    return (verdict.reason or "fail") if verdict.outcome == "fail" else verdict.outcome


def alpha_star(verdict: GateVerdict) -> str:
    """The largest alpha that lets the model pass, rounded down."""
    star = verdict.alpha_star
    return "-" if star is None else star if star == "any" else floored(star)


def _limits(verdict: GateVerdict) -> str:
    if verdict.lower is None or verdict.upper is None:
        return "-"
    return f"[{signed(verdict.lower)}, {signed(verdict.upper)}]"


def problems(measured: MeasuredModels) -> list[str]:
    """Why models could not be compared, and what the gate warns of."""
    found, warned, shown = [], dict[str, list[str]](), _sentence_names(measured)
    for table in measured.against:
        for model in table.models:
            for verdict in model.verdicts:
                pair = f"{shown[model.figures.model]} against {_named(table.baselines[0])}"
                if verdict.problem is not None:
                    found.append(f"{pair} cannot be compared: {clean(verdict.problem, limit=1000)}")
                for code in verdict.warnings:
                    if code not in (*_EXPECTED, _MISSING):
                        warned.setdefault(code, []).append(pair)
    if missing := measured.missing_topics:
        names = _short_names(missing, _IN_SENTENCE - len("100000 topics of "))
        of = tuple(f"{counted(number, 'topic')} of {names[name]}" for name, number in missing.items())
        found.append(f"warning {_MISSING}, each of which scores 0: {listed(of, most=MAX_NAMED)}")
    for code, pairs in warned.items():
        of = tuple(dict.fromkeys(pairs))
        found.append(f"warning {code}: {listed(of, most=2)}")
    if warned:
        found.append("riskguard compare on such a pair explains its warnings")
    return list(dict.fromkeys(found))


def remarks(report: TrainReport) -> list[str]:
    """What holds for the whole report: the number of verdicts, the choice of a model, and what columns mean."""
    asked, found = report.gate, []
    if asked.verdicts > 1 and asked.correction == "none":
        found.append(
            f"{asked.verdicts} verdicts, each at level {percent(asked.level)} on its own: the more there are, the "
            "more fail by chance. `--set family=auto` corrects for their number."
        )
    elif asked.verdicts > 1:
        found.append(f"{asked.verdicts} verdicts, corrected for their number ({CORRECTIONS[asked.correction]}).")
    if len(report.models) > 1:
        found.append(
            "A model chosen here was chosen on these topics: judge it once more on topics that played no part."
        )
    return [*found, legend(report)]


def legend(report: TrainReport) -> str:
    """What the columns and marks mean."""
    tables = [table for measured in report.measures for table in measured.tables]
    figures = [model.figures for table in tables for model in table.models]
    ratios = [value for one in figures for value in (one.reward_to_risk, one.win_to_loss)]
    verdicts = [verdict for table in tables for model in table.models for verdict in model.verdicts]
    answers = {answer(verdict) for verdict in verdicts}
    words = [
        "front: on the Pareto front, so no other model is as good in mean and risk and better in one of them",
        "risk, reward: mean loss and mean win against the baseline; R/R: reward to risk",
        "W/L: wins to losses; >20%: topics that lost more than 20% of the baseline's score",
    ]
    if len(report.baselines) > 1:
        words.append("average: of each column over the baselines, so a ratio is the mean of ratios")
    averaged = [model.figures for table in tables if len(table.baselines) > 1 for model in table.models]
    for is_meant, meaning in ((_is_infinite, "∞: no loss"), (_is_none, "a ratio of -: neither win nor loss")):
        if any(map(is_meant, ratios)):
            in_average = any(is_meant(value) for one in averaged for value in (one.reward_to_risk, one.win_to_loss))
            words.append(meaning + ", in an average against at least one baseline" * in_average)
    if any(None in (verdict.urisk, verdict.lower, verdict.trisk, verdict.p_value) for verdict in verdicts):
        words.append("-: there is no such figure")
    words += [f"{said}: {meaning}" for said, meaning in _ANSWERS.items() if said in answers]
    words.append("p: p-value of TRisk")
    none = ", - where none does" if any(verdict.alpha_star is None for verdict in verdicts) else ""
    words.append(f"alpha*: the largest alpha that lets the model pass{none}")
    return "; ".join(words) + "."


def _is_infinite(value: float | None) -> bool:
    return value is not None and math.isinf(value)


def _is_none(value: float | None) -> bool:
    return value is None


def _named(name: str) -> str:
    return clean(name, limit=60)


# ---- a terminal


def _drawn(table: Table, width: int) -> str:
    """The table with its title; names of models, its first column, are cut where lines are too short."""
    from rich.text import Text

    bare, others = layout.bare_table(), 0
    for place, column in enumerate(table.columns):
        justify: Literal["left", "right"] = "right" if column.kind == "number" else "left"
        bare.add_column(column.label, justify=justify, no_wrap=True)
        if column.kind != "name":
            others += max(len(column.label), *(len(row[place]) for row in table.rows))
    room, gaps = width - 2 - others, len(table.columns)
    gap = 2 if room - 2 * gaps >= _MIN_NAME else 1
    bare.padding = (0, gap, 0, 0)
    longest = max(min(room - gap * gaps, _NAME_WIDTH), _MIN_NAME)
    shown = _short_names(dict.fromkeys(row[0] for row in table.rows), longest)
    for row in table.rows:
        bare.add_row(*map(Text, (shown[row[0]], *row[1:])))
    needed = longest + others + gap * gaps
    lines = [f"  {line}" for line in layout.lines(bare, width=max(width - 2, needed))]
    return "\n".join([*layout.wrapped([table.title], width=width, indent="", hanging="  "), *lines])


def _short_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Each name in at most ``width`` columns, all different."""
    every = list(names)
    return dict(zip(every, shortened(every, lambda name: ends(name, width)), strict=True))
