"""The pytest plugin. Every pytest run imports this module, so it loads the others only when they are needed.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_riskguard.plugin.fixture import Riskguard

CONFIG_NAME = "riskguard.yaml"
SESSION = "riskguard-session"
OFF = "riskguard is off: pass --riskguard to judge gates"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare options and ini settings."""
    group = parser.getgroup("riskguard", "riskguard: gates on risky ranking changes")
    group.addoption(
        "--riskguard", action="store_true", default=None, help="judge gates: riskguard.yaml and the riskguard fixture"
    )
    group.addoption(
        "--no-riskguard",
        dest="riskguard",
        action="store_false",
        help="do not judge gates, whatever the ini file says",
    )
    group.addoption(
        "--riskguard-report",
        action="append",
        default=[],
        metavar="PATH",
        help="write the verdicts to a file; the suffix chooses the format (.json, .md, .html, .xml)",
    )
    group.addoption(
        "--riskguard-strict",
        action="store_true",
        default=None,
        help="fail unless every gate was judged, and passed without a rerun and without xfail",
    )
    group.addoption("--riskguard-no-yaml", action="store_true", help="do not collect the gates of riskguard.yaml")
    parser.addini("riskguard", type="bool", default=False, help="judge gates without --riskguard")
    parser.addini(
        "riskguard_config",
        type="paths",
        default=[],
        help=f"files with gates (default: {CONFIG_NAME} in the rootdir, and in or below folders that are typed)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and load the rest of the plugin if gates are judged."""
    config.addinivalue_line("markers", "riskguard: gates, and tests that use the fixture; added by the plugin")
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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """With -q, which leaves out the header, still say which gates are not judged."""
    from pytest_riskguard.plugin.mode import header_of, mode_of

    if config.get_verbosity() < 0 and not config.pluginmanager.hasplugin(SESSION):
        for line in header_of(config, mode_of(config)):
            terminalreporter.write_line(line)


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that use the fixture; if riskguard is off, skip them, and say why."""
    is_on = config.pluginmanager.hasplugin(SESSION)
    for item in items:
        if "riskguard" in getattr(item, "fixturenames", ()):
            item.add_marker("riskguard")
            if not is_on:
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


def mentioned(config: pytest.Config) -> bool:
    """Whether an option or the ini file says anything about riskguard; if not, it is off."""
    options = [value for name, value in vars(config.option).items() if name.startswith("riskguard")]
    return any(value not in (None, False, []) for value in options) or bool(config.getini("riskguard"))


def typed_again(config: pytest.Config) -> str:
    """The options that a command needs to judge a test again as this run did, from where pytest was called."""
    words = ["--riskguard"]
    for option, given in (("-c", config.getoption("inifilename")), ("--rootdir", config.getoption("rootdir"))):
        words += [option, str(given)] if given else []
    words += [word for setting in config.getoption("override_ini") or () for word in ("-o", setting)]
    return shlex.join(words)
