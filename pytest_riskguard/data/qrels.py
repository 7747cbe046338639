"""Relevance judgements: TREC's ``topic iteration docid grade`` line by line, other formats through their readers."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from pytest_riskguard.data import memory
from pytest_riskguard.data.checks import Input
from pytest_riskguard.data.content import InputFile
from pytest_riskguard.data.formats import format_of
from pytest_riskguard.data.given_file import AS_GIVEN, GivenFile, LabelRules
from pytest_riskguard.data.headers import whole
from pytest_riskguard.data.judgement_arrays import JudgementArrays
from pytest_riskguard.data.memory import InputData, JudgementsData
from pytest_riskguard.data.records import Agreement, AmbiguousTextError, Judgement, Records, TopicKeys
from pytest_riskguard.data.text_files import ESCAPED, MAX_GRADE, LineReader, escaped, unescaped
from pytest_riskguard.errors import QrelsFormatError
from pytest_riskguard.limits import DOCUMENTS, JUDGEMENTS, ROW_BYTES, TOPICS

#: topic -> document -> judge -> grade
ByJudge = Mapping[str, Mapping[str, Mapping[str, float]]]

_COLUMNS = "4 columns (topic iteration docid grade)"


@dataclass(frozen=True, eq=False)
class Qrels:
    """The judgements of one collection.

    Attributes
    ----------
    path_name : str
        The file's name, without its folder.
    digest : str
        ``sha256:...`` of the file, decompressed, and of the rules that change scores.
    grades : mapping topic -> mapping docid -> grade
        Every judgement of the file, by document where its ids name passages.
    topics : tuple of str
        Topics with at least one relevant document, sorted as text: those that are scored.
    without_relevant : tuple of str
        The other judged topics, sorted as text.
    texts : mapping topic -> query text
        Of formats that hold them; empty for TREC's.
    rules : LabelRules
        What is said about the judgements as a whole.
    agreement : Agreement, optional
        How far the judges agree, where the file names several.
    by_judge : mapping topic -> document -> judge -> grade, optional
        Who gave which grade, of documents that several judges graded; not where ids name passages.
    """

    path_name: str
    digest: str
    grades: Mapping[str, Mapping[str, float]]
    topics: tuple[str, ...]
    without_relevant: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    rules: LabelRules = AS_GIVEN
    agreement: Agreement | None = None
    by_judge: ByJudge | None = None

    @property
    def is_uncertain(self) -> bool:
        """Whether there may be unjudged documents, or documents that several judges graded."""
        return not self.rules.is_complete or self.by_judge is not None

    def under(self, panel: Sequence[str]) -> Qrels:
        """The judgements of a panel of judges, on the same topics and documents in the same order.

        A topic without a document that they find relevant is still scored.
        """
        if self.by_judge is None or self.agreement is None:
            raise ValueError("expected judgements by several judges, found those of one")
        grades = regraded(self.grades, self.by_judge, panel)
        return replace(self, grades=MappingProxyType(grades), by_judge=None)

    @cached_property
    def arrays(self) -> JudgementArrays:
        """The judgements of the scored topics as columns."""
        return JudgementArrays.of(self.grades, self.topics)

    @cached_property
    def is_real(self) -> bool:
        """Whether a grade is not a whole number."""
        return any(isinstance(grade, float) for judged in self.grades.values() for grade in judged.values())


def read_qrels(
    given: Path | str | GivenFile | JudgementsData,
    keys: TopicKeys | None = None,
    *,
    labels: LabelRules | None = None,
) -> Qrels:
    """Read judgements: a file in any format of ``data.formats``, plain or gzip, or data in memory.

    Data are a mapping topic -> document -> grade (or topic -> relevant documents), a frame, ranx' ``Qrels``, or rows
    with named fields.

    ``keys`` finds the topics of formats that know queries by their texts. The median of several judges' grades
    counts. ``labels`` says what the settings of a ``collection`` say. A document judged
    twice in a topic is refused even when both grades agree, as trec_eval does: the file was put together wrongly, and
    other rows may be wrong too. The digest of a format other than TREC's is that of the file that ``write_qrels``
    writes.

    Raises
    ------
    QrelsFormatError
        A file of no known format; a row without the columns of its format, a grade that is not a number or is beyond
        ``MAX_GRADE`` in either direction or the declared scale, a document twice in a topic, more than a limit of
        ``input_files`` allows, no rows, or no relevant document.
    MissingFileError
        The path cannot be read.
    TypeError
        Data of another shape.
    """
    if not isinstance(given, Path | str | GivenFile):
        data = InputData("judgements", reason=QrelsFormatError.reason)
        return _of_records(data, memory.judgements(given, data), keys, labels or AS_GIVEN)
    given = GivenFile.of(given)
    given = replace(given, labels=labels or given.labels)
    file = InputFile(
        given.path, error=QrelsFormatError, part=given.part, columns=given.columns, download=given.download
    )
    known = format_of(file, "judgements", named=given.format)
    if known.name == "trec":
        return _read_trec(given.path, given.labels)
    return _of_records(file, known.reader("judgements")(file), keys, given.labels)


def _of_records(given: Input, records: Records[Judgement], keys: TopicKeys | None, labels: LabelRules) -> Qrels:
    by_judge, queries = _by_judge(given, records, keys or TopicKeys())
    grades, agreement = _put_together(by_judge)
    digest = hashlib.sha256()
    for line in _lines_of(grades):
        digest.update(line.encode())
    texts = queries | {topic: text for topic, text in records.texts.items() if topic in grades}
    qrels = _qrels(given.name, f"sha256:{digest.hexdigest()}", grades, given.refuse, labels, texts)
    return replace(qrels, agreement=agreement, by_judge=None if labels.separator else _shared_documents(by_judge))


def qrels_or_none(given: Input, records: Records[Judgement], labels: LabelRules) -> Qrels | None:
    """Judgements of some topics of a collection; None without a relevant document. Other errors as ``read_qrels``."""
    rows = list(records.rows)
    if not any(labels.is_relevant(row.grade) for row in rows):
        return None
    return _of_records(given, replace(records, rows=rows), None, labels)


def write_qrels(grades: Mapping[str, Mapping[str, float]]) -> bytes:
    """Judgements in TREC's format: topics and documents sorted as text, whole grades without a decimal point."""
    return "".join(_lines_of(grades)).encode()


