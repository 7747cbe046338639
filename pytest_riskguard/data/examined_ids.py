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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.document_ids import FIRST_RANKS, Judged, JudgedTally, chance, mismatch
from pytest_riskguard.data.ids import BoolArray, Ids, IntArray, first_rows, rows_of
from pytest_riskguard.data.qrels import judgement_rows
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.errors import DataError

#: How many topics are examined; of fewer, all are.
MAX_TOPICS = 2_000
#: How many topics a message takes its examples from.
SHOWN_TOPICS = 3
#: How many times as many are held before those that are not examined are dropped.
_MOST_HELD = 1.25
#: Spreads the places of topics over all 32-bit numbers: neighbours are far apart, and any first few spread evenly.
_SPREAD = np.uint32(0x9E3779B1)


@dataclass(frozen=True, eq=False)
class Examined:
    """The first documents of some topics.

    Attributes
    ----------
    places : array of int64, shape (n_topics,)
        The topics, by their places in ``Qrels.topics``.
    offsets : array of int64, shape (n_topics + 1,)
        The documents of topic i are ``documents[offsets[i]:offsets[i + 1]]``, from rank 1 on in the order as written.
    documents : Ids
    """

    places: IntArray
    offsets: IntArray
    documents: Ids

    @classmethod
    def joined(cls, parts: Sequence[Examined]) -> Examined:
        """The sample of all topics from those of some, each in one part."""
        places = np.concatenate([part.places for part in parts])
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        chosen = _sample(places)
        chosen = chosen[np.argsort(places[chosen])]
        documents = Ids.joined([part.documents for part in parts])
        rows = rows_of(np.append(0, np.cumsum(lengths)), chosen)
        return cls(places[chosen], np.append(0, np.cumsum(lengths[chosen])), documents.at(rows).compact())

    def rankings(self, most: int) -> Iterator[tuple[int, list[str]]]:
        """The place of each topic and its first documents, at most so many."""
        for place, start, stop in zip(
            self.places.tolist(), self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True
        ):
            yield place, self.documents.at(slice(start, min(stop, start + most))).strings()


class Sample:
    """Collects the topics that are examined while a run is read."""

    def __init__(self) -> None:
        self._parts: list[Examined] = []
        self._least_likely = np.uint32(2**32 - 1)

    def add(self, places: IntArray, offsets: IntArray, documents: Ids, written: IntArray | None) -> None:
        """Take the first documents of those of these topics that may be examined.

        ``written`` has the rows of the documents by topic and rank; None if that is their order.
        """
        topics = np.flatnonzero(_priority(places) <= self._least_likely)
        lengths = np.minimum(np.diff(offsets)[topics], MAX_RANKS)
        rows = first_rows(offsets[topics], lengths)
        some = documents.at(rows if written is None else written[rows]).compact()
        self._parts.append(Examined(places[topics], np.append(0, np.cumsum(lengths)), some))
        if sum(len(part.places) for part in self._parts) > _MOST_HELD * MAX_TOPICS:
            self._parts = [Examined.joined(self._parts)]
            self._least_likely = _priority(self._parts[0].places).max()

    def examined(self) -> Examined:
        """The topics that are examined if no others come."""
        return Examined.joined(self._parts)


def _sample(places: IntArray) -> IntArray:
    """Which of these topics are examined, if there are no others: their indices, rising."""
    if len(places) <= MAX_TOPICS:
        return np.arange(len(places))
    return np.sort(np.argpartition(_priority(places), MAX_TOPICS)[:MAX_TOPICS])


def _priority(places: IntArray) -> npt.NDArray[np.uint32]:
    """A number for each topic: those with the lowest are examined."""
    priority: npt.NDArray[np.uint32] = places.astype(np.uint32) * _SPREAD
    return priority


def refuse_other_ids(
    source: str, qrels: Qrels, judged: Judged, examined: Examined, has_judged: npt.NDArray[np.bool_]
) -> None:
    """``DataError`` if a run's ids are not those of the judgements.

    Parameters
    ----------
    source : str
        The run's name in messages.
    qrels : Qrels
    judged : Judged
        The figures of all topics.
    examined : Examined
        The topics that the run's ids are judged by, sorted.
    has_judged : array of bool, shape (n_topics of the judgements,)
        The topics for which the run retrieves a judged document, at any rank.
    """
    tally = JudgedTally(whole=judged)
    for place, ranking in examined.rankings(FIRST_RANKS):
        topic = qrels.topics[place]
        tally.add(topic, ranking, qrels.grades[topic], has_judged=bool(has_judged[place]))
    if (problem := mismatch(source, tally, qrels)) is not None:
        raise DataError(problem, reason="ids_do_not_match")
    if judged.share >= ENOUGH_JUDGED:
        return
    if are_by_chance(qrels, examined.places, examined.offsets, examined.documents):
        shown = itertools.islice(examined.rankings(FIRST_RANKS), SHOWN_TOPICS)
        sample = {qrels.topics[place]: ranking for place, ranking in shown}
        raise DataError(chance(source, sample, qrels), reason="ids_do_not_match")


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
