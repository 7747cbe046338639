"""Per-topic scores of one system for one measure, what every gate compares."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import ScoringError

if TYPE_CHECKING:
    from pytest_riskguard.data.document_ids import Judged

FloatArray = npt.NDArray[np.float64]

_EMPTY: Mapping[str, Any] = MappingProxyType({})

#: No score of a retrieval system is larger; squares and weighted losses of such scores are still finite.
MAX_SCORE = 1e50
#: Beyond this difference a topic, or the average topic, scores noticeably differently in another order.
NOTICEABLE = 1e-3
#: Equal scores matter if they noticeably change more topics than this, and the average topic: of 28 real runs, only
#: the one with BM25 scores cut to whole numbers does (tests/data/runs/test_order.py). A share of the topics
#: would not do: among thousands of topics, hidden losses in one of a hundred are significant.
FEW_REORDERED = 2
#: Among all topics, one or this share is a few.
FEW = 0.05


@dataclass(frozen=True)
class Repeated:
    """Topics that a live system was asked about twice: which answers differ, and the scores of both."""

    topics: tuple[str, ...]
    differing: tuple[str, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]

    @property
    def change(self) -> float:
        """The average change of a topic's score, without its sign."""
        changes = [abs(one - other) for one, other in zip(self.first, self.second, strict=True)]
        return math.fsum(changes) / len(changes)

    @property
    def means(self) -> tuple[float, float]:
        """The mean score of the topics, of the first and of the second answers."""
        return math.fsum(self.first) / len(self.first), math.fsum(self.second) / len(self.second)

    def only(self, topics: Collection[str]) -> Repeated | None:
        """The same of these topics alone; None if there are none."""
        places = [place for place, topic in enumerate(self.topics) if topic in topics]
        if not places:
            return None
        return Repeated(
            tuple(self.topics[place] for place in places),
            tuple(topic for topic in self.differing if topic in topics),
            tuple(self.first[place] for place in places),
            tuple(self.second[place] for place in places),
        )


