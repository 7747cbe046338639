"""What a test hands to the fixture, checked: a mistake is one line about the argument, without frames of ours."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.sources import LiveRun, RunFile, ScoreFile


def source(value: object, what: str) -> RunFile | ScoreFile | LiveRun | TopicScores:
    """A candidate, or a baseline that is not a stored name.

    Raises
    ------
    TypeError
        Something else; a path is told how to become a run.
    DataError
        A mapping that holds no scores.
    """
    __tracebackhide__ = True
    if isinstance(value, RunFile | ScoreFile | LiveRun | TopicScores):
        return value
    if isinstance(value, Mapping):
        return TopicScores.from_mapping(value, name=what)
    if isinstance(value, str | os.PathLike):
        text = os.fspath(value)
        raise TypeError(
            f"{what}: found {text!r}; write riskguard.run({text!r}) for a run file, or riskguard.scores({text!r}) "
            "for per-topic scores"
        )
    stored = "" if what == "candidate" else "the name of a stored baseline, "
    raise TypeError(
        f"{what}: expected {stored}riskguard.run(path), riskguard.scores(path), riskguard.retrieve(search) or a "
        f"mapping topic -> score, found {_found(value)}"
    )


def baselines(value: Any, *, pool: bool) -> list[Any]:
    """The baselines that a test hands over: one, or for a pool a list of one at least.

    Raises
    ------
    TypeError
        A list where one is asked for, or none of a pool.
    """
    __tracebackhide__ = True
    several = isinstance(value, list | tuple)
    if several and not pool:
        raise TypeError("baseline: expected one baseline, found a list; a pool is for georisk_not_worse")
    if several and not value:
        raise TypeError("baselines: expected one at least, found an empty list")
    return list(value) if several else [value]


def path(value: object) -> str:
    """A path as text.

    Raises
    ------
    TypeError
        It is none.
    """
    __tracebackhide__ = True
    if isinstance(value, str | os.PathLike) and isinstance(text := os.fspath(value), str):
        return text
    raise TypeError(f"expected a path, found {_found(value)}")


def _found(value: object) -> str:
    if callable(value):
        return f"a function ({getattr(value, '__name__', type(value).__name__)})"
    return "None" if value is None else f"{type(value).__name__} {value!r:.60}"
