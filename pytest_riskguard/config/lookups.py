"""What a riskguard.yaml names and nothing has: files, baselines, measures, slices, protected topics.

A gate whose inputs are missing says so in its verdict, one input at a time. These checks find everything at once.
They read files and load numpy, so they are made only where something is wrong already.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.config.candidate_settings import file_of
from pytest_riskguard.config.items import with_slices
from pytest_riskguard.config.schema import ComputedBaseline, Config, GateSettings
from pytest_riskguard.data.collection import read_topics
from pytest_riskguard.data.measures import measure_name
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.records import TopicKeys
from pytest_riskguard.data.remote import is_address
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import ConfigError, DataError, UsageError
from pytest_riskguard.gates.limits import protected_topics
from pytest_riskguard.text import did_you_mean

#: A line, what is wrong there, and the gate that it is about.
Missing = tuple[int, str, str | None]


def all_errors(config: Config) -> list[ConfigError]:
    """Everything that the settings name and that does not exist, ordered by line."""
    missing = sorted(dict.fromkeys(_lookups(config)), key=lambda one: one[0])
    return [ConfigError(config.path, line, text, gate=gate) for line, text, gate in missing]


def _lookups(config: Config) -> Iterator[Missing]:
    yield from _measures(config)
    yield from _candidates(config)
    yield from _baselines(config)
    qrels, topics, is_readable = None, Topics.of({}), True
    given_topics, given = config.collection.given_topics, config.collection.given_qrels
    try:
        if given_topics is not None:
            topics = read_topics(given_topics)
    except DataError as error:
        yield config.line("collection", "topics"), f"collection.topics: {error.problem}", None
        is_readable = False
    try:
        qrels = None if given is None else read_qrels(given, TopicKeys(topics.queries))
    except DataError as error:
        yield config.line("collection", "qrels"), f"collection.qrels: {error.problem}", None
    if is_readable and qrels is not None:
        yield from _slices(config)
        yield from _protected(config, qrels, topics)


def _measures(config: Config) -> Iterator[Missing]:
    if config.collection.qrels is None:  # scores alone, of any measure
        return
    for line, name, gate in _named_measures(config):
        try:
            measure_name(name)
        except UsageError as error:
            yield line, f"measures: {error}" if gate is None else f"measure of gate {gate!r}: {error}", gate


def _named_measures(config: Config) -> Iterator[Missing]:
    """Each measure of the file and of its gates, with its line."""
    for i, name in enumerate(config.measures or ()):
        yield config.line("measures", i), name, None
    for place, gate in enumerate(config.gates):
        for i, name in enumerate(gate.measure or ()):
            yield config.line("gates", place, "measure", i), name, gate.name


def _candidates(config: Config) -> Iterator[Missing]:
    runs = [
        (config.line("candidate"), file_of(config.candidate), None),
        *((config.line("gates", i, "candidate"), file_of(g.candidate), g.name) for i, g in enumerate(config.gates)),
    ]
    for line, run, gate in runs:
        # pathlib raises where a name is too long; nobody is asked about an address before it is needed
        if run is not None and not is_address(run.path) and not os.path.exists(run.path):  # noqa: PTH110
            shown = os.path.relpath(run.path, config.path.parent)
            subject = "candidate" if gate is None else f"candidate of gate {gate!r}"
            yield line, f"{subject}: {shown}: no such file", gate


def _baselines(config: Config) -> Iterator[Missing]:
    try:
        stored = Store(config.store).names()
    except DataError as error:
        yield config.line("store"), f"store: {error.problem}", None
        return
    for place, gate in enumerate(config.gates):
        for path, name in _named_baselines(gate):
            if name not in stored:
                text = f"no baseline {name!r} is stored{did_you_mean(name, stored)}; store it with "
                text += f"`riskguard baseline add {name} RUN`"
                yield config.line("gates", place, *path), f"{path[0]} of gate {gate.name!r}: {text}", gate.name


def _named_baselines(gate: GateSettings) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Each stored baseline of a gate, with its path in the gate."""
    if isinstance(gate.baseline, ComputedBaseline):
        for name in gate.baseline.systems:
            yield ("baseline",), name
    elif gate.baseline is not None:
        yield ("baseline",), gate.baseline.partition("/")[0]
    for i, name in enumerate(gate.baselines or ()):
        yield ("baselines", i), name


def _slices(config: Config) -> Iterator[Missing]:
    try:
        with_slices(config)
    except ConfigError as error:
        for one in error.errors:
            yield one.line, one.problem, one.gate


def _protected(config: Config, qrels: Qrels, topics: Topics) -> Iterator[Missing]:
    for place, gate in enumerate(config.gates):
        for i, entry in enumerate(gate.option("protected")):
            try:
                protected_topics([entry], qrels.topics, topics.tags)
            except ValueError as error:
                problem = str(error).removeprefix("protected: ")
                line = config.line("gates", place, "protected", i)
                yield line, f"protected of gate {gate.name!r}: {problem}", gate.name
