"""What to judge next: the shortest list of unjudged documents that would settle a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from pytest_riskguard.evaluation.judging import Unjudged
from pytest_riskguard.gates.judgements import Rejudged, cases_of


@dataclass(frozen=True)
class ToJudge:
    """A document that nobody judged, of a topic."""

    topic: str
    document: str


def judge_next(rejudged: Rejudged) -> tuple[ToJudge, ...]:
    """The documents to judge, most useful first; none where no judgement of them could change the verdict.

    A document is the more useful the more it would move its topic's difference, were it relevant. Losses are not
    weighed more than wins here: the first answers would then lean to one verdict, and later ones take them back.
    The list ends where the rest, relevant or not, would leave the verdict as it is. Those before are taken for
    irrelevant, as they are scored, so whoever finds relevant ones among them asks again.
    """
    gaps = rejudged.gaps()
    if not _open(rejudged, gaps):
        return ()
    effects = {
        ToJudge(gap.topic, document): effect for gap in gaps for document, effect in rejudged.effects(gap).items()
    }
    # equal effects, up to rounding, go by topic and document on every machine
    order = sorted(effects, key=lambda one: (-round(abs(effects[one]), 12), one.topic, one.document))
    settled, still_open = len(order), 0
    while settled - still_open > 1:
        middle = (settled + still_open) // 2
        if _open(rejudged, _without(gaps, order[:middle])):
            still_open = middle
        else:
            settled = middle
    return tuple(order[:settled])


def together(lists: Iterable[Sequence[ToJudge]]) -> tuple[ToJudge, ...]:
    """One list for several verdicts: the first of each, then the second of each, every document once."""
    rows = chain.from_iterable(zip_longest(*lists))
    return tuple(dict.fromkeys(one for one in rows if one is not None))


def _open(rejudged: Rejudged, gaps: Sequence[Unjudged]) -> bool:
    """Whether the verdict could still change."""
    return len({case.outcome for case in cases_of(rejudged, gaps)}) > 1


def _without(gaps: Sequence[Unjudged], judged: Iterable[ToJudge]) -> list[Unjudged]:
    known: dict[str, set[str]] = {}
    for one in judged:
        known.setdefault(one.topic, set()).add(one.document)
    return [gap.without(known.get(gap.topic, set())) for gap in gaps]
