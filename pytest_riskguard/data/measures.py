"""From a measure's text to an ir-measures measure, its range, and what computes it.

The text is ``Name(key=value, ...)@cutoff`` as ir-measures writes it, or ``package.module:function``, a function in
Python of one query's ranking. It is parsed here because ir-measures' own parser needs parts of ``ast`` that Python
3.14 no longer has, and because some arguments that it accepts (a cutoff of 0, for one) make trec_eval abort the whole
interpreter. No function is imported before scores are asked for: the columns of a table have names, too.
"""

from __future__ import annotations

import ast
import functools
import importlib
import math
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from pytest_riskguard import plugins
from pytest_riskguard.data.measure_names import standard_name
from pytest_riskguard.errors import UsageError
from pytest_riskguard.limits import MAX_GRADE
from pytest_riskguard.text import nearest

if TYPE_CHECKING:
    from ir_measures import Measure

#: From the documents of a query, best first, and its judgements to a score from 0 to 1.
MeasureFunction = Callable[[Sequence[str], Mapping[str, float]], float]

#: Least similarity of a suggestion, less than elsewhere: names of measures are short.
MIN_SIMILARITY = 0.5
#: Highest grade of TREC's Web track, the constant of gdeval.
DEFAULT_MAX_GRADE = 4
_MAX_TEXT_LENGTH = 200
_MAX_CUTOFF = 2**31 - 1
_FORM = (
    "a measure is written Name(key=value, ...)@cutoff, as in nDCG@10 or AP(rel=2), or package.module:function, a "
    "Python function"
)
_FUNCTION = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:@(\d+))?")

_COUNTS = frozenset({"NumQ", "NumRel", "NumRet", "alpha_DCG", "DCG"})
# Computed by cwl_eval: expected utilities whose range depends on the measure's own arguments.
_UNBOUNDED = frozenset({"BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11", "INST", "INSQ"})


def parse_measure(text: str) -> Measure:
    """The measure that a text names; ``str`` of it is the canonical text.

    Aliases (``NDCG``, ``MAP``) become the name, parameters are in ir-measures' order, and defaults are left out.
    ``UsageError`` if there is no measure of that name (the nearest is suggested), if it lacks a parameter that is
    given or needs one that is not, and for a value of the wrong type or out of range.
    """
    text = text.strip()
    arguments: dict[str, Any] = {}
    if (function := _FUNCTION.fullmatch(text)) is not None:
        name, cutoff = function[1], function[2] and int(function[2])
        measures = {name: _of_function(name)}
    else:
        name, arguments, cutoff = _parts(text)
        measures = _registry()
    if name not in measures:
        plugins.refuse_taken("riskguard_measures", measures)
        if name not in plugins.added("riskguard_measures"):
            raise UsageError(f"{text!r}: ir-measures knows no measure {name!r}{_suggestion(text, name)}")
        measures = {name: _of_function(name)}
    base = measures[name]
    if cutoff is not None:
        if base.AT_PARAM in arguments:
            raise UsageError(f"{text!r}: {base.AT_PARAM} is given twice")
        arguments[base.AT_PARAM] = cutoff
    params = {**base.params, **_checked(text, base.SUPPORTED_PARAMS, arguments)}
    for key, info in base.SUPPORTED_PARAMS.items():
        if info.required and key not in params:
            example = f"@{0.1 if key == 'recall' else 10}" if key == base.AT_PARAM else f"({key}=4)"
            raise UsageError(f"{text!r}: {name} needs {key}, as in {name}{example}")
    if name == "RBP" and "rel" in params and "max_rel" in params:
        raise UsageError(f"{text!r}: rel makes grades binary, and max_rel keeps them; give one of them")
    measure: Measure = type(base)(**{key: params[key] for key in base.SUPPORTED_PARAMS if key in params})
    return measure


def measure_name(text: str) -> str:
    """The canonical text of a measure; a text that is canonical already is returned as it is."""
    return str(parse_measure(text))


def bounds(measure: Measure) -> tuple[float, float] | None:
    """The least and greatest value a measure can take; None where they depend on its arguments.

    Mostly (0, 1); counts, DCG and alpha_DCG have no greatest value (infinity).
    """
    if measure.NAME in _UNBOUNDED:
        return None
    return (0.0, math.inf) if measure.NAME in _COUNTS else (0.0, 1.0)


def least_and_greatest(text: str) -> tuple[float, float]:
    """As ``bounds``, but infinite if they are not known: a text that is not a measure may be any column of scores."""
    try:
        return bounds(parse_measure(text)) or (-math.inf, math.inf)
    except UsageError:
        return -math.inf, math.inf


def span(text: str) -> float:
    """How far apart the scores of a measure can be: 1 for most, infinity without a greatest value."""
    low, high = least_and_greatest(text)
    return high - low


