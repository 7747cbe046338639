"""The pytest plugin. Every pytest run imports this module, so it imports only pytest.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard.plugin.options import CONFIG_NAME, Mode, add_options, left_out, mode_of, tells_github
from pytest_riskguard.plugin.selection import PARSERS, SELECTION, check_runs_tests, selection_of

if TYPE_CHECKING:
    from pytest_riskguard.plugin.fixture import Riskguard

MODE = pytest.StashKey[Mode]()
WIDTH, BLOCKS = "riskguard_width", "riskguard_blocks"
OFF = "riskguard is off: pass --riskguard to judge gates"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare options and ini settings."""
    PARSERS[pluginmanager] = parser
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Refuse an ini file that keeps pytest from running the gates."""
    if not hasattr(config, "workerinput"):
        check_runs_tests(config)


def pytest_configure(config: pytest.Config) -> None:
    """Set how much messages show; load the rest of the plugin if gates are judged."""
    mode = config.stash[MODE] = mode_of(config)
    _set_context(config)
    if mode.on:
        from pytest_riskguard.errors import UsageError
        from pytest_riskguard.plugin.github_output import Github
        from pytest_riskguard.plugin.session import RiskguardSession

        try:
            session = RiskguardSession(config, mode)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        _register(config, session, "riskguard-session")
        if not session.is_worker and tells_github(config):
            _register(config, Github(session), "riskguard-github")


def _register(config: pytest.Config, plugin: object, name: str) -> None:
    """Register a part of this plugin; if it were blocked, gates would silently not be judged."""
    if config.pluginmanager.is_blocked(name):
        raise pytest.UsageError(f"-p no:{name} cannot be given while riskguard is on; --no-riskguard switches it off")
    config.pluginmanager.register(plugin, name)


def _set_context(config: pytest.Config) -> None:
    """Make messages follow -q, -v and the width, even when riskguard is off: plain assertions still run then."""
    from pytest_riskguard import run_context

    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    verbosity = config.get_verbosity()
    screen = run_context.Screen(
        detail=run_context.Detail(min(max(verbosity, 0), 2)),
        width=shutil.get_terminal_size().columns if worker is None else worker[WIDTH],
        blocks=run_context.draws_blocks(sys.stdout.encoding) if worker is None else worker[BLOCKS],
    )
    context = ExitStack()
    context.enter_context(run_context.changed(screen=screen, locate=lambda test: _from_here(test, config)))
    config.add_cleanup(context.close)


def _from_here(test: str, config: pytest.Config) -> str:
    """A node id relative to the folder where pytest was called, instead of to the rootdir."""
    path, *parts = test.split("::")
    here = os.path.relpath(config.rootpath / path, config.invocation_params.dir)
    return "::".join([Path(here).as_posix(), *parts])


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker how wide the screen is, and whether it shows block characters."""
    from pytest_riskguard import run_context

    node.workerinput[WIDTH] = shutil.get_terminal_size().columns
    node.workerinput[BLOCKS] = run_context.current().screen.blocks
    node.workerinput[SELECTION] = selection_of(node.config).plain()


def pytest_report_header(config: pytest.Config) -> list[str]:
    """One line that says whether gates are judged."""
    from pytest_riskguard._version import __version__

    mode = config.stash[MODE]
    files = ", ".join(_relative(path, config.rootpath) for path in mode.gate_files)
    if mode.on:
        lines = [f"riskguard: {__version__}, on ({mode.origin}); gates of {files or f'no {CONFIG_NAME}'}"]
        if not config.getoption("riskguard_no_yaml"):
            for path in left_out(config, mode):
                name = _relative(path, config.rootpath)
                lines.append(f"riskguard: {name} is not listed in riskguard_config: its gates are not run")
        return lines
    if files:
        return [f"riskguard: off; the gates of {files} are not run (pass --riskguard)"]
    return []


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """If riskguard is off, skip the tests that use the fixture, and say why."""
    if not config.stash[MODE].on:
        for item in items:
            if "riskguard" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.skip(reason=OFF))


@pytest.fixture
def riskguard(request: pytest.FixtureRequest) -> Riskguard:
    """Judge candidates against the stored baselines of the nearest riskguard.yaml."""
    from pytest_riskguard.errors import RiskguardError
    from pytest_riskguard.plugin.fixture import Riskguard

    try:
        return Riskguard(request)
    except RiskguardError as error:
        problem = str(error)
    # Not in the except block, where pytest would show "During handling of the above exception".
    pytest.fail(problem, pytrace=False)
