"""Options and settings of the plugin. Every pytest run loads this module, so it holds no more than that needs."""

from __future__ import annotations

import argparse
import shlex
from weakref import WeakKeyDictionary

import pytest

CONFIG_NAME = "riskguard.yaml"
#: Instead of a number of gates: every one that is known.
ALL = "all"
#: The parser of each run in this process.
PARSERS: WeakKeyDictionary[pytest.PytestPluginManager, pytest.Parser] = WeakKeyDictionary()


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
    group.addoption("--riskguard-no-yaml", action="store_true", help="do not collect the gates of riskguard.yaml")
    group.addoption(
        "--riskguard-require",
        type=_number_or_all,
        default=None,
        metavar="N",
        help="fail unless at least N gates were judged; all: every gate known",
    )
    group.addoption(
        "--riskguard-strict",
        action="store_true",
        default=None,
        help="fail if a gate passed only when it was run again",
    )
    group.addoption(
        "--riskguard-report",
        action="append",
        default=[],
        metavar="PATH",
        help="write the verdicts to a file; the suffix chooses the format (.json, .md, .html)",
    )
    group.addoption(
        "--riskguard-charts", action="store_true", help="write the charts of a Markdown report beside it, as SVG"
    )
    group.addoption("--riskguard-no-cache", action="store_true", help="read and judge all, keep nothing on disk")
    group.addoption(
        "--riskguard-no-github", action="store_true", help="in GitHub Actions: no annotations and no step summary"
    )
    parser.addini("riskguard", type="bool", default=False, help="judge gates without --riskguard")
    parser.addini(
        "riskguard_config",
        type="paths",
        default=[],
        help=f"files with gates (default: {CONFIG_NAME} in the rootdir, if it exists)",
    )
    parser.addini("riskguard_strict", type="bool", default=False, help="as --riskguard-strict")
    parser.addini(
        "riskguard_github",
        type="bool",
        default=True,
        help="in GitHub Actions: annotations, and the verdicts in the step summary",
    )
    parser.addini(
        "riskguard_junit", type="bool", default=True, help="with --junitxml: verdicts as properties of the tests"
    )


#: More gates than any project has; Python refuses to read numbers of thousands of digits.
MAX_DIGITS = 18


def _number_or_all(text: str) -> int | str:
    if text == ALL:
        return text
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected a number or {ALL}, found {text!r}")
    return int(text[:MAX_DIGITS])


def mentioned(config: pytest.Config) -> bool:
    """Whether an option or the ini file says anything about riskguard; if not, it is off.

    The arguments are searched too, because pytest parses nothing after a ``--help`` from ``addopts``.
    """
    options = [value for name, value in vars(config.option).items() if name.startswith("riskguard")]
    given = any(value is not None and value is not False and value != [] for value in options)
    typed = any("riskguard" in str(argument) for argument in config.invocation_params.args)
    return given or typed or bool(config.getini("riskguard"))


def typed_again(config: pytest.Config) -> str:
    """The options that a command needs to judge a test again as this run did, from where pytest was called."""
    words = ["--riskguard"]
    for option, given in (("-c", config.getoption("inifilename")), ("--rootdir", config.getoption("rootdir"))):
        words += [option, str(given)] if given else []
    words += [word for setting in config.getoption("override_ini") or () for word in ("-o", setting)]
    return shlex.join(words)
