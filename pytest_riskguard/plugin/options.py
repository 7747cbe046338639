"""What can be asked of the plugin, and what was asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

CONFIG_NAME = "riskguard.yaml"


def add_options(parser: pytest.Parser) -> None:
    """Declare the command line options and ini settings."""
    group = parser.getgroup("riskguard", "riskguard: gates on risky ranking changes")
    group.addoption(
        "--riskguard",
        action="store_true",
        default=None,
        help="judge gates: riskguard.yaml and the riskguard fixture",
    )
    group.addoption(
        "--no-riskguard", dest="riskguard", action="store_false", help="do not, whatever the ini file says"
    )
    group.addoption("--riskguard-no-yaml", action="store_true", help="do not collect the gates of riskguard.yaml")
    group.addoption(
        "--riskguard-require",
        type=int,
        default=None,
        metavar="N",
        help="fail unless at least N gates were judged",
    )
    group.addoption(
        "--riskguard-report",
        action="append",
        default=[],
        metavar="PATH",
        help="write the verdicts to a file, its format chosen by its suffix (.json)",
    )
    parser.addini("riskguard", type="bool", default=False, help="judge gates without --riskguard")
    parser.addini(
        "riskguard_config",
        type="paths",
        default=[],
        help=f"files with gates (default: {CONFIG_NAME} in the rootdir, if there)",
    )


@dataclass(frozen=True)
class Mode:
    """Whether gates are judged, who said so, and where they are declared."""

    on: bool
    origin: str
    files: tuple[Path, ...]


def mode_of(config: pytest.Config) -> Mode:
    """The mode this run is in: the command line wins over the ini file."""
    asked = config.getoption("riskguard", default=None)
    if asked is None:
        on, origin = bool(config.getini("riskguard")), "ini"
    else:
        on, origin = bool(asked), "command line"
    named = [Path(path) for path in config.getini("riskguard_config")]
    default = config.rootpath / CONFIG_NAME
    files = tuple(named) if named else (default,) if default.is_file() else ()
    if on:
        for path in files:
            if not path.is_file():
                raise pytest.UsageError(f"riskguard_config: no file {path}")
        for report in config.getoption("riskguard_report"):
            if Path(report).suffix != ".json":
                raise pytest.UsageError(
                    f"--riskguard-report={report}: the format is chosen by the suffix, expected .json"
                )
            if not Path(report).absolute().parent.is_dir():
                raise pytest.UsageError(f"--riskguard-report={report}: no folder {Path(report).parent}")
    return Mode(on, origin, files)


def selected(config: pytest.Config) -> bool:
    """Whether the user asked for a part of the tests only, which may rightly hold no gate."""
    options = ("keyword", "markexpr", "lf", "deselect", "stepwise", "ignore", "ignore_glob")
    return any(config.getoption(name, default=None) for name in options) or node_ids_given(config)


def node_ids_given(config: pytest.Config) -> bool:
    """Whether any argument names a single test."""
    return any("::" in str(argument) for argument in config.args)
