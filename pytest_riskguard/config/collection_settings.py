"""``collection:`` of a riskguard.yaml: judgements, topics and documents."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import PlainValidator

from pytest_riskguard.config.setting_types import File, JudgementsFormat, Model, TopicsFormat, or_path_alone
from pytest_riskguard.config.value_checks import whole
from pytest_riskguard.formats.given_file import JUDGE_RULES, GivenFile, JudgeRule
from pytest_riskguard.gates.option_types import OneOf, Text, shown
from pytest_riskguard.text import document_address


class QrelsFile(Model):
    """``qrels`` as a mapping: the file, its format, and how the grades of several judges become one."""

    path: File
    format: JudgementsFormat | None = None
    judges: Annotated[JudgeRule, PlainValidator(OneOf(JUDGE_RULES))] = "median"

    @property
    def given(self) -> GivenFile:
        """The file and how it is read."""
        return GivenFile(self.path, format=self.format, judges=self.judges)


class TopicsFile(Model):
    """``topics`` as a mapping: the file and its format."""

    path: File
    format: TopicsFormat | None = None

    @property
    def given(self) -> GivenFile:
        """The file and how it is read."""
        return GivenFile(self.path, format=self.format)


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
    """``collection``: the judgements, and the query texts where there are any.

    ``shrink`` is how many topics that a stored baseline was scored on may be gone or have another query text; None,
    written ``allow``, for any number. ``documents`` has titles and addresses of documents, ``document_url`` is the
    address of any.
    """

    qrels: Annotated[QrelsFile, or_path_alone]
    topics: Annotated[TopicsFile, or_path_alone] | None = None
    documents: File | None = None
    document_url: _Address | None = None
    shrink: Annotated[int | None, PlainValidator(_shrink)] = 0

    @property
    def given_topics(self) -> GivenFile | None:
        """The topics file and how it is read."""
        return None if self.topics is None else self.topics.given
