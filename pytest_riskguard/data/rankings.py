"""Runs in memory, checked as strictly as files of runs, and written as such."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import IO

from pytest_riskguard.data.given_file import Ties
from pytest_riskguard.data.input_files import bytes_beyond
from pytest_riskguard.data.metadata import Latency, latency_of
from pytest_riskguard.data.order import has_ties, untied
from pytest_riskguard.data.row_blocks import LARGEST, MAX_RUN_SCORE, Chunk, Documents, chunked
from pytest_riskguard.data.text_files import escaped, is_identifier
from pytest_riskguard.errors import DataError
from pytest_riskguard.limits import ROW_BYTES

DEFAULT_TAG = "riskguard"


@dataclass(frozen=True, eq=False)
class Rankings:
    """A run in memory, as a live search returned it; made by ``rankings_as_run``.

    Attributes
    ----------
    by_topic : mapping topic -> tuple of (docid, score)
        Topics sorted as text, without those whose ranking is empty; documents as they are ranked: by score, then
        docid, both descending.
    digest : str
        ``sha256:...`` of the file that ``write_run`` writes with the default tag.
    contradicted : tuple of str
        Topics whose documents were returned in another order than that of their scores.
    again : Rankings, optional
        What the system returned when it was asked about the topics ``asked_again`` a second time.
    seconds : tuple of float
        How long each answer took; the scores do not depend on it.
    ties : 'as_returned' or 'docid'
        Which order counts where scores are equal.
    """

    by_topic: Mapping[str, tuple[tuple[str, float], ...]]
    digest: str
    contradicted: tuple[str, ...] = ()
    again: Rankings | None = None
    asked_again: tuple[str, ...] = ()
    seconds: tuple[float, ...] = field(default=(), compare=False)
    ties: Ties = field(default="docid", compare=False)

    @property
    def latency(self) -> Latency | None:
        """How long the answers took; None for a run that was not queried live."""
        return latency_of(self.seconds)

    def chunks(self) -> Iterator[Chunk]:
        """The rankings, about 20 topics at a time."""
        return chunked((topic, Documents(ranking)) for topic, ranking in self.by_topic.items())


def rankings_as_run(rankings: Mapping[str, Iterable[tuple[str, float]]], *, as_returned: bool = False) -> Rankings:
    """Check rankings in memory (topic to pairs of docid and score) as strictly as a run file, and compute the digest.

    Ids are taken as text. A topic without documents counts as not answered. ``as_returned`` says that documents are
    in the order that people see: where scores give another one or, in 32 bits, none, whole numbers that fall with
    the rank take their place. Otherwise scores alone give the order. ``DataError`` for an id that a run file
    could not hold (empty, spaces around it, several lines, not encodable), a score that is not a finite number, an
    entry that is not a pair, or a document twice in a topic.
    """
    by_topic: dict[str, tuple[tuple[str, float], ...]] = {}
    contradicted, most = [], ROW_BYTES.value
    for key, ranking in rankings.items():
        topic = _identifier(key, most, what="topic", where="rankings")
        if topic in by_topic:
            raise _bad_rankings(f"expected each topic once, found {topic!r} twice")
        documents = _checked_ranking(topic, ranking, most)
        falling = sorted(documents.items(), key=lambda item: (item[1], item[0]), reverse=True)
        if as_returned and (has_ties(documents.values()) or list(documents.items()) != falling):
            if list(documents.values()) != [score for _, score in falling]:
                contradicted.append(topic)
            falling = list(untied(list(documents)).items())
        by_topic[topic] = tuple(falling)
    ordered = {topic: by_topic[topic] for topic in sorted(by_topic) if by_topic[topic]}
    digest = hashlib.sha256()
    for line in _run_lines(ordered, DEFAULT_TAG):
        digest.update(line.encode())
    return Rankings(
        MappingProxyType(ordered),
        f"sha256:{digest.hexdigest()}",
        tuple(sorted(contradicted)),
        ties="as_returned" if as_returned else "docid",
    )


def write_run(target: Path | IO[bytes], run: Rankings, *, tag: str = DEFAULT_TAG) -> None:
    """Write rankings in the format of TREC: UTF-8, LF, ranks from 1, scores that read back exactly.

    A path is written uncompressed; for gzip, pass an open ``gzip.GzipFile``. ``tag`` is the sixth column.
    """
    if tag.split() != [tag]:
        raise _bad_rankings(f"run: expected a tag without spaces, found {tag!r}")
    if isinstance(target, Path):
        with target.open("wb") as file:
            write_run(file, run, tag=tag)
        return
    target.writelines(line.encode() for line in _run_lines(run.by_topic, tag))


def _run_lines(by_topic: Mapping[str, tuple[tuple[str, float], ...]], tag: str) -> Iterator[str]:
    for topic, ranking in by_topic.items():
        for rank, (document, score) in enumerate(ranking, start=1):
            second, topic_field, document_field = escaped("Q0", topic, document)
            yield f"{topic_field} {second} {document_field} {rank} {score!r} {tag}\n"


def _checked_ranking(topic: str, ranking: Iterable[tuple[str, float]], most: int) -> dict[str, float]:
    documents: dict[str, float] = {}
    for entry in ranking:
        try:
            key, value = entry
            score = float(value)
        except (TypeError, ValueError, OverflowError):
            raise _bad_rankings(f"topic {topic!r}: expected (docid, score), found {entry!r}") from None
        document = _identifier(key, most, what="docid", where=f"topic {topic!r}")
        if not abs(score) <= MAX_RUN_SCORE:
            expected = f"a score of at most {LARGEST}" if math.isfinite(score) else "a finite number as the score"
            raise _bad_rankings(f"topic {topic!r}: expected {expected} of {document!r}, found {score!r}")
        if document in documents:
            raise _bad_rankings(f"topic {topic!r}: expected each document once, found {document!r} twice")
        documents[document] = score
    return documents


def _identifier(value: object, most: int, *, what: str, where: str) -> str:
    text = str(value)
    if not is_identifier(text):
        raise _bad_rankings(f"{where}: expected a {what} on one line, without spaces around it, found {text!r:.60}")
    if size := bytes_beyond(text, most):
        raise _bad_rankings(f"{where}: {what} {text[:20] + '…'!r}: {ROW_BYTES.problem(size)}")
    return text


def _bad_rankings(problem: str) -> DataError:
    return DataError(problem, reason="bad_run")
