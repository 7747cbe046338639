"""The pytest plugin. Every pytest run imports this module, so it loads the others only when they are needed.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_riskguard.plugin.fixture import Riskguard

SESSION = "riskguard-session"
OFF = "riskguard is off: pass --riskguard to judge gates"


class CompiledModules:
    """Finds the modules of this package before pytest's import hook does.

    The hook would parse each of them to rewrite its assertions, as it does for all files of a plugin, although they
    hold none of a test. They are loaded as installers have compiled them.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Where a module of this package is."""
        return PathFinder.find_spec(name, path, target) if name.startswith("pytest_riskguard.") else None


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare options and ini settings."""
    sys.meta_path.insert(0, CompiledModules)
    from pytest_riskguard.plugin.options import PARSERS, add_options

    PARSERS[pluginmanager] = parser
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Refuse an ini file that keeps pytest from running the gates."""
    from pytest_riskguard.plugin.options import mentioned

    if not hasattr(config, "workerinput") and mentioned(config):
        from pytest_riskguard.plugin.selection import check_runs_tests

        check_runs_tests(config)


def pytest_configure(config: pytest.Config) -> None:
    """Load the rest of the plugin if gates are judged."""
    from pytest_riskguard.plugin.options import mentioned

    config.add_cleanup(_end_finding)
    if not mentioned(config):
        return
    from pytest_riskguard.plugin.mode import mode_of, tells_github

    mode = mode_of(config)
    if mode.on:
        from pytest_riskguard.errors import UsageError
        from pytest_riskguard.plugin.session import RiskguardSession

        try:
            session = RiskguardSession(config, mode)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        _register(config, session, SESSION)
        if not session.is_worker:
            _withdraw_reports(config)
        if not session.is_worker and tells_github(config):
            from pytest_riskguard.plugin.github_output import Github

            _register(config, Github(session), "riskguard-github")


def _withdraw_reports(config: pytest.Config) -> None:
    """Remove the reports that an earlier run left: whatever ends this one, none stands for it."""
    for path in config.getoption("riskguard_report"):
        from pytest_riskguard.reports.files import withdraw

        try:
            withdraw(config.invocation_params.dir / path)
        except OSError as error:
            raise pytest.UsageError(f"--riskguard-report={path}: cannot write ({error.strerror})") from None


def _end_finding() -> None:
    if CompiledModules in sys.meta_path:
        sys.meta_path.remove(CompiledModules)


def _register(config: pytest.Config, plugin: object, name: str) -> None:
    """Register a part of this plugin; if it were blocked, gates would silently not be judged."""
    if config.pluginmanager.is_blocked(name):
        raise pytest.UsageError(f"-p no:{name} cannot be given while riskguard is on; --no-riskguard switches it off")
    config.pluginmanager.register(plugin, name)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Make messages follow -q, -v and the width, even when riskguard is off: plain assertions still run then."""
    from pytest_riskguard.plugin.screen import set_context

    set_context(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker how wide the screen is, and whether it shows block characters."""
    from pytest_riskguard.plugin.screen import tell_worker

    tell_worker(node)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Lines that say whether gates are judged."""
    from pytest_riskguard.plugin.mode import header_of, mode_of

    session = config.pluginmanager.get_plugin(SESSION)
    return header_of(config, mode_of(config) if session is None else session.mode)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """If riskguard is off, skip the tests that use the fixture, and say why."""
    if not config.pluginmanager.hasplugin(SESSION):
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
