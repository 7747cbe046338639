"""From the gates of a riskguard.yaml to test items: measures, alphas, baselines and slices, each with its own id.

Files of the collection are read only for slices, whose values are looked up in topics and judgements.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_riskguard.errors import ConfigError, DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import Correction, Gate
from pytest_riskguard.limits import GATES

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import ComputedBaseline, Config, GateSettings

#: An id keeps letters, marks, digits, and these characters, which mean nothing to pytest or a shell.
_HARMLESS = "._+=-"
MAX_PART = 40


@frozen
class GateItem:
    """One question of one gate: a single measure and alpha, about all topics or one slice.

    ``id`` is the gate's name, followed by ``[MEASURE-ALPHA]``, baseline and slice where the gate asks more than one
    question. ``gate`` is this one question, named ``id``; ``settings`` is the gate's whole entry in the file.
    """

    id: str
    gate: Gate
    measure: str
    baselines: tuple[str | ComputedBaseline, ...]
    settings: GateSettings


def all_items(config: Config) -> tuple[GateItem, ...]:
    """The items of every gate, in the order of the file."""
    return tuple(item for gate in config.gates for item in items_of(config, gate))


def items_of(config: Config, gate: GateSettings) -> tuple[GateItem, ...]:
    """One item for each measure, alpha, baseline (unless they form a pool) and slice, in the order of the file."""
    slices = config.slices_of(gate)
    questions = [gate.gate(alpha=alpha) for alpha in gate.alpha]
    pairs = [(measure, question) for measure in gate.measure or config.measures or () for question in questions]
    asked, ids = [], []
    for measure, question in pairs:
        alpha = repr(float(question.alpha)).removesuffix(".0")  # the shortest text that distinguishes two alphas
        question_part = [f"{measure}-{alpha}"] if len(pairs) > 1 else []
        for baselines in gate.asked_of:
            baseline_part = [str(baselines[0])] if len(gate.asked_of) > 1 else []
            for part in slices or (None,):
                parts = [*question_part, *baseline_part, *_slice_id(gate, slices, part)]
                ids.append(f"{gate.name}[{'-'.join(parts)}]" if parts else gate.name)
                asked.append((measure, question, baselines, part))
    unique_ids = unique(ids, [f"{baselines} {part}" for _, _, baselines, part in asked])
    return tuple(
        GateItem(item_id, replace(question, name=item_id, slice=part), measure, baselines, gate)
        for item_id, (measure, question, baselines, part) in zip(unique_ids, asked, strict=True)
    )


def _slice_id(gate: GateSettings, slices: tuple[str, ...], part: str | None) -> list[str]:
    """The part of the id for a slice: its value, with its tag if there are several tags."""
    if part is None or (len(slices) == 1 and slices == gate.slice):
        return []
    tags = {entry.partition("=")[0] for entry in slices}
    return [readable(part.partition("=")[2] if len(tags) == 1 else part)]


def family_of(config: Config, item: GateItem) -> tuple[Correction, tuple[GateItem, ...]]:
    """The correction, and the items that are judged together with this one; empty outside a family.

    A risk gate on several baselines or slices is a family of its own (``auto``), for each measure and alpha: it
    fails when the candidate is risky against any of them.
    """
    if item.settings.name in config.family_members:
        return config.family, tuple(o for o in all_items(config) if o.settings.name in config.family_members)
    asked = (item.measure, item.gate.alpha)
    together = tuple(o for o in items_of(config, item.settings) if (o.measure, o.gate.alpha) == asked)
    return ("auto", together) if item.gate.is_tested and len(together) > 1 else ("none", ())


def judged_together(config: Config) -> list[tuple[GateItem, int]]:
    """Every item, in the order of the file, with a number that those of ``family_of`` share."""
    members = set(config.family_members)
    numbers: dict[object, int] = {}
    found = []
    for place, gate in enumerate(config.gates):
        for item in items_of(config, gate):
            asked = (item.measure, item.gate.alpha) if item.gate.is_tested else item.id
            group = "family" if gate.name in members else (place, asked)
            found.append((item, numbers.setdefault(group, len(numbers))))
    return found


def with_slices(config: Config) -> Config:
    """The settings with the slices of every gate looked up; ``ConfigError`` has the errors of all gates.

    Also if there are more gates than ``limits.GATES`` allows.
    """
    _refuse_too_many(config, lambda gate: len(gate.slice or ()))
    config = _with_slices(config)
    _refuse_too_many(config, lambda gate: len(config.slices_of(gate)))
    return config


def _refuse_too_many(config: Config, slices: Callable[[GateSettings], int]) -> None:
    """A short file can ask for millions of gates, so they are counted before any is made."""
    number = sum(
        len(gate.measure or config.measures or ()) * len(gate.alpha) * len(gate.asked_of) * max(1, slices(gate))
        for gate in config.gates
    )
    if number > GATES.value:
        raise ConfigError(config.path, 1, GATES.problem(number))


def _with_slices(config: Config) -> Config:
    declared = [(gate, index, entry) for gate in config.gates for index, entry in enumerate(gate.slice or ())]
    if not declared:
        return config  # and no file of the collection is read, no numpy loaded
    from pytest_riskguard.data.topics import read_collection
    from pytest_riskguard.gates.slices import slices_of

    first_line = config.line_of(declared[0][0], "slice", 0)
    if config.collection.topics is None:
        text = "slice: it needs a topics file with a column for each tag; add `topics: PATH` to `collection:`"
        raise ConfigError(config.path, first_line, text)
    judgements = config.collection.given_qrels
    if judgements is None:
        text = "slice: it needs judgements, which say which topics count; add `qrels: PATH` to `collection:`"
        raise ConfigError(config.path, first_line, text)
    try:
        qrels, topics = read_collection(judgements, config.collection.given_topics)
    except DataError as error:
        raise ConfigError(config.path, first_line, f"slice: its topics cannot be looked up: {error}") from None
    tags = {} if topics is None else topics.tags
    errors: list[ConfigError] = []
    entry_of: dict[str, dict[str, str]] = {}
    for gate, index, entry in declared:
        earlier = entry_of.setdefault(gate.name, {})
        try:
            slices = slices_of(entry, qrels.topics, tags)
            if name := next((name for name in slices if name in earlier), None):
                raise ValueError(f"{entry} repeats {name}, which {earlier[name]} declares")
            earlier |= dict.fromkeys(slices, entry)
        except ValueError as error:
            text = f"slice of gate {gate.name!r}: {error}"
            errors.append(ConfigError(config.path, config.line_of(gate, "slice", index), text))
    if errors:
        raise ConfigError.of(errors)
    return config.with_slices({name: tuple(slices) for name, slices in entry_of.items()})


def readable(text: str) -> str:
    """The text without characters that could end a node id, break a line or hide part of it."""
    safe = "".join(c if c in _HARMLESS or unicodedata.category(c)[0] in "LMN" else "_" for c in text)
    return safe[:MAX_PART]


def unique(ids: Sequence[str], sources: Sequence[str]) -> list[str]:
    """The ids; equal ones are distinguished by a digest of what each was made of.

    Unlike a number, a digest stays the same when another value comes or goes.
    """
    times, marked = Counter(ids), []
    for item_id, source in zip(ids, sources, strict=True):
        digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        with_digest = f"{item_id[:-1]}~{digest}]" if item_id.endswith("]") else f"{item_id}~{digest}"
        marked.append(with_digest if times[item_id] > 1 else item_id)
    return marked
