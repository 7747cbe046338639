"""The topics of a run whose document ids are examined, and what is wrong with the ids.

Large runs are judged by a sample of their topics, which depends on the topics alone: not on the order in which they
were read, nor on how many readers shared the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.id_checks.chance_matches import ENOUGH_JUDGED, MAX_RANKS, ChanceMatches
from pytest_riskguard.evaluation.id_checks.document_ids import FIRST_RANKS, Judged, JudgedTally, chance, mismatch
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.runs.identifiers import Identifiers, IntArray
from pytest_riskguard.evaluation.runs.rank_columns import rows_of

#: How many topics are examined; of fewer, all are.
MAX_TOPICS = 2_000
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
    documents : Identifiers
    """

    places: IntArray
    offsets: IntArray
    documents: Identifiers

    @classmethod
    def of(cls, places: IntArray, offsets: IntArray, documents: Identifiers, written: IntArray | None) -> Examined:
        """The first documents of those of these topics that may be in the sample.

        ``written`` has the rows of the documents by topic and rank; None if that is their order.
        """
        topics = _sample(places)
        lengths = np.minimum(np.diff(offsets)[topics], MAX_RANKS)
        ends = np.cumsum(lengths)
        rows = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(offsets[topics] - (ends - lengths), lengths)
        if written is not None:
            rows = written[rows]
        return cls(places[topics], np.concatenate([[0], ends]), documents.at(rows).compact())

    @classmethod
    def joined(cls, parts: Sequence[Examined]) -> Examined:
        """The sample of all topics from the samples of some."""
        places = np.concatenate([part.places for part in parts])
        offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part.offsets) for part in parts]))])
        documents = Identifiers.joined([part.documents for part in parts])
        topics = _sample(places)
        topics = topics[np.argsort(places[topics])]
        lengths = np.diff(offsets)[topics]
        chosen = documents.at(rows_of(offsets, topics)).compact()
        return cls(places[topics], np.concatenate([[0], np.cumsum(lengths)]), chosen)

    def rankings(self, most: int) -> Iterator[tuple[int, list[str]]]:
        """The place of each topic and its first documents, at most so many."""
        for place, start, stop in zip(
            self.places.tolist(), self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True
        ):
            yield place, self.documents.at(slice(start, min(stop, start + most))).strings()


def _sample(places: IntArray) -> IntArray:
    """Which of these topics are examined, if there are no others: their indices, rising."""
    if len(places) <= MAX_TOPICS:
        return np.arange(len(places))
    priority = places.astype(np.uint32) * _SPREAD
    return np.sort(np.argpartition(priority, MAX_TOPICS)[:MAX_TOPICS])


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
    matches = ChanceMatches(qrels)
    for place, ranking in examined.rankings(MAX_RANKS):
        matches.add(qrels.topics[place], ranking)
    if matches.is_chance:
        raise DataError(chance(source, matches.sample, qrels), reason="ids_do_not_match")
