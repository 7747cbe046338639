"""Types of settings that several models of a riskguard.yaml have: paths, formats, metadata, names of functions."""

from __future__ import annotations

import keyword
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainValidator

from pytest_riskguard.config.asking import MAX_DEPTH, MAX_WORKERS, TIMEOUT
from pytest_riskguard.data.formats import added_formats, formats_of
from pytest_riskguard.data.given_file import IRDS, TIES, Ties
from pytest_riskguard.data.headers import WANTED
from pytest_riskguard.data.metadata import checked_metadata
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.remote import is_address
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.option_types import Number, OneOf, Text, shown


def measure_notation(name: str) -> str:
    """A measure of ir-measures, a function or a column of scores; whether it exists is not looked up."""
    if name.count("(") != name.count(")"):
        raise ValueError(
            f'{shown(name)} looks cut at a comma; a measure with a comma needs quotes, such as "RBP(p=0.8,rel=1)"'
        )
    if not name or name != name.strip() or not name.isprintable():
        raise ValueError(f"expected a measure such as nDCG@10 or AP(rel=2), found {shown(name)}")
    return name


@frozen
class Whole:
    """A whole number in a range."""

    at_least: int
    at_most: int

    def __call__(self, value: Any) -> int:
        """The number."""
        if isinstance(value, int) and not isinstance(value, bool) and self.at_least <= value <= self.at_most:
            return value
        expected = f"from {self.at_least} to {self.at_most}"
        raise ValueError(f"expected a whole number, {expected}, found {shown(value)}")


T = TypeVar("T")


@frozen
class ListOf:
    """A list that is not empty; with ``or_one`` a single value is a list of one."""

    expected: str
    or_one: bool = False

    def __call__(self, value: Any) -> Any:
        """The list."""
        items = [value] if self.or_one and not isinstance(value, list) else value
        if not isinstance(items, list) or not items:
            several = " or a list of them" if self.or_one else ""
            raise ValueError(f"expected {self.expected}{several}, found {shown(value)}")
        return items


def list_of(expected: str, *, or_one: bool = False) -> BeforeValidator:
    """A list that is not empty; with ``or_one`` a single value is a list of one."""
    return BeforeValidator(ListOf(expected, or_one))


def distinct(items: tuple[T, ...]) -> tuple[T, ...]:
    """Refuse an entry given twice."""
    for index, item in enumerate(items):
        if item in items[:index]:
            shown = f"{item:g}" if isinstance(item, float) else f"{item}"
            raise ValueError(f"{shown} appears twice")
    return items


class Model(BaseModel):
    """A mapping of a riskguard.yaml without unknown keys."""

    # Each model is validated as part of another: pydantic need not prepare it on its own.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def _file(value: Any, info: Any) -> Path:
    """An absolute path without ``..``; symbolic links stay, since a run is named by its file."""
    return Path(os.path.normpath(info.context["path"].parent / Text("a path")(value)))


def _file_or_collection(value: Any, info: Any) -> Path:
    """As ``_file``; the name of a collection of ir_datasets, ``irds:NAME``, stays as it is."""
    return Path(value) if isinstance(value, str) and value.startswith(IRDS) else _file(value, info)


def _run_place(value: Any, info: Any) -> Path:
    """As ``_file``; an address stays as it is."""
    return Path(value) if isinstance(value, str) and is_address(value) else _file(value, info)


def _metadata(value: Any) -> tuple[tuple[str, str], ...]:
    return tuple(checked_metadata(value).items())


def _named_format(kind: Kind) -> Any:
    """A check for the name of a format that can hold something."""
    own = OneOf(tuple(known.name for known in formats_of(kind)))

    def check(value: Any) -> Any:
        if isinstance(value, str) and value not in own.words and value in added_formats():
            return value
        return own(value)

    return PlainValidator(check)


