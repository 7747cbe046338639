"""From a measure's text to an ir-measures measure, its range, and what computes it.

The text is ``Name(key=value, ...)@cutoff`` as ir-measures writes it, or ``package.module:function``, a function in
Python of one query's ranking. It is parsed here because ir-measures' own parser needs parts of ``ast`` that Python
3.14 no longer has, and because some arguments that it accepts (a cutoff of 0, for one) make trec_eval abort the whole
interpreter. No function is imported before scores are asked for: the columns of a table have names, too.
"""

from __future__ import annotations

import ast
import importlib
import math
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pytest_riskguard import plugins
from pytest_riskguard.errors import UsageError
from pytest_riskguard.limits import MAX_GRADE
from pytest_riskguard.text import nearest

if TYPE_CHECKING:
    from ir_measures import Measure

#: From the documents of a query, best first, and its judgements to a score from 0 to 1.
MeasureFunction = Callable[[Sequence[str], Mapping[str, float]], float]

#: No score of a retrieval system is larger; squares and weighted losses of such scores are still finite.
MAX_SCORE = 1e50
#: A score may lie so far outside the range of its measure.
ROUNDING = 1e-9
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


class Parameter(NamedTuple):
    """A parameter of a measure, with what ir-measures says of its own."""

    dtype: Any
    default: Any = None
    required: bool = False
    choices: Sequence[str] = ()


class OwnMeasure:
    """A kernel, a function or a plugin's measure, with the attributes of one of ir-measures, which loads slowly."""

    AT_PARAM, DEFAULT = "cutoff", 0.0

    def __init__(self, name: str, supported: Mapping[str, Parameter], **params: Any) -> None:
        self.NAME, self.SUPPORTED_PARAMS, self.params = name, supported, params

    def __getitem__(self, key: str) -> Any:
        return self.params.get(key, self.SUPPORTED_PARAMS[key].default)

    def __str__(self) -> str:
        params = {key: value for key, value in self.params.items() if value != self.SUPPORTED_PARAMS[key].default}
        cutoff = f"@{params.pop('cutoff')}" if "cutoff" in params else ""
        shown = {key: repr(value) for key, value in params.items()}
        if "gains" in params:
            gains = sorted(params["gains"].items())
            shown["gains"] = "{" + ",".join(f"{grade}:{gain}" for grade, gain in gains if grade != gain) + "}"
        in_brackets = ",".join(f"{key}={value}" for key, value in shown.items())
        return self.NAME + (f"({in_brackets})" if shown else "") + cutoff


_CUTOFF, _REL, _DCG = Parameter(int), Parameter(int, 1), Parameter(str, "log2", choices=("log2", "exp-log2"))
_TO_CUTOFF, _AT_CUTOFF = {"cutoff": _CUTOFF, "rel": _REL}, {"cutoff": Parameter(int, required=True), "rel": _REL}
#: Measures with a kernel, and their parameters; ERR and RBP have one more than in ir-measures, the highest grade.
_KERNELS: Mapping[str, Mapping[str, Parameter]] = {
    "nDCG": {"cutoff": _CUTOFF, "dcg": _DCG, "gains": Parameter(dict)},
    "DCG": {"cutoff": _CUTOFF, "dcg": _DCG},
    "AP": _TO_CUTOFF,
    "RR": _TO_CUTOFF,
    "P": _AT_CUTOFF,
    "R": _AT_CUTOFF,
    "Success": _AT_CUTOFF,
    "Rprec": {"rel": _REL},
    "Judged": {"cutoff": _CUTOFF},
    "ERR": {"cutoff": _CUTOFF, "max_rel": Parameter(int, DEFAULT_MAX_GRADE)},
    "RBP": {"cutoff": _CUTOFF, "p": Parameter(float, 0.8), "max_rel": Parameter(int)},
}


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
        base: Any = OwnMeasure(name, {"cutoff": _CUTOFF})
    else:
        name, arguments, cutoff = _parts(text)
        base = _base(text, name, arguments)
    if cutoff is not None:
        if base.AT_PARAM in arguments:
            raise UsageError(f"{text!r}: {base.AT_PARAM} is given twice")
        arguments[base.AT_PARAM] = cutoff
    supported, params = base.SUPPORTED_PARAMS, {**base.params, **arguments}
    for key, value in arguments.items():
        if key not in supported:
            existing = f"it has {', '.join(supported)}" if supported else "it has none"
            raise UsageError(f"{text!r}: the measure has no parameter {key!r}; {existing}")
        if supported[key].dtype is float and type(value) is int:
            params[key] = float(value)
        if (expected := _expected(key, supported[key], params[key])) is not None:
            raise UsageError(f"{text!r}: {key} must be {expected}, got {params[key]!r}")
    for key, info in supported.items():
        if info.required and key not in params:
            example = f"@{0.1 if key == 'recall' else 10}" if key == base.AT_PARAM else f"({key}=4)"
            raise UsageError(f"{text!r}: {name} needs {key}, as in {name}{example}")
    params = {key: params[key] for key in supported if key in params}
    if isinstance(base, OwnMeasure):
        return cast("Measure", OwnMeasure(name, supported, **params))
    measure: Measure = type(base)(**params)
    return measure


