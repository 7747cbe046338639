"""Per-topic scores of one system for one measure: what every gate compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import ScoringError

FloatArray = npt.NDArray[np.float64]

_EMPTY: Mapping[str, str] = MappingProxyType({})

#: No score of a retrieval system is larger; squares and weighted losses of such scores are still finite.
MAX_SCORE = 1e50


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
        The same of the qrels; None where scores came without them.
    unanswered, unknown, without_relevant : tuple of str
        Judged topics that the run did not answer (they score 0), topics of the run without judgements, and
        topics of the qrels without a relevant document (in no average).
    from_run : bool
        Whether the scores were computed from a run (then the judged topics are those of the qrels) rather than
        given as such (then both sides must name the same topics).
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
    from_run: bool = False

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if len(self.topics) == 0:
            raise ScoringError(f"{self.name}: no topic at all", reason="no_common_topic")
        if values.shape != (len(self.topics),):
            raise ValueError(
                f"{self.name}: expected one value per topic ({len(self.topics)}), found shape {values.shape}"
            )
        if not np.all(np.isfinite(values)):
            topic = self.topics[int(np.flatnonzero(~np.isfinite(values))[0])]
            raise ScoringError(
                f"{self.name}: the score of topic {topic!r} is {values[self.topics.index(topic)]}, expected a "
                "finite number"
            )
        if np.any(np.abs(values) > MAX_SCORE):
            topic = self.topics[int(np.argmax(np.abs(values)))]
            raise ScoringError(
                f"{self.name}: the score of topic {topic!r} is {np.max(np.abs(values)):g} in size, expected at most "
                f"{MAX_SCORE:g}"
            )
        if list(self.topics) != sorted(set(self.topics)):
            raise ValueError(f"{self.name}: topics must be sorted and each appear once")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

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
