"""Runs: the rankings of one system as columns, and from the columns that a reader found to a run."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.checks import Input, Lines, Numbers, Rows, Text, digest_of, grouped, repeated
from pytest_riskguard.data.formats import format_of
from pytest_riskguard.data.given_file import GivenFile, Ties
from pytest_riskguard.data.ids import Ids, IntArray, rows_of, topics_with
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.metadata import Latency, latency_of
from pytest_riskguard.data.ranking import (
    NO_RANK,
    Order,
    RankColumn,
    Ranks,
    lines_of,
    rank_columns,
    ranking,
    topic_of_rows,
)
from pytest_riskguard.data.records import AmbiguousTextError, TopicKeys
from pytest_riskguard.data.remote import is_address, local_copy
from pytest_riskguard.errors import MissingFileError, RunFormatError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import DOCUMENTS, RUN_BYTES, TOPICS

FloatArray = npt.NDArray[np.float64]

_NONE: Mapping[str, Any] = MappingProxyType({})
#: The largest 32-bit number: trec_eval holds scores in 32 bits, where larger ones are all infinite.
MAX_RUN_SCORE = (2 - 2**-23) * 2.0**127
LARGEST = f"{MAX_RUN_SCORE:.5g}, the largest number of 32 bits"
#: Topic, documents, scores, ranks and line of one ranking.
_Column = Sequence[float | None] | None
Ranking = tuple[str | None, Sequence[str], _Column, _Column, int | None]
#: About how many rows are worked on at a time.
ROWS_AT_ONCE = 2**16


@frozen
class Source:
    """Where a run came from, and what is known of it beside its columns.

    Attributes
    ----------
    name : str
        What verdicts call the system; empty where nobody named it.
    file : str
        The name of the file, without its folder, for messages; empty where there is none.
    digest : str
        ``sha256:...`` of a file in TREC's format, decompressed; of other runs, of their content in columns.
    texts : mapping topic -> query text
        Where the run came with both.
    by_text : bool
        Whether ``topics`` of the run are query texts, since it came without ids.
    by_order : int
        How many rankings there were, if ``topics`` are their numbers, since the run came without ids and texts.
    is_trec : bool
        Whether the run is a file in TREC's format, whose text ``digest`` is of, and not in its own order.
    ties : 'as_returned' or 'docid'
        Which order counts where scores are equal.
    contradicted : tuple of str
        Topics whose rank column, or whose order as returned, contradicts their scores.
    metadata : mapping
        What people say about the system; it changes no verdict.
    seconds : tuple of float
        How long each answer of a live system took.
    again : Run, optional
        What a live system returned when it was asked about the topics ``asked_again`` a second time.
    notes : tuple of str
        What the file holds and riskguard does not read, for people.
    """

    name: str = ""
    file: str = ""
    digest: str = ""
    texts: Mapping[str, str] = field(default_factory=lambda: _NONE)
    by_text: bool = False
    by_order: int = 0
    is_trec: bool = False
    ties: Ties = "docid"
    contradicted: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=lambda: _NONE)
    seconds: tuple[float, ...] = ()
    again: Run | None = None
    asked_again: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def latency(self) -> Latency | None:
        """How long the answers took; None for a run that was not queried live."""
        return latency_of(self.seconds)


@frozen(eq=False)
class Run:
    """The rankings of one system.

    Attributes
    ----------
    topics : tuple of str
        Sorted as text, each with at least one document.
    offsets : array of int64, shape (n_topics + 1,)
        The documents of topic i are the rows ``offsets[i]:offsets[i + 1]``, in the order of their lines.
    documents : Ids, shape (n_rows,)
    scores : array of float64, shape (n_rows,)
    ranks : array of int32, shape (n_rows,), or None
        The rank column, ``ranking.NO_RANK`` for what is no whole number; None where it numbers the lines, or there is
        none.
    source : Source
    """

    topics: tuple[str, ...]
    offsets: IntArray
    documents: Ids
    scores: FloatArray
    ranks: Ranks | None = None
    source: Source = field(default_factory=Source)

    def __repr__(self) -> str:
        return f"Run(name={self.name!r}, {len(self.topics):,} topics, {len(self.documents):,} documents)"

    @property
    def name(self) -> str:
        """What verdicts call the system; empty where nobody named it."""
        return self.source.name

    @property
    def texts(self) -> Mapping[str, str]:
        """The query texts that came with the run."""
        return self.source.texts

    @property
    def metadata(self) -> Mapping[str, str]:
        """What people say about the system."""
        return self.source.metadata

    def at(self, topics: IntArray) -> Run:
        """Some topics, by their places."""
        rows = rows_of(self.offsets, topics)
        return replace(
            self,
            topics=tuple(self.topics[topic] for topic in topics.tolist()),
            offsets=np.append(0, np.cumsum(np.diff(self.offsets)[topics])),
            documents=self.documents.at(rows),
            scores=self.scores[rows],
            ranks=None if self.ranks is None else self.ranks[rows],
        )

    def parts(self) -> Iterator[tuple[slice, Run]]:
        """The run a part at a time, each of whole topics; the slice says which."""
        start = 0
        while start < len(self.topics):
            most = int(self.offsets[start]) + ROWS_AT_ONCE
            stop = max(start + 1, int(np.searchsorted(self.offsets, most, side="right")) - 1)
            rows = slice(int(self.offsets[start]), int(self.offsets[stop]))
            yield (
                slice(start, stop),
                replace(
                    self,
                    topics=self.topics[start:stop],
                    offsets=self.offsets[start : stop + 1] - rows.start,
                    documents=self.documents.at(rows),
                    scores=self.scores[rows],
                    ranks=None if self.ranks is None else self.ranks[rows],
                ),
            )
            start = stop

    def by_topic(self) -> dict[str, dict[str, float]]:
        """Topic -> document -> score, for what does not work on columns."""
        names, scores, bounds = self.documents.strings(), self.scores.tolist(), self.offsets.tolist()
        return {
            topic: dict(zip(names[start:stop], scores[start:stop], strict=True))
            for topic, start, stop in zip(self.topics, bounds[:-1], bounds[1:], strict=True)
        }

    def with_source(self, **changes: Any) -> Run:
        """The same rankings with other facts about where they came from."""
        return replace(self, source=replace(self.source, **changes))


def _scores(
    rows: Rows, names: Sequence[str], of_row: IntArray, ids: Ids, column: Numbers | None
) -> FloatArray | None:
    """Scores that a run can hold; None without any."""
    if column is None:
        return None
    scores = np.asarray(column, dtype=np.float64)
    if not len(scores) or np.abs(scores).max() <= MAX_RUN_SCORE:  # NaN fails it
        return scores
    row = int(np.argmin(np.abs(scores) <= MAX_RUN_SCORE))
    found, (document,) = float(scores[row]), ids.at(slice(row, row + 1)).strings()
    expected = "a finite number as the score" if not math.isfinite(found) else f"a score of at most {LARGEST}"
    shown = "nothing" if math.isnan(found) else repr(found)
    raise rows.error(
        row, f"expected {expected} of {document!r:.60} in topic {names[of_row[row]]!r:.60}, found {shown}"
    )


def _ranks(column: Numbers) -> Ranks:
    """Ranks as whole numbers, ``NO_RANK`` for others."""
    ranks = np.asarray(column, dtype=np.float64)
    is_whole = np.abs(ranks) < 2.0**31
    is_whole[is_whole] = ranks[is_whole] % 1 == 0
    return np.where(is_whole, ranks, NO_RANK).astype(np.int32)


def _refuse_bad_ranks(rows: Rows, run: Run, topics: IntArray) -> None:
    """Refuse ranks that stand for scores unless they number the documents of each topic."""
    assert run.ranks is not None
    if len(missing := np.flatnonzero(run.ranks == NO_RANK)):
        (document,) = run.documents.at(missing[:1]).strings()
        raise rows.error(
            int(missing[0]), f"expected a whole number as the rank of {document!r:.60}, found another cell"
        )
    order = np.lexsort((run.ranks, topics))
    ranks, of_topic = run.ranks[order], topics[order]
    twice = np.flatnonzero((ranks[1:] == ranks[:-1]) & (of_topic[1:] == of_topic[:-1]))
    if len(twice):
        first, second = order[twice[0]], order[twice[0] + 1]
        one, other = run.documents.at(np.array([first, second])).strings()
        topic = run.topics[topics[second]]
        two = f"{run.ranks[second]} for both {one!r:.60} and {other!r:.60}"
        raise rows.error(int(second), f"expected each rank once in topic {topic!r:.60}, found {two}")


def _refuse_repeated(rows: Rows, run: Run) -> None:
    """Refuse a document that stands twice in a topic."""
    for chosen, part in run.parts():
        topics = topic_of_rows(part.offsets)
        if (pair := repeated(topics, part.documents)) is None:
            continue
        begin, (first, second) = int(run.offsets[chosen.start]), pair
        (document,) = part.documents.at(slice(second, second + 1)).strings()
        found = f"{document!r:.60} of topic {part.topics[topics[second]]!r:.60}"
        line = rows.line(begin + first)
        if line == rows.line(begin + second):  # none, or that of the whole ranking
            found += " twice"
        else:
            found += f" also on line {line}; keep one of the two lines"
        raise rows.error(begin + second, f"expected each document once per topic, found {found}")


def run_of(
    given: Input,
    topics: Text,
    documents: Text,
    scores: Numbers | None = None,
    ranks: Numbers | None = None,
    *,
    lines: Lines | None = None,
    by_text: bool = False,
    texts: Mapping[str, str] = _NONE,
    ordered: bool = False,
    digest: str | None = None,
    notes: tuple[str, ...] = (),
) -> Run:
    """The run whose rows are given: one document each, with its topic and its score.

    Parameters
    ----------
    given : Input
    topics, documents : Ids or sequence of str, shape (n_rows,)
    scores, ranks : numbers, shape (n_rows,), optional
        NaN or None for nothing. Without scores documents stand in the order of their ranks, else of their lines.
    lines : whole numbers, shape (n_rows,), optional
        For errors.
    by_text : bool
        Whether ``topics`` are query texts, which the keys of ``given``, or later ``keyed``, replace by ids.
    texts : mapping topic -> query text
    ordered : bool
        Whether the order of documents is that which users saw, and counts where scores contradict it, unless
        ``given.ties`` says otherwise.
    digest : str, optional
        Default: that of the content.

    Raises
    ------
    DataError
        That of ``given``, for an id or a number that a run cannot hold, a document twice in a topic, ranks that
        contradict most scores, or more than a limit allows.
    """
    rows = Rows(given, lines)
    places, names = grouped(rows.ids(topics, "query" if by_text else "topic", is_text=by_text))
    ids = rows.ids(documents, "docid")
    found = None if scores is None else _scores(rows, names, places, ids, np.asarray(scores, dtype=np.float64))
    source = Source(texts=texts, by_text=by_text, notes=notes, digest=digest or "")
    counts = given.ties or ("as_returned" if ordered else "docid")
    if found is None:
        counts = "as_returned"  # there is no other order
    of_ranks = None if ranks is None else _ranks(ranks)
    if np.any(places[1:] < places[:-1]):
        order = np.argsort(places, kind="stable")
        places, ids, rows = places[order], ids.at(order), rows.at(order)
        found = None if found is None else found[order]
        of_ranks = None if of_ranks is None else of_ranks[order]
    offsets = np.searchsorted(places, np.arange(len(names) + 1)).astype(np.int64)
    run = _run(rows, names, offsets, ids, found, of_ranks, replace(source, ties=counts))
    return keyed(given, run, given.keys) if by_text and given.keys is not None else run


def run_of_groups(
    given: Input,
    names: tuple[str, ...],
    offsets: IntArray,
    documents: Ids,
    scores: FloatArray,
    ranks: Ranks,
    *,
    lines: Callable[[], IntArray],
    digest: str,
) -> Run:
    """As ``run_of``, of rows that are checked, and stand by topic, sorted as text."""
    source = Source(ties=given.ties or "docid", digest=digest, is_trec=given.ties != "as_returned")
    return _run(Rows(given, lines), names, offsets, documents, scores, ranks, source)


def _run(
    rows: Rows,
    names: tuple[str, ...],
    offsets: IntArray,
    ids: Ids,
    scores: FloatArray | None,
    ranks: Ranks | None,
    source: Source,
) -> Run:
    rows.limit(TOPICS, len(names))
    rows.limit(DOCUMENTS, int(np.diff(offsets).max(initial=0)))
    run = Run(names, offsets, ids, np.zeros(len(ids)) if scores is None else scores, ranks, source)
    _refuse_repeated(rows, run)
    if source.ties == "as_returned":
        run = _as_returned(rows, run, has_scores=scores is not None)
    else:
        run = _by_score(rows, run)
    if source.digest:
        return run
    return run.with_source(digest=digest_of([Ids.of(names), run.documents], offsets, run.scores))


def _by_score(rows: Rows, run: Run) -> Run:
    """A run whose scores count, with the topics whose ranks contradict them; refused if every ranking is upside down.

    Without ranks equal scores stand in the order of the document ids, as the lines may stand in any.
    """
    if run.ranks is None:
        ranks = ranking(run.scores, None, run.offsets, run.documents).ranks[Order.DESCENDING]
        return _reordered(run, np.lexsort((ranks, topic_of_rows(run.offsets))))
    codes = np.zeros(len(run.topics), dtype=np.int8)
    numbers_lines = True
    for topics, part in run.parts():
        codes[topics], numbers = rank_columns(part.scores, part.ranks, part.offsets)
        goes_on = numbers[1:] > numbers[:-1]
        goes_on[part.offsets[1:-1] - 1] = True
        numbers_lines &= bool(goes_on.all())
    inverted = np.isin(codes, (RankColumn.INVERTED, RankColumn.STANDS_FOR_SCORES))
    others = np.isin(codes, (RankColumn.AGREES, RankColumn.CONTRADICTS, RankColumn.NUMBERS_NOTHING))
    if np.count_nonzero(inverted) > np.count_nonzero(others) and not rows.given.is_part:
        topic = int(np.argmax(inverted))
        raise rows.error(
            int(run.offsets[topic]) + 1,
            f"expected scores that fall as ranks rise, found scores that rise with the rank in most topics, such as "
            f"{run.topics[topic]!r:.60}: every ranking is upside down; write scores that are higher for better "
            "documents (distances and ranks with a minus sign), or say `ties: as_returned`: then the ranks count",
        )
    contradicted = np.flatnonzero(inverted | (codes == RankColumn.CONTRADICTS))
    run = replace(run, ranks=None) if numbers_lines else run
    return run.with_source(contradicted=tuple(run.topics[topic] for topic in contradicted.tolist()))


def _as_returned(rows: Rows, run: Run, *, has_scores: bool) -> Run:
    """A run whose order counts: scores that give another one, or none in 32 bits, make way for falling numbers."""
    topics = topic_of_rows(run.offsets)
    _, numbers = rank_columns(run.scores, run.ranks, run.offsets)
    if not has_scores and run.ranks is not None:
        _refuse_bad_ranks(rows, run, topics)
        numbers = run.ranks.astype(np.int64)
    run = _reordered(run, np.lexsort((numbers, topics)))
    lengths = np.diff(run.offsets)
    falling = (np.repeat(lengths, lengths) - lines_of(run.offsets)).astype(np.float64)
    if not has_scores:
        return replace(run, scores=falling, ranks=None)
    is_last = np.zeros(len(topics), dtype=bool)
    is_last[run.offsets[1:] - 1] = True
    single = run.scores.astype(np.float32)
    is_other = topics_with((single[1:] >= single[:-1]) & ~is_last[:-1], run.offsets)
    contradicts = topics_with((run.scores[1:] > run.scores[:-1]) & ~is_last[:-1], run.offsets)
    scores = np.where(np.repeat(is_other, lengths), falling, run.scores)
    names = tuple(run.topics[topic] for topic in np.flatnonzero(contradicts).tolist())
    return replace(run, scores=scores, ranks=None).with_source(contradicted=names)


def _reordered(run: Run, order: IntArray) -> Run:
    """The same topics with their rows in another order."""
    if np.array_equal(order, np.arange(len(order))):
        return run
    ranks = None if run.ranks is None else run.ranks[order]
    return replace(run, documents=run.documents.at(order), scores=run.scores[order], ranks=ranks)


def run_of_rankings(
    given: Input,
    rankings: Iterable[Ranking],
    *,
    by_text: bool = False,
    texts: Mapping[str, str] = _NONE,
    ordered: bool = False,
    notes: tuple[str, ...] = (),
) -> Run:
    """As ``run_of``, of whole rankings: topic, documents, scores, ranks and line of each; each topic once.

    A ranking without scores stands in its order; a topic of None is one whose place says which it is (``keyed``).
    """
    topics: list[str] = []
    documents: list[str] = []
    scores: list[float | None] = []
    ranks: list[float | None] = []
    lines: list[int | None] = []
    seen: set[str] = set()
    by_order, has_scores, has_ranks = 0, False, True
    for number, (topic, names, of_scores, of_ranks, line) in enumerate(rankings):
        if topic is None:
            topic, by_order = str(number), number + 1
        elif topic in seen:
            raise given.refuse(line, f"expected each topic once, found {topic!r:.60} again")
        seen.add(topic)
        topics += [topic] * len(names)
        documents += names
        has_scores |= of_scores is not None
        has_ranks &= of_ranks is not None
        scores += map(float, range(len(names), 0, -1)) if of_scores is None else of_scores
        ranks += [] if of_ranks is None else of_ranks
        lines += [line] * len(names)
    run = run_of(
        given,
        topics,
        documents,
        scores if has_scores else None,
        ranks if has_ranks else None,
        lines=None if not any(lines) else lines,
        by_text=by_text,
        texts=texts,
        ordered=ordered,
        notes=notes,
    )
    if not by_order:
        return run
    run = run.with_source(by_text=True, by_order=by_order)
    return run if given.keys is None else keyed(given, run, given.keys)


def keyed(given: Input, run: Run, keys: TopicKeys) -> Run:
    """The run under the ids of its topics, which it came without: found by their query texts, or by their order."""
    if not run.source.by_text:
        return run
    if run.source.by_order:
        try:
            ids = dict(enumerate(keys.in_order(run.source.by_order)))
        except ValueError as problem:
            expected = "an id beside each ranking, or as many rankings as the topics file has topics"
            raise given.refuse(None, f"expected {expected}; found {problem}") from None
        names = [ids[int(topic)] for topic in run.topics]
    else:
        try:
            names = [keys.id_of(text) for text in run.topics]
        except AmbiguousTextError as problem:
            raise given.refuse(None, f"expected queries that name one topic each; {problem}") from None
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise given.refuse(None, f"expected each topic once, found {twice!r:.60} again")
    order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
    sorted_run = replace(run.at(order), topics=tuple(names[place] for place in order.tolist()))
    by_id = dict(zip(run.topics, names, strict=True))
    texts = {} if run.source.by_order else {name: text for text, name in by_id.items()}
    contradicted = tuple(sorted(by_id[topic] for topic in run.source.contradicted))
    return sorted_run.with_source(by_text=False, by_order=0, contradicted=contradicted, texts=texts)


def read_run(given: Path | str | GivenFile, keys: TopicKeys | None = None) -> Run:
    """The run in a file of any format of ``data.formats``, plain or gzip, on this machine or at an address.

    ``keys`` finds the topics of formats that know queries by their texts. ``RunFormatError`` for a file of no known
    format or with bad content, ``MissingFileError`` if it cannot be read, ``UsageError`` for an unknown format.
    """
    given = GivenFile.of(given)
    if is_address(given.path):
        with local_copy(given.path, RUN_BYTES) as path:
            return read_run(replace(given, path=path), keys)
    if os.path.isdir(given.path):  # noqa: PTH112 - it raises nothing
        raise MissingFileError(
            given.path,
            None,
            "expected a run in one file, found a folder; put its parts into one file, or score them where they are "
            "and give the folder of scores",
        )
    file = InputFile(given, error=RunFormatError, limit=RUN_BYTES, keys=keys or TopicKeys())
    run: Run = format_of(file, "rankings").reader("rankings")(file)
    if not run.topics:
        raise file.refuse(None, "expected rankings, found none")
    return run.with_source(file=file.name)