def within_bounds(measure: Measure, value: float) -> bool:
    """Whether a value can be one of this measure, up to rounding; false for NaN."""
    low, high = bounds(measure) or (-math.inf, math.inf)
    return math.isfinite(value) and low - 1e-9 <= value <= high + 1e-9


def refuse_uninformative(text: str) -> None:
    """``UsageError`` for a measure in which no ranking can do badly; any other text passes, known or not."""
    name = re.split(r"\W", text.strip(), maxsplit=1)[0]
    counted = {"NumQ": "topics", "NumRel": "judgements", "NumRet": "documents"}.get(name)
    if counted and not (name == "NumRet" and parse_measure(text).params.get("rel")):
        raise UsageError(
            f"{text!r} counts {counted}: no ranking is better or worse, so no gate could fail; NumRet(rel=1) counts "
            "documents that are relevant"
        )


def cutoff_of(measure: Measure) -> int | None:
    """How many ranks a measure looks at; None for all."""
    cutoff = measure.params.get("cutoff")
    return cutoff if isinstance(cutoff, int) and not measure.params.get("judged_only", False) else None


def is_function(text: str) -> bool:
    """Whether a text names a function in Python, which may not exist."""
    return _FUNCTION.fullmatch(text.strip()) is not None


def function_of(measure: Measure) -> MeasureFunction | None:
    """The function that computes a measure, imported now, or added by a plugin; None for measures of ir-measures.

    ``UsageError`` if it cannot be imported, or is no function.
    """
    name = str(measure.NAME)
    if ":" not in name:
        if name in _registry():
            return None
        added: MeasureFunction = plugins.added("riskguard_measures")[name][1]
        return added
    module, _, attribute = name.partition(":")
    try:
        function: MeasureFunction = attrgetter(attribute)(importlib.import_module(module))
    except Exception as error:
        raise UsageError(
            f"measure {name!r} cannot be imported ({type(error).__name__}: {error}); expected package.module:function"
            " that Python can import (in pytest, the setting `pythonpath` adds folders)"
        ) from error
    if not callable(function):
        raise UsageError(f"measure {name!r}: expected a function, found {type(function).__name__}")
    return function


class _Own:
    """What computes measures that ir-measures has no provider for: kernels, and functions in Python."""

    NAME = "riskguard"


_OWN = _Own()


def provider_of(measure: Measure) -> Any:
    """The ir-measures provider that computes a measure, or an object with the name ``riskguard``.

    It is the first in ir-measures' order that supports the measure. If it is not installed, no other is used: a score
    must not depend on what is installed. Where a kernel computes the same, it need not be installed.

    ``UsageError`` if nothing computes the measure, its provider is not installed (the message gives the command to
    run), it needs judgements per subtopic, which are not read here, or its function cannot be imported.
    """
    import ir_measures

    params = measure.params
    if measure.NAME in ("ERR", "DCG") or (measure.NAME == "RBP" and "max_rel" in params):
        return _OWN
    if params.get("dcg") == "exp-log2" and not (params.get("gains") or params.get("judged_only")):
        return _OWN
    if function_of(measure) is not None:
        return _OWN
    provider = next((one for one in ir_measures.DefaultPipeline.providers if one.supports(measure)), None)
    if provider is None:
        raise UsageError(f"'{measure}': ir-measures has no provider that computes this combination")
    if provider.NAME == "pyndeval":
        raise UsageError(
            f"'{measure}': needs judgements per subtopic, which are not read here; compute it with "
            "`pip install 'ir-measures[pyndeval]'` and compare scores per topic"
        )
    if not (has_kernel(measure) or provider.is_available()):
        extra = str(provider.NAME).replace("_", "-")
        problem = f"computed by {provider.NAME}, which is not installed; run `pip install 'ir-measures[{extra}]'`"
        raise UsageError(f"'{measure}': {problem}")
    return provider


def has_kernel(measure: Measure) -> bool:
    """Whether ``scoring`` computes a measure with numpy; where ``provider_of`` refuses it, it means nothing."""
    if measure.NAME == "nDCG" and measure.params.get("gains") and measure.params.get("judged_only"):
        return False  # providers disagree about which documents are judged where gains are negative
    return str(measure.NAME) in _WITH_KERNEL


_WITH_KERNEL = frozenset({"nDCG", "DCG", "AP", "RR", "P", "R", "SetR", "Rprec", "Success", "Judged"}) | frozenset(
    {"Bpref", "ERR", "RBP"}
)