def _base(text: str, name: str, arguments: Collection[str]) -> Any:
    """The measure of a name, without its parameters."""
    own = _KERNELS.get(name)
    if own is None or not own.keys() >= {*arguments}:
        from ir_measures.measures import registry

        if name in registry:
            return registry[name]
    if own is None:
        if name not in plugins.added("riskguard_measures", _names()):
            raise UsageError(f"{text!r}: ir-measures knows no measure {name!r}{_suggestion(text, name)}")
        own = {"cutoff": _CUTOFF}
    return OwnMeasure(name, own)


def _names() -> Collection[str]:
    """The names of all measures but those of functions and plugins."""
    from ir_measures.measures import registry

    return [*_KERNELS, *registry]


def measure_name(text: str) -> str:
    """The canonical text of a measure; a text that is canonical already is returned as it is."""
    return str(parse_measure(text))


def bounds(measure: Measure) -> tuple[float, float]:
    """The least and greatest value a measure can take; infinite where they depend on its arguments.

    Mostly (0, 1); counts, DCG and alpha_DCG have no greatest value.
    """
    low = -math.inf if measure.NAME in _UNBOUNDED else 0.0
    return low, math.inf if measure.NAME in _UNBOUNDED | _COUNTS else 1.0


def least_and_greatest(text: str) -> tuple[float, float]:
    """As ``bounds``, but infinite if they are not known: a text that is not a measure may be any column of scores."""
    try:
        return bounds(parse_measure(text))
    except UsageError:
        return -math.inf, math.inf


def span(text: str) -> float:
    """How far apart the scores of a measure can be: 1 for most, infinity without a greatest value."""
    low, high = least_and_greatest(text)
    return high - low


def out_of_range(measure: object, reach: tuple[float, float], topic: str, value: float) -> str | None:
    """What is wrong with a score of a measure with these bounds; None of a good one."""
    low, high = max(reach[0], -MAX_SCORE), min(reach[1], MAX_SCORE)
    if low - ROUNDING <= value <= high + ROUNDING:  # NaN is not
        return None
    return f"expected {measure} from {low:g} to {high:g}, found {value!r} (topic {topic!r:.60})"


def refuse_uninformative(text: str) -> None:
    """``UsageError`` for a measure in which no ranking can do badly; any other text passes, known or not."""
    name = re.split(r"\W", text.strip(), maxsplit=1)[0]
    counted = {"NumQ": "topics", "NumRel": "judgements", "NumRet": "documents"}.get(name)
    if counted and not (name == "NumRet" and parse_measure(text).params.get("rel")):
        raise UsageError(
            f"{text!r} counts {counted}: no ranking is better or worse, so no gate could fail; NumRet(rel=1) counts "
            "documents that are relevant"
        )


def function_of(measure: Measure) -> MeasureFunction | None:
    """The function that computes a measure, imported now, or added by a plugin; None for measures of ir-measures.

    ``UsageError`` if it cannot be imported, or is no function.
    """
    name = str(measure.NAME)
    if has_kernel(measure) or not isinstance(measure, OwnMeasure):
        return None
    if ":" not in name:
        added: MeasureFunction = plugins.added("riskguard_measures")[name][1]
        return added
    module, _, attribute = name.partition(":")
    try:
        function: MeasureFunction = attrgetter(attribute)(importlib.import_module(module))
    except Exception as error:
        raise UsageError(
            f"measure {name!r} cannot be imported ({type(error).__name__}: {error}); expected package.module:function"
            " that Python can import (pytest's setting `pythonpath` adds folders)"
        ) from error
    if not callable(function):
        raise UsageError(f"measure {name!r}: expected a function, found {type(function).__name__}")
    return function