@dataclass(frozen=True, eq=False)
class TopicScores:
    """One system's score on every judged topic, for one measure.

    Attributes
    ----------
    name : str
        The system, as the verdict names it.
    measure : str or None
        As ir-measures prints it (``nDCG@10``); None for plain mappings.
    topics : tuple of str
        Sorted, each once.
    values : array, shape (n_topics,)
        In units of the measure, finite, in the order of ``topics``; read-only.
    queries : mapping topic -> query text
        Empty where no topics file was given.
    digest : str or None
        ``sha256:...`` of the run or score file, decompressed; None for plain mappings.
    qrels_digest : str or None
        The same for the qrels; None where scores came without them.
    unanswered, unknown, without_relevant : tuple of str
        Judged topics that the run did not answer (they score 0), topics of the run without judgements, and
        topics of the qrels without a relevant document (left out of averages).
    accepted : tuple of str
        Unanswered topics that count as 0 all the same: accepted when a baseline was stored, or judged only since.
    from_run : bool
        Whether the scores were computed from a run (then the judged topics are those of the qrels) rather than
        given as such (then both sides must name the same topics).
    judged : Judged or None
        How much of what the run retrieved is judged; None if there is no run.
    as_written : mapping topic -> value
        The score of a run in the order as written (see ``order``), for each topic where it differs.
    contradicted : tuple of str
        Topics of a run whose rank column, or whose order as returned, contradicts their scores.
    repeated : Repeated or None
        How far the answers of a live system agree that was asked twice.
    """

    name: str
    measure: str | None
    topics: tuple[str, ...]
    values: FloatArray
    queries: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    digest: str | None = None
    qrels_digest: str | None = None
    unanswered: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    without_relevant: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    from_run: bool = False
    judged: Judged | None = None
    as_written: Mapping[str, float] = field(default_factory=lambda: _EMPTY)
    contradicted: tuple[str, ...] = ()
    repeated: Repeated | None = None

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if len(self.topics) == 0:
            raise ScoringError(f"{self.name}: no topic at all", reason="no_common_topic")
        if values.shape != (len(self.topics),):
            raise ValueError(
                f"{self.name}: expected one value per topic ({len(self.topics)}), found shape {values.shape}"
            )
        if not np.all(np.isfinite(values)):
            index = int(np.argmin(np.isfinite(values)))
            raise ScoringError(
                f"{self.name}: the score of topic {self.topics[index]!r} is {values[index]}, expected a finite number"
            )
        sizes = np.abs(values)
        if np.any(sizes > MAX_SCORE):
            raise ScoringError(
                f"{self.name}: the score of topic {self.topics[int(np.argmax(sizes))]!r} is {np.max(sizes):g} in "
                f"size, expected at most {MAX_SCORE:g}"
            )
        if any(one >= other for one, other in pairwise(self.topics)):
            raise ValueError(f"{self.name}: topics must be sorted and each appear once")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def a_few(self) -> float:
        """How many topics a baseline may leave unanswered with nobody's consent."""
        return max(1.0, FEW * len(self.topics))

    @property
    def mean(self) -> float:
        """The mean over topics, all counted the same; their order never changes it."""
        return math.fsum(self.values) / len(self.topics)

    @property
    def reordered(self) -> tuple[str, ...]:
        """The topics that score noticeably differently in the order as written."""
        if not self.as_written:
            return ()
        changed = np.flatnonzero(np.abs(self._written - self.values) > NOTICEABLE)
        return tuple(self.topics[place] for place in changed.tolist())

    @cached_property
    def _written(self) -> FloatArray:
        """The values in the order as written."""
        written, end = np.array(self.values), len(self.topics)
        for topic, value in self.as_written.items():
            place = bisect_left(self.topics, topic)
            if place < end and self.topics[place] == topic:
                written[place] = value
        return written

    @property
    def is_reordered(self) -> bool:
        """Whether the order as written noticeably changes the scores of more than a few topics, and the average."""
        if len(self.reordered) <= FEW_REORDERED:
            return False
        change = math.fsum(np.abs(self._written - self.values))
        return change > NOTICEABLE * len(self.topics)

    def in_written_order(self) -> TopicScores:
        """The scores that the run would have in the order as written."""
        return replace(self, values=self._written, as_written=_EMPTY)

    def scaled(self, factors: Mapping[str, float], *, reach: float) -> TopicScores:
        """The scores with those of some topics multiplied, up to the ``reach`` of the measure."""
        factor = np.array([factors.get(topic, 1.0) for topic in self.topics])
        return replace(self, values=np.where(factor == 1, self.values, np.minimum(self.values * factor, reach)))

    def without(self, topics: Collection[str]) -> TopicScores:
        """The scores on all other topics, of which there must be one."""
        places = [place for place, topic in enumerate(self.topics) if topic not in topics]
        return replace(
            self,
            topics=tuple(self.topics[place] for place in places),
            values=self.values[places],
            unanswered=tuple(topic for topic in self.unanswered if topic not in topics),
        )

    @classmethod
    def from_mapping(cls, scores: Mapping[str, float], *, name: str) -> TopicScores:
        """Scores given as ``{topic: value}``; topics are compared as text."""
        topics = [str(topic) for topic in scores]
        if len(set(topics)) != len(topics):
            twice = sorted({topic for topic in topics if topics.count(topic) > 1})
            raise ScoringError(f"{name}: topic {twice[0]!r} appears twice")
        by_topic = {topic: _number(name, topic, value) for topic, value in zip(topics, scores.values(), strict=True)}
        ordered = sorted(by_topic)
        return cls(name, None, tuple(ordered), np.array([by_topic[t] for t in ordered], dtype=np.float64))


def _number(name: str, topic: str, value: object) -> float:
    """A score as given to Python: a real number, numpy's included, but no text and no truth value."""
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    raise ScoringError(f"{name}: the score of topic {topic!r} is {value!r:.60}, expected a finite number")
