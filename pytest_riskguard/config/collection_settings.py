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
)
from pytest_riskguard.data.given_file import GivenFile, LabelRules
from pytest_riskguard.gates.option_types import SHARES, Number, Text, shown
from pytest_riskguard.limits import MAX_GRADE
from pytest_riskguard.text import document_address


class QrelsFile(Model):
    """``qrels`` as a mapping: the file, its format, and pairs of what a table holds and its column."""

    path: FileOrCollection
    format: JudgementsFormat | None = None
    columns: JudgementsColumns = ()


class TopicsFile(Model):
    """``topics`` as a mapping: the file, its format, and pairs of what a table holds and its column."""

    path: FileOrCollection
    format: TopicsFormat | None = None
    columns: TopicsColumns = ()


class Documents(Model):
    """``documents``: a file of all documents with titles and addresses, and the ``url`` of any, with ``{id}``."""

    path: File | None = None
    url: Annotated[str, PlainValidator(Text("an address with {id}", parse=document_address))] | None = None


def _given(file: QrelsFile | TopicsFile) -> GivenFile:
    return replace(GivenFile.of(file.path), format=file.format, columns=dict(file.columns))


_grade = Number(-MAX_GRADE, MAX_GRADE)
_share = Number(0, 1, words="warn, ignore, or a probability from 0 to 1 such as 0.1")


def _scale(value: Any) -> tuple[float, float]:
    """The lowest and the highest grade."""
    if isinstance(value, list) and len(value) == 2:
        low, high = map(_grade, value)
        if low < high:
            return low, high
    raise ValueError(f"expected the lowest and the highest grade, such as [0, 3], found {shown(value)}")


def _unjudged(value: Any) -> Any:
    return value if value in ("warn", "ignore") else _share(value)


class Collection(Model):
    """``collection``: the judgements, which only candidates that are scores can do without, and the query texts.

    ``grades``, ``relevant_from`` and ``chunks`` say how the judgements are meant. ``unjudged`` documents are warned
    of, ignored, or relevant with a probability, of which reports then tell. ``strata`` are shares of all queries, by
    the values of the tag ``stratum``.
    """

    qrels: Annotated[QrelsFile, or_path_alone] | None = None
    topics: Annotated[TopicsFile, or_path_alone] | None = None
    documents: Annotated[Documents, or_path_alone] = Documents()
    grades: Annotated[tuple[float, float] | None, PlainValidator(_scale, json_schema_input_type=list[float])] = None
    relevant_from: Annotated[float | None, PlainValidator(_grade)] = None
    chunks: Annotated[str | None, PlainValidator(Text("a text such as '#'"))] = None
    unjudged: Annotated[
        str | float, PlainValidator(_unjudged, json_schema_input_type=Literal["warn", "ignore"] | float)
    ] = "warn"
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

    @property
    def given_qrels(self) -> GivenFile | None:
        """The file of judgements, how it is read, and what is said about the judgements."""
        if self.qrels is None:
            return None
        rules = LabelRules(
            scale=self.grades,
            relevant_from=self.relevant_from,
            separator=self.chunks,
            is_complete=self.unjudged == "ignore",
            unjudged_relevance=None if isinstance(self.unjudged, str) else self.unjudged,
        )
        return replace(_given(self.qrels), labels=rules)

    @property
    def given_topics(self) -> GivenFile | None:
        """The topics file and how it is read."""
        return None if self.topics is None else replace(_given(self.topics), strata=self.strata)
