"""Runs: the rankings of one system as columns, made of those that a reader found, and the ranks of documents.

The order as written is by score in 64 bits, for equal scores by the rank column, then by line. Providers break ties
by document id, and pytrec_eval compares scores in 32 bits, where 1699999999 and 1699999998 are equal. A rank column
that does not number the documents of a topic (0 everywhere, for example) is ignored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from itertools import compress, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.checks import (
    GivenLines,
    Groups,
    Numbers,
    Rows,
    Text,
    digest_of,
    grouped,
    parts,
    pieces,
    topics_of_texts,
)
from pytest_riskguard.data.formats import read
from pytest_riskguard.data.given_file import GivenFile, InputData, Queries, Ties
from pytest_riskguard.data.ids import (
    BoolArray,
    FloatArray,
    Ids,
    IntArray,
    first_rows,
    offsets_of,
    rows_of,
    topic_of_rows,
    topics_with,
)
from pytest_riskguard.data.input_files import InputFile, is_address, local_copy
from pytest_riskguard.errors import RunFormatError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import DOCUMENTS, RUN_BYTES, TOPICS

Ranks = npt.NDArray[np.int32]

#: In a rank column: what is no whole number.
NO_RANK = int(np.iinfo(np.int32).min)


class Order(Enum):
    """How the documents of a topic are ranked: by falling score, and equal scores as named."""

    WRITTEN = "written"  # by the rank column, then by line
    SINGLE_DESCENDING = "32 bits, docid descending"  # scores compared in 32 bits
    DESCENDING = "docid descending"
    ASCENDING = "docid ascending"


#: Providers that do not keep the order of the lines where scores are equal.
_ORDERS = {
    "pytrec_eval": Order.SINGLE_DESCENDING,
    "riskguard": Order.DESCENDING,
    **dict.fromkeys(("msmarco", "judged", "compat"), Order.ASCENDING),
}


def order_of(provider: str) -> Order:
    """The order by which an ir-measures provider, given by its name, ranks documents."""
    return _ORDERS.get(provider, Order.WRITTEN)


def lines_of(offsets: IntArray) -> IntArray:
    """The place of each row in its topic, from 0."""
    lines: IntArray = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    return lines


def with_pair(pairs: BoolArray, offsets: IntArray) -> BoolArray:
    """The topics in which something holds of a row and the next one; ``pairs`` loses those that join two topics."""
    pairs[offsets[1:-1] - 1] = False
    return topics_with(pairs, offsets)


def changes(values: npt.NDArray[Any], offsets: IntArray) -> tuple[BoolArray, BoolArray]:
    """The topics in which values rise from some row to the next, and those in which they fall."""
    rises, falls = values[1:] > values[:-1], values[1:] < values[:-1]
    return with_pair(rises, offsets), with_pair(falls, offsets)


def in_order(values: npt.NDArray[Any], offsets: IntArray) -> IntArray:
    """The rows of each topic by rising value, then by line."""
    if not with_pair(values[1:] < values[:-1], offsets).any():
        return np.arange(len(values))
    return np.lexsort((values, topic_of_rows(offsets)))


def order_as_written(run: Run) -> tuple[IntArray, BoolArray, BoolArray]:
    """A number for each row, and the topics whose scores rise, and those whose scores fall, from rank to rank.

    Among equal scores, the row with the lower number comes first in the order as written: its rank where ranks number
    the documents of the topic, else its line. Ranks that number nothing contradict no scores, unless these number the
    lines: then they are the ranks.
    """
    scores, ranks, offsets = run.scores, run.ranks, run.offsets
    lines = lines_of(offsets)
    if ranks is None:
        return lines, *changes(scores, offsets)
    order = in_order(ranks, offsets)
    in_turn, first, lengths = ranks[order], scores[offsets[:-1]], np.diff(offsets)
    is_numbered = ~with_pair(in_turn[1:] == in_turn[:-1], offsets) & ~topics_with(ranks == NO_RANK, offsets)
    are_lines = (lengths > 2) & ((first == 0) | (first == 1))  # two scores may number the lines by chance
    are_lines &= ~topics_with(scores != np.repeat(first, lengths) + lines, offsets)
    rises, falls = changes(scores[order], offsets)
    rises, falls = np.where(is_numbered, (rises, falls), (are_lines, (rises | falls) & ~are_lines))
    return np.where(np.repeat(is_numbered, lengths), ranks, lines), rises, falls


def rows_by_rank(ranks: Ranks, offsets: IntArray) -> IntArray:
    """The rows of each topic by their ranks."""
    rows = np.empty(len(ranks), dtype=np.int64)
    rows[np.repeat(offsets[:-1], np.diff(offsets)) + ranks - 1] = np.arange(len(ranks))
    return rows


def ranking(run: Run) -> dict[Order, Ranks]:
    """The rank of each document of a topic, from 1, in every order.

    Scores mostly fall already from line to line; then only documents with equal scores are put in order.
    """
    lines = (lines_of(run.offsets) + 1).astype(np.int32)
    by_score = in_order(-run.scores, run.offsets)
    untied = np.empty_like(lines)
    untied[by_score] = lines
    doubles = run.scores[by_score]
    singles = doubles.astype(np.float32)
    is_equal = np.append(False, singles[1:] == singles[:-1])  # to the one before, of the same topic
    is_equal[run.offsets[:-1]] = False
    tied = np.flatnonzero(is_equal | np.append(is_equal[1:], False))
    rows, is_equal = by_score[tied], is_equal[tied]
    # The number of the group of equal scores that each tied row is in, for scores of 32 bits and of 64.
    single, double = np.cumsum(~is_equal), np.cumsum(~(is_equal & (doubles[tied] == doubles[tied - 1])))
    # The place of each id among all, which is the same by characters and by bytes.
    documents = np.array(run.documents.at(rows).strings(), dtype=object)
    alphabetical: IntArray = np.unique(documents, return_inverse=True)[1]
    found: dict[Order, Ranks] = {}
    for order, number, group in (
        (Order.WRITTEN, order_as_written(run)[0][rows], double),
        (Order.SINGLE_DESCENDING, -alphabetical, single),
        (Order.DESCENDING, -alphabetical, double),
        (Order.ASCENDING, alphabetical, double),
    ):
        found[order] = untied.copy()
        found[order][rows[np.lexsort((number, group))]] = lines[tied]
    return found


#: The largest 32-bit number: trec_eval holds scores in 32 bits, where larger ones are all infinite.
MAX_RUN_SCORE = (2 - 2**-23) * 2.0**127
LARGEST = f"{MAX_RUN_SCORE:.5g}, the largest number of 32 bits"
#: Topic, documents, scores and line of one ranking.
Ranking = tuple[str, Sequence[str], Sequence[float | None] | None, int | str | None]


@frozen
class Source:
    """Where a run came from, and what is known of it beside its columns.

    Attributes
    ----------
    name : str
        What verdicts call the system; empty where nobody named it.
    file : Path, optional
        For messages.
    digest : str
        ``sha256:...`` of the file, decompressed; of data in memory, of their columns.
    texts : mapping topic -> query text
        Where the run came with both.
    by_text : bool
        Whether ``topics`` of the run are query texts, since it came without ids.
    is_trec : bool
        Whether the run is a file in TREC's format whose scores give the order; ``digest`` is then that of its text.
    ties : 'as_returned' or 'docid'
        Which order counts where scores are equal.
    contradicted : tuple of str
        Topics whose rank column, or whose order as returned, contradicts their scores.
    """

    name: str = ""
    file: Path | None = None
    digest: str = ""
    texts: Queries = field(default_factory=dict)
    by_text: bool = False
    is_trec: bool = False
    ties: Ties = "docid"
    contradicted: tuple[str, ...] = ()


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
        The rank column, ``NO_RANK`` for what is no whole number; None where it numbers the lines, or there is
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

    def at(self, topics: IntArray) -> Run:
        """Some topics, by their places."""
        names = tuple(self.topics[topic] for topic in topics.tolist())
        offsets = offsets_of(np.diff(self.offsets)[topics])
        return replace(self.with_rows(rows_of(self.offsets, topics)), topics=names, offsets=offsets)

    def parts(self) -> Iterator[tuple[slice, Run]]:
        """The run a part at a time, each of whole topics; the slice says which."""
        for topics, rows in parts(self.offsets):
            offsets = self.offsets[topics.start : topics.stop + 1] - rows.start
            yield topics, replace(self.with_rows(rows), topics=self.topics[topics], offsets=offsets)

    def with_rows(self, rows: IntArray | slice) -> Run:
        """These rows; ``topics`` and ``offsets`` stay, for the caller to replace where they no longer fit."""
        ranks = None if self.ranks is None else self.ranks[rows]
        return replace(self, documents=self.documents.at(rows), scores=self.scores[rows], ranks=ranks)

    def names_of(self, chosen: BoolArray) -> tuple[str, ...]:
        """The topics that are chosen."""
        return tuple(compress(self.topics, chosen))

    def by_topic(self) -> dict[str, dict[str, float]]:
        """Topic -> document -> score, for what does not work on columns."""
        pairs, counts = zip(self.documents.strings(), self.scores.tolist(), strict=True), np.diff(self.offsets)
        return {topic: dict(islice(pairs, count)) for topic, count in zip(self.topics, counts.tolist(), strict=True)}

    def with_source(self, **changes: Any) -> Run:
        """The same rankings with other facts about where they came from."""
        return replace(self, source=replace(self.source, **changes))


def names_by_topic(topics: Iterable[str], documents: Ids, counts: IntArray) -> dict[str, tuple[str, ...]]:
    """Topic -> its documents, of which each has so many, topic by topic."""
    names = iter(documents.strings())
    return {topic: tuple(islice(names, count)) for topic, count in zip(topics, counts.tolist(), strict=True)}


def first_documents(run: Run, depths: IntArray) -> tuple[dict[str, tuple[str, ...]], int]:
    """So many documents of each topic, ranked as trec_eval does; how many topics are written in another order."""
    found: dict[str, tuple[str, ...]] = {}
    reordered = 0
    for topics, part in run.parts():
        counts = np.minimum(np.diff(part.offsets), depths[topics])
        ranks = ranking(part)
        ours, written = ranks[Order.SINGLE_DESCENDING], ranks[Order.WRITTEN]
        rows = rows_by_rank(ours, part.offsets)[first_rows(part.offsets[:-1], counts)]
        reordered += int(np.count_nonzero(topics_with(ours[rows] != written[rows], offsets_of(counts))))
        found |= names_by_topic(part.topics, part.documents.at(rows), counts)
    return found, reordered


def _scores(rows: Rows, topics: Ids, documents: Ids, column: Numbers) -> FloatArray:
    """Scores that a run can hold."""
    scores = np.asarray(column, dtype=np.float64)
    if np.any(bad := ~(np.abs(scores) <= MAX_RUN_SCORE)):  # NaN, too
        row = int(np.argmax(bad))
        found = "nothing" if math.isnan(scores[row]) else repr(float(scores[row]))
        expected = f"a finite number as the score of {documents[row]!r:.60} in topic {topics[row]!r:.60}"
        raise rows.error(row, f"expected {expected}, found {found}; the largest is {LARGEST}")
    return scores


def _ranks(column: Numbers) -> Ranks:
    """Ranks as whole numbers, ``NO_RANK`` for others."""
    ranks = np.asarray(column, dtype=np.float64)
    is_whole = np.abs(ranks) < 2.0**31
    is_whole &= ranks % 1 == 0
    return np.where(is_whole, ranks, NO_RANK).astype(np.int32)


def run_of(
    given: InputData,
    topics: Text,
    documents: Text,
    scores: Numbers | None = None,
    ranks: Numbers | None = None,
    *,
    lines: GivenLines = None,
    by_text: bool = False,
    texts: Mapping[str, str] = {},
    ordered: bool = False,
) -> Run:
    """The run whose rows are given: one document each, with its topic and its score.

    Parameters
    ----------
    given : InputData
    topics, documents : Ids or sequence of str, shape (n_rows,)
    scores, ranks : numbers, shape (n_rows,), optional
        NaN or None for nothing. Without scores documents stand in the order of their ranks, else of their lines.
    lines : whole numbers, shape (n_rows,), optional
        For errors.
    by_text : bool
        Whether ``topics`` are query texts, which ``keyed`` replaces by ids.
    texts : mapping topic -> query text
    ordered : bool
        Whether the order of documents is that which users saw, and counts where scores contradict it, unless
        ``given.ties`` says otherwise.

    Raises
    ------
    DataError
        That of ``given``, for an id or a number that a run cannot hold, a document twice in a topic, ranks that
        contradict most scores, or more than a limit allows.
    """
    rows = Rows(given, lines)
    of_row, ids = rows.ids(topics, "query" if by_text else "topic", is_text=by_text), rows.ids(documents, "docid")
    return run_of_groups(
        rows,
        grouped(*pieces(of_row)),
        ids,
        None if scores is None else _scores(rows, of_row, ids, scores),
        None if ranks is None else _ranks(ranks),
        Source(texts=texts, by_text=by_text, ties=given.ties or ("as_returned" if ordered else "docid")),
    )


def run_of_groups(
    rows: Rows, groups: Groups, ids: Ids, scores: FloatArray | None, ranks: Ranks | None, source: Source
) -> Run:
    """A run of rows each of which is fit for one."""
    names, offsets, order = groups
    rows, ids = rows.at(order), ids.at(order)
    rows.given.at_most(TOPICS, len(names))
    rows.given.at_most(DOCUMENTS, int(np.diff(offsets).max(initial=0)))
    rows.once(names, offsets, ids)
    ranks = None if ranks is None else ranks[order]
    if scores is None:
        run = _by_rank(rows, Run(names, offsets, ids, _falling(offsets), ranks, source))
    else:
        run = Run(names, offsets, ids, scores[order], ranks, source)
        run = _as_returned(run) if source.ties == "as_returned" else _by_score(rows, run)
    digest = rows.given.digest or digest_of([Ids.of(names), run.documents], offsets, run.scores)
    return run.with_source(digest=digest)


def _falling(offsets: IntArray) -> FloatArray:
    """Scores that say no more than the order."""
    return (np.repeat(offsets[1:], np.diff(offsets)) - np.arange(offsets[-1])).astype(np.float64)


def _by_rank(rows: Rows, run: Run) -> Run:
    """A run without scores, in the order of its ranks, which must number the documents, or of its lines."""
    if run.ranks is not None:
        order, topics = in_order(run.ranks, run.offsets), topic_of_rows(run.offsets)
        ranks = run.ranks[order]
        again = np.append(False, (ranks[1:] == ranks[:-1]) & (topics[1:] == topics[:-1]))
        if (bad := np.flatnonzero(again | (ranks == NO_RANK))).size:
            row, rank = int(order[bad[0]]), int(ranks[bad[0]])
            expected = f"a whole number as the rank of {run.documents[row]!r:.60}, each once in a topic"
            found = "another cell" if rank == NO_RANK else f"{rank} again"
            raise rows.error(row, f"expected {expected}, found {found}")
        run = replace(run, documents=run.documents.at(order), ranks=None)
    return run.with_source(ties="as_returned")


def _as_returned(run: Run) -> Run:
    """A run whose order counts: scores that give another one, or none in 32 bits, make way for falling numbers."""
    run = run.with_rows(in_order(order_as_written(run)[0], run.offsets))
    single = run.scores.astype(np.float32)
    is_other = with_pair(single[1:] >= single[:-1], run.offsets)
    scores = np.where(np.repeat(is_other, np.diff(run.offsets)), _falling(run.offsets), run.scores)
    contradicted = run.names_of(changes(run.scores, run.offsets)[0])
    return replace(run, scores=scores, ranks=None).with_source(contradicted=contradicted)


def _by_score(rows: Rows, run: Run) -> Run:
    """A run whose scores count, with the topics whose ranks contradict them; refused if every ranking is upside down.

    Without ranks equal scores stand in the order of the document ids, as the lines may stand in any.
    """
    if run.ranks is None and not run.source.is_trec:
        order = [np.zeros(0, dtype=np.int64)]
        for topics, part in run.parts():
            ranks = ranking(part)[Order.DESCENDING]
            order.append(run.offsets[topics.start] + rows_by_rank(ranks, part.offsets))
        return run.with_rows(np.concatenate(order))
    rises, falls = np.zeros((2, len(run.topics)), dtype=bool)
    numbers_lines = True
    for topics, part in run.parts():
        numbers, rises[topics], falls[topics] = order_as_written(part)
        numbers_lines &= part.ranks is None or not changes(numbers, part.offsets)[1].any()
    if np.count_nonzero(rises & ~falls) > np.count_nonzero(falls) and not rows.given.is_part:
        topic = int(np.argmax(rises & ~falls))
        raise rows.error(
            int(run.offsets[topic]) + 1,
            f"expected scores that fall as ranks rise, found scores that rise with the rank in most topics, such as "
            f"{run.topics[topic]!r:.60}: every ranking is upside down",
            "write scores that are higher for better documents (distances and ranks with a minus sign), or say "
            "`ties: as_returned`: then the ranks count",
        )
    run = replace(run, ranks=None) if numbers_lines else run
    return run.with_source(contradicted=run.names_of(rises))


def run_of_rankings(given: InputData, rankings: Iterable[Ranking], **how: Any) -> Run:
    """As ``run_of``, of whole rankings: topic, documents, scores and line of each; each topic once.

    A ranking without scores stands in its order.
    """
    rows: list[tuple[str, str, float | None, int | str | None]] = []
    seen: set[str] = set()
    has_scores = False
    for topic, ranked, scores, line in rankings:
        if topic in seen:
            raise given.refuse(line, f"expected each topic once, found {topic!r:.60} again")
        seen.add(topic)
        has_scores |= scores is not None
        pairs = zip(ranked, scores or range(len(ranked), 0, -1), strict=True)
        rows += [(topic, document, score, line) for document, score in pairs]
    topics, documents, column, lines = zip(*rows, strict=True) if rows else [()] * 4
    return run_of(given, topics, documents, column if has_scores else None, lines=lines, **how)


def keyed(given: InputData, run: Run, queries: Queries | None) -> Run:
    """The run under the ids of its topics, if it came without: found by their query texts."""
    if not run.source.by_text:
        return run
    ids = topics_of_texts(given, run.topics, queries)
    id_of, order = dict(zip(run.topics, ids, strict=True)), np.argsort(np.array(ids, dtype=object), kind="stable")
    topics = tuple(sorted(ids))
    if twice := next((one for one, other in pairwise(topics) if one == other), None):
        raise given.refuse(None, f"expected each topic once, found {twice!r:.60} again")
    return replace(run.at(order), topics=topics).with_source(
        by_text=False,
        contradicted=tuple(sorted(map(id_of.__getitem__, run.source.contradicted))),
        texts={topic: text for text, topic in id_of.items()},
    )


def read_run(given: Path | str | GivenFile, queries: Queries | None = None) -> Run:
    """The run in a file of any format of ``data.formats``, plain or gzip, on this machine or at an address.

    ``queries`` has the texts of topics, for formats that know these by them. ``RunFormatError`` for a file of no
    known format or with bad content, ``MissingFileError`` if it cannot be read, ``UsageError`` for an unknown format.
    """
    given = GivenFile.of(given)
    if is_address(given.path):
        with local_copy(given.path, RUN_BYTES) as path:
            return read_run(replace(given, path=path), queries)
    file = InputFile(given, error=RunFormatError, limit=RUN_BYTES)
    file.queries = queries
    run: Run = read(file, "rankings")
    if not run.topics:
        raise file.refuse(None, "expected rankings, found none")
    return keyed(file, run, queries).with_source(file=file.path)
