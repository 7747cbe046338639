"""Measures that plugins add; like the providers, this module imports ir-measures when it is loaded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import ir_measures
from ir_measures import providers
from ir_measures.measures import Measure

from pytest_riskguard import plugins
from pytest_riskguard.evaluation.scoring.providers.ranked_evaluator import PROVIDER_NAME, RankedEvaluator

_param_info: Any = ir_measures.ParamInfo


@cache
def measures() -> dict[str, Any]:
    """The measures of all plugins by name; each takes a cutoff, as in ``name@10``."""
    return {name: _measure(name, function) for name, (_, function) in plugins.added("riskguard_measures").items()}


def _measure(name: str, function: Any) -> Any:
    content = {
        "__name__": name,
        "NAME": name,
        "PRETTY_NAME": name,
        "SHORT_DESC": (getattr(function, "__doc__", None) or name).partition("\n")[0],
        "SUPPORTED_PARAMS": {"cutoff": _param_info(dtype=int, required=False, desc="ranking cutoff threshold")},
        # not a module of this package: no cache covers the code
        "__module__": str(getattr(function, "__module__", "plugin")),
    }
    return type(name, (Measure,), content)()


class AddedProvider(providers.Provider):
    """Computes what plugins add."""

    NAME = PROVIDER_NAME

    def supports(self, measure: Any) -> bool:
        """Whether a plugin adds this measure."""
        return measure.NAME in measures()

    def _evaluator(self, asked: Iterable[Any], qrels: Any) -> RankedEvaluator:
        return RankedEvaluator(asked, qrels, _value)


def _value(measure: Any, ranking: Sequence[str], judged: Mapping[str, float]) -> float:
    plugin, function = plugins.added("riskguard_measures")[measure.NAME]
    value = plugins.called(
        plugin,
        f"measure {measure.NAME}",
        lambda: float(function(list(ranking[: measure.params.get("cutoff")]), dict(judged))),
    )
    if not (math.isfinite(value) and 0 <= value <= 1):
        raise plugins.PluginError(plugin, f"measure {measure.NAME} gave {value:g}, expected a number from 0 to 1")
    return float(value)


_added: Any = AddedProvider
PROVIDER: Any = _added()
