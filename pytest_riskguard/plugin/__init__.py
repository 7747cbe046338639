"""The pytest plugin. Every pytest run imports this module, so it loads the others only when they are needed.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_riskguard.plugin.options import add_options, mentioned

if TYPE_CHECKING:
    from pytest_riskguard.plugin.fixture import Riskguard

SESSION = "riskguard-session"
OFF = "riskguard is off: pass --riskguard to judge gates"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare options and ini settings."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Load the rest of the plugin if gates are judged."""
    if not mentioned(config):
        return
    from pytest_riskguard.plugin.mode import mode_of

    mode = mode_of(config)
    if not mode.on:
        return
    from pytest_riskguard.plugin.session import RiskguardSession

    config.pluginmanager.register(RiskguardSession(config, mode), SESSION)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Make messages follow -q, -v and the width, even when riskguard is off: plain assertions still run then."""
    from pytest_riskguard.plugin.mode import set_context

    set_context(session.config)


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
