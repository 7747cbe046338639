"""From a measure's text to an ir-measures measure, its range and the provider that computes it.

The text is ``Name(key=value, ...)@cutoff`` as ir-measures writes it. It is parsed here because ir-measures'
own parser needs parts of ``ast`` that Python 3.14 no longer has, and because some arguments that it accepts
(a cutoff of 0, for one) make trec_eval abort the whole interpreter.

Values are ir-measures', ties included: measures computed by trec_eval rank by 32-bit score, then docid, both
descending; ``RR@k`` comes from the MS MARCO script, which breaks ties by docid ascending; ``ERR`` and
``nDCG(dcg='exp-log2')`` come from ``err.py``, ``DCG``, ``RBP(max_rel=3)`` and nDCG of grades that are not whole from
``real_gains.py``.
"""

from __future__ import annotations

import ast
import functools
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_riskguard import plugins
from pytest_riskguard.errors import UsageError
from pytest_riskguard.limits import MAX_GRADE
from pytest_riskguard.text import nearest

if TYPE_CHECKING:
    from ir_measures import Measure

#: Least similarity of a suggestion, less than elsewhere: names of measures are short.
MIN_SIMILARITY = 0.5
_MAX_TEXT_LENGTH = 200
_MAX_CUTOFF = 2**31 - 1
_FORM = "a measure is written Name(key=value, ...)@cutoff, as in nDCG@10 or AP(rel=2)"

_COUNTS = frozenset({"NumQ", "NumRel", "NumRet", "alpha_DCG", "DCG"})
# Computed by cwl_eval: expected utilities whose range depends on the measure's own arguments.
_UNBOUNDED = frozenset({"BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11", "INST", "INSQ"})

_MEASURE_NAME = re.compile(r"\w+")
# Measures that say nothing about a ranking, and what they count.
_UNINFORMATIVE = {
    "NumQ": "topics",
    "NumRel": "the judgements of each topic",
    "NumRet": "documents, relevant or not",
}

# Names of trec_eval and other tools, for suggestions only.
_OTHER_NAMES = {
    "map": "AP",
    "map_cut": "AP",
    "recall": "R",
    "recip_rank": "RR",
    "ndcg_cut": "nDCG",
    "hit": "Success",
    "hits": "Success",
    "hit_rate": "Success",
    "f1": "SetF",
    "set_map": "SetAP",
}


#: From a document's grade and rank to its part of the score, up to a factor that all documents of a topic share.
Part = Callable[[float, int], float]


def parse_measure(text: str) -> Measure:
    """The measure that a text names; ``str`` of it is the canonical text.

    Aliases (``NDCG``, ``MAP``) become the name, parameters are in ir-measures' order, and defaults are left out.
    ``UsageError`` if there is no measure of that name (the nearest is suggested), if it lacks a parameter that is
    given or needs one that is not, and for a value of the wrong type or out of range.
    """
    text = text.strip()
    name, arguments, cutoff = _parts(text)
    measures = _registry()
    if name not in measures:
        from pytest_riskguard.data.providers import added_measures

        plugins.refuse_taken("riskguard_measures", measures)
        measures = added_measures()
    if name not in measures:
        raise UsageError(f"{text!r}: ir-measures knows no measure {name!r}{_suggestion(text, name)}")
    base = measures[name]
    if cutoff is not None:
        if base.AT_PARAM in arguments:
            raise UsageError(f"{text!r}: {base.AT_PARAM} is given twice")
        arguments[base.AT_PARAM] = cutoff
    kind = _with_scale(base)
    params = {**base.params, **_checked(text, kind.SUPPORTED_PARAMS, arguments)}
    for key, info in kind.SUPPORTED_PARAMS.items():
        if info.required and key not in params:
            example = f"@{0.1 if key == 'recall' else 10}" if key == base.AT_PARAM else f"({key}=4)"
            raise UsageError(f"{text!r}: {name} needs {key}, as in {name}{example}")
    if name == "RBP" and "rel" in params and "max_rel" in params:
        raise UsageError(f"{text!r}: rel makes grades binary, and max_rel keeps them; give one of them")
    if "min_rel" in params and "max_rel" in params and params["min_rel"] >= params["max_rel"]:
        raise UsageError(f"{text!r}: min_rel must be below max_rel")
    measure: Measure = kind(**{key: params[key] for key in kind.SUPPORTED_PARAMS if key in params})
    return measure


