"""What gates of one riskguard.yaml share in one process: files read once, runs scored once, systems queried once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.config.items import GateItem, family_of
from pytest_riskguard.engine import Engine
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.plugin.live import live_candidate
from pytest_riskguard.sources import Computed, LiveRun, Question, RunFile, Stored

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import ComputedBaseline, Config, Retrieve

_ENGINES = pytest.StashKey[dict[Path, Engine]]()
_FAMILIES = pytest.StashKey[dict[Path, dict[str, Verdict]]]()
_LIVE = pytest.StashKey["dict[tuple[Path, Retrieve], LiveRun]"]()


def engine_for(config: pytest.Config, settings: Config) -> Engine:
    """The engine over a riskguard.yaml's collection, the same one for all its gates."""
    engines = config.stash.setdefault(_ENGINES, {})
    if settings.path not in engines:
        engines[settings.path] = Engine(
            qrels=settings.collection.qrels,
            topics=settings.collection.topics,
            store=Store(settings.store),
            measures=settings.all_measures,
            report=bool(config.getoption("riskguard_report", default=())),
        )
    return engines[settings.path]


def verdict_on(config: pytest.Config, settings: Config, item: GateItem) -> Verdict:
    """The verdict on one item; its family is judged whole, once, even if only some items are selected."""
    correction, family = family_of(settings, item)
    if not family:
        return engine_for(config, settings).verdict(_question(config, settings, item))
    judged = config.stash.setdefault(_FAMILIES, {}).setdefault(settings.path, {})
    if item.id not in judged:
        questions = [_question(config, settings, member) for member in family]
        verdicts = engine_for(config, settings).verdicts(questions, correction=correction)
        judged |= {member.id: verdict for member, verdict in zip(family, verdicts, strict=True)}
    return judged[item.id]


def _question(config: pytest.Config, settings: Config, item: GateItem) -> Question:
    candidate = _candidate_source(config, settings, item.settings.candidate or settings.candidate)
    first, *pool = (_baseline_source(baseline) for baseline in item.baselines)
    others = tuple(source for source in pool if isinstance(source, Stored))
    return Question(item.gate, candidate, first, item.measure, pool=others, alphas=item.settings.alpha)


def _baseline_source(baseline: str | ComputedBaseline) -> Stored | Computed:
    if isinstance(baseline, str):
        return Stored(baseline)
    return Computed(baseline.kind, tuple(map(Stored, baseline.systems)), baseline.candidate_inside)


def _candidate_source(
    config: pytest.Config, settings: Config, candidate: Path | Retrieve | None
) -> RunFile | LiveRun:
    """The candidate that a gate of this riskguard.yaml judges; a function is imported when it is first asked."""
    if candidate is None:
        raise UsageError(f"{settings.path}: no candidate: name a run file, or a function to retrieve with")
    if isinstance(candidate, Path):
        return RunFile(candidate)
    live = config.stash.setdefault(_LIVE, {})
    key = (settings.path, candidate)
    if key not in live:
        live[key] = live_candidate(config, engine_for(config, settings), candidate)
    return live[key]
