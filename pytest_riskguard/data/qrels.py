"""Relevance judgements as columns, made of those that a reader found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pytest_riskguard.data.checks import (
    GivenLines,
    Groups,
    Numbers,
    Rows,
    Text,
    digest_of,
    grouped,
    pieces,
    topics_of_texts,
)
from pytest_riskguard.data.formats import read_given
from pytest_riskguard.data.given_file import AS_GIVEN, GivenFile, InputData, LabelRules, Queries
from pytest_riskguard.data.headers import whole
from pytest_riskguard.data.ids import FloatArray, Ids, IntArray, offsets_of, places_among, rows_of, topic_of_rows
from pytest_riskguard.errors import QrelsFormatError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import DOCUMENTS, JUDGEMENTS, MAX_GRADE, TOPICS

Grades = Mapping[str, Mapping[str, float]]
#: Topic, document, grade, judge and line.
Row = tuple[str, str, float, str, int | None]


@frozen(eq=False)
class JudgementArrays:
    """Grades by row, grouped by topic.

    Attributes
    ----------
    topics : tuple of str
        In ``Qrels.arrays`` the scored topics, sorted as text.
    offsets : array, shape (n_topics + 1,)
        The judgements of topic i are the rows ``offsets[i]:offsets[i + 1]``.
    documents : Ids, shape (n_rows,)
    grades : array of float64, shape (n_rows,)
        As the file gives them, by document where its ids name passages.
    """

    topics: tuple[str, ...]
    offsets: IntArray
    documents: Ids
    grades: FloatArray

    def names(self) -> list[tuple[str, str]]:
        """Topic and document of each row."""
        topics = map(self.topics.__getitem__, topic_of_rows(self.offsets).tolist())
        return list(zip(topics, self.documents.strings(), strict=True))

    def regraded(self, grades: Mapping[tuple[str, str], float]) -> JudgementArrays:
        """The same topics with other documents and grades, which must come by topic, in the order of topics here."""
        counts = Counter(topic for topic, _ in grades)
        return JudgementArrays(
            self.topics,
            offsets_of(np.array([counts[topic] for topic in self.topics], dtype=np.int64)),
            Ids.of([document for _, document in grades]),
            np.array([*grades.values()], dtype=np.float64),
        )

    def of_topic(self, place: int) -> dict[str, float]:
        """Document -> grade of one topic; whole grades are integers."""
        rows = slice(int(self.offsets[place]), int(self.offsets[place + 1]))
        return dict(zip(self.documents.at(rows).strings(), map(whole, self.grades[rows].tolist()), strict=True))

    def at(self, places: IntArray) -> JudgementArrays:
        """Some topics, by their places."""
        rows = rows_of(self.offsets, places)
        return JudgementArrays(
            tuple(self.topics[place] for place in places.tolist()),
            offsets_of(np.diff(self.offsets)[places]),
            self.documents.at(rows),
            self.grades[rows],
        )

    @cached_property
    def highest(self) -> FloatArray:
        """The highest grade of each topic."""
        highest: FloatArray = np.maximum.reduceat(self.grades, self.offsets[:-1])
        return highest

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Topic -> its place."""
        return {topic: place for place, topic in enumerate(self.topics)}

    def places_of(self, topics: Sequence[str]) -> IntArray:
        """The place of each of these topics, which must have judgements."""
        return np.fromiter(map(self.places.__getitem__, topics), np.int64, len(topics))


def judgement_rows(arrays: JudgementArrays, places: IntArray, offsets: IntArray, documents: Ids) -> IntArray:
    """The judgement of each document.

    Parameters
    ----------
    arrays : JudgementArrays
    places : array of int64, shape (n_topics,)
        Scored topics, each once: their places in ``arrays.topics``.
    offsets : array of int64, shape (n_topics + 1,)
        The documents of topic i are the rows ``offsets[i]:offsets[i + 1]``.
    documents : Ids, shape (n_rows,)

    Returns
    -------
    array of int64, shape (n_rows,)
        The row of its judgement in ``arrays``; -1 if a document is not judged.
    """
    judged = rows_of(arrays.offsets, places)
    topics, judged_topics = np.repeat(places, np.diff(offsets)), np.repeat(places, np.diff(arrays.offsets)[places])
    found = places_among(topics, documents, judged_topics, arrays.documents.at(judged))
    return np.append(judged, -1)[found]