def _with_scale(base: Measure) -> type[Measure]:
    """The class of a measure; those of ERR and RBP have a parameter for the highest grade."""
    if base.NAME == "ERR":
        from pytest_riskguard.data.providers import GradedERR

        return GradedERR
    if base.NAME == "RBP":
        from pytest_riskguard.data.providers import GradedRBP

        return GradedRBP
    return type(base)


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


def refuse_uninformative(text: str) -> None:
    """``UsageError`` for a measure in which no ranking can do badly; any other text passes, known or not."""
    name = _MEASURE_NAME.match(text.strip())
    if name is None or name[0] not in _UNINFORMATIVE:
        return
    if name[0] != "NumRet":
        counts = _UNINFORMATIVE[name[0]]
        raise UsageError(f"{text!r} counts {counts}: it is the same for every run, so no gate could fail")
    if not parse_measure(text).params.get("rel"):
        raise UsageError(
            f"{text!r} counts {_UNINFORMATIVE['NumRet']}: no ranking is better or worse; NumRet(rel=1) counts those "
            "that are relevant"
        )


def within_bounds(measure: Measure, value: float) -> bool:
    """Whether a value can be one of this measure, up to rounding; false for NaN."""
    low, high = bounds(measure) or (-math.inf, math.inf)
    return math.isfinite(value) and low - 1e-9 <= value <= high + 1e-9


def cutoff_of(measure: Measure) -> int | None:
    """How many ranks a measure looks at; None for all."""
    cutoff = measure.params.get("cutoff")
    return cutoff if isinstance(cutoff, int) and not measure.params.get("judged_only", False) else None


def part_of(measure: Measure) -> Part | None:
    """What a document adds to a measure's score; None where documents depend on each other.

    The factor that is left open (the ideal gain, the number of relevant documents) is the same for every ranking.
    """
    # with judged_only a rank depends on which other documents are judged
    if str(measure.NAME) not in _GAINS or measure.params.get("judged_only", False):
        return None
    last = cutoff_of(measure) or math.inf
    gain, discount_at = gain_of(measure), _discount(measure)
    return lambda grade, rank: gain(grade) * discount_at(rank) if rank <= last else 0.0


def gain_of(measure: Measure) -> Callable[[float], float]:
    """From a grade to the gain of its document, for measures that add up gains."""
    return _GAINS[str(measure.NAME)](measure)


def ensure_available(measure: Measure) -> None:
    """Check that the measure can be computed here.

    A ``UsageError`` if nothing computes it, its provider is not installed (the message gives the command to run), or
    it needs judgements per subtopic, which are not read here.
    """
    provider_of(measure)


def provider_of(measure: Measure) -> Any:
    """The ir-measures provider that computes a measure.

    It is the first in ir-measures' order that supports the measure, after those of riskguard. If it is
    not installed, no other is used: a score must not depend on what is installed. Errors as ``ensure_available``.
    """
    provider = next((provider for provider in _pipeline() if provider.supports(measure)), None) or _added(measure)
    if provider is None:
        raise UsageError(f"'{measure}': ir-measures has no provider that computes this combination")
    if provider.NAME == "pyndeval":
        raise UsageError(
            f"'{measure}': needs judgements per subtopic, which are not read from qrels here; compute "
            f"it with ir-measures ({_install(provider)}) and compare per-topic scores instead"
        )
    if not provider.is_available():
        raise UsageError(
            f"'{measure}': computed by {provider.NAME}, which is not installed; run `{_install(provider)}`"
        )
    return provider


def _install(provider: Any) -> str:
    """The command that installs a provider: ir-measures' own, fit for a shell and for any pip.

    Shells read brackets as a pattern, and older pip (23.2 for one) installs no extra ``cwl_eval`` where
    ir-measures calls it ``cwl-eval``.
    """
    command = str(provider.install_instructions() or f"pip install {provider.NAME}")
    return re.sub(r"(\S+)\[(\w+)\]", lambda extra: f"'{extra[1]}[{extra[2].replace('_', '-')}]'", command)


