"""Slices of the topics as text: those that are risky for themselves, or all of them."""

from __future__ import annotations

from pytest_riskguard.gates.findings import Slice
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.detail import Detail
from pytest_riskguard.reports.figures import between, probability, shown
from pytest_riskguard.reports.text import clean, counted, signed

#: How many risky slices are told of where not everything was asked for: tags overlap, so the first ones say most.
MOST = 2


def tests(verdict: Verdict) -> bool:
    """Whether slices of this kind of gate have an interval, given enough topics: one on single topics has none."""
    return verdict.kind != "no_topic_collapse"


def paragraphs(verdict: Verdict, detail: Detail) -> list[str]:
    """A paragraph for each of the worst risky slices; with ``-vv`` for every slice."""
    slices = verdict.explanation.slices if verdict.explanation is not None else ()
    worst = sorted(slices, key=lambda one: (not one.risky, round(one.urisk, 12)))
    if detail.topics is None:
        return [_told(verdict, one) for one in worst]
    risky = [one for one in worst if one.risky]
    told = [_told(verdict, one) for one in risky[:MOST]]
    if (rest := len(risky) - MOST) > 0:
        told.append(
            f"{counted(rest, 'more slice')} {'is' if rest == 1 else 'are'} significantly risky, -vv shows all"
        )
    return told


def _told(verdict: Verdict, one: Slice) -> str:
    risk = shown(verdict, one.urisk)
    if one.lower is not None and one.upper is not None:
        risk += f" {between(verdict, one.lower, one.upper)}"
    name = f"slice {clean(one.tag, limit=40)}={clean(one.value, limit=60)}"
    said = "significantly risky, " if one.risky else ""
    moved = f"{counted(one.losses, 'loss', 'losses')} and {counted(one.wins, 'win')} on {counted(one.count, 'topic')}"
    text = f"{name}: {said}URisk {risk}, mean {signed(one.mean_difference)}; {moved}"
    if one.adjusted_p_value is not None:
        return f"{text}; p {probability(one.adjusted_p_value)} among the slices (Holm)"
    return f"{text}; too few topics for an interval" if tests(verdict) else text
