"""The settings of a run of pytest: whether it judges gates, of which files, and how long and wide messages are."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_riskguard import __version__, run_context
from pytest_riskguard.plugin import CONFIG_NAME

#: Options that select tests. Only those that are typed count: if addopts select, gates left out are still noticed.
_SELECTS = ("-k", "-m", "--deselect", "--ignore", "--lf", "--last-failed", "--sw", "--stepwise")
#: The key under which a worker of xdist is told the gate files.
FILES = "riskguard_files"


class Mode(NamedTuple):
    """Whether gates are judged, what decided that (``origin``), and the gate files, those given as paths last."""

    on: bool
    origin: str
    files: tuple[Path, ...]


def mode_of(config: pytest.Config) -> Mode:
    """The mode this run is in: the command line wins over the ini file."""
    asked = config.getoption("riskguard", default=None)
    on = bool(config.getini("riskguard") if asked is None else asked)
    files = files_of_ini(config)
    if on:
        for path in files:
            if not path.is_file():
                raise pytest.UsageError(f"riskguard_config: no such file: {path}")
    elif asked is None:  # --no-riskguard beats what addopts ask for
        for option in ("report", "strict"):
            if config.getoption(f"riskguard_{option}"):
                raise pytest.UsageError(
                    f"--riskguard-{option} needs --riskguard, or `riskguard = true` in the ini file"
                )
    if FILES in (told := getattr(config, "workerinput", {})):  # which lacks what was typed
        return Mode(on, "command line", tuple(map(Path, told[FILES])))
    for path in (file for argument in _arguments(config) for file in _gate_files(config, argument, on=on)):
        if path.resolve() not in map(Path.resolve, files):
            files.append(path)
    return Mode(on, "ini" if asked is None else "command line", tuple(files))


def files_of_ini(config: pytest.Config) -> list[Path]:
    """The gate files of the ini file, by default that of the rootdir."""
    default = config.rootpath / CONFIG_NAME
    return [Path(path) for path in config.getini("riskguard_config")] or [default] * default.is_file()


def _gate_files(config: pytest.Config, argument: Path, *, on: bool) -> list[Path]:
    """The gate files that an argument names, those below a folder too if it is typed and the ini file lists none."""
    if argument.name == CONFIG_NAME and argument.is_file():
        return [argument]
    is_typed = config.args_source is config.ArgsSource.ARGS
    if not (on and is_typed and argument.is_dir()) or config.getini("riskguard_config"):
        return []
    from pytest_riskguard.config.load import configs_below
    from pytest_riskguard.errors import ConfigError

    try:
        return configs_below(argument)
    except ConfigError as error:
        raise pytest.UsageError(str(error)) from None


def _arguments(config: pytest.Config) -> list[Path]:
    """The paths that the command line (or ``testpaths``) names, without the parts of node ids behind them."""
    return [config.invocation_params.dir / str(argument).partition("::")[0] for argument in config.args]


def asks_for_single_tests(config: pytest.Config) -> bool:
    """Whether node ids are given, so that gate files that they do not name are not collected."""
    return "::" in "".join(map(str, config.args))


def is_selection_typed(config: pytest.Config) -> bool:
    """Whether the command line itself, not addopts, asks for some of the tests."""
    return any("::" in word or word.startswith(_SELECTS) for word in map(str, config.invocation_params.args))


def left_out(config: pytest.Config, mode: Mode) -> list[Path]:
    """Each riskguard.yaml that is not collected, in folders given as arguments or above them.

    Folders below these are not searched, since that would slow down every run of pytest.
    """
    root = config.rootpath
    known = {path.resolve() for path in mode.files}
    given = filter(Path.is_dir, (Path(os.path.normpath(path)) for path in _arguments(config)))
    folders = [f for one in given for f in (one, *one.parents) if f == one or f.is_relative_to(root)]
    files = filter(Path.is_file, (folder / CONFIG_NAME for folder in dict.fromkeys(folders)))
    return [path for path in files if path.resolve() not in known]


def header_of(config: pytest.Config, mode: Mode) -> list[str]:
    """Lines that say whether gates are judged, and which are not although they are there."""
    files = ", ".join(_relative(path, config.rootpath) for path in mode.files)
    if not mode.on:
        return [f"riskguard: off; the gates of {files} are not run (pass --riskguard)"] if files else []
    lines = [f"riskguard: {__version__}, on ({mode.origin}); gates of {files or f'no {CONFIG_NAME}'}"]
    if not config.getoption("riskguard_no_yaml"):
        for path in left_out(config, mode):
            name = _relative(path, config.rootpath)
            lines.append(f"riskguard: {name} is not listed in riskguard_config: gates in it are not run")
    return lines


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def set_context(config: pytest.Config) -> None:
    """Until the run ends: how much messages show (-v), how wide they are, and from which folder node ids are."""
    screen = run_context.Screen(shutil.get_terminal_size().columns, config.get_verbosity() > 0)

    def from_here(test: str) -> str:
        path, *parts = test.split("::")
        here = os.path.relpath(config.rootpath / path, config.invocation_params.dir)
        return "::".join([Path(here).as_posix(), *parts])

    context = ExitStack()
    context.enter_context(run_context.changed(screen=screen, locate=from_here))
    config.add_cleanup(context.close)
