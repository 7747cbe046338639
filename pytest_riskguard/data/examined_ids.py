"""The topics of a run whose document ids are examined, and what is wrong with the ids.

Large runs are judged by a sample of their topics, which depends on the topics alone: not on the order in which they
were read, nor on how many readers shared the work.

A run on another index retrieves judged documents by chance, as ids such as 1, 2, 3 are judged ids in any index. But
it finds as many documents that are judged for *other* topics as for its own, while even a weak system finds more for
its own. Only documents count that are judged, or relevant, for one of two topics and not for the other.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.document_ids import FIRST_RANKS, JudgedTally, chance, mismatch
from pytest_riskguard.data.ids import BoolArray, Ids, IntArray
from pytest_riskguard.data.judged import JudgedRun
from pytest_riskguard.data.qrels import Qrels, judgement_rows
from pytest_riskguard.data.ranking import Order, ranking, topic_of_rows
from pytest_riskguard.data.runs import Run
from pytest_riskguard.errors import DataError

#: How many topics are examined; of fewer, all are.
MAX_TOPICS = 2_000
#: How many topics a message takes its examples from.
SHOWN_TOPICS = 3
#: Spreads the places of topics over all 32-bit numbers: neighbours are far apart, and any first few spread evenly.
_SPREAD = np.uint32(0x9E3779B1)


def _sample(places: IntArray) -> IntArray:
    """Which of these topics are examined, if there are no others: their indices, rising."""
    if len(places) <= MAX_TOPICS:
        return np.arange(len(places))
    return np.sort(np.argpartition(_priority(places), MAX_TOPICS)[:MAX_TOPICS])


def _priority(places: IntArray) -> npt.NDArray[np.uint32]:
    """A number for each topic: those with the lowest are examined."""
    priority: npt.NDArray[np.uint32] = places.astype(np.uint32) * _SPREAD
    return priority


def refuse_other_ids(source: str, qrels: Qrels, run: Run, judged: JudgedRun) -> None:
    """``DataError`` if a run's ids are not those of the judgements; ``run`` has the scored topics."""
    places = qrels.arrays.places_of(run.topics)
    chosen = _sample(places)
    some = run.at(chosen)
    ranks = ranking(some.scores, some.ranks, some.offsets, some.documents).ranks[Order.WRITTEN]
    rows = np.lexsort((ranks, topic_of_rows(some.offsets)))
    first = rows[ranks[rows] <= MAX_RANKS]
    documents = some.documents.at(first)
    offsets = np.append(0, np.cumsum(np.minimum(np.diff(some.offsets), MAX_RANKS)))
    has_judged = judged.has_judged[chosen].tolist()
    tally = JudgedTally(whole=judged.judged)
    shown: dict[str, list[str]] = {}
    for place, topic in enumerate(some.topics):
        start, stop = offsets[place], min(offsets[place + 1], offsets[place] + FIRST_RANKS)
        ids = documents.at(slice(int(start), int(stop))).strings()
        tally.add(topic, ids, qrels.grades[topic], has_judged=has_judged[place])
        if len(shown) < SHOWN_TOPICS:
            shown[topic] = ids
    if (problem := mismatch(source, tally, qrels)) is not None:
        raise DataError(problem, reason="ids_do_not_match")
    if judged.judged.share >= ENOUGH_JUDGED:
        return
    if are_by_chance(qrels, places[chosen], offsets, documents):
        raise DataError(chance(source, shown, qrels), reason="ids_do_not_match")


#: Each topic is compared with that many others, spread evenly over all.
OTHER_TOPICS = 5
#: From fewer different rankings nothing is concluded.
MIN_TOPICS = 10
#: Matches are not chance if the probability that chance alone gives as many is smaller than this.
UNLIKELY = 0.0001
#: Where so large a share of the first ten documents is judged, ids match: most documents are judged for all topics.
ENOUGH_JUDGED = 0.2
#: How many ranks are counted; the first ``FIRST_RANKS`` are counted apart too.
MAX_RANKS = 100
#: Topics whose documents are looked up together: bounds the memory.
_TOPICS_AT_ONCE = 500


