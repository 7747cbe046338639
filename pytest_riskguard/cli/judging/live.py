"""What ``check`` and ``retrieve`` need to query the live systems of a riskguard.yaml outside pytest."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.config.load import CONFIG_NAME, find_config
from pytest_riskguard.errors import UsageError

if TYPE_CHECKING:
    from pytest_riskguard.config.queried_settings import Queried
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.engine import Engine
    from pytest_riskguard.engine.sources import LiveRun


def config_path(given: Path | None) -> Path:
    """The riskguard.yaml that is given, else the nearest."""
    path = given or find_config(Path.cwd())
    if path is None:
        raise UsageError(f"no {CONFIG_NAME} here or above: name one with --config; `riskguard init` writes one")
    return Path(os.path.normpath(path.absolute()))


def live_systems(settings: Config, engine: Engine) -> Callable[[Queried, int], LiveRun]:
    """Makes a live system of what a file says about it on a line; its progress is shown on the terminal."""
    from pytest_riskguard.live_systems.candidates import live_candidate
    from pytest_riskguard.live_systems.console import TerminalConsole

    console = TerminalConsole()

    def live(candidate: Queried, line: int) -> LiveRun:
        return live_candidate(engine, candidate, settings=settings, line=line, console=console)

    return live


@contextmanager
def code_from(folder: Path) -> Iterator[None]:
    """Code is imported from this folder too, and prints to standard error."""
    sys.path.insert(0, str(folder))
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.path.remove(str(folder))
