"""What a search may return: ids in order, pairs, a mapping of ids to scores, hits, or a frame of hits."""

from __future__ import annotations

import reprlib
import sys
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import islice
from typing import Any, cast

import numpy as np

from pytest_riskguard.data.headers import SYNONYMS

Pairs = list[tuple[str, float]]

#: Characters of a document's id.
MAX_ID = 1000

#: Under which names a hit has its id and its score; the first that is there counts.
ID_NAMES = (*SYNONYMS["document"], "uuid", "node_id")
SCORE_NAMES = (*SYNONYMS["score"], "relevance")
EXPECTED = "expected ids, (docid, score) pairs, a mapping of ids to scores, or hits with an id"


class NoAnswerError(ValueError):
    """Something that is not an answer; the message follows the topic, and the query is not tried again."""


def pairs_of(results: object, depth: int) -> Pairs:
    """The first documents of an answer with their scores, in Python's own types.

    Nothing of the search runs after it has answered. Where there is only an order, scores fall with the rank.
    ``NoAnswerError`` for anything but the shapes of ``EXPECTED``.
    """
    if results is None:  # a forgotten return statement
        raise _refused(None)
    if isinstance(results, str | bytes | Set) or not isinstance(results := _rows(results), Iterable):
        raise _refused(results)
    if isinstance(results, Mapping):
        return _by_score(results)[:depth]
    entries = [_entry(result) for result in islice(results, depth)]
    scored = [(document, score) for document, score in entries if score is not None]
    if len(scored) == len(entries):
        return scored
    if scored:
        raise NoAnswerError(
            f"returned {len(entries) - len(scored)} of {len(entries)} results without a score; {EXPECTED}"
        )
    return [(document, float(rank)) for (document, _), rank in zip(entries, range(len(entries), 0, -1), strict=True)]


def _rows(results: Any) -> object:
    """The rows of a frame as mappings; anything else as it is."""
    if isinstance(results, type) or not hasattr(results, "columns") or isinstance(results, Mapping):
        return results
    for method, arguments in (
        ("to_dicts", ()),
        ("to_pylist", ()),
        ("to_dict", ("records",)),
    ):  # polars, Arrow, pandas
        if callable(rows := getattr(results, method, None)):
            return rows(*arguments)
    return results


def _by_score(results: Mapping[Any, Any]) -> Pairs:
    """The documents of a mapping by falling score; those with equal scores in its order."""
    try:
        pairs = [_pair(*pair) for pair in results.items() if is_pair(pair)]
    except NoAnswerError:
        pairs = []
    if len(pairs) < len(results):
        raise _refused(dict(results))
    return sorted(pairs, key=lambda pair: pair[1], reverse=True)


def _entry(result: object) -> tuple[str, float | None]:
    """One result as an id and its score, if it has one."""
    if isinstance(result, str | int | np.integer | uuid.UUID) and not isinstance(result, bool):
        return _id(result, result), None
    if is_pair(result):
        document, score = cast(Sequence[Any], result)
        hit = _hit(document)
        return _pair(document if hit is None else hit[0], score)
    hit = _hit(result)
    if hit is None or isinstance(hit[0], bool) or not (hit[1] is None or is_pair(hit)):
        raise _refused(result)
    return (_id(hit[0], result), None) if hit[1] is None else _pair(*hit)


def _hit(result: object) -> tuple[Any, Any] | None:
    """The id of a hit and its score or None; None if this is no hit."""
    if isinstance(result, str | int | float | np.generic | list | tuple | uuid.UUID | None):
        return None
    document = _first(result, ID_NAMES)
    if isinstance(document, Mapping):  # the whole document, as Typesense has it
        document = _first(document, ID_NAMES)
    if not isinstance(document, str | int | np.integer | uuid.UUID):
        return None
    return document, _first(result, SCORE_NAMES)


def _first(hit: Any, names: Sequence[str]) -> Any:
    """The value under the first of some names that is there; keys of mappings are compared in lower case."""
    if isinstance(hit, Mapping):
        fields = {key.lower(): value for key, value in hit.items() if isinstance(key, str)}
        return next((fields[name] for name in names if fields.get(name) is not None), None)
    values = (getattr(hit, name, None) for name in names if name.isidentifier())
    return next((value for value in values if value is not None and not callable(value)), None)


def _pair(document: object, score: Any) -> tuple[str, float]:
    """A result as a pair of Python's own types."""
    try:
        return _id(document, (document, score)), float(score)
    except NoAnswerError:
        raise
    except (TypeError, ValueError, ArithmeticError):  # such as that of a fraction of huge numbers
        raise _refused((document, score)) from None


def _id(document: object, result: object) -> str:
    try:
        text = "".join([str(document)])
    except (TypeError, ValueError, ArithmeticError):
        raise _refused(result) from None
    if len(text) > MAX_ID:
        raise _refused(result)
    return text


def is_pair(result: object) -> bool:
    """Whether a result is a pair; a text of two letters is not, nor a pair without an id or with a score as text."""
    return (
        isinstance(result, list | tuple)
        and len(result) == 2
        and not isinstance(result[0], bool | np.bool_ | bytes | None)
        and not isinstance(result[1], str | bytes | bool | np.bool_)
        and (not isinstance(result[0], str) or len(result[0]) <= MAX_ID)
        and not (isinstance(result[0], int) and abs(result[0]) >= 10**MAX_ID)
        and not (isinstance(result[1], int) and abs(result[1]) > sys.float_info.max)
    )


def _refused(value: object) -> NoAnswerError:
    return NoAnswerError(f"returned {_shown(value)}, {EXPECTED}")


def _shown(value: object) -> str:
    """A value of any size in few characters."""
    try:
        return reprlib.repr(value)
    except Exception:  # raised by the value, or for too many digits
        return f"a value of type {type(value).__name__}"