@dataclass
class Count:
    """Matches with the own topic and with others, summed over pairs of topics."""

    own: int = 0
    other: int = 0

    @property
    def is_chance(self) -> bool:
        """Whether the own topics match no more than other topics do, if matches are independent (Poisson)."""
        own, expected = self.own / OTHER_TOPICS, (self.other + 1) / OTHER_TOPICS  # never 0, which proves nothing
        if own <= expected:
            return True
        terms = (math.exp(-expected + k * math.log(expected) - math.lgamma(k + 1)) for k in range(math.ceil(own)))
        return 1 - math.fsum(terms) > UNLIKELY


def are_by_chance(qrels: Qrels, places: IntArray, offsets: IntArray, documents: Ids) -> bool:
    """Whether nothing tells a run's matches from those of another index.

    False for a run with few different rankings, which hardly depend on the queries.

    Parameters
    ----------
    qrels : Qrels
    places : array of int64, shape (n_topics,)
        Topics of the run, each once, by their places in ``qrels.topics``.
    offsets : array of int64, shape (n_topics + 1,)
        The documents of topic i are ``documents[offsets[i]:offsets[i + 1]]``, from rank 1 on.
    documents : Ids
    """
    if not _has_different_rankings(offsets, documents):
        return False
    counts = matches(qrels, places, offsets, documents)
    return any(count.other for count in counts) and all(count.is_chance for count in counts)


def matches(qrels: Qrels, places: IntArray, offsets: IntArray, documents: Ids) -> tuple[Count, ...]:
    """How many documents are judged, and how many relevant, in all counted ranks and in the first; as above."""
    counts = tuple(Count() for _ in range(4))
    for first in range(0, len(places), _TOPICS_AT_ONCE):
        last = min(first + _TOPICS_AT_ONCE, len(places))
        some = slice(int(offsets[first]), int(offsets[last]))
        _add(counts, qrels, places[first:last], offsets[first : last + 1] - offsets[first], documents.at(some))
    return counts


def _add(counts: tuple[Count, ...], qrels: Qrels, places: IntArray, offsets: IntArray, documents: Ids) -> None:
    """Count the matches of some topics too."""
    ranks = np.arange(1, len(documents) + 1) - np.repeat(offsets[:-1], np.diff(offsets))
    depths = ranks <= MAX_RANKS, ranks <= FIRST_RANKS
    own = judgement_rows(qrels.arrays, places, offsets, documents)
    own_sides = own >= 0, _relevant(own, qrels)
    for step in range(1, OTHER_TOPICS + 1):
        shift = max(1, step * len(qrels.topics) // (OTHER_TOPICS + 1))
        other = judgement_rows(qrels.arrays, (places + shift) % len(qrels.topics), offsets, documents)
        other_sides = other >= 0, _relevant(other, qrels)
        kinds = itertools.product(zip(own_sides, other_sides, strict=True), depths)
        for count, ((mine, theirs), is_counted) in zip(counts, kinds, strict=True):
            count.own += int(np.count_nonzero(mine & ~theirs & is_counted))
            count.other += int(np.count_nonzero(theirs & ~mine & is_counted))


def _has_different_rankings(offsets: IntArray, documents: Ids) -> bool:
    rankings: set[tuple[str, ...]] = set()
    for start, stop in itertools.pairwise(offsets.tolist()):
        rankings.add(tuple(documents.at(slice(start, min(stop, start + FIRST_RANKS))).strings()))
        if len(rankings) >= MIN_TOPICS:
            return True
    return False


def _relevant(judgements: IntArray, qrels: Qrels) -> BoolArray:
    """Which documents are relevant, given the row of the judgement of each; -1 for none."""
    found: BoolArray = judgements >= 0
    found[found] = [qrels.rules.is_relevant(grade) for grade in qrels.arrays.grades[judgements[found]].tolist()]
    return found
