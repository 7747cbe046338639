"""Options and settings of the plugin, and what a run asks for."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

CONFIG_NAME = "riskguard.yaml"
#: Instead of a number of gates: every one that is known.
ALL = "all"


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


@dataclass(frozen=True)
class Mode:
    """Whether gates are judged, what decided that (``origin``), the gate files, and others given as paths."""

    on: bool
    origin: str
    files: tuple[Path, ...]
    named: tuple[Path, ...] = ()

    @property
    def gate_files(self) -> tuple[Path, ...]:
        """Every file whose gates this run is about."""
        return self.files + self.named


def mode_of(config: pytest.Config) -> Mode:
    """The mode this run is in: the command line wins over the ini file."""
    asked = config.getoption("riskguard", default=None)
    on = bool(config.getini("riskguard") if asked is None else asked)
    named = [Path(path) for path in config.getini("riskguard_config")]
    default = config.rootpath / CONFIG_NAME
    files = tuple(named) if named else (default,) if default.is_file() else ()
    if on:
        for path in files:
            if not path.is_file():
                raise pytest.UsageError(f"riskguard_config: no such file: {path}")
        _check_reports(config.getoption("riskguard_report"), charts=config.getoption("riskguard_charts"))
    elif needless := _needs_on(config, explicit=asked is not None):
        raise pytest.UsageError(f"{needless} needs --riskguard, or `riskguard = true` in the ini file")
    return Mode(on, "ini" if asked is None else "command line", files, _named(config, files))


def _check_reports(paths: list[str], *, charts: bool) -> None:
    """Check before any test runs that each report can be written."""
    if not (paths or charts):
        return
    from pytest_riskguard.errors import UsageError
    from pytest_riskguard.reports.files import MARKDOWN, check

    if charts and not any(Path(path).suffix.lower() in MARKDOWN.suffixes for path in paths):
        raise pytest.UsageError("--riskguard-charts needs a Markdown report; add --riskguard-report=X.md")
    for path in paths:
        try:
            check(Path(path))
        except UsageError as error:
            raise pytest.UsageError(f"--riskguard-report={path}: {error}") from None


def tells_github(config: pytest.Config) -> bool:
    """Whether to write annotations and a summary if GitHub Actions runs this."""
    return bool(config.getini("riskguard_github")) and not config.getoption("riskguard_no_github")


def _needs_on(config: pytest.Config, *, explicit: bool) -> str | None:
    """An option that was given although it does nothing while riskguard is off.

    ``--no-riskguard`` beats what the ini file says, ``addopts`` included: then only what was typed counts.
    """
    given = {
        "--riskguard-require": config.getoption("riskguard_require") is not None,
        "--riskguard-report": bool(config.getoption("riskguard_report")),
        "--riskguard-charts": bool(config.getoption("riskguard_charts")),
        "--riskguard-strict": bool(config.getoption("riskguard_strict")),
    }
    typed = [str(argument).partition("=")[0] for argument in config.invocation_params.args]
    needless = [option for option, is_given in given.items() if is_given and (not explicit or option in typed)]
    return next(iter(needless), None)


def _named(config: pytest.Config, files: tuple[Path, ...]) -> tuple[Path, ...]:
    """Files called riskguard.yaml among the arguments that the settings do not name."""
    known = {path.resolve() for path in files}
    paths = [path for path in dict.fromkeys(_arguments(config)) if path.name == CONFIG_NAME and path.is_file()]
    return tuple(path for path in paths if path.resolve() not in known)


def _arguments(config: pytest.Config) -> list[Path]:
    """The paths that the command line (or ``testpaths``) names, without the parts of node ids behind them."""
    return [config.invocation_params.dir / str(argument).partition("::")[0] for argument in config.args]


def left_out(config: pytest.Config, mode: Mode) -> list[Path]:
    """Each riskguard.yaml with gates that is not collected, in folders given as arguments or above them.

    Folders below these are not searched, since that would slow down every run of pytest.
    """
    root = config.rootpath
    known = {path.resolve() for path in mode.gate_files}
    folders: dict[Path, None] = {}
    for given in filter(Path.is_dir, (Path(os.path.normpath(path)) for path in _arguments(config))):
        folders |= dict.fromkeys(f for f in (given, *given.parents) if f == given or f.is_relative_to(root))
    files = [folder / CONFIG_NAME for folder in folders if (folder / CONFIG_NAME).is_file()]
    return [path for path in files if path.resolve() not in known and _has_gates(path)]


def _has_gates(path: Path) -> bool:
    """Whether a file mentions gates; one for the fixture alone may have none. Parsing here would be slow."""
    from pytest_riskguard.errors import MissingFileError
    from pytest_riskguard.formats.input_files import YAML_BYTES, LimitError, read_limited

    try:
        return b"gates" in read_limited(path, YAML_BYTES)
    except (MissingFileError, LimitError):
        return True


def is_strict(config: pytest.Config) -> bool:
    """Whether a gate that failed at first and then passed fails the run."""
    asked = config.getoption("riskguard_strict")
    return bool(config.getini("riskguard_strict") if asked is None else asked)