class Provider(NamedTuple):
    """The name of the provider whose values, and order of equal scores, a formula of ours gives."""

    NAME: str


def provider_of(measure: Measure) -> Any:
    """The ir-measures provider that computes a measure; its NAME alone where a kernel or a function does.

    It is the first in ir-measures' order that supports the measure. If it is not installed, no other is used: a score
    must not depend on what is installed. Where a kernel computes the same, it need not be installed.

    ``UsageError`` if nothing computes the measure, its provider is not installed (the message gives the command to
    run), it needs judgements per subtopic, which are not read here, or its function cannot be imported.
    """
    if (name := _known_provider(measure)) is not None:
        return Provider(name)
    provider = None
    if not isinstance(measure, OwnMeasure):
        import ir_measures

        provider = next((one for one in ir_measures.DefaultPipeline.providers if one.supports(measure)), None)
    if provider is None or provider.NAME == "pyndeval":
        raise UsageError(
            f"'{measure}': ir-measures has no provider that computes this combination, or it needs judgements per "
            "subtopic, which are not read here; compute it elsewhere and compare scores per topic"
        )
    if not provider.is_available():
        extra = str(provider.NAME).replace("_", "-")
        problem = f"computed by {provider.NAME}, which is not installed; run `pip install 'ir-measures[{extra}]'`"
        raise UsageError(f"'{measure}': {problem}")
    return provider


def _known_provider(measure: Measure) -> str | None:
    name, params = str(measure.NAME), measure.params
    if not has_kernel(measure):
        return None if function_of(measure) is None else "riskguard"
    if params.get("dcg") == "exp-log2":
        return None if params.get("gains") else "riskguard"
    if name == "RBP" and "max_rel" not in params:
        return None
    if name == "RR" and "cutoff" in params:
        return "msmarco"
    return {"Judged": "judged", **dict.fromkeys(("ERR", "DCG", "RBP"), "riskguard")}.get(name, "pytrec_eval")


def has_kernel(measure: Measure) -> bool:
    """Whether ``scoring`` computes a measure with numpy; where ``provider_of`` refuses it, it means nothing."""
    return isinstance(measure, OwnMeasure) and measure.NAME in _KERNELS


def _parts(text: str) -> tuple[str, dict[str, Any], Any]:
    """Name, named arguments, and what follows the ``@``."""
    arguments, cutoff = {}, None
    with suppress(SyntaxError, ValueError, TypeError, RecursionError, MemoryError):  # no Python, or no literals
        node = ast.parse(text if len(text) <= _MAX_TEXT_LENGTH else "", mode="eval").body
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            cutoff, node = ast.literal_eval(node.right), node.left
        if isinstance(node, ast.Call) and not node.args:
            arguments = {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in node.keywords}
            node = node.func
        if isinstance(node, ast.Name):
            return node.id, arguments, cutoff
    raise UsageError(f"{text[:_MAX_TEXT_LENGTH]!r} is not a measure: {_FORM}{_suggestion(text)}")


#: Ranges of parameters; beyond them trec_eval fails or aborts.
_RANGES = {
    **{"cutoff": (1, _MAX_CUTOFF), "rel": (1, MAX_GRADE), "min_rel": (0, MAX_GRADE), "max_rel": (1, MAX_GRADE)},
    **{"p": (0, 1), "alpha": (0, 1), "recall": (0, 1), **dict.fromkeys(("beta", "T"), (0, sys.float_info.max))},
}
_TYPES = {int: "an integer", float: "a number", bool: "True or False", dict: "a mapping of grades to gains"}


