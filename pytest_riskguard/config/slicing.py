"""Slices that gates declare, looked up in topics and judgements: only then is a file of the collection read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_riskguard.config.settings import Config, DeclaredSlice, GateSettings
from pytest_riskguard.errors import ConfigError, DataError


@dataclass(frozen=True)
class _Collection:
    """The judged topics, and their tags."""

    judged: Sequence[str]
    tags: Mapping[str, Mapping[str, str]]


def with_slices(config: Config) -> Config:
    """The settings with every gate's slices found; as they are where no gate declares any.

    Raises
    ------
    ConfigError
        A slice that there is not, or a file that cannot tell; its ``errors`` are those of all gates.
    """
    first = next((one for gate in config.gates for one in gate.declared), None)
    if first is None:
        return config
    collection = _read(config, first)
    gates, errors = [], []
    for gate in config.gates:
        slices, problems = _looked_up(config, gate, collection)
        gates.append(replace(gate, slices=slices))
        errors += problems
    if len(errors) > 1:
        raise ConfigError(config.path, errors[0].line, errors[0].problem, gate=errors[0].gate, errors=tuple(errors))
    if errors:
        raise errors[0]
    return replace(config, gates=tuple(gates))


def _read(config: Config, first: DeclaredSlice) -> _Collection:
    from pytest_riskguard.evaluation.qrels import read_qrels
    from pytest_riskguard.evaluation.topics import read_topics

    if config.collection.topics is None:
        text = "slice: there is no topics file whose columns could be tags; add `topics: PATH` to `collection:`"
        raise ConfigError(config.path, first.line, text)
    try:
        judged = read_qrels(config.collection.qrels).topics
        return _Collection(judged, read_topics(config.collection.topics).tags)
    except DataError as error:
        raise ConfigError(config.path, first.line, f"slice: its topics cannot be looked up: {error}") from None


def _looked_up(
    config: Config, gate: GateSettings, collection: _Collection
) -> tuple[tuple[str, ...], list[ConfigError]]:
    from pytest_riskguard.gates.restriction import slices_of

    found: dict[str, DeclaredSlice] = {}
    problems = []
    for one in gate.declared:
        try:
            slices = slices_of(one.text, collection.judged, collection.tags, smallest=gate.smallest_slice)
            if twice := [each for each in slices if each in found]:
                raise ValueError(f"{one.text} asks about {twice[0]}, which {found[twice[0]].text} does already")
        except ValueError as error:
            text = f"slice of gate {gate.name!r}: {error}"
            problems.append(ConfigError(config.path, one.line, text, gate=gate.name))
            continue
        found |= dict.fromkeys(slices, one)
    return tuple(found), problems
