"""The ``riskguard`` fixture: candidates against the stored baselines of the nearest riskguard.yaml."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest

from pytest_riskguard.assertions import demand
from pytest_riskguard.config.load import find_config, load_config
from pytest_riskguard.errors import RiskguardError, UsageError
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.spec import Gate, Kind
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.plugin.bench import Search, live_run, referee_for
from pytest_riskguard.plugin.options import CONFIG_NAME, mode_of
from pytest_riskguard.recorder import record
from pytest_riskguard.referee import LiveRun, RunFile, ScoreFile, Source, Stored

Candidate = RunFile | ScoreFile | LiveRun | TopicScores


class Riskguard:
    """What the fixture gives a test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._config, self._test = request.config, request.node.nodeid
        path = self._nearest(request)
        with_settings = load_config(path, require_gates=False)
        self.folder = path.parent
        self._settings = with_settings
        self._referee = referee_for(request.config, with_settings)

    def _nearest(self, request: pytest.FixtureRequest) -> Path:
        root = request.config.rootpath
        found = find_config(Path(request.path).parent, stop=root)
        if found is None:
            found = next(iter(mode_of(request.config).files), None)
        if found is None:
            raise UsageError(
                f"no {CONFIG_NAME} beside {request.path} or above it up to {root}; `riskguard init` writes one"
            )
        return found

    def run(self, path: str | os.PathLike[str], *, name: str | None = None) -> RunFile:
        """A candidate's run file; a relative path starts at riskguard.yaml's folder."""
        return RunFile(self.folder / path, name)

    def scores(self, path: str | os.PathLike[str], *, name: str | None = None) -> ScoreFile:
        """A candidate's per-topic scores (CSV or TSV); a relative path starts at riskguard.yaml's folder."""
        return ScoreFile(self.folder / path, name)

    def retrieve(self, search: Search, *, depth: int = 100, name: str = "candidate") -> LiveRun:
        """A candidate that is asked now: ``search(query)`` gives ``[(docid, score), ...]`` for every topic."""
        return live_run(self._referee, search, depth=depth, name=name)

    def check(
        self,
        kind: str,
        candidate: Candidate,
        baseline: str | Candidate,
        *,
        measure: str | None = None,
        **options: Any,
    ) -> Verdict:
        """The verdict, without raising when it is not a pass."""
        __tracebackhide__ = True
        gate = Gate(name=self._test, kind=cast(Kind, kind), **options)
        return self._ask(gate, candidate, baseline, measure)

    def assert_not_significantly_risky(
        self,
        candidate: Candidate,
        baseline: str | Candidate,
        *,
        measure: str | None = None,
        alpha: float = 1.0,
        **options: Any,
    ) -> Verdict:
        """As the assertion of this name; ``baseline`` is a stored name, or another candidate.

        ``measure`` defaults to the first of riskguard.yaml.
        """
        __tracebackhide__ = True
        gate = Gate(name=self._test, alpha=alpha, **options)
        return demand(self._ask(gate, candidate, baseline, measure), options="--riskguard")

    def _ask(self, gate: Gate, candidate: Candidate, baseline: str | Candidate, measure: str | None) -> Verdict:
        __tracebackhide__ = True
        against: Source = Stored(baseline) if isinstance(baseline, str) else baseline
        if measure is None and not isinstance(candidate, TopicScores):
            measure = next(iter(self._settings.measures), None)
        try:
            return record(self._referee.verdict(gate, candidate, against, measure))
        except RiskguardError as error:
            raise error.with_traceback(None) from None
