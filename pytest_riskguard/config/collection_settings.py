"""``collection:`` of a riskguard.yaml: judgements, topics and documents."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import PlainValidator, model_validator

from pytest_riskguard.config.setting_types import (
    File,
    FileOrCollection,
    JudgementsColumns,
    JudgementsFormat,
    Model,
    TopicsColumns,
    TopicsFormat,
    or_path_alone,
    whole,
)
from pytest_riskguard.formats.given_file import JUDGE_RULES, GivenFile, JudgeRule, LabelRules
from pytest_riskguard.formats.text_files import MAX_GRADE
from pytest_riskguard.gates.option_types import SHARES, Number, OneOf, Text, TrueOrFalse, shown
from pytest_riskguard.text import document_address

#: Whether a document without a judgement is not relevant, or nobody knows.
JUDGEMENTS = COMPLETE, PARTIAL = "complete", "partial"


class QrelsFile(Model):
    """``qrels`` as a mapping: the file, its format, and how the grades of several judges become one.

    ``columns`` are pairs of what a table holds and the column that holds it.
    """

    path: FileOrCollection
    format: JudgementsFormat | None = None
    columns: JudgementsColumns = ()
    download: Annotated[bool, PlainValidator(TrueOrFalse())] = False
    judges: Annotated[JudgeRule, PlainValidator(OneOf(JUDGE_RULES))] = "median"

    @property
    def given(self) -> GivenFile:
        """The file and how it is read."""
        given = GivenFile.of(self.path)
        columns = dict(self.columns)
        return replace(given, format=self.format, judges=self.judges, columns=columns, download=self.download)


class TopicsFile(Model):
    """``topics`` as a mapping: the file, its format, and pairs of what a table holds and its column."""

    path: FileOrCollection
    format: TopicsFormat | None = None
    columns: TopicsColumns = ()
    download: Annotated[bool, PlainValidator(TrueOrFalse())] = False

    @property
    def given(self) -> GivenFile:
        """The file and how it is read."""
        given = GivenFile.of(self.path)
        return replace(given, format=self.format, columns=dict(self.columns), download=self.download)


_grade = Number(-MAX_GRADE, MAX_GRADE)
_share = Number(0, 1, words="a probability from 0 to 1 such as 0.1")


def _scale(value: Any) -> tuple[float, float]:
    """The lowest and the highest grade."""
    if isinstance(value, list) and len(value) == 2:
        low, high = map(_grade, value)
        if low < high:
            return low, high
    raise ValueError(f"expected the lowest and the highest grade, such as [0, 3], found {shown(value)}")


def _shrink(value: Any) -> int | None:
    """``allow``, or the largest number of topics."""
    if value == "allow":
        return None
    try:
        return whole(0)(value)
    except ValueError:
        raise ValueError(f"expected a whole number of topics, at least 0, or allow, found {shown(value)}") from None


_Address = Annotated[str, PlainValidator(Text("an address with {id}", parse=document_address))]


class Collection(Model):
    """``collection``: the judgements, which only candidates that are scores can do without, and the query texts.

    ``shrink`` is how many topics that a stored baseline was scored on may be gone or have another query text; None,
    written ``allow``, for any number. ``documents`` has titles and addresses of documents, ``document_url`` is the
    address of any. ``grades``, ``relevant_from``, ``chunks`` and ``judgements`` say how the judgements are meant,
    ``unjudged_relevance`` how likely an unjudged document is relevant. ``strata`` are shares of all queries, by the
    values of the tag ``stratum``.
    """

    qrels: Annotated[QrelsFile, or_path_alone] | None = None
    topics: Annotated[TopicsFile, or_path_alone] | None = None
    documents: File | None = None
    document_url: _Address | None = None
    shrink: Annotated[int | None, PlainValidator(_shrink, json_schema_input_type=int | Literal["allow"])] = 0
    grades: Annotated[tuple[float, float] | None, PlainValidator(_scale, json_schema_input_type=list[float])] = None
    relevant_from: Annotated[float | None, PlainValidator(_grade)] = None
    chunks: Annotated[str | None, PlainValidator(Text("a text such as '#'"))] = None
    judgements: Annotated[str, PlainValidator(OneOf(JUDGEMENTS))] = PARTIAL
    unjudged_relevance: Annotated[float | None, PlainValidator(_share)] = None
    strata: Annotated[
        tuple[tuple[str, float], ...], PlainValidator(SHARES, json_schema_input_type=dict[str, float])
    ] = ()

    @model_validator(mode="after")
    def _has_topics(self) -> Self:
        if self.strata and self.topics is None:
            raise ValueError(
                "strata: a column `stratum` of the topics file says which topics are in which; add topics"
            )
        return self

    @model_validator(mode="after")
    def _is_open(self) -> Self:
        if self.judgements == COMPLETE and self.unjudged_relevance is not None:
            raise ValueError("unjudged_relevance: with `judgements: complete` no document is unjudged; leave one out")
        return self

    @property
    def given_qrels(self) -> GivenFile | None:
        """The file of judgements, how it is read, and what is said about the judgements."""
        if self.qrels is None:
            return None
        rules = LabelRules(
            scale=self.grades,
            relevant_from=self.relevant_from,
            separator=self.chunks,
            is_complete=self.judgements == COMPLETE,
            unjudged_relevance=self.unjudged_relevance,
        )
        return replace(self.qrels.given, labels=rules)

    @property
    def given_topics(self) -> GivenFile | None:
        """The topics file and how it is read."""
        return None if self.topics is None else replace(self.topics.given, strata=self.strata)
