"""Types of settings that several models of a riskguard.yaml have: paths, formats, metadata, names of functions."""

from __future__ import annotations

import keyword
import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainValidator

from pytest_riskguard.baselines.pins import pinned
from pytest_riskguard.config.value_checks import distinct
from pytest_riskguard.errors import UsageError
from pytest_riskguard.formats.columns import WANTED
from pytest_riskguard.formats.given_file import IRDS, TIES, Ties
from pytest_riskguard.formats.known import added_formats, formats_of
from pytest_riskguard.formats.metadata import checked_metadata
from pytest_riskguard.formats.records import Kind
from pytest_riskguard.formats.remote_files import is_address
from pytest_riskguard.gates.option_types import OneOf, Text, shown


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
    """As ``_file``; an address, whose baselines must be pinned, stays as it is."""
    if not (isinstance(value, str) and is_address(value)):
        return _file(value, info)
    try:
        pinned(value)
    except UsageError as error:
        raise ValueError(str(error)) from None
    return Path(value)


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
