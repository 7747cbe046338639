"""What each value of a riskguard.yaml must look like.

Every function takes a plain value and returns what the settings hold, or raises ``ValueError`` with what was
expected and what was found; where it stands is added by the caller.
"""

from __future__ import annotations

import difflib
import keyword
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.gates.spec import FEWEST_TOPICS, LEVELS, parse_slice

# NAME, NAME(parameters), NAME@cutoff, NAME(parameters)@cutoff: the notation of ir-measures.
_MEASURE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\([^()\[\]]*\))?(?:@[0-9.]+)?")
_MAX_SHOWN = 60
_LONGEST_LIMIT = 86400


def found(value: object) -> str:
    """How an error shows a value that it did not expect."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list():
            return "a list" if value else "an empty list"
        case str():
            return repr(value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}...")
    try:
        return f"the number {value}"
    except ValueError:  # CPython refuses to print integers of thousands of digits
        return "a number of thousands of digits"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like ``word``, whatever its case, or None where none is close."""
    lowered = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(word.lower(), lowered, n=1)
    return lowered[close[0]] if close else None


def text(value: Any, *, expected: str) -> str:
    """Text of one line that is not empty."""
    if isinstance(value, str) and value.strip() and value.isprintable():
        return value
    quote = "; put it in quotes" if isinstance(value, int | float) else ""
    raise ValueError(f"expected {expected}, found {found(value)}{quote}")


def path(value: Any) -> str:
    """A path, relative to the file's folder or absolute."""
    return text(value, expected="a path")


def gate_name(value: Any) -> str:
    """The name of a gate: part of a test's node id, where ``::`` and brackets have a meaning."""
    expected = "a name without '::', '[', ']', '/' and '\\'"
    name = text(value, expected=expected)
    if name != name.strip() or "::" in name or any(character in name for character in "[]/\\"):
        raise ValueError(f"expected {expected}, found {found(name)}")
    return name


def baseline_name(value: Any) -> str:
    """The name of one stored baseline."""
    name = text(value, expected="the name of one stored baseline")
    if problem := name_problem(name):
        raise ValueError(f"{found(name)} cannot name a baseline: {problem}")
    return name


def reference(value: Any) -> str:
    """What a pool's GeoRisk is compared with."""
    return text(value, expected="the name of one of the gate's baselines, any or median")


def measure(value: Any) -> str:
    """A measure in the notation of ir-measures; whether it exists is not looked up."""
    name = text(value, expected="a measure such as nDCG@10")
    if not _MEASURE.fullmatch(name):
        if cut_at_comma(name):
            raise ValueError(
                f'{found(name)} looks cut at a comma; a measure with a comma needs quotes, such as "RBP(p=0.8,rel=1)"'
            )
        raise ValueError(f"expected a measure such as nDCG@10 or AP(rel=2), found {found(name)}")
    return name


def cut_at_comma(name: str) -> bool:
    """Whether brackets do not match: what a comma leaves of ``AP(rel=2,judged_only=True)``."""
    return name.count("(") != name.count(")")


def number(value: Any, *, expected: str, holds: Callable[[float], bool]) -> float:
    """A number that ``holds`` is true of."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            result = float(value)
        except OverflowError:
            result = math.inf if value > 0 else -math.inf
        if holds(result):
            return result
    raise ValueError(f"expected {expected}, found {found(value)}")


def at_least_zero(value: Any) -> float:
    """A finite number, at least 0."""
    return number(value, expected="a finite number, at least 0", holds=lambda x: math.isfinite(x) and x >= 0)


def share(value: Any) -> float:
    """A share, from 0 to 1."""
    return number(value, expected="a share from 0 to 1 such as 0.5", holds=lambda x: 0 <= x <= 1)


def true_or_false(value: Any) -> bool:
    """A truth value; words such as ``yes`` are text in YAML 1.2."""
    if isinstance(value, bool):
        return value
    raise ValueError(f"expected true or false, found {found(value)}")


def entry(value: Any) -> str:
    """A topic, or ``TAG=VALUE`` for the topics with that tag."""
    return text(value, expected="a topic or TAG=VALUE")


def slice_entry(value: Any) -> str:
    """Part of the topics: ``TAG=VALUE``, or ``TAG`` for each of its values."""
    tag, wanted = parse_slice(text(value, expected="TAG=VALUE or TAG"))
    return tag if wanted is None else f"{tag}={wanted}"


def slice_size(value: Any) -> int:
    """A whole number of topics that a gate can judge."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= FEWEST_TOPICS:
        return value
    raise ValueError(
        f"expected a whole number, at least {FEWEST_TOPICS}, found {found(value)}; fewer topics are not judged"
    )


def level(value: Any) -> float:
    """A confidence that ``Gate`` takes."""
    low, high = LEVELS
    expected = f"a number between {low:f} and {high:f} such as 0.95"
    return number(value, expected=expected, holds=lambda x: low <= x <= high)


def whole(at_least: int) -> Callable[[Any], int]:
    """A check that lets only whole numbers of at least so much through."""

    def check(value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= at_least:
            return value
        raise ValueError(f"expected a whole number, at least {at_least}, found {found(value)}")

    return check


def seconds(value: Any) -> float | None:
    """A time limit, or None for no limit."""
    expected = f"a number of seconds above 0, at most {_LONGEST_LIMIT}"
    return None if value is None else number(value, expected=expected, holds=lambda x: 0 < x <= _LONGEST_LIMIT)


#: How a live system is asked, option by option.
ASKING: Mapping[str, Callable[[Any], Any]] = {
    "depth": whole(1),
    "workers": whole(1),
    "timeout": seconds,
    "retries": whole(0),
}


def one_of(known: tuple[str, ...]) -> Callable[[Any], str]:
    """A check that lets only ``known`` words through."""
    words = " or ".join(filter(None, [", ".join(known[:-1]), known[-1]]))

    def check(value: Any) -> str:
        if isinstance(value, str) and value in known:
            return value
        close = nearest(value, known) if isinstance(value, str) else None
        hint = f"; did you mean {close!r}?" if close else ""
        raise ValueError(f"expected {words}, found {found(value)}{hint}")

    return check


def target(value: Any) -> str:
    """An importable function, ``package.module:function``."""
    name = text(value, expected="package.module:function")
    module, _, function = name.partition(":")
    parts = [*module.split("."), *function.split(".")]
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        raise ValueError(f"expected package.module:function, found {found(name)}")
    return name