class _Grades(Mapping[str, Mapping[str, float]]):
    """topic -> document -> grade of judgements in columns, each topic made when it is asked for."""

    def __init__(self, *tables: JudgementArrays) -> None:
        self._places = {topic: (table, place) for table in tables for topic, place in table.places.items()}
        self._of_topic = cache(JudgementArrays.of_topic)

    def __getitem__(self, topic: str) -> Mapping[str, float]:
        return self._of_topic(*self._places[topic])

    def __contains__(self, topic: object) -> bool:
        return topic in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@frozen(eq=False)
class Qrels:
    """The judgements of one collection.

    Attributes
    ----------
    path_name : str
        The file's name, without its folder.
    digest : str
        ``sha256:...`` of the file, decompressed, or of the content of data in memory; and of the rules that change
        scores.
    arrays : JudgementArrays
        The judgements of topics with a relevant document, which are scored; by document where ids name passages.
    others : JudgementArrays
        Those of the other judged topics.
    texts : mapping topic -> query text
        Of formats that hold them; empty for TREC's.
    rules : LabelRules
        What is said about the judgements as a whole.
    """

    path_name: str
    digest: str
    arrays: JudgementArrays
    others: JudgementArrays
    texts: Queries = field(default_factory=dict)
    rules: LabelRules = AS_GIVEN

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics with at least one relevant document, sorted as text: those that are scored."""
        return self.arrays.topics

    @property
    def without_relevant(self) -> tuple[str, ...]:
        """The other judged topics, sorted as text."""
        return self.others.topics

    @cached_property
    def grades(self) -> Grades:
        """Every judgement by topic and document; whole grades are integers."""
        return _Grades(self.arrays, self.others)


def read_qrels(
    given: Path | str | GivenFile | Any, queries: Mapping[str, str] | None = None, *, labels: LabelRules | None = None
) -> Qrels:
    """Read judgements: a file in any format of ``data.formats``, plain or gzip, or data in memory.

    Data are a mapping topic -> document -> grade (or topic -> relevant documents), a frame, ranx' ``Qrels``, or rows
    with named fields.

    ``queries`` has the texts of topics, for formats that know these by them. The median of several judges' grades
    counts. ``labels`` says what the settings of a ``collection`` say. A document judged twice in a topic is refused
    even when both grades agree, as trec_eval does: the file was put together wrongly, other rows may be wrong too.

    Raises
    ------
    QrelsFormatError
        A file of no known format; a row without the columns of its format, a grade that is not a number or is beyond
        ``MAX_GRADE`` in either direction or the declared scale, a document twice in a topic, more than a limit of
        ``limits`` allows, no rows, or no relevant document.
    MissingFileError
        The path cannot be read.
    TypeError
        Data of another shape.
    """
    qrels: Qrels = read_given(given, "judgements", QrelsFormatError, queries=queries, labels=labels)
    return qrels


def qrels_of_rows(given: InputData, rows: Iterable[Row], **how: Any) -> Qrels:
    """As ``qrels_of``, from rows of topic, document, grade, judge and line."""
    topics, documents, grades, judges, lines = list(zip(*rows, strict=True)) or [()] * 5
    return qrels_of(given, topics, documents, grades, judges, lines=lines, **how)


def qrels_of(
    given: InputData,
    topics: Text,
    documents: Text,
    grades: Numbers,
    judges: Text | None = None,
    *,
    lines: GivenLines = None,
    by_text: bool = False,
    texts: Mapping[str, str] = {},
) -> Qrels:
    """The judgements whose rows are given.

    Parameters
    ----------
    given : InputData
    topics, documents, judges : Ids or sequence of str, shape (n_rows,)
        ``by_text`` says that topics are query texts; without judges one person judged.
    grades : numbers, shape (n_rows,)
    lines, texts
        As for ``run_of``.

    Raises
    ------
    DataError
        That of ``given``, for an id or a grade that judgements cannot hold, a document twice in a topic, a grade off
        the declared scale, no relevant document, or more than a limit allows.
    """
    values, rows = np.asarray(grades, dtype=np.float64), Rows(given, lines)
    heads, sizes = pieces(rows.ids(topics, "query" if by_text else "topic", is_text=by_text))
    ids = rows.ids(documents, "docid")
    by = None if judges is None else rows.ids(judges, "judge", is_text=True)
    if np.any(too_large := ~(np.abs(values) <= MAX_GRADE)):
        row = int(np.argmax(too_large))
        expected = f"a number from {-MAX_GRADE} to {MAX_GRADE} as the grade"
        raise rows.error(row, f"expected {expected}, found {whole(float(values[row]))!r}")
    if by_text:
        named = topics_of_texts(given, heads, given.queries)
        heads, texts = named, dict(zip(named, heads, strict=True))
    return qrels_of_groups(rows, grouped(heads, sizes), ids, values, by, texts)


def qrels_of_groups(
    rows: Rows,
    groups: Groups,
    documents: Ids,
    grades: FloatArray,
    judges: Ids | None = None,
    texts: Mapping[str, str] = {},
) -> Qrels:
    """Judgements each of which is fit for them."""
    given, rules, order = rows.given, rows.given.labels, groups.rows
    rows, table = rows.at(order), JudgementArrays(groups.names, groups.offsets, documents.at(order), grades[order])
    given.at_most(JUDGEMENTS, len(grades))
    given.at_most(TOPICS, len(table.topics))
    if judges is not None and len({*(names := judges.at(order).strings())}) > 1:
        table = _medians(rows, table, names)
    else:
        rows.once(table.topics, table.offsets, table.documents)
    given.at_most(DOCUMENTS, int(np.diff(table.offsets).max(initial=0)))
    digest = given.digest
    if not digest:  # the same whatever the order of the rows
        by_hash = np.lexsort((table.documents.hashes, topic_of_rows(table.offsets)))
        columns = [Ids.of(table.topics), table.documents.at(by_hash)]
        digest = digest_of(columns, table.offsets, table.grades[by_hash])
    if not (table.topics or given.is_part):
        raise given.refuse(None, "expected judgements, found none")
    if rules.scale is not None:
        low, high = rules.scale
        if np.any(off := ~((table.grades >= low) & (table.grades <= high))):
            row = int(np.argmax(off))
            topic, document = table.names()[row]
            found = f"{whole(float(table.grades[row]))!r} (topic {topic!r:.60}, document {document!r:.60})"
            raise given.refuse(None, f"expected grades from {low:g} to {high:g} (scale), found {found}")
    if rules.separator:
        table = _by_document(given, table, rules)
    is_scored = rules.is_relevant(table.highest)
    if not (is_scored.any() or given.is_part):
        wanted = "above 0" if rules.relevant_from is None else f"{rules.relevant_from:g} or more (relevant_from)"
        raise given.refuse(None, f"expected at least one relevant document (grade {wanted}), found none")
    scored, others = (table.at(np.flatnonzero(chosen)) for chosen in (is_scored, ~is_scored))
    return Qrels(given.name, rules.digest(digest), scored, others, texts, rules)


def _medians(rows: Rows, table: JudgementArrays, judges: Sequence[str]) -> JudgementArrays:
    """One grade for each document, the median of its judges'."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row, (name, judge, grade) in enumerate(zip(table.names(), judges, table.grades.tolist(), strict=True)):
        given = found.setdefault(name, {})
        if judge in given:
            what = f"{name[1]!r:.60} of topic {name[0]!r:.60}"
            raise rows.error(row, f"expected each document once per topic, found {what} twice")
        given[judge] = grade
    return table.regraded({name: float(np.median([*given.values()])) for name, given in found.items()})


def _by_document(given: InputData, table: JudgementArrays, rules: LabelRules) -> JudgementArrays:
    """The grades of documents whose passages are judged: the highest of each."""
    best: dict[tuple[str, str], float] = {}
    for (topic, passage), grade in zip(table.names(), table.grades.tolist(), strict=True):
        name = topic, rules.document(passage)
        best[name] = max(grade, best.get(name, grade))
    documents, count = {document for _, document in best}, len({*table.documents.strings()})
    if len(documents) == 1 < count:  # then every run finds everything at rank 1
        what = f"passages of several documents (separator {rules.separator!r:.20})"
        found = f"{count:,} ids, all of the document {documents.pop()!r:.60}"
        raise given.refuse(None, f"expected {what}, found {found}")
    return table.regraded(best)
