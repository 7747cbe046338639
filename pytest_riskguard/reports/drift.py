"""The history of a baseline as a table: what accepted changes did, one by one and together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_riskguard.gates.history import Chain, is_risky
from pytest_riskguard.reports.numbers import limits
from pytest_riskguard.reports.parts import Table, wrapped
from pytest_riskguard.risk.urisk import counts
from pytest_riskguard.text import clean, counted, percent, plain, short, signed

_WIDTH = 80
_COLUMNS = {"run": "name", **dict.fromkeys(("mean", "change", "in all", "URisk", "interval", "losses"), "number")}


def explain(chain: Chain, names: Sequence[str]) -> str:
    """One line for each run, oldest first, at most 80 columns wide, by these names; then a conclusion."""
    gate, (oldest, *_) = chain.gate, chain.runs
    heading = (
        f"{clean(oldest.measure or 'scores')}, {counted(len(oldest.topics), 'topic')}: in total, URisk(alpha="
        f"{short(gate.alpha)}) and its {percent(gate.level)} interval are against {clean(names[0])}"
    )
    lines = Table("", _COLUMNS, [*_rows(chain, names)]).lines(_WIDTH)
    return "\n".join([heading, *lines, *wrapped([*_notes(chain, names)], width=_WIDTH)])


def _rows(chain: Chain, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield (names[0], plain(chain.figures[0].mean), *[""] * 5)
    rest = zip(names[1:], chain.figures[1:], chain.steps, chain.against_oldest[1:], strict=True)
    for name, figures, step, whole in rest:
        between = "-"
        if whole.ruling.enough_topics:
            between = limits(whole.ruling.deciding.lower, whole.ruling.deciding.upper)
        changes = signed(step.mean_difference), signed(whole.mean_difference), signed(figures.urisk)
        losses = counts(whole.aligned.candidate.values, whole.aligned.baseline.values).losses
        yield (name, plain(figures.mean), *changes, between, str(losses))


def _notes(chain: Chain, names: Sequence[str]) -> Iterator[str]:
    oldest, newest = clean(names[0]), chain.against_oldest[-1]
    if not chain.steps:
        return
    if not newest.ruling.enough_topics:
        yield "too few topics: an interval needs at least 10"
    elif is_risky(newest):
        is_loss = not newest.ruling.plain.passes
        why = "the mean itself is significantly down" if is_loss else "only because losses weigh more (churn)"
        slid = "; no single change was significantly risky against the run before it: a slow slide"
        yield f"significantly risky against {oldest}: {why}{slid * chain.has_slid}"
