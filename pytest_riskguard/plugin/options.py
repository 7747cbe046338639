"""Options and settings of the plugin. Every pytest run loads this module, so it holds no more than that needs.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import shlex

import pytest

CONFIG_NAME = "riskguard.yaml"


def add_options(parser: pytest.Parser) -> None:
    """Declare the command line options and ini settings."""
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
        help=f"files with gates (default: {CONFIG_NAME} in the rootdir, if it exists)",
    )


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
