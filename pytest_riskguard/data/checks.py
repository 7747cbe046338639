"""From the columns that a reader found to a table, with every check of what they hold, once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.given_file import Ties
from pytest_riskguard.data.ids import Ids, IntArray, begins_of, topics_with
from pytest_riskguard.data.ranking import NO_RANK, Order, RankColumn, lines_of, rank_columns, ranking, topic_of_rows
from pytest_riskguard.data.records import AmbiguousTextError, TopicKeys
from pytest_riskguard.data.tables import FloatArray, Run, Source, digest_of
from pytest_riskguard.data.text_files import is_identifier
from pytest_riskguard.errors import DataError
from pytest_riskguard.limits import DOCUMENTS, LINE_BYTES, ROW_BYTES, TOPICS, Limit

Text = Ids | Sequence[str]
Numbers = npt.NDArray[np.floating] | npt.NDArray[np.integer] | Sequence[float | None]
#: Topic, documents, scores, ranks and line of one ranking.
_Column = Sequence[float | None] | None
_Ranking = tuple[str | None, Sequence[str], _Column, _Column, int | None]
Lines = npt.NDArray[np.integer] | Sequence[int | None]

#: The largest 32-bit number: trec_eval holds scores in 32 bits, where larger ones are all infinite.
MAX_RUN_SCORE = (2 - 2**-23) * 2.0**127
LARGEST = f"{MAX_RUN_SCORE:.5g}, the largest number of 32 bits"
_NO_TEXTS: Mapping[str, str] = MappingProxyType({})
#: An odd number without a pattern in its bits: the same document in two topics has different keys.
_SPREAD = np.uint64(0xD6E8FEB86659FD93)
_NO_CODES = np.zeros(0, dtype=np.int8)


class Input(Protocol):
    """Where columns come from, a file or an object in memory: its name, and the error to raise for a row."""

    @property
    def name(self) -> str:
        """What errors and verdicts call it."""

    def refuse(self, line: int | None, problem: str) -> DataError:
        """The error to raise; ``line`` is None if it concerns the whole."""


class _Rows:
    """The rows of a table on their way in, and the error to raise for one of them."""

    def __init__(self, given: Input, lines: Lines | None) -> None:
        self.given, self._lines = given, lines

    def line(self, row: int) -> int | None:
        line = None if self._lines is None else self._lines[row]
        return None if line is None else int(line)

    def error(self, row: int, problem: str) -> DataError:
        return self.given.refuse(self.line(row), problem)

    def ids(self, column: Text, what: str, *, is_text: bool = False) -> Ids:
        """A column of ids, none too long, each on one line without spaces around it; texts may be any."""
        try:
            ids = column if isinstance(column, Ids) else Ids.of(column)
        except UnicodeEncodeError:
            row, text = next(
                (row, text) for row, text in enumerate(cast(Sequence[str], column)) if not _is_whole(text)
            )
            raise self.error(row, f"expected text as the {what}, found half of a character in {text!r:.60}") from None
        limit = LINE_BYTES if is_text else ROW_BYTES
        self._lengths(ids, limit)
        if is_text:
            return ids
        for row in np.flatnonzero(ids.odd).tolist():
            (text,) = ids.at(slice(row, row + 1)).strings()
            if not is_identifier(text):
                raise self.error(row, f"expected a {what} on one line, without spaces around it, found {text!r:.60}")
        return ids

    def _lengths(self, ids: Ids, limit: Limit) -> None:
        most = limit.value
        if int(ids.lengths.max(initial=0)) > most:
            row = int(np.argmax(ids.lengths > most))
            start = ids.at(slice(row, row + 1)).text[int(ids.starts[row]) :][:80].tobytes().decode(errors="replace")
            raise self.error(row, f"{start[:20] + '…'!r}: {limit.problem(int(ids.lengths[row]))}")

    def scores(self, names: Sequence[str], of_row: IntArray, ids: Ids, column: Numbers | None) -> FloatArray | None:
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
        raise self.error(
            row, f"expected {expected} of {document!r:.60} in topic {names[of_row[row]]!r:.60}, found {shown}"
        )

    def ranks(self, column: Numbers) -> IntArray:
        """Ranks as whole numbers, ``NO_RANK`` for others."""
        ranks = np.asarray(column, dtype=None if isinstance(column, np.ndarray) else np.float64)
        if ranks.dtype.kind == "i":
            return ranks.astype(np.int64, copy=False)
        is_whole = np.abs(ranks) < 2.0**62
        is_whole[is_whole] = ranks[is_whole] % 1 == 0
        return np.where(is_whole, ranks, 0).astype(np.int64) + np.where(is_whole, 0, NO_RANK)

    def refuse_bad_ranks(self, run: Run, topics: IntArray) -> None:
        """Refuse ranks that stand for scores unless they number the documents of each topic."""
        assert run.ranks is not None
        if len(missing := np.flatnonzero(run.ranks == NO_RANK)):
            (document,) = run.documents.at(missing[:1]).strings()
            raise self.error(
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
            raise self.error(int(second), f"expected each rank once in topic {topic!r:.60}, found {two}")

    def refuse_repeated(self, run: Run) -> None:
        """Refuse a document that stands twice in a topic."""
        for chosen, part in run.parts():
            topics = topic_of_rows(part.offsets)
            keys = part.documents.hashes ^ (topics.astype(np.uint64) * _SPREAD)
            ordered = np.sort(keys)
            if not (equal := ordered[1:] == ordered[:-1]).any():
                continue
            some = np.flatnonzero(np.isin(keys, ordered[1:][equal]))
            seen: dict[tuple[int, str], int] = {}
            pairs = zip(topics[some].tolist(), part.documents.at(some).strings(), strict=True)
            for row, pair in zip((some + run.offsets[chosen.start]).tolist(), pairs, strict=True):
                if (first := seen.setdefault(pair, row)) == row:
                    continue
                what = f"{pair[1]!r:.60} of topic {part.topics[pair[0]]!r:.60}"
                if (line := self.line(first)) is None:
                    found = f"{what} twice"
                else:
                    found = f"{what} also on line {line}; keep one of the two lines"
                raise self.error(row, f"expected each document once per topic, found {found}")


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def run_of(
    given: Input,
    topics: Text,
    documents: Text,
    scores: Numbers | None = None,
    ranks: Numbers | None = None,
    *,
    lines: Lines | None = None,
    by_text: bool = False,
    texts: Mapping[str, str] = _NO_TEXTS,
    ordered: bool = False,
    ties: Ties | None = None,
    digest: str | None = None,
    notes: tuple[str, ...] = (),
    checked: bool = False,
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
        Whether ``topics`` are query texts; ``keyed`` finds their ids.
    texts : mapping topic -> query text
    ordered : bool
        Whether the order of documents is that which users saw, and counts where scores contradict it, unless
        ``ties`` says otherwise.
    ties : 'as_returned' or 'docid', optional
    digest : str, optional
        Default: that of the content.
    checked : bool
        Whether ids are known to be on one line, as fields between white space are.

    Raises
    ------
    DataError
        That of ``given``, for an id or a number that a run cannot hold, a document twice in a topic, ranks that
        contradict most scores, or more than a limit allows.
    """
    rows = _Rows(given, lines)
    of_row, names = _grouped(rows.ids(topics, "query" if by_text else "topic", is_text=by_text or checked))
    ids = rows.ids(documents, "docid", is_text=checked)
    found = rows.scores(names, of_row, ids, scores)
    placed = None if ranks is None else rows.ranks(ranks)
    if np.any(of_row[1:] < of_row[:-1]):
        order = np.argsort(of_row, kind="stable")
        of_row, ids, found = of_row[order], ids.at(order), None if found is None else found[order]
        placed = None if placed is None else placed[order]
        rows = _Rows(given, None if lines is None else np.asarray(lines, dtype=object)[order])
    offsets = np.searchsorted(of_row, np.arange(len(names) + 1)).astype(np.int64)
    for limit, count in ((TOPICS, len(names)), (DOCUMENTS, int(np.diff(offsets).max(initial=0)))):
        if count > limit.value:
            raise given.refuse(None, limit.problem(count))
    counts = ties or ("as_returned" if ordered or found is None else "docid")
    source = Source(texts=texts, by_text=by_text, ties=counts, notes=notes)
    run = Run(names, offsets, ids, np.zeros(len(ids)) if found is None else found, placed, source)
    rows.refuse_repeated(run)
    if counts == "as_returned":
        run = _as_returned(rows, run, has_scores=found is not None)
    else:
        run = _by_score(rows, run)
    return run.with_source(digest=digest or digest_of([Ids.of(names), run.documents], offsets, run.scores))


