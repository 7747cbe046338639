"""What the values of a riskguard.yaml must look like that are not options of a kind of gate.

Each check returns the value that the settings hold, or raises ``ValueError`` with what was expected and found.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.gates.kinds import MIN_TOPICS, parse_slice
from pytest_riskguard.gates.options import Number, Text, shown

# NAME, NAME(parameters), NAME@cutoff, NAME(parameters)@cutoff: the notation of ir-measures.
_MEASURE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\([^()\[\]]*\))?(?:@[0-9.]+)?")
MAX_TIMEOUT = 86400


def _text(value: Any, expected: str) -> str:
    return str(Text(expected)(value))


def path(value: Any) -> str:
    """A path, relative to the file's folder or absolute."""
    return _text(value, "a path")


def gate_name(value: Any) -> str:
    """The name of a gate: part of a test's node id, where ``::`` and brackets have a meaning."""
    expected = "a name without '::', '[', ']', '/' and '\\'"
    name = _text(value, expected)
    if name != name.strip() or "::" in name or any(character in name for character in "[]/\\"):
        raise ValueError(f"expected {expected}, found {shown(name)}")
    return name


def baseline_name(value: Any) -> str:
    """The name of one stored baseline."""
    name = _text(value, "the name of one stored baseline")
    if problem := name_problem(name):
        raise ValueError(f"{shown(name)} cannot name a baseline: {problem}")
    return name


def measure(value: Any) -> str:
    """A measure in the notation of ir-measures; whether it exists is not looked up."""
    name = _text(value, "a measure such as nDCG@10")
    if not _MEASURE.fullmatch(name):
        if cut_at_comma(name):
            raise ValueError(
                f'{shown(name)} looks cut at a comma; a measure with a comma needs quotes, such as "RBP(p=0.8,rel=1)"'
            )
        raise ValueError(f"expected a measure such as nDCG@10 or AP(rel=2), found {shown(name)}")
    return name


def cut_at_comma(name: str) -> bool:
    """Whether brackets do not match: what a comma leaves of ``AP(rel=2,judged_only=True)``."""
    return name.count("(") != name.count(")")


def slice_entry(value: Any) -> str:
    """Part of the topics: ``TAG=VALUE``, or ``TAG`` for each of its values."""
    tag, wanted = parse_slice(_text(value, "TAG=VALUE or TAG"))
    return tag if wanted is None else f"{tag}={wanted}"


def _whole(at_least: int, hint: str = "") -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= at_least:
            return value
        raise ValueError(f"expected a whole number, at least {at_least}, found {shown(value)}{hint}")

    return check


#: The number of topics of a slice.
slice_size = _whole(MIN_TOPICS, "; fewer topics are not judged")
#: Checks of the options for asking a live system.
ASKING: Mapping[str, Callable[[Any], Any]] = {
    "depth": _whole(1),
    "workers": _whole(1),
    "timeout": Number(
        math.nextafter(0, 1), MAX_TIMEOUT, optional=True, words=f"a number of seconds above 0, at most {MAX_TIMEOUT}"
    ),
    "retries": _whole(0),
}


def target(value: Any) -> str:
    """An importable function, ``package.module:function``."""
    name = _text(value, "package.module:function")
    module, _, function = name.partition(":")
    parts = [*module.split("."), *function.split(".")]
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        raise ValueError(f"expected package.module:function, found {shown(name)}")
    return name