def _lines_of(grades: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    for topic in sorted(grades):
        for document in sorted(grades[topic]):
            iteration, topic_field, document_field = escaped("0", topic, document)
            yield f"{topic_field} {iteration} {document_field} {grades[topic][document]!r}\n"


def _by_judge(given: Input, records: Records[Judgement], keys: TopicKeys) -> tuple[ByJudge, dict[str, str]]:
    """The grades by topic, document and judge, and the query texts of the topics that are known by them."""
    by_judge: dict[str, dict[str, dict[str, float]]] = {}
    texts: dict[str, str] = {}
    most_rows = JUDGEMENTS.value
    for rows, row in enumerate(records.rows, 1):
        topic = row.topic
        if records.by_text:
            try:
                topic = keys.id_of(row.topic)
            except AmbiguousTextError as problem:
                raise given.refuse(row.line, f"expected queries that name one topic each; {problem}") from None
            texts[topic] = row.topic
        judged = by_judge.setdefault(topic, {}).setdefault(row.document, {})
        if row.judge in judged:
            twice = f"{row.document!r} of topic {topic!r} twice"
            raise given.refuse(row.line, f"expected each document once per topic, found {twice}")
        if not abs(row.grade) <= MAX_GRADE:
            expected = f"a number from {-MAX_GRADE} to {MAX_GRADE} as the grade"
            raise given.refuse(row.line, f"expected {expected}, found {row.grade!r}")
        judged[row.judge] = row.grade
        if rows > most_rows:
            raise given.refuse(None, JUDGEMENTS.problem(rows))
    return by_judge, texts


def _qrels(
    name: str,
    digest: str,
    grades: Mapping[str, Mapping[str, float]],
    refuse: Callable[[int | None, str], Exception],
    rules: LabelRules,
    texts: Mapping[str, str] | None = None,
) -> Qrels:
    if not grades:
        raise refuse(None, "expected judgements, found none")
    if rules.scale is not None:
        _check_scale(grades, rules.scale, refuse)
    passages = {name for judged in grades.values() for name in judged} if rules.separator else set[str]()
    if rules.separator:
        grades = {topic: rules.by_document(judged) for topic, judged in grades.items()}
    documents = {name for judged in grades.values() for name in judged} if rules.separator else passages
    if len(documents) == 1 < len(passages):  # then every run finds everything at rank 1
        what = f"passages of several documents (separator {rules.separator!r:.20})"
        raise refuse(
            None, f"expected {what}, found {len(passages):,} ids, all of the document {next(iter(documents))!r:.60}"
        )
    highest = {topic: max(judged.values()) for topic, judged in grades.items()}
    relevant = {topic for topic, grade in highest.items() if rules.is_relevant(grade)}
    if not relevant:
        least = "above 0" if rules.relevant_from is None else f"{rules.relevant_from:g} or more (relevant_from)"
        raise refuse(None, f"expected at least one relevant document (grade {least}), found none")
    without_relevant = tuple(sorted(grades.keys() - relevant))
    return Qrels(
        path_name=name,
        digest=rules.digest(digest),
        grades=MappingProxyType(dict(grades)),
        topics=tuple(sorted(relevant)),
        without_relevant=without_relevant,
        texts=MappingProxyType(dict(texts or {})),
        rules=rules,
    )


def _check_scale(
    grades: Mapping[str, Mapping[str, float]],
    scale: tuple[float, float],
    refuse: Callable[[int | None, str], Exception],
) -> None:
    low, high = scale
    for topic, judged in grades.items():
        for document, grade in judged.items():
            if not low <= grade <= high:
                where = f"topic {topic!r}, document {document!r}"
                raise refuse(None, f"expected grades from {low:g} to {high:g} (scale), found {grade!r} ({where})")


def _read_trec(path: Path, rules: LabelRules) -> Qrels:
    lines = LineReader(path, error=QrelsFormatError, line_size=ROW_BYTES)
    grades: dict[str, dict[str, float]] = {}
    rows, most_rows, most_topics, most_documents = 0, JUDGEMENTS.value, TOPICS.value, DOCUMENTS.value
    numbered = iter(lines)
    for number, line in numbered:
        fields = line.split()
        if not fields:
            continue
        grade = _grade(fields[3]) if len(fields) == 4 else None
        if grade is None:
            raise lines.refuse_lines(number, line, numbered, _wrong)
        topic, document = fields[0].decode(), fields[2].decode()
        if fields[1] == ESCAPED:
            topic, document = unescaped(topic), unescaped(document)
        judged = grades.setdefault(topic, {})
        if document in judged:
            earlier = judged[document]
            two_grades = f"grade {grade} twice" if earlier == grade else f"grade {earlier}, then {grade}"
            raise lines.refuse_repeated(fields[0], fields[2], found=f" ({two_grades})")
        judged[document] = grade
        rows += 1
        if rows > most_rows:
            raise lines.refuse_more(JUDGEMENTS, rows)
        if len(grades) > most_topics:
            raise lines.refuse_more(TOPICS, len(grades))
        if len(judged) > most_documents:
            raise lines.refuse_more(DOCUMENTS, len(judged))
    if not grades:
        raise lines.refuse_empty(_COLUMNS)
    return _qrels(lines.path.name, lines.digest, grades, lines.refuse, rules)


def _wrong(line: bytes) -> tuple[str, str] | None:
    """What a line should hold and what it holds; None of a good line."""
    fields = line.split()
    if fields and len(fields) != 4:
        return _COLUMNS, str(len(fields))
    if fields and _grade(fields[3]) is None:
        return f"a number from {-MAX_GRADE} to {MAX_GRADE} as the grade", fields[3].decode()
    return None


def _grade(field: bytes) -> float | None:
    """A grade; tools that keep real numbers write whole ones as ``3.0``."""
    try:
        grade: float = int(field)
    except ValueError:
        try:
            grade = float(field)
        except ValueError:
            return None
    if b"_" in field or not abs(grade) <= MAX_GRADE:  # NaN fails it too
        return None
    return whole(grade)


def regraded(
    grades: Mapping[str, Mapping[str, float]], by_judge: ByJudge, panel: Sequence[str]
) -> dict[str, dict[str, float]]:
    """The grades that a panel of judges gives; a document that none of them graded keeps the one that it has.

    A judge who is named twice counts twice. Topics and documents stay in their order.
    """
    changed = {topic: dict(judged) for topic, judged in grades.items()}
    for topic, documents in by_judge.items():
        for document, given in documents.items():
            if values := [given[judge] for judge in panel if judge in given]:
                changed[topic][document] = whole(statistics.median(values))
    return changed


def _shared_documents(by_judge: ByJudge) -> ByJudge | None:
    """The grades of documents that several judges graded; None where there are none."""
    shared = {
        topic: {document: given for document, given in documents.items() if len(given) > 1}
        for topic, documents in by_judge.items()
    }
    return {topic: documents for topic, documents in shared.items() if documents} or None


def _put_together(by_judge: ByJudge) -> tuple[dict[str, dict[str, float]], Agreement | None]:
    """One grade for each document, and how far the judges agree; None where there is one judge at most."""
    grades: dict[str, dict[str, float]] = {}
    judges: set[str] = set()
    shared = disputed = 0
    for topic, documents in by_judge.items():
        grades[topic] = {}
        for document, given in documents.items():
            values = list(given.values())
            judges.update(given)
            shared += len(values) > 1
            disputed += len(set(values)) > 1
            grades[topic][document] = whole(statistics.median(values))
    return grades, Agreement(len(judges), shared, disputed) if len(judges) > 1 else None
