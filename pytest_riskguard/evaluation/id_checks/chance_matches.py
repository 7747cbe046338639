"""Whether a run retrieves judged documents as a run on another index would: by chance.

Ids such as 1, 2, 3 are judged ids in any index. But a run on another one retrieves as many documents that are judged
for *other* topics as for its own, while even a weak system retrieves more for its own. Only documents count that are
judged, or relevant, for one of two topics and not for the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pytest_riskguard.evaluation.judgements.qrels import Qrels

#: Each topic is compared with that many others, spread evenly over all.
OTHER_TOPICS = 5
#: From fewer different rankings nothing is concluded.
MIN_TOPICS = 10
#: Matches are not chance if the probability that chance alone gives as many is smaller than this.
UNLIKELY = 0.0001
#: Where so large a share of the first ten documents is judged, ids match: most documents are judged for all topics.
ENOUGH_JUDGED = 0.2
#: How many ranks are counted, and how many of these apart.
MAX_RANKS, FIRST_RANKS = 100, 10
#: How many topics a message takes its examples from.
SHOWN_TOPICS = 3


@dataclass
class _Count:
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


@dataclass
class ChanceMatches:
    """Counts the matches of each topic of a run; ``is_chance`` once all are in."""

    qrels: Qrels
    #: The first documents of the first topics, sorted as text.
    sample: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _rankings: set[int] = field(default_factory=set)
    _counts: tuple[_Count, ...] = field(default_factory=lambda: tuple(_Count() for _ in range(4)))
    _places: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self._places = {topic: place for place, topic in enumerate(self.qrels.topics)}

    def add(self, topic: str, ranking: Sequence[str]) -> None:
        """Count one scored topic: its documents from rank 1 on."""
        shown = tuple(islice(ranking, FIRST_RANKS))
        first = frozenset(shown)
        self._rankings.add(hash(shown))
        self.sample[topic] = shown
        if len(self.sample) > SHOWN_TOPICS:
            del self.sample[max(self.sample)]
        retrieved, topics = frozenset(islice(ranking, MAX_RANKS)), self.qrels.topics
        own, is_relevant = self.qrels.grades[topic], self.qrels.rules.is_relevant
        matched = own.keys() & retrieved
        for step in range(1, OTHER_TOPICS + 1):
            place = self._places[topic] + max(1, step * len(topics) // (OTHER_TOPICS + 1))
            other = self.qrels.grades[topics[place % len(topics)]]
            in_other = other.keys() & retrieved
            relevant, other_relevant = (
                {document for document in documents if is_relevant(grades[document])}
                for documents, grades in ((matched, own), (in_other, other))
            )
            for count, (mine, theirs) in zip(
                self._counts,
                (
                    (matched, in_other),
                    (matched & first, in_other & first),
                    (relevant, other_relevant),
                    (relevant & first, other_relevant & first),
                ),
                strict=True,
            ):
                count.own += len(mine - theirs)
                count.other += len(theirs - mine)

    @property
    def is_chance(self) -> bool:
        """Whether nothing tells the run's matches from those of another index.

        False for a run with few different rankings, which hardly depend on the queries.
        """
        if len(self._rankings) < MIN_TOPICS:
            return False
        return any(count.other for count in self._counts) and all(count.is_chance for count in self._counts)
