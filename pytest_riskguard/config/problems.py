"""Every error in a riskguard.yaml, with its line; imports pydantic."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pytest_riskguard.baselines.stored_files import own_file, stored_file
from pytest_riskguard.config.candidate_settings import FORMS, TAGS, DescribedScores, file_of, form_of
from pytest_riskguard.config.collection_settings import Collection, Documents, QrelsFile, TopicsFile
from pytest_riskguard.config.http_settings import Http
from pytest_riskguard.config.schema import ComputedBaseline, Config, GateModel, GateSettings, gate_name
from pytest_riskguard.config.setting_types import cut_at_comma
from pytest_riskguard.config.yaml_lines import Document, Path
from pytest_riskguard.errors import UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import ANY, BUDGETED, KINDS, MEDIAN, OPTIONS, Gate, options_of
from pytest_riskguard.gates.option_types import shown
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


@frozen
class Problem:
    """One error."""

    line: int
    text: str
    gate: str | None = None


def check(document: Document, path: FilePath, *, require_gates: bool) -> tuple[Config | None, tuple[Problem, ...]]:
    """The settings (None where a value is wrong) and their problems, ordered by line.

    What gates ask is looked at once no value is wrong.
    """
    data = document.data
    if not isinstance(data, dict):
        text = f"expected a mapping with `collection:` and `gates:`, found {shown(data)}"
        return None, (Problem(document.line(()), text),)
    config = None
    problems = [
        Problem(line, _said(document, place, text), _gate(data, place)) for place, line, text in document.problems
    ]
    try:
        config = Config.model_validate(data, context={"path": path, "document": document})
    except ValidationError as error:
        details = error.errors(include_url=False)
        # A misspelt key is not reported as missing, too.
        meant = {_meant(data, _path(detail)) for detail in details if detail["type"] == "extra_forbidden"}
        details = [detail for detail in details if detail["type"] != "missing" or _path(detail) not in meant]
        problems += [_problem(document, d) for d in details if not _is_rest_of_a_measure(details, d)]
    else:
        problems += _across(document, config, require_gates=require_gates)
        problems += _questions(document, config)
        problems += _family(document, config)
        problems += _stored_candidates(document, config)
    return config, tuple(sorted(problems, key=lambda problem: problem.line))


def _path(detail: ErrorDetails) -> Path:
    return tuple(part for part in detail["loc"] if part not in TAGS)


def _problem(document: Document, detail: ErrorDetails) -> Problem:
    path = _path(detail)
    gate = _gate(document.data, path)
    *parent, key = path if path else ("",)
    where = _where(document.data, tuple(parent))
    match detail["type"]:
        case "extra_forbidden":
            known = _known_keys(document.data, path)
            likely = nearest(str(key), known)
            instead = f"did you mean {likely!r}?" if likely else f"known keys: {', '.join(known)}"
            return Problem(document.key_line(path), f"unknown key {key!r} in {where}; {instead}", gate)
        case "missing":
            text = f"{where} has no {key!r}; {_REMEDIES[str(key)]}"
            return Problem(document.line(tuple(parent)), text, gate)
        case "value_error":
            text = str(detail["ctx"]["error"])
        case _:  # a value where pydantic expected a mapping
            text = f"expected a mapping, found {shown(detail['input'])}"
    return Problem(document.line(path), _said(document, path, text), gate)


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
            name = _gate(data, path)
            gate = f"gate {name!r}" if name else f"gate {index + 1}"
            return f"'{rest[0]}' of {gate}" if rest else gate
        case _:
            return repr(".".join(str(part) for part in path))


def _gate(data: Any, path: Path) -> str | None:
    match path:
        case ("gates", int(index), *_):
            try:
                return gate_name(data["gates"][index]["name"])
            except (LookupError, TypeError, ValueError):
                return None
    return None


def _known_keys(data: Any, path: Path) -> list[str]:
    """The keys that may stand where this unknown one does."""
    parent = path[:-1]
    keys = tuple(part for part in parent if isinstance(part, str))
    mapping = functools.reduce(lambda value, part: value[part], parent, data)
    model = Http if "http" in keys else FORMS[form_of(mapping)]
    return list(_MODELS.get(keys, model).model_fields)


def _meant(data: Any, path: Path) -> Path:
    """The path of the key that an unknown one seems to mean."""
    return (*path[:-1], nearest(str(path[-1]), _known_keys(data, path)) or "")


def _is_rest_of_a_measure(details: list[ErrorDetails], detail: ErrorDetails) -> bool:
    """Whether an error is about the rest of a measure: ``judged_only=True)``, where another is about ``AP(rel=2``.

    Without quotes the comma ends a value in ``[...]`` and ``{...}``; the rest is another measure, or a key.
    """
    piece = detail["loc"][-1] if detail["type"] == "extra_forbidden" else detail["input"]
    if not (isinstance(piece, str) and ("=" in piece or ")" in piece) and "(" not in piece):
        return False
    around = detail["loc"][:-1]
    near = [d for d in details if d["type"] == "value_error" and d["loc"][: len(around)] == around]
    texts = [other["input"] for other in near if isinstance(other["input"], str)]
    return any(cut_at_comma(text) and "(" in text for text in texts)


def _across(document: Document, config: Config, *, require_gates: bool) -> Iterator[Problem]:
    """Problems of several values: no gate at all, a name used twice, a gate without measure or candidate."""
    if require_gates and not config.gates:
        yield Problem(document.key_line(("gates",)), f"the file has no gates; add {_EXAMPLE} {_OR_NOT}")
    candidates = [one for one in (config.candidate, *(gate.candidate for gate in config.gates)) if one is not None]
    is_scored = not candidates or not all(isinstance(one, DescribedScores) for one in candidates)
    if config.collection.qrels is None and is_scored:
        text = "'collection' has no 'qrels'; add the file of judgements, such as `qrels: qrels.txt`"
        yield Problem(document.line(("collection",)), text)
    first: dict[str, int] = {}
    for place, gate in enumerate(config.gates):
        line, where = document.line(("gates", place)), f"gate {gate.name!r}"
        if (other := first.setdefault(gate.name, place)) != place:
            begin = document.line(("gates", other))
            text = f"another gate named {gate.name!r} begins on line {begin}; names must be unique"
            yield Problem(document.line(("gates", place, "name")), text, gate.name)
        if not gate.asked_of:
            key = "baselines: [NAME, NAME]" if KINDS[gate.kind].is_pool else "baseline: NAME"
            text = f"{where} has no baseline; add `{key}` after `riskguard baseline add NAME RUN`"
            yield Problem(line, text, gate.name)
        for key, shared, value in _NEEDED:
            if getattr(gate, key) is None and getattr(config, shared) is None:
                text = f"{where} has no {key}; write `{shared}: {value}` for the whole file, or `{key}:` in the gate"
                yield Problem(line, text, gate.name)


def _questions(document: Document, config: Config) -> Iterator[Problem]:
    """What is wrong with the question that a gate asks, although each of its keys is right."""
    for place, gate in enumerate(config.gates):
        for key, problem in _conflicts(gate, config):
            subject = f"{key} of gate {gate.name!r}" if key else f"gate {gate.name!r}"
            yield Problem(document.key_line(("gates", place, key)), f"{subject}{problem}", gate.name)


def _conflicts(gate: GateSettings, config: Config) -> Iterator[tuple[str, str]]:
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
            asked = gate.gate(alpha=alpha)
            for measure in gate.measure or config.measures or ():
                _refuse_if_it_cannot_fail(asked, measure)
    except ValueError as error:
        key, _, problem = str(error).partition(": ")
        yield (key, f": {problem}") if key in OPTIONS else ("", f": {error}")
    except UsageError as error:
        yield "measure" if gate.measure else "", f": {error}"


def _refuse_if_it_cannot_fail(gate: Gate, measure: str) -> None:
    """Refuse a gate that no scores could fail; the range of a measure is looked up only if that decides."""
    if not measure.startswith("Num"):
        try:
            gate.refuse_if_it_cannot_fail(1.0)
        except ValueError:
            pass
        else:
            return
    from pytest_riskguard.data.measures import refuse_uninformative, span  # loads numpy

    refuse_uninformative(measure)
    gate.refuse_if_it_cannot_fail(span(measure))


def _stored_candidates(document: Document, config: Config) -> Iterator[Problem]:
    """Candidates that are files of a baseline that they are compared with."""
    shared = [gate for gate in config.gates if gate.candidate is None]
    places: list[tuple[Path, Any, list[GateSettings]]] = [(("candidate",), config.candidate, shared)]
    places += [(("gates", place, "candidate"), gate.candidate, [gate]) for place, gate in enumerate(config.gates)]
    for place, candidate, gates in places:
        if (run := file_of(candidate)) is None:
            continue
        stored = stored_file(run.path, config.store, of={name for gate in gates for name in gate.stored})
        if stored is not None:
            text = _said(document, place, own_file(run.path.name, stored))
            yield Problem(document.line(place), text, gates[0].name if len(place) > 1 else None)


def _family(document: Document, config: Config) -> Iterator[Problem]:
    """Whether the gates that are corrected together have one level, and may have a budget."""
    line, members = document.key_line(("family",)), [g for g in config.gates if g.name in config.family_members]
    if len({gate.option("level") for gate in members}) > 1:
        levels = ", ".join(f"{gate.name} {gate.option('level'):g}" for gate in members)
        yield Problem(line, f"family: all its gates must have the same level, found {levels}")
    if config.budget is None or not members:
        return
    if config.family not in ("auto", "holm"):
        yield Problem(line, f"family: {config.family} does not go with a budget; write `family: auto`")
    if foreign := next((gate for gate in members if gate.kind not in BUDGETED), None):
        text = (
            f"family: gate {foreign.name!r} is {foreign.kind}, which cannot have a budget; leave out one of the two"
        )
        yield Problem(line, text)
