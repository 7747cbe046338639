"""Live systems: a function, a command or an engine over HTTP, queried for every judged topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.config.setting_types import Queried
    from pytest_riskguard.engine import Engine
    from pytest_riskguard.engine.declared_gates import DeclaredGates
    from pytest_riskguard.engine.question import LiveRun


def declared_gates(settings: Config, engine: Engine, **replaced: Any) -> DeclaredGates:
    """The gates of a riskguard.yaml, perhaps about live systems; ``replaced`` is what ``DeclaredGates`` takes."""
    from pytest_riskguard.engine.declared_gates import DeclaredGates

    def live(candidate: Queried, line: int) -> LiveRun:
        from pytest_riskguard.live.candidates import live_candidate  # loads what talks to servers

        return live_candidate(engine, settings, candidate, line)

    return DeclaredGates(settings, engine, live, **replaced)