def _expected(key: str, info: Any, value: Any) -> str | None:
    """What a parameter must be; None if ``value`` is that."""
    if type(value) is not info.dtype or (info.dtype is str and value not in info.choices):
        return "one of " + ", ".join(map(repr, info.choices)) if info.dtype is str else _TYPES[info.dtype]
    if key in _RANGES and not _RANGES[key][0] <= value <= _RANGES[key][1]:
        return "from {} to {}".format(*_RANGES[key])
    if key == "recall" and value != round(value, 2):  # ir-measures asks trec_eval for it with two decimals
        return "a number with two decimals at most"
    if key == "gains" and any(type(one) is not int or abs(one) > MAX_GRADE for pair in value.items() for one in pair):
        return f"a mapping of integers to integers, none beyond {MAX_GRADE}"
    return None


def _suggestion(text: str, name: str | None = None) -> str:
    """``; did you mean 'nDCG@10'?``, or nothing."""
    plain = text.replace(".", "_")
    guess = known(plain) or plain
    if re.split(r"\W", guess, maxsplit=1)[0] not in _names():
        if name is None or (near := nearest(name, _names(), cutoff=MIN_SIMILARITY)) is None:
            return "" if name is None else f"; {_FORM}"
        guess = text.replace(name, near, 1)
    return "" if guess == text else f"; did you mean {guess!r}?"


# Names of measures as other tools write them, as ir-measures writes the same measure.


#: Rows of averages have one of these in place of a topic.
AVERAGES = frozenset({"all", "amean", "mean"})
#: trec_eval, its Python bindings, and ranx: what stands before the cutoff.
_MEASURES: Mapping[str, str] = {
    "map": "AP",
    "P": "P",
    "recall": "R",
    "ndcg": "nDCG",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "infAP": "infAP",
    "success": "Success",
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRet(rel=1)",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "set_map": "SetAP",
    "mrr": "RR",
    "precision": "P",
    "hit_rate": "Success",
    "r-precision": "Rprec",
}
#: With the cutoff, and in ranx the least grade that is relevant.
_NAME = re.compile(r"([A-Za-z_-]+?)(?:_cut)?(?:[_@](\d+))?(?:-l(\d+))?")
_RECALL_LEVEL = re.compile(r"iprec_at_recall_([01]\.\d+)")
#: Further names of trec_eval and ranx, which ir-measures has nothing for, or another definition.
_OTHERS = re.compile(
    r"runid|gm_\w+|Rprec_mult_[\d.]+|relative_P_\d+|set_relative_P|ndcg_rel|Rndcg|G|binG|11pt_avg|utility|relstring\w*"
    r"|num_nonrel_judged_ret|\w+_avgjg(_\d+)?|yaap|cg_\d+|dcg(_\d+)?|set_F_[\d.]+|(hits|f1|ndcg_burges|rbp)([@.-].*)?"
)
_OWN = re.compile(r"([A-Za-z_]\w*)(?:\([^()]*\))?(?:@[\d.]+)?")


def known(name: str) -> str | None:
    """ir-measures' name of a measure, whichever tool wrote it; the same name if it has none, None if no tool does.

    Parameters of ir-measures' own names are not checked.
    """
    from ir_measures.measures import registry

    own, match = _OWN.fullmatch(name), _NAME.fullmatch(name)
    if (own is not None and own[1] in registry) or _OTHERS.fullmatch(name):
        return name
    if (recall := _RECALL_LEVEL.fullmatch(name)) is not None:
        return f"IPrec@{float(recall[1]):g}"
    if match is None or match[1] not in _MEASURES:
        return None
    level = "" if match[3] in (None, "1") or match[1] == "ndcg" else f"(rel={match[3]})"
    return f"{_MEASURES[match[1]]}{level}{'' if match[2] is None else f'@{match[2]}'}"


def are_measures(*objects: Mapping[str, object]) -> bool:
    """Whether every key of every object names a measure, however a tool writes it."""
    names = {name for keys in objects for name in keys}
    return bool(names) and all(map(known, names))


#: How many ranks are searched for unjudged documents, and shown, where the measure has no cutoff.
DEFAULT_DEPTH = 10
#: The most ranks that are searched, whatever the cutoff: judges do not go deeper.
MAX_DEPTH = 100


def cutoff_of(measure: object) -> int | None:
    """How many ranks a measure looks at, by its text alone; None for all."""
    text = str(measure)
    last = text.rpartition("@")[2]
    return int(last) if last.isdecimal() and "judged_only=True" not in text else None