def _named_columns(kind: Kind) -> Any:
    """A check for a mapping of what a table holds to its columns; the result is pairs."""
    words = f"a mapping of {', '.join(WANTED[kind])} to columns, such as {{document: sku}}"
    what, column = OneOf(WANTED[kind]), Text(words)

    def check(value: Any) -> tuple[tuple[str, str], ...]:
        if not isinstance(value, dict) or not value:
            raise ValueError(f"expected {words}, found {shown(value)}")
        return tuple((str(what(key)), str(column(name))) for key, name in value.items())

    return PlainValidator(check, json_schema_input_type=dict[str, str])


def is_importable(name: str) -> bool:
    """Whether a text could name a module, or with a colon a function in one."""
    module, colon, function = name.partition(":")
    parts = [*module.split("."), *(function.split(".") if colon else ())]
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in parts)


def _store(value: Any, info: Any) -> Path:
    """As ``_file``; baselines are not read at an address."""
    if isinstance(value, str) and is_address(value):
        raise ValueError("expected a folder, found an address: copy the baselines into a folder before they are used")
    return _file(value, info)


File = Annotated[Path, PlainValidator(_file, json_schema_input_type=str)]
StorePlace = Annotated[Path, PlainValidator(_store, json_schema_input_type=str)]
RunPlace = Annotated[Path, PlainValidator(_run_place, json_schema_input_type=str)]
FileOrCollection = Annotated[Path, PlainValidator(_file_or_collection, json_schema_input_type=str)]
Metadata = Annotated[tuple[tuple[str, str], ...], PlainValidator(_metadata, json_schema_input_type=dict[str, str])]
Distinct = AfterValidator(distinct)
TiesSetting = Annotated[Ties, PlainValidator(OneOf(TIES))]
JudgementsFormat = Annotated[str, _named_format("judgements")]
RankingsFormat = Annotated[str, _named_format("rankings")]
TopicsFormat = Annotated[str, _named_format("topics")]
ScoresFormat = Annotated[str, _named_format("scores")]
JudgementsColumns = Annotated[tuple[tuple[str, str], ...], _named_columns("judgements")]
RankingsColumns = Annotated[tuple[tuple[str, str], ...], _named_columns("rankings")]
TopicsColumns = Annotated[tuple[tuple[str, str], ...], _named_columns("topics")]
#: A mapping with the key ``path``, or a path alone.
or_path_alone = BeforeValidator(
    lambda value: value if isinstance(value, dict) else {"path": value}, json_schema_input_type=str
)


MAX_TIMEOUT = 86400

_SECONDS = f"a number of seconds above 0, at most {MAX_TIMEOUT}, or none for no limit"
_limit = Number(math.nextafter(0, 1), MAX_TIMEOUT, optional=True, words=_SECONDS)
#: Checks of the options for asking a live system.
ASKING: Mapping[str, Callable[[Any], Any]] = {
    "depth": Whole(1, MAX_DEPTH),
    "workers": Whole(1, MAX_WORKERS),
    "timeout": lambda value: None if value == "none" else _limit(value),
}


class Queried(Model):
    """How a live system is queried; see ``config.asking``.

    Attributes
    ----------
    depth
        How many results of each answer are kept, at most 100,000.
    workers
        Queries in parallel, each in a thread (coroutines share one event loop), at most 256.
    timeout
        Seconds per query, or `none`. After three queries in a row without an answer no more are sent.
    ties
        `as_returned`, even where the scores contradict it, or `docid`, by score and then id.
    metadata
        What is known of the system, texts by key (`{index: v8}`, at most 50). Reports say what differs
        from the baseline's.
    """

    depth: Annotated[int, PlainValidator(ASKING["depth"])] = 100
    workers: Annotated[int, PlainValidator(ASKING["workers"])] = 1
    timeout: Annotated[
        float | None, PlainValidator(ASKING["timeout"], json_schema_input_type=float | Literal["none"])
    ] = TIMEOUT
    ties: TiesSetting = "as_returned"
    metadata: Metadata = ()