def _grouped(topics: Ids) -> tuple[IntArray, tuple[str, ...]]:
    """The topic of each row by its place among all, sorted as text, and their names."""
    if not len(topics):
        return np.zeros(0, dtype=np.int64), ()
    begins = np.flatnonzero(begins_of(topics))
    heads = topics.at(begins).strings()
    names = tuple(sorted(set(heads)))
    places = {name: place for place, name in enumerate(names)}
    lengths = np.diff(np.append(begins, len(topics)))
    return np.repeat(np.fromiter(map(places.__getitem__, heads), np.int64, len(heads)), lengths), names


def _by_score(rows: _Rows, run: Run) -> Run:
    """A run whose scores count, with the topics whose ranks contradict them; refused if every ranking is upside down.

    Without ranks equal scores stand in the order of the document ids, as the lines may stand in any.
    """
    if run.ranks is None:
        ranks = ranking(run.scores, None, run.offsets, run.documents).ranks[Order.DESCENDING]
        return _reordered(run, np.lexsort((ranks, topic_of_rows(run.offsets))))
    codes = np.concatenate([rank_columns(p.scores, p.ranks, p.offsets)[0] for _, p in run.parts()] or [_NO_CODES])
    inverted = np.isin(codes, (RankColumn.INVERTED, RankColumn.STANDS_FOR_SCORES))
    others = np.isin(codes, (RankColumn.AGREES, RankColumn.CONTRADICTS, RankColumn.NUMBERS_NOTHING))
    if np.count_nonzero(inverted) > np.count_nonzero(others):
        topic = int(np.argmax(inverted))
        raise rows.error(
            int(run.offsets[topic]) + 1,
            f"expected scores that fall as ranks rise, found scores that rise with the rank in most topics, such as "
            f"{run.topics[topic]!r:.60}: every ranking is upside down; write scores that are higher for better "
            "documents (distances and ranks with a minus sign), or say `ties: as_returned`: then the ranks count",
        )
    contradicted = np.flatnonzero(inverted | (codes == RankColumn.CONTRADICTS))
    return run.with_source(contradicted=tuple(run.topics[topic] for topic in contradicted.tolist()))