def _parts(text: str) -> tuple[str, dict[str, Any], Any]:
    """Name, named arguments, and what follows the ``@``."""
    problem = UsageError(f"{text[:_MAX_TEXT_LENGTH]!r} is not a measure: {_FORM}{_suggestion(text)}")
    if len(text) > _MAX_TEXT_LENGTH:
        raise problem
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the compiler, about text that is not Python anyway
            node = ast.parse(text, mode="eval").body
        cutoff = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            cutoff, node = ast.literal_eval(node.right), node.left
            if cutoff is None:
                raise problem
        arguments: dict[str, Any] = {}
        if isinstance(node, ast.Call):
            if node.args or any(keyword.arg is None for keyword in node.keywords):
                raise problem
            arguments = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
            node = node.func
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise problem from None
    if not isinstance(node, ast.Name):
        raise problem
    return node.id, arguments, cutoff


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
    **{"p": (0, 1), "alpha": (0, 1)},
}
_TYPES = {int: "an integer", float: "a number", bool: "True or False", dict: "a mapping of grades to gains"}


def _expected(key: str, value: Any) -> str | None:
    """What a parameter must be; None if ``value`` is that."""
    if key in _RANGES:
        low, high = _RANGES[key]
        return None if low <= value <= high else f"from {low} to {high}"
    if key == "recall":  # ir-measures asks trec_eval for it with two decimals
        return None if 0 <= value <= 1 and value == round(value, 2) else "from 0 to 1, with two decimals at most"
    if key in ("beta", "T"):
        return None if 0 <= value < math.inf else "a finite number, at least 0"
    if key == "gains":
        whole = all(type(number) is int and abs(number) <= MAX_GRADE for pair in value.items() for number in pair)
        return None if whole else f"a mapping of integers to integers, none beyond {MAX_GRADE}"
    return None


def _suggestion(text: str, name: str | None = None) -> str:
    """``; did you mean 'nDCG@10'?``, or nothing."""
    cutoff = ""
    if text.lower() in _OTHER_NAMES:
        name = text
    elif name is None or text == name:  # ndcg_cut_10, P.10, nDCG10
        match = re.fullmatch(r"([^\W\d]\w*?)[._]?(\d+)", text)
        if match is not None:
            name, cutoff = match[1], f"@{int(match[2])}"
        elif name is None:
            return ""
    near = _OTHER_NAMES.get(name.lower()) or nearest(name, _registry(), cutoff=MIN_SIMILARITY)
    if near is None:
        return f"; {_FORM}"
    guess = f"{near}{cutoff}" if cutoff else text.replace(name, near, 1)
    return f"; did you mean {guess!r}?"


@functools.cache
def _registry() -> dict[str, Any]:
    from ir_measures.measures import registry

    from pytest_riskguard.data.providers import DCG

    dcg: Any = DCG
    return {**registry, "DCG": dcg()}


def _added(measure: Measure) -> Any:
    """The provider of a plugin's measure."""
    from pytest_riskguard.data.providers import ADDED_PROVIDER

    return ADDED_PROVIDER if ADDED_PROVIDER.supports(measure) else None


@functools.cache
def _pipeline() -> Sequence[Any]:
    """The providers: riskguard's own, then those of ir-measures in their order; ir-measures' list is not changed."""
    import ir_measures

    from pytest_riskguard.data.providers import GAIN_PROVIDER, GRADED_PROVIDER

    return (GRADED_PROVIDER, GAIN_PROVIDER, *ir_measures.DefaultPipeline.providers)


def _discounted_gain(measure: Measure) -> Callable[[float], float]:
    if measure.params.get("dcg") == "exp-log2":
        return lambda grade: 2.0 ** max(grade, 0) - 1
    gains: Mapping[float, float] = measure.params.get("gains") or {}
    return lambda grade: float(max(gains.get(grade, grade), 0))


def _relevant(measure: Measure) -> Callable[[float], float]:
    highest = measure.params.get("max_rel")
    if highest is not None:
        return lambda grade: min(max(grade, 0), highest) / highest
    least: Any = measure["rel"]
    return lambda grade: float(grade >= least)


def _discount(measure: Measure) -> Callable[[int], float]:
    if measure.NAME in ("nDCG", "DCG"):
        return lambda rank: 1 / math.log2(rank + 1)
    persistence = float(measure["p"]) if measure.NAME == "RBP" else 1.0
    return lambda rank: persistence ** (rank - 1)


_GAINS: Mapping[str, Callable[[Measure], Callable[[float], float]]] = {
    **dict.fromkeys(("nDCG", "DCG"), _discounted_gain),
    **dict.fromkeys(("P", "R", "SetR", "RBP"), _relevant),
}
