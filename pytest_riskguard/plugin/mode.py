"""Whether a run judges gates, and of which files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_riskguard import __version__
from pytest_riskguard.plugin.options import CONFIG_NAME


class Mode(NamedTuple):
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
    from pytest_riskguard.formats.input_files import LimitError, read_limited
    from pytest_riskguard.formats.limits import YAML_BYTES

    try:
        return b"gates" in read_limited(path, YAML_BYTES)
    except (MissingFileError, LimitError):
        return True


def is_strict(config: pytest.Config) -> bool:
    """Whether a gate that failed at first and then passed fails the run."""
    asked = config.getoption("riskguard_strict")
    return bool(config.getini("riskguard_strict") if asked is None else asked)


def header_of(config: pytest.Config, mode: Mode) -> list[str]:
    """Lines that say whether gates are judged, and which are not although they are there."""
    files = ", ".join(_relative(path, config.rootpath) for path in mode.gate_files)
    if not mode.on:
        return [f"riskguard: off; the gates of {files} are not run (pass --riskguard)"] if files else []
    lines = [f"riskguard: {__version__}, on ({mode.origin}); gates of {files or f'no {CONFIG_NAME}'}"]
    if not config.getoption("riskguard_no_yaml"):
        for path in left_out(config, mode):
            name = _relative(path, config.rootpath)
            lines.append(f"riskguard: {name} is not listed in riskguard_config: its gates are not run")
    return lines


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
