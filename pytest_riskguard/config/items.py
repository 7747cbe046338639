"""From the gates of a riskguard.yaml to test items: measures, alphas, baselines and slices, each with its own id.

Files of the collection are read only for slices, whose values are looked up in topics and judgements.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from pytest_riskguard.errors import ConfigError, DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import KINDS, Correction, Gate
from pytest_riskguard.limits import GATES

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config, GateSettings

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
    measure: str | None
    baselines: tuple[str, ...]
    settings: GateSettings


@frozen
class Family:
    """Items that are judged together, with the correction for their number; most are alone."""

    correction: Correction
    items: tuple[GateItem, ...]


def all_items(config: Config) -> tuple[GateItem, ...]:
    """The items of every gate, in the order of the file."""
    return tuple(item for gate in config.gates for item in items_of(config, gate))


def items_of(config: Config, gate: GateSettings) -> tuple[GateItem, ...]:
    """One item for each measure, alpha, baseline (unless they form a pool) and slice, in the order of the file."""
    slices: tuple[str | None, ...] = config.slices_of(gate) or (None,)
    measures = config.measures_of(gate)
    several_tags = len({str(part).partition("=")[0] for part in slices}) > 1
    asked, ids = list(product(measures, gate.alpha, gate.asked_of, slices)), []
    for measure, alpha, baselines, part in asked:
        number = repr(float(alpha)).removesuffix(".0")  # the shortest text that distinguishes two alphas
        parts = [] if len(measures) * len(gate.alpha) == 1 else [f"{measure}-{number}"]
        parts += [str(baselines[0])] if len(gate.asked_of) > 1 else []
        if part is not None and (len(slices) > 1 or slices != gate.slice):
            text = part if several_tags else part.partition("=")[2]
            # without characters that could end a node id, break a line or hide part of it
            safe = (c if c in _HARMLESS or unicodedata.category(c)[0] in "LMN" else "_" for c in text[:MAX_PART])
            parts.append("".join(safe))
        ids.append(f"{gate.name}[{'-'.join(parts)}]" if parts else gate.name)
    times = Counter(ids)
    items = []
    for item_id, (measure, alpha, baselines, part) in zip(ids, asked, strict=True):
        if times[item_id] > 1:  # unlike a number, a digest stays the same when another value comes or goes
            digest = hashlib.sha256(f"{baselines} {part}".encode("utf-8", "surrogatepass")).hexdigest()[:6]
            item_id = f"{item_id[:-1]}~{digest}]"
        question = replace(gate.gate(alpha=alpha), name=item_id, slice=part)
        items.append(GateItem(item_id, question, measure, baselines, gate))
    return tuple(items)


def families(config: Config) -> tuple[Family, ...]:
    """All items by what is judged together, in the order of the file.

    Beside the family of the file, a risk gate on several baselines or slices is one of its own (``auto``), for each
    measure and alpha: it fails when the candidate is risky against any of them.
    """
    members: dict[object, list[GateItem]] = {}
    for item in all_items(config):
        key: object = item.id
        if item.settings.name in config.family_members:
            key = None
        elif item.gate.is_tested:
            key = (item.settings.name, item.measure, item.gate.alpha)
        members.setdefault(key, []).append(item)
    return tuple(
        Family("auto" if key is None or len(items) > 1 else "none", tuple(items)) for key, items in members.items()
    )


def look_up_slices(config: Config) -> None:
    """Look up the slices of every gate; ``ConfigError`` has the errors of all gates.

    Also if there are more gates than ``limits.GATES`` allows: a short file can ask for millions of them.
    """
    if any(gate.slice for gate in config.gates):  # else no file of the collection is read, no numpy loaded
        config.know_slices(dict(_slices(config)))
    number = sum(
        len(config.measures_of(gate)) * len(gate.alpha) * len(gate.asked_of) * max(1, len(config.slices_of(gate)))
        for gate in config.gates
    )
    if number > GATES.value:
        raise ConfigError(config.path, 1, GATES.problem(number))


def _slices(config: Config) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names of gates with the slices that they declare."""
    from pytest_riskguard.data.qrels import read_qrels
    from pytest_riskguard.data.topics import read_topics
    from pytest_riskguard.gates.slices import slices_of

    declared = [gate for gate in config.gates if gate.slice]
    line = config.line_of(declared[0], "slice", 0)
    judgements, file = config.collection.given_qrels, config.collection.given_topics
    if file is None or (judgements is None and not all(KINDS[gate.kind].of_rankings for gate in declared)):
        text = (
            "slice: it needs judgements, and a topics file with a column for each tag: `{qrels: PATH, topics: PATH}`"
        )
        raise ConfigError(config.path, line, text)
    try:
        topics = read_topics(file)
        judged = [*topics.queries] if judgements is None else read_qrels(judgements, topics.queries).topics
    except DataError as error:
        raise ConfigError(config.path, line, f"slice: its topics cannot be looked up: {error}") from None
    errors: list[ConfigError] = []
    for gate in declared:
        found: dict[str, str] = {}
        for index, entry in enumerate(gate.slice or ()):
            try:
                slices = slices_of(entry, judged, topics.tags)
                if twice := [name for name in slices if name in found]:
                    raise ValueError(f"{entry} repeats {twice[0]}, which {found[twice[0]]} declares")
                found |= dict.fromkeys(slices, entry)
            except ValueError as error:
                text = f"slice of gate {gate.name!r}: {error}"
                errors.append(ConfigError(config.path, config.line_of(gate, "slice", index), text))
        yield gate.name, tuple(found)
    if errors:
        raise ConfigError.of(errors)
