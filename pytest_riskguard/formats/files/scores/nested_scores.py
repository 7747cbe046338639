"""Per-topic scores as JSON: of ranx (measure, topic, number) or pytrec_eval (topic, measure, number)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.measure_names import (
    from_ir_measures,
    from_ranx,
    from_trec_eval,
    known,
    standard_name,
)
from pytest_riskguard.formats.records import Kind, Records, Score

#: Keys of ``Report.to_dict``, which has averages alone.
_REPORT = frozenset({"stat_test", "metrics", "model_names"})


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file is an object of objects of numbers, whose outer or inner keys are all measures."""
    if not file.looks_like_json:
        return Misfit("it is not JSON")
    value = file.json_or_none
    if not isinstance(value, dict) or not value:
        return Misfit("it is not a JSON object", 1)
    if value.keys() >= _REPORT:
        return Misfit("a report of ranx holds only averages; write `run.scores` of each run to a file", 4)
    for outer, inner in value.items():
        if not isinstance(inner, dict):
            return Misfit(f"{outer!r:.60} is not an object", 2)
        for key, number in inner.items():
            if isinstance(number, bool) or not isinstance(number, int | float):
                return Misfit(f"{key!r:.60} of {outer!r:.60} has no number", 3)
    if not are_measures(value) and not are_measures(*value.values()):
        return Misfit("neither its outer nor its inner keys are all measures", 3)
    return None


def scores(file: InputFile) -> Records[Score]:
    """The scores of each topic."""
    return Records(_scores(file))


def _scores(file: InputFile) -> Iterator[Score]:
    if (misfit := fits(file, "scores")) is not None:
        raise file.refuse(None, f"expected JSON with the scores of each topic: {misfit.reason}")
    value: dict[str, dict[str, float]] = file.json
    if are_measures(value):
        yield from (Score(t, standard_name(name), float(n)) for name, ns in value.items() for t, n in ns.items())
    else:
        yield from (Score(t, standard_name(name), float(n)) for t, ns in value.items() for name, n in ns.items())


def are_measures(*objects: Mapping[str, Any]) -> bool:
    """Whether every key of every object names a measure, however a tool writes it."""
    names = {name for keys in objects for name in keys}
    return bool(names) and all(known(name, from_ir_measures, from_trec_eval, from_ranx) for name in names)