def _as_returned(rows: _Rows, run: Run, *, has_scores: bool) -> Run:
    """A run whose order counts: scores that give another one, or none in 32 bits, make way for falling numbers."""
    topics = topic_of_rows(run.offsets)
    _, numbers = rank_columns(run.scores, run.ranks, run.offsets)
    if not has_scores and run.ranks is not None:
        rows.refuse_bad_ranks(run, topics)
        numbers = run.ranks
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
    rankings: Iterable[
        tuple[str | None, Sequence[str], Sequence[float | None] | None, Sequence[float | None] | None, int | None]
    ],
    *,
    by_text: bool = False,
    texts: Mapping[str, str] = _NO_TEXTS,
    ordered: bool = False,
    ties: Ties | None = None,
    notes: tuple[str, ...] = (),
) -> Run:
    """As ``run_of``, of whole rankings: topic, documents, scores, ranks and line of each; each topic once.

    Either all rankings have scores, or none; a topic of None is one whose place says which it is (``Run.keyed``).
    """
    topics: list[str] = []
    documents: list[str] = []
    scores: list[float | None] = []
    ranks: list[float | None] = []
    lines: list[int | None] = []
    seen: set[str] = set()
    by_order, without_scores, without_ranks = 0, False, False
    for number, (topic, names, of_scores, of_ranks, line) in enumerate(rankings):
        if topic is None:
            topic, by_order = str(number), number + 1
        elif topic in seen:
            raise given.refuse(line, f"expected each topic once, found {topic!r:.60} again")
        seen.add(topic)
        topics += [topic] * len(names)
        documents += names
        without_scores |= of_scores is None and bool(names)
        without_ranks |= of_ranks is None
        scores += of_scores or [math.nan] * len(names)
        ranks += of_ranks or [math.nan] * len(names)
        lines += [line] * len(names)
    run = run_of(
        given,
        topics,
        documents,
        None if without_scores else scores,
        None if without_ranks else ranks,
        lines=None if not any(lines) else lines,
        by_text=by_text or bool(by_order),
        texts=texts,
        ordered=ordered,
        ties=ties,
        notes=notes,
    )
    return run.with_source(by_order=by_order) if by_order else run


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
