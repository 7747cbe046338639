"""The ``riskguard`` fixture: candidates against the stored baselines of the nearest riskguard.yaml."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from pytest_riskguard.assertions import Assertion, System, assertion, demand
from pytest_riskguard.config.load import find_config, load_config
from pytest_riskguard.config.setting_types import TIMEOUT
from pytest_riskguard.data.given_file import TIES, GivenFile, Ties
from pytest_riskguard.data.memory import is_data, run, system_in_memory
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.engine.advice import advised
from pytest_riskguard.engine.question import LiveRun, Question, Ranked, RunFile, ScoreFile, Source, Stored
from pytest_riskguard.errors import DataError, RiskguardError, UsageError
from pytest_riskguard.gates.kinds import KINDS, gate_of
from pytest_riskguard.gates.option_types import shown
from pytest_riskguard.gates.verdict import Verdict, refused
from pytest_riskguard.live.importing import importable_from
from pytest_riskguard.plugin import CONFIG_NAME, typed_again
from pytest_riskguard.plugin.mode import files_of_ini
from pytest_riskguard.plugin.session import engine_for, reader_for
from pytest_riskguard.run_context import record

Candidate = RunFile | ScoreFile | LiveRun | System
F = TypeVar("F", bound=Callable[..., Any])
#: A baseline: the name of a stored one, or anything that could be a candidate.
Named = str | Candidate


def _told(method: F) -> F:
    """A method whose wrong arguments are told without our frames."""

    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            return method(*args, **kwargs)
        except (TypeError, ValueError, RiskguardError) as error:
            raise error.with_traceback(None) from None

    return cast(F, called)


class Riskguard:
    """What the fixture gives a test; ``measure`` is the first of riskguard.yaml unless it is given."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._config, self._test = request.config, request.node.nodeid
        root, folder = request.config.rootpath, Path(request.path).parent
        near = find_config(folder, stop=root if folder.is_relative_to(root) else None)
        path = next(filter(None, [near, *files_of_ini(request.config)]), None)
        if path is None:
            raise UsageError(
                f"no {CONFIG_NAME} beside {request.path} or above it up to {root}; `riskguard init` writes one"
            )
        self._settings = load_config(path, require_gates=False)
        self.folder = path.parent
        self._engine = engine_for(request.config, self._settings)

    @_told
    def run(
        self, data: Any, *, name: str | None = None, format: str | None = None, ties: Ties | None = None
    ) -> RunFile | Run:
        """A candidate's run: a file, whose relative path starts at riskguard.yaml's folder, or rankings in memory.

        ``format`` says which format a file has, ``ties`` which order counts where scores are equal.
        """
        if is_data(data):
            return run(data, name=name, ties=ties)
        return RunFile(self._file(data, format, ties), name)

    @_told
    def scores(
        self, path: str | os.PathLike[str], *, name: str | None = None, format: str | None = None
    ) -> ScoreFile:
        """A candidate's file of per-topic scores; otherwise as ``run``."""
        return ScoreFile(self._file(path, format), name)

    def _file(self, path: object, format: str | None, ties: Ties | None = None) -> GivenFile:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"expected a path, found {shown(path)}; data in memory go to the assertion itself")
        if ties is not None and ties not in TIES:
            raise ValueError(f"ties: expected one of {', '.join(TIES)}, found {ties!r}")
        return replace(GivenFile.of(self.folder / path), format=format, ties=ties)

    @_told
    def retrieve(
        self,
        search: Callable[..., object],
        *,
        depth: int = 100,
        workers: int = 1,
        timeout: float | None = TIMEOUT,
        ties: Ties = "as_returned",
        name: str = "candidate",
    ) -> LiveRun:
        """A candidate that is queried now: ``search(query)`` gives ``[(docid, score), ...]`` for every topic.

        It may also take ``(query, k)`` or ``(topic)``, be ``async``, and return ids, a mapping to scores, or hits.
        ``workers`` threads send queries in parallel; with one, pytest's own thread does. A query that raises, or has
        no answer after ``timeout`` seconds (None: no limit), has failed. The queries of ten topics are sent again, to
        compare the answers. How the candidate is queried does not change the verdict. Documents with equal scores
        keep their order, or with ``ties="docid"`` are ranked by their ids.
        """
        from pytest_riskguard.live.candidates import live_run

        return live_run(self._engine, search, name, depth=depth, workers=workers, timeout=timeout, ties=ties)

    @_told
    def check(
        self,
        kind: str,
        candidate: Candidate,
        baseline: Named | Sequence[Named],
        *,
        measure: str | None = None,
        **options: Any,
    ) -> Verdict:
        """The verdict, without raising when it is not a pass; ``georisk_not_worse`` takes a list of baselines."""
        gate = gate_of(self._test, kind, **options)
        given: list[Any] = [*baseline] if isinstance(baseline, list | tuple) else [baseline]
        if isinstance(baseline, list | tuple) and not (gate.is_pool and given):
            raise TypeError("baseline: expected one; a list, with at least one, is for georisk_not_worse only")
        names = [f"baseline {place}" for place, _ in enumerate(given, 1)] if len(given) > 1 else ["baseline"]
        column = measure or next(iter(self._settings.measures or ()), None)
        try:
            tested = _source(candidate, "candidate", column)
            first, *pool = (
                Stored(one) if isinstance(one, str) else _source(one, name, column)
                for name, one in zip(names, given, strict=True)
            )
        except DataError as error:  # a mapping that holds no scores
            return record(refused(Verdict(gate, "incomparable", None, measure, "candidate", ("baseline",)), error))
        asked_measure = None if gate.of_rankings else self._measure(measure, tested, first, *pool)
        question = Question(gate, tested, first, asked_measure, pool=tuple(pool))
        with importable_from(self.folder):
            verdict = self._engine.verdict(question)
        reader = reader_for(self._config, self._settings.path)
        return record(advised(verdict, question, reader, accept=gate.name))

    def _demand(self, candidate: Candidate, baseline: Named | Sequence[Named], *, kind: str, **more: Any) -> Verdict:
        """As ``check``, but raises unless the verdict passes."""
        __tracebackhide__ = True
        return demand(self.check(kind, candidate, baseline, **more), options=typed_again(self._config))

    assert_equivalent: Assertion
    assert_georisk_not_worse: Assertion
    assert_no_drift: Assertion
    assert_no_surprise: Assertion
    assert_no_topic_collapse: Assertion
    assert_not_inferior: Assertion
    assert_not_significantly_risky: Assertion

    def _measure(self, measure: str | None, *sources: Source) -> str | None:
        """The measure asked for, else the measure of the given scores, else the first of riskguard.yaml."""
        if measure is not None and not isinstance(measure, str):
            raise TypeError(f"measure: expected text such as 'nDCG@10', found {measure!r}")
        if measure is not None or all(isinstance(source, TopicScores) for source in sources):
            return measure
        given = [source.measure for source in sources if isinstance(source, TopicScores) and source.measure]
        return next(iter([*given, *(self._settings.measures or ())]), None)


for kind in KINDS.values():
    setattr(Riskguard, f"assert_{kind.kind}", assertion(kind, Riskguard._demand, Riskguard.check))


def _source(value: object, what: str, measure: str | None) -> Ranked | ScoreFile | TopicScores:
    """A candidate, or a baseline that is not a stored name.

    ``measure`` is the column of a frame of scores that has several.
    """
    if isinstance(value, RunFile | ScoreFile | LiveRun | TopicScores):
        return value
    if isinstance(value, Run) or is_data(value):
        return system_in_memory(value, what, measure)
    stored = "" if what == "candidate" else "the name of a stored baseline, "
    raise TypeError(
        f"{what}: expected {stored}riskguard.run(path), riskguard.scores(path), riskguard.retrieve(search), "
        f"scores or rankings in memory, found {shown(value)}"
    )
