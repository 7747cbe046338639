"""What a search may return: ids in order, pairs, a mapping of ids to scores, hits, or a frame of hits."""

from __future__ import annotations

import reprlib
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from pytest_riskguard.data.headers import SYNONYMS
from pytest_riskguard.live.failures import NoAnswerError

Pairs = list[tuple[str, float]]

#: What an id may be.
_IDS = str | int | np.integer | uuid.UUID
#: Characters of a document's id.
MAX_ID = 1000

#: Under which names a hit has its id and its score; the first that is there counts.
ID_NAMES = (*SYNONYMS["document"], "uuid", "node_id")
SCORE_NAMES = (*SYNONYMS["score"], "relevance")
EXPECTED = "expected ids, (docid, score) pairs, a mapping of ids to scores, or hits with an id"


def pairs_of(results: object, depth: int) -> Pairs:
    """The first documents of an answer with their scores, in Python's own types.

    Nothing of the search runs after it has answered. Where there is only an order, scores fall with the rank; of a
    mapping those with equal scores stay in its order. ``NoAnswerError`` for anything but the shapes of ``EXPECTED``.
    """
    if isinstance(results, str | bytes | Set) or not isinstance(results := _rows(results), Iterable):
        raise _refused(results)  # None: a forgotten return statement
    if isinstance(results, Mapping):
        return sorted((_pair(*pair) for pair in results.items()), key=lambda pair: pair[1], reverse=True)[:depth]
    entries = [_entry(result) for result in islice(results, depth)]
    unscored = sum(score is None for _, score in entries)
    if 0 < unscored < len(entries):
        raise NoAnswerError(f"it returned {unscored} of {len(entries)} results without a score; {EXPECTED}")
    ranks = range(len(entries), 0, -1)
    return [
        _pair(document, rank if unscored else score) for (document, score), rank in zip(entries, ranks, strict=True)
    ]


def _rows(results: Any) -> object:
    """The rows of a frame of polars, Arrow or pandas as mappings; anything else as it is."""
    if hasattr(results, "columns") and not isinstance(results, Mapping | type):
        for method, arguments in (("to_dicts", ()), ("to_pylist", ()), ("to_dict", ("records",))):
            if callable(rows := getattr(results, method, None)):
                return rows(*arguments)
    return results


def _entry(result: object) -> tuple[object, object]:
    """The id of a result, and its score or None."""
    if isinstance(result, list | tuple):
        if len(result) != 2:
            raise _refused(result)
        return _field(result[0], ID_NAMES) or result[0], result[1]
    if isinstance(result, _IDS) and not isinstance(result, bool):
        return result, None
    document = _field(result, ID_NAMES)
    if isinstance(document, Mapping):  # the whole document, as Typesense has it
        document = _field(document, ID_NAMES)
    if not isinstance(document, _IDS):
        raise _refused(result)
    return document, _field(result, SCORE_NAMES)


def _field(hit: Any, names: Sequence[str]) -> Any:
    """What a hit has under the first of some names; keys of mappings are compared in lower case."""
    if isinstance(hit, Mapping):
        fields = {key.lower(): value for key, value in hit.items() if isinstance(key, str)}
        return next((fields[name] for name in names if fields.get(name) is not None), None)
    values = (getattr(hit, name, None) for name in names)
    return next((value for value in values if value is not None and not callable(value)), None)


def _pair(document: object, score: Any) -> tuple[str, float]:
    """A result as a pair of Python's own types; a score is no text."""
    if not isinstance(document, bool | np.bool_ | bytes | None) and not isinstance(
        score, str | bytes | bool | np.bool_
    ):
        with suppress(TypeError, ValueError, ArithmeticError):  # such as that of a fraction of huge numbers
            text, number = "".join([str(document)]), float(score)
            if len(text) <= MAX_ID:
                return text, number
    raise _refused((document, score))


def _refused(value: object) -> NoAnswerError:
    try:
        shown = reprlib.repr(value)
    except Exception:  # raised by the value, or for too many digits
        shown = f"a value of type {type(value).__name__}"
    return NoAnswerError(f"it returned {shown}, {EXPECTED}")
