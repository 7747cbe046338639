"""Every error in a riskguard.yaml, with its line; imports pydantic."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pytest_riskguard.config.candidate_settings import FORMS, TAGS, DescribedScores, form_of
from pytest_riskguard.config.http_settings import Http
from pytest_riskguard.config.schema import (
    Collection,
    ComputedBaseline,
    Config,
    Documents,
    GateModel,
    GateSettings,
    QrelsFile,
    TopicsFile,
)
from pytest_riskguard.config.yaml_lines import Document, Path
from pytest_riskguard.gates.kinds import ANY, BUDGETED, KINDS, MEDIAN, OPTIONS, options_of
from pytest_riskguard.gates.option_types import OptionError, shown
from pytest_riskguard.text import nearest

_EXAMPLE = "a list such as `gates: [{name: no-risk, kind: not_significantly_risky, baseline: prod}]`"
_OR_NOT = "(if gates are only in tests: pytest --riskguard-no-yaml)"

# What to write where a key is missing.
_REMEDIES = {
    "collection": "add `collection: {qrels: qrels.txt}`",
    "path": "add `path: PATH`",
    "name": "add `name: NAME`",
    "kind": "add `kind: not_significantly_risky`",
    "retrieve": "add `retrieve: package.module:function`",
    "url": "add the engine's address, such as `url: http://localhost:9200`",
}

# Keys that a gate may leave to the whole file: its own key, that of the file, and an example.
_NEEDED = (("measure", "measures", "[nDCG@10]"), ("candidate", "candidate", "PATH_OF_A_RUN"))

# The model of the mapping at each path, without list indices; at any other path it is a candidate.
_MODELS: dict[tuple[str, ...], type[BaseModel]] = {
    (): Config,
    ("collection",): Collection,
    ("collection", "qrels"): QrelsFile,
    ("collection", "topics"): TopicsFile,
    ("collection", "documents"): Documents,
    ("gates",): GateModel,
}


#: A line, and what is wrong there.
Problem = tuple[int, str]


def check(document: Document, path: FilePath, *, require_gates: bool) -> tuple[Config | None, tuple[Problem, ...]]:
    """The settings (None where a value is wrong) and their problems, ordered by line.

    What gates ask is looked at once no value is wrong.
    """
    data = document.data
    if not isinstance(data, dict):
        text = f"expected a mapping with `collection:` and `gates:`, found {shown(data)}"
        return None, ((document.line(()), text),)
    config = None
    problems = [(line, _said(document, place, text)) for place, line, text in document.problems]
    try:
        config = Config.model_validate(data, context={"path": path, "document": document})
    except ValidationError as error:
        details = error.errors(include_url=False)
        problems += [_problem(document, detail) for detail in details]
    else:
        problems += _across(document, config, require_gates=require_gates)
        problems += _questions(document, config)
        problems += _family(document, config)
    return config, tuple(sorted(problems, key=lambda problem: problem[0]))


def _path(detail: ErrorDetails) -> Path:
    return tuple(part for part in detail["loc"] if part not in TAGS)


def _problem(document: Document, detail: ErrorDetails) -> Problem:
    path = _path(detail)
    *parent, key = path if path else ("",)
    where = _where(document.data, tuple(parent))
    match detail["type"]:
        case "extra_forbidden":
            known = _known_keys(document.data, path)
            likely = nearest(str(key), known)
            instead = f"did you mean {likely!r}?" if likely else f"known keys: {', '.join(known)}"
            return document.key_line(path), f"unknown key {key!r} in {where}; {instead}"
        case "missing":
            text = f"{where} has no {key!r}; {_REMEDIES[str(key)]}"
            return document.line(tuple(parent)), text
        case "value_error":
            text = str(detail["ctx"]["error"])
        case _:  # a value where pydantic expected a mapping
            text = f"expected a mapping, found {shown(detail['input'])}"
    return document.line(path), _said(document, path, text)


def _said(document: Document, path: Path, text: str) -> str:
    """The problem, preceded by its subject: ``alpha of gate 'no-risk': ...``."""
    match document.known(path):
        case ():
            return text
        case ("gates", int()) as place:
            return f"{_where(document.data, place)}: {text}"
        case ("gates", int(), key, *rest):
            inner = "".join(f".{part}" for part in rest if isinstance(part, str))
            return f"{key}{inner} of {_where(document.data, path[:2])}: {text}"
        case place:
            return f"{'.'.join(str(part) for part in place if isinstance(part, str))}: {text}"


def _where(data: Any, path: Path) -> str:
    match path:
        case ():
            return "the file"
        case ("gates", int(index), *rest):
            entry = data["gates"][index]
            name = entry.get("name") if isinstance(entry, dict) else None
            gate = f"gate {name!r}" if isinstance(name, str) else f"gate {index + 1}"
            return f"'{rest[0]}' of {gate}" if rest else gate
        case _:
            return repr(".".join(str(part) for part in path))


def _known_keys(data: Any, path: Path) -> list[str]:
    """The keys that may stand where this unknown one does."""
    parent = path[:-1]
    keys = tuple(part for part in parent if isinstance(part, str))
    mapping = functools.reduce(lambda value, part: value[part], parent, data)
    model = Http if "http" in keys else FORMS[form_of(mapping)]
    return list(_MODELS.get(keys, model).model_fields)


def _across(document: Document, config: Config, *, require_gates: bool) -> Iterator[Problem]:
    """Problems of several values: no gate at all, a name used twice, a gate without measure or candidate."""
    if require_gates and not config.gates:
        yield document.key_line(("gates",)), f"the file has no gates; add {_EXAMPLE} {_OR_NOT}"
    candidates = [one for one in (config.candidate, *(gate.candidate for gate in config.gates)) if one is not None]
    is_scored = not candidates or not all(isinstance(one, DescribedScores) for one in candidates)
    if config.collection.qrels is None and is_scored:
        text = "'collection' has no 'qrels'; add the file of judgements, such as `qrels: qrels.txt`"
        yield document.line(("collection",)), text
    first: dict[str, int] = {}
    for place, gate in enumerate(config.gates):
        line, where = document.line(("gates", place)), f"gate {gate.name!r}"
        if (other := first.setdefault(gate.name, place)) != place:
            begin = document.line(("gates", other))
            text = f"another gate named {gate.name!r} begins on line {begin}; names must be unique"
            yield document.line(("gates", place, "name")), text
        if not gate.asked_of:
            key = "baselines: [NAME, NAME]" if KINDS[gate.kind].is_pool else "baseline: NAME"
            text = f"{where} has no baseline; add `{key}` after `riskguard baseline add NAME RUN`"
            yield line, text
        for key, shared, value in _NEEDED:
            if getattr(gate, key) is None and getattr(config, shared) is None:
                text = f"{where} has no {key}; write `{shared}: {value}` for the whole file, or `{key}:` in the gate"
                yield line, text


def _questions(document: Document, config: Config) -> Iterator[Problem]:
    """What is wrong with the question that a gate asks, although each of its keys is right."""
    for place, gate in enumerate(config.gates):
        for key, problem in _conflicts(gate):
            subject = f"{key} of gate {gate.name!r}" if key else f"gate {gate.name!r}"
            yield document.key_line(("gates", place, key)), f"{subject}{problem}"


def _conflicts(gate: GateSettings) -> Iterator[tuple[str, str]]:
    """Keys that do not go with others or with the kind, and why; an empty key stands for the gate as a whole."""
    kind, reference = KINDS[gate.kind], gate.option("reference")
    if gate.baseline is not None and gate.baselines is not None:
        yield "baselines", ": `baseline` is given too; keep one of the two"
    elif isinstance(gate.baseline, str) and "/" in gate.baseline and not kind.looks_back:
        yield "baseline", f": an earlier run is for no_drift; for {gate.kind} name a stored baseline"
    elif kind.is_pool and isinstance(gate.baseline, ComputedBaseline):
        yield "baseline", ": a pool consists of stored baselines: `baselines: [NAME, NAME]`"
    elif kind.is_pool and reference is not None:
        known = [*(gate.baselines or [str(gate.baseline)]), ANY, MEDIAN]
        if reference not in known:
            yield "reference", f": {reference!r} is not one of its baselines; expected {', '.join(known)}"
    foreign = [name for name in OPTIONS if name in gate.model_fields_set and name not in options_of(kind)]
    for key in foreign:
        yield key, f" has no meaning for {gate.kind}; leave it out"
    if foreign:
        return
    try:
        for alpha in gate.alpha:
            gate.gate(alpha=alpha)
    except ValueError as error:
        yield (error.option, f": {error.fault}") if isinstance(error, OptionError) else ("", f": {error}")


def _family(document: Document, config: Config) -> Iterator[Problem]:
    """Whether the gates that are corrected together have one level, and may have a budget."""
    line, members = document.key_line(("family",)), [g for g in config.gates if g.name in config.family_members]
    if len({gate.option("level") for gate in members}) > 1:
        levels = ", ".join(f"{gate.name} {gate.option('level'):g}" for gate in members)
        yield line, f"family: all its gates must have the same level, found {levels}"
    if config.budget is None or not members:
        return
    if config.family not in ("auto", "holm"):
        yield line, f"family: {config.family} does not go with a budget; write `family: auto`"
    if foreign := next((gate for gate in members if gate.kind not in BUDGETED), None):
        text = (
            f"family: gate {foreign.name!r} is {foreign.kind}, which cannot have a budget; leave out one of the two"
        )
        yield line, text
