"""Types of settings that several models of a riskguard.yaml have: paths, formats, columns, live systems."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, PlainValidator, WrapValidator, field_validator

from pytest_riskguard.data.formats import added_formats, formats_of
from pytest_riskguard.data.given_file import IRDS, TIES, GivenFile, Ties
from pytest_riskguard.data.headers import WANTED
from pytest_riskguard.data.input_files import Kind, is_address
from pytest_riskguard.gates.option_types import Number, OneOf, Text, shown


class SettingError(ValueError):
    """A value does not go with others; ``keys`` lead from the mapping that was checked to the one at fault."""

    def __init__(self, problem: str, *keys: str | int) -> None:
        super().__init__(problem)
        self.keys = keys


class Model(BaseModel):
    """A mapping of a riskguard.yaml without unknown keys."""

    # Each model is validated as part of another: pydantic need not prepare it on its own.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def whole(at_least: int, at_most: int) -> PlainValidator:
    """A whole number in a range."""

    def check(value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and at_least <= value <= at_most:
            return value
        raise ValueError(f"expected a whole number, from {at_least} to {at_most}, found {shown(value)}")

    return PlainValidator(check)


def list_of(expected: str, *, or_one: bool = False) -> WrapValidator:
    """A list that is not empty, with no entry twice; with ``or_one`` a single value is a list of one."""

    def check(value: Any, handler: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
        given = [value] if or_one and not isinstance(value, list) else value
        if not isinstance(given, list) or not given:
            several = " or a list of them" if or_one else ""
            raise ValueError(f"expected {expected}{several}, found {shown(value)}")
        items = handler(given)
        for index, item in enumerate(items):
            if item in items[:index]:
                raise ValueError(f"{item} appears twice")
        return items

    return WrapValidator(check)


def _place(value: Any, info: Any) -> Path:
    """An absolute path without ``..``, or an address, or a collection of ir_datasets, ``irds:NAME``, as it is.

    Symbolic links stay, since a run is named by its file.
    """
    text = str(Text("a path")(value))
    if text.startswith(IRDS) or is_address(text):
        return Path(text)
    return Path(os.path.normpath(info.context["path"].parent / text))


Pairs = tuple[tuple[str, str], ...]
Place = Annotated[Path, PlainValidator(_place)]
TiesSetting = Annotated[Ties, PlainValidator(OneOf(TIES))]


class Described(Model):
    """A file about which there is something to say; the columns are pairs of what one holds and its name."""

    #: What the file holds, and the key that names it.
    holds: ClassVar[Kind]
    named: ClassVar[str] = "path"
    format: str | None = None
    columns: Pairs = ()

    @field_validator("format", mode="plain")
    @classmethod
    def _known_format(cls, value: Any) -> Any:
        if isinstance(value, str) and value in added_formats():
            return value
        return OneOf(tuple(known.name for known in formats_of(cls.holds)))(value)

    @field_validator("columns", mode="plain")
    @classmethod
    def _known_columns(cls, value: Any) -> Pairs:
        words, example = ", ".join(WANTED[cls.holds]), "{document: sku}"
        key: Any = OneOf(WANTED[cls.holds])
        if cls.holds == "scores":  # each measure may have a column
            words, example, key = "measures, and topic,", "{topic: qid, nDCG@10: ndcg10}", Text("a measure")
        if not isinstance(value, dict) or not value:
            raise ValueError(f"expected a mapping of {words} to columns, such as {example}, found {shown(value)}")
        return tuple((str(key(name)), str(Text("a column")(column))) for name, column in value.items())

    @property
    def given(self) -> GivenFile:
        """The file and how it is read."""
        given = GivenFile.of(getattr(self, self.named))
        return replace(given, format=self.format, columns=dict(self.columns))


#: Seconds that an answer may take by default.
TIMEOUT = 30.0
#: The most that can be asked for.
MAX_DEPTH, MAX_WORKERS, MAX_TIMEOUT = 100_000, 256, 86400
_SECONDS = f"a number of seconds above 0, at most {MAX_TIMEOUT}, or none for no limit"
_limit = Number(math.nextafter(0, 1), MAX_TIMEOUT, optional=True, words=_SECONDS)


def _timeout(value: Any) -> Any:
    return None if value == "none" else _limit(value)


class Queried(Model):
    """How a live system is queried.

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
    """

    depth: Annotated[int, whole(1, MAX_DEPTH)] = 100
    workers: Annotated[int, whole(1, MAX_WORKERS)] = 1
    timeout: Annotated[float | None, PlainValidator(_timeout)] = TIMEOUT
    ties: TiesSetting = "as_returned"
