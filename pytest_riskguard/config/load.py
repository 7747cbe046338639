"""Finds a riskguard.yaml and reads it; importing this module loads neither pydantic nor PyYAML."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.data.input_files import read_limited
from pytest_riskguard.errors import ConfigError, FileError
from pytest_riskguard.limits import YAML_BYTES

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config

CONFIG_NAME = "riskguard.yaml"


#: What a version control system has in the root of a repository.
_REPOSITORIES = (".git", ".hg", ".jj", ".svn")


def repository_of(folder: Path) -> Path | None:
    """The root of the repository that a folder is in."""
    for parent in (folder, *folder.parents):
        if any((parent / name).exists() for name in _REPOSITORIES):
            return parent
    return None


def find_config(start: Path, *, stop: Path | None = None) -> Path | None:
    """The nearest riskguard.yaml: beside the file or in the folder ``start``, or in a folder above up to ``stop``.

    By default that is the repository's root. Outside repositories it is the home folder where ``start`` is below it,
    else ``start`` itself: a folder above may belong to somebody else.
    """
    start = Path(os.path.normpath(start.absolute()))
    start = start.parent if start.is_file() else start
    last = Path(os.path.normpath(stop.absolute())) if stop is not None else repository_of(start) or _home(start)
    for folder in (start, *start.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
        if folder == last:
            return None
    return None


def _home(start: Path) -> Path:
    try:
        home = Path(os.path.normpath(Path.home()))
    except RuntimeError:  # the home folder is unknown
        return start
    return home if home.is_absolute() and home.parent != home and start.is_relative_to(home) else start


def load_gates(path: Path) -> Config:
    """Read a riskguard.yaml whose gates are to be judged, with their slices looked up."""
    from pytest_riskguard.config.items import with_slices

    return with_slices(load_config(path))


def load_config(path: Path, *, require_gates: bool = True, content: bytes | None = None) -> Config:
    """Read a riskguard.yaml; its relative paths start from its folder.

    ``content`` is what stands in the file, where it is known. The ``ConfigError`` is the first error of the file by
    line; its ``errors`` are all of them. Nothing that the file names is opened.
    """
    from pytest_riskguard.config import yaml_lines
    from pytest_riskguard.config.problems import check

    try:
        content = read_limited(path, YAML_BYTES) if content is None else content
        document = yaml_lines.parse(yaml_lines.decode(content))
    except FileError as error:
        raise ConfigError(path, 1, error.fault) from None
    except yaml_lines.YamlError as error:
        raise ConfigError(path, error.line, error.problem) from None
    config, problems = check(document, path.absolute(), require_gates=require_gates)
    if config is None or problems:
        raise ConfigError.of([ConfigError(path, line, text) for line, text in problems])
    return config
