"""What a search may return: ids in order, pairs, a mapping of ids to scores, hits, or a frame of hits."""

from __future__ import annotations

import reprlib
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import islice
from typing import Any

import numpy as np

from pytest_riskguard.data.headers import SYNONYMS

Pairs = list[tuple[str, float]]

#: What an id may be.
_IDS = str | int | np.integer | uuid.UUID
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

    Nothing of the search runs after it has answered. Where there is only an order, scores fall with the rank; of a
    mapping those with equal scores stay in its order. ``NoAnswerError`` for anything but the shapes of ``EXPECTED``.
    """
    if isinstance(results, str | bytes | Set) or not isinstance(results := _rows(results), Iterable):
        raise _refused(results)  # None: a forgotten return statement
    if isinstance(results, Mapping):
        try:
            pairs = [_pair(*pair) for pair in results.items()]
        except NoAnswerError:
            raise _refused(dict(results)) from None
        return sorted(pairs, key=lambda pair: pair[1], reverse=True)[:depth]
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


def _entry(result: object) -> tuple[str, float | None]:
    """One result as an id and its score, if it has one."""
    if isinstance(result, list | tuple) and len(result) == 2:
        document, score = result
        return _pair(_hit(document)[0] or document, score)
    document, score = (result, None) if isinstance(result, _IDS) else _hit(result)
    if document is None:
        raise _refused(result)
    if score is not None:
        return _pair(document, score)
    return _pair(document, 0)[0], None


def _hit(result: object) -> tuple[Any, Any]:
    """The id of a hit, and its score or None; neither if this is no hit."""
    if isinstance(result, _IDS | float | np.generic | list | tuple | None):
        return None, None
    document = _first(result, ID_NAMES)
    if isinstance(document, Mapping):  # the whole document, as Typesense has it
        document = _first(document, ID_NAMES)
    return (document, _first(result, SCORE_NAMES)) if isinstance(document, _IDS) else (None, None)


def _first(hit: Any, names: Sequence[str]) -> Any:
    """The value under the first of some names that is there; keys of mappings are compared in lower case."""
    if isinstance(hit, Mapping):
        fields = {key.lower(): value for key, value in hit.items() if isinstance(key, str)}
        return next((fields[name] for name in names if fields.get(name) is not None), None)
    values = (getattr(hit, name, None) for name in names if name.isidentifier())
    return next((value for value in values if value is not None and not callable(value)), None)


def _pair(document: object, score: Any) -> tuple[str, float]:
    """A result as a pair of Python's own types; a score is no text."""
    try:
        text, number = "".join([str(document)]), float(score)
    except (TypeError, ValueError, ArithmeticError):  # such as that of a fraction of huge numbers
        raise _refused((document, score)) from None
    is_id = not isinstance(document, bool | np.bool_ | bytes | None) and len(text) <= MAX_ID
    if not is_id or isinstance(score, str | bytes | bool | np.bool_):
        raise _refused((document, score))
    return text, number


def _refused(value: object) -> NoAnswerError:
    return NoAnswerError(f"returned {_shown(value)}, {EXPECTED}")


def _shown(value: object) -> str:
    """A value of any size in few characters."""
    try:
        return reprlib.repr(value)
    except Exception:  # raised by the value, or for too many digits
        return f"a value of type {type(value).__name__}"