def _parts(text: str) -> tuple[str, dict[str, Any], Any]:
    """Name, named arguments, and what follows the ``@``."""
    arguments, cutoff = {}, None
    with suppress(SyntaxError, ValueError, TypeError, RecursionError, MemoryError):  # no Python, or no literals
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the compiler, about text that is not Python anyway
            node = ast.parse(text if len(text) <= _MAX_TEXT_LENGTH else "", mode="eval").body
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            cutoff, node = ast.literal_eval(node.right), node.left
        if isinstance(node, ast.Call) and not node.args:
            arguments = {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in node.keywords}
            node = node.func
        if isinstance(node, ast.Name):
            return node.id, arguments, cutoff
    raise UsageError(f"{text[:_MAX_TEXT_LENGTH]!r} is not a measure: {_FORM}{_suggestion(text)}")


def _checked(text: str, supported: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, each of the type and in the range that its parameter must have."""
    checked: dict[str, Any] = {}
    for key, value in arguments.items():
        if key not in supported:
            existing = f"it has {', '.join(supported)}" if supported else "it has none"
            raise UsageError(f"{text!r}: the measure has no parameter {key!r}; {existing}")
        info = supported[key]
        if info.dtype is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if (info.dtype is int and isinstance(value, bool)) or not info.validate(value):
            type_ = "one of " + ", ".join(map(repr, info.choices)) if info.dtype is str else _TYPES[info.dtype]
            raise UsageError(f"{text!r}: {key} must be {type_}, got {value!r}")
        expected = _expected(key, value)
        if expected is not None:
            raise UsageError(f"{text!r}: {key} must be {expected}, got {value!r}")
        checked[key] = value
    return checked


#: Ranges of parameters; beyond them trec_eval fails or aborts.
_RANGES = {
    **{"cutoff": (1, _MAX_CUTOFF), "rel": (1, MAX_GRADE), "min_rel": (0, MAX_GRADE), "max_rel": (1, MAX_GRADE)},
    **{"p": (0, 1), "alpha": (0, 1), **dict.fromkeys(("beta", "T"), (0, sys.float_info.max))},
}
_TYPES = {int: "an integer", float: "a number", bool: "True or False", dict: "a mapping of grades to gains"}


def _expected(key: str, value: Any) -> str | None:
    """What a parameter must be; None if ``value`` is that."""
    if key in _RANGES:
        low, high = _RANGES[key]
        return None if low <= value <= high else f"from {low} to {high}"
    if key == "recall":  # ir-measures asks trec_eval for it with two decimals
        return None if 0 <= value <= 1 and value == round(value, 2) else "from 0 to 1, with two decimals at most"
    if key == "gains":
        whole = all(type(number) is int and abs(number) <= MAX_GRADE for pair in value.items() for number in pair)
        return None if whole else f"a mapping of integers to integers, none beyond {MAX_GRADE}"
    return None


def _suggestion(text: str, name: str | None = None) -> str:
    """``; did you mean 'nDCG@10'?``, or nothing."""
    guess = standard_name(text.replace(".", "_"))
    if re.split(r"\W", guess, maxsplit=1)[0] not in _registry():
        if (number := re.fullmatch(r"([^\W\d]\w*?)[._]?(\d+)", text)) is not None:  # nDCG10
            text, name = f"{number[1]}@{int(number[2])}", number[1]
        if name is None:
            return ""
        near = nearest(name, _registry(), cutoff=MIN_SIMILARITY)
        if near is None:
            return f"; {_FORM}"
        guess = text.replace(name, near, 1)
    return f"; did you mean {guess!r}?"


@functools.cache
def _registry() -> dict[str, Any]:
    """ir-measures' measures and aliases; with DCG, and a parameter for the highest grade in ERR and RBP."""
    import ir_measures
    from ir_measures.measures import registry

    info: Any = ir_measures.ParamInfo
    cutoff = info(dtype=int, required=False, desc="ranking cutoff threshold")
    highest = "highest grade of the scale"
    kinds: list[tuple[Any, str, dict[str, Any]]] = [
        (type(ir_measures.ERR), "ERR", {"max_rel": info(dtype=int, default=DEFAULT_MAX_GRADE, desc=highest)}),
        (type(ir_measures.RBP), "RBP", {"max_rel": info(dtype=int, required=False, desc=highest)}),
        (ir_measures.Measure, "DCG", {"cutoff": cutoff, "dcg": ir_measures.nDCG.SUPPORTED_PARAMS["dcg"]}),
    ]
    return {**registry, **{name: _made(base, name, params) for base, name, params in kinds}}


@functools.cache
def _of_function(name: str) -> Any:
    """The measure that a function computes."""
    import ir_measures

    info: Any = ir_measures.ParamInfo
    cutoff = info(dtype=int, required=False, desc="how many documents the function gets")
    return _made(ir_measures.Measure, name, {"cutoff": cutoff})


def _made(base: Any, name: str, params: dict[str, Any]) -> Any:
    supported = {**base.SUPPORTED_PARAMS, **params}
    return type(name, (base,), {"__name__": name, "NAME": name, "SUPPORTED_PARAMS": supported})()
