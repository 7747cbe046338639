"""What a pool says of a single baseline as a yardstick, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_riskguard.gates.pool_figures import AtAlpha, AtMeasure, Odd, PoolReport
from pytest_riskguard.reports.grid import note
from pytest_riskguard.reports.text import clean, counted, listed, plain, short
from pytest_riskguard.risk.yardstick import FEWEST_OTHERS

#: Odd pairs, and systems in a sentence, that are named before the rest is counted.
_NAMED = 5


def conclusions(report: PoolReport, *, width: int) -> Iterator[str]:
    """A heading for each measure, and under it one sentence a line, wrapped."""
    for at in report.measures:
        yield f"What {clean(at.measure or 'the scores')} says"
        yield from (note(sentence, width=width) for sentence in _conclusion(at))


def _conclusion(at: AtMeasure) -> Iterator[str]:
    known = [member for member in at.members if member.correlation_median is not None]
    if len(known) > 2:
        ordered = sorted(known, key=lambda member: member.correlation_median or 0.0)
        low, high = ordered[0], ordered[-1]
        yield (
            f"closest to the others is {_named(high.system)} (median correlation "
            f"{plain(high.correlation_median, 2)}), farthest {_named(low.system)} "
            f"({plain(low.correlation_median, 2)})"
        )
    for one in at.alphas:
        if one.rankings:
            yield _who_is_first(one)
    if len(at.members) < FEWEST_OTHERS + 2:
        yield (
            f"fewer than {FEWEST_OTHERS + 2} systems do not tell which correlation is usual, so no baseline can be "
            "called odd"
        )
    candidates = list(dict.fromkeys(pair.candidate for pair in at.odd))
    for candidate in candidates[:_NAMED]:
        yield _odd_in_words([pair for pair in at.odd if pair.candidate == candidate])
    if len(candidates) > _NAMED:
        yield f"and {counted(len(candidates) - _NAMED, 'more system')} with odd yardsticks"
    yield _advice(at)


def _who_is_first(one: AtAlpha) -> str:
    by_urisk = one.rankings[0]
    firsts = sorted((s for s in one.standings if s.firsts), key=lambda s: -s.firsts)
    said = listed(tuple(f"{s.system} under {counted(s.firsts, 'baseline')}" for s in firsts), most=3)
    return (
        f"alpha {short(one.alpha)}: {by_urisk.pairs_changing} of {counted(by_urisk.pairs, 'pair')} change places "
        f"with the baseline; least risky is {said}"
    )


def _odd_in_words(pairs: Sequence[Odd]) -> str:
    """One candidate, and the baselines that are odd yardsticks for it, the oddest first."""
    first, more = pairs[0], len(pairs) - 1
    baseline = _named(first.baseline)
    text = (
        f"{baseline} is an odd yardstick for {_named(first.candidate)}: over topics the two correlate "
        f"{plain(first.fit.correlation, 2)}, {baseline} and the other systems {plain(first.fit.median, 2)} (median)"
    )
    return f"{text}; so {'is' if more == 1 else 'are'} {counted(more, 'other baseline')}" if more else text


def _advice(at: AtMeasure) -> str:
    if at.odd:
        odd = tuple(dict.fromkeys(pair.candidate for pair in at.odd))
        return (
            "so one baseline is no fair yardstick for all of them: judge "
            f"{listed(odd, most=_NAMED)} against several, or against their mean"
        )
    if not any(one.rankings for one in at.alphas):
        return "two systems are not enough to tell whether one baseline is a fair yardstick"
    if not any(ranking.pairs_changing for one in at.alphas for ranking in one.rankings):
        return "so every baseline gives the same order: one of them is a fair yardstick here"
    order = "do not order systems by their risk against one baseline, for the order depends on it"
    if len(at.members) < FEWEST_OTHERS + 2:
        return f"so {order}"
    return f"so no baseline is odd for a gate on any of them; but {order}"


def _named(system: str) -> str:
    return clean(system, limit=60)
