"""The typed selection of tests: one in addopts, PYTEST_ADDOPTS or testpaths must not hide every gate."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, cast

import pytest

from pytest_riskguard.plugin.options import PARSERS

#: Options with which pytest runs no tests.
ONLY_SHOWING = {
    "collectonly": "--collect-only",
    "showfixtures": "--fixtures",
    "show_fixtures_per_test": "--fixtures-per-test",
    "setuponly": "--setup-only",
    "setupplan": "--setup-plan",
    "cacheshow": "--cache-show",
    "help": "--help",
    "version": "--version",
    "markers": "--markers",
}
_HELP = ("-h", "--help")
#: The entry of xdist's ``workerinput`` that holds the selection.
SELECTION = "riskguard_selection"


@dataclass(frozen=True)
class Selection:
    """What was typed to select tests."""

    keyword: str = ""
    markexpr: str = ""
    deselect: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    ignore_glob: tuple[str, ...] = ()
    node_ids: bool = False
    #: ``--lf`` or ``--sw``: what is run depends on the last run.
    by_last_run: bool = False

    @property
    def by_test(self) -> bool:
        """Whether single tests were asked for, so that no other test had to run."""
        return self.node_ids or self.by_last_run

    @property
    def any(self) -> bool:
        """Whether anything was selected."""
        return self != Selection()

    def plain(self) -> dict[str, Any]:
        """The selection as a worker receives it, in plain types."""
        return asdict(self)

    def leaves_out_file(self, path: Path, here: Path) -> bool:
        """Whether a gate file was not collected because of the selection."""
        paths = {(here / path).resolve(), *(here / path).resolve().parents}
        ignored = any((here / given).resolve() in paths for given in self.ignore)
        return self.by_test or ignored or any(fnmatch(str(path), str(here / glob)) for glob in self.ignore_glob)

    def leaves_out(self, items: list[pytest.Item], config: pytest.Config) -> set[str]:
        """Node ids of the items that the selection leaves out."""
        from _pytest.mark import deselect_by_keyword, deselect_by_mark

        kept = [item for item in items if not self.by_test and not item.nodeid.startswith(self.deselect or ("\0",))]
        # pytest's own matching, as if nothing but what was typed had been given
        typed = cast(pytest.Config, _Typed(config, Namespace(keyword=self.keyword, markexpr=self.markexpr)))
        deselect_by_keyword(kept, typed)
        deselect_by_mark(kept, typed)
        return {item.nodeid for item in items} - {item.nodeid for item in kept}


class _Typed:
    """A configuration with other options, whose hook for deselected tests does nothing."""

    def __init__(self, config: pytest.Config, option: Namespace) -> None:
        self._config, self.option = config, option
        self.hook = Namespace(pytest_deselected=lambda items: None)  # noqa: ARG005

    def __getattr__(self, name: str) -> Any:
        return getattr(self._config, name)


def typed_options(config: pytest.Config) -> Namespace:
    """The options of the command line alone, without those of addopts and PYTEST_ADDOPTS."""
    given = [str(argument) for argument in config.invocation_params.args]
    options = _parsed(config, given)
    # -o addopts="-k x" is typed as well
    for setting in options.override_ini or ():
        if setting.startswith("addopts="):
            options = _parsed(config, shlex.split(setting.removeprefix("addopts=")) + given)
    options.help = any(argument in _HELP for argument in given)
    return options


def _parsed(config: pytest.Config, arguments: list[str]) -> Namespace:
    parser = PARSERS[config.pluginmanager]
    return parser.parse_known_args([argument for argument in arguments if argument not in _HELP])


def selection_of(config: pytest.Config) -> Selection:
    """The selection that was typed on the command line; a worker receives it from the controller."""
    if hasattr(config, "workerinput"):
        return Selection(**config.workerinput[SELECTION])
    options = typed_options(config)
    return Selection(
        keyword=options.keyword or "",
        markexpr=options.markexpr or "",
        deselect=tuple(options.deselect or ()),
        ignore=tuple(map(str, options.ignore or ())),
        ignore_glob=tuple(map(str, options.ignore_glob or ())),
        node_ids=any("::" in str(argument) for argument in options.file_or_dir),
        by_last_run=bool(getattr(options, "lf", False) or getattr(options, "stepwise", False)),
    )


def quiet_selection(config: pytest.Config) -> str:
    """The selecting options that were not typed, as a message names them; empty if there are none."""
    typed, options = typed_options(config), config.option
    names = {
        "keyword": "-k",
        "markexpr": "-m",
        "deselect": "--deselect",
        "ignore": "--ignore",
        "ignore_glob": "--ignore-glob",
        "lf": "--lf",
        "stepwise": "--sw",
    }
    given = [
        option
        for name, option in names.items()
        if getattr(options, name, None) and getattr(options, name, None) != getattr(typed, name, None)
    ]
    if any("::" in str(argument) for argument in config.args) and not any("::" in a for a in typed.file_or_dir):
        given.append("a node id")
    return ", ".join(given)


def hides_files(config: pytest.Config) -> bool:
    """Whether tests may be unknown because an option that was not typed kept their files from being collected."""
    return any(option in quiet_selection(config).split(", ") for option in ("--ignore", "--ignore-glob", "a node id"))


def check_runs_tests(config: pytest.Config) -> None:
    """Refuse an option that was not typed and keeps pytest from running tests, if gates are to be judged."""
    typed = typed_options(config)
    asked = config.getoption("riskguard", default=None) if typed.riskguard is None else typed.riskguard
    if not (config.getini("riskguard") if asked is None else asked):
        return
    for name, option in ONLY_SHOWING.items():
        if config.getoption(name, default=None) and not getattr(typed, name, None):
            source = "PYTEST_ADDOPTS or addopts" if os.environ.get("PYTEST_ADDOPTS") else "addopts"
            raise pytest.UsageError(
                f"{option} in {source} runs no tests, and riskguard is on: type it on the command line, or remove it"
            )
