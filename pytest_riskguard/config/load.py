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


def find_config(start: Path, *, stop: Path | None = None) -> Path | None:
    """The nearest riskguard.yaml: beside the file or in the folder ``start``, or in a folder above up to ``stop``.

    By default that is the repository's root. Outside repositories it is the home folder where ``start`` is below it,
    else ``start`` itself: a folder above may belong to somebody else.
    """
    start = Path(os.path.abspath(start))  # noqa: PTH100 - Path.absolute keeps ".."
    start = start.parent if start.is_file() else start
    folders = (start, *start.parents)
    if stop is None:
        home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home raises where nobody knows it
        roots = [folder for folder in folders if any((folder / name).exists() for name in _REPOSITORIES)]
        roots += [home] if home in folders and home.parent != home else [start]
        stop = roots[0]
    for folder in folders:
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
        if folder == stop:
            break
    return None


def load_gates(path: Path) -> Config:
    """Read a riskguard.yaml whose gates are to be judged, with their slices looked up."""
    from pytest_riskguard.config.items import look_up_slices

    config = load_config(path)
    look_up_slices(config)
    return config


def load_config(path: Path, *, require_gates: bool = True) -> Config:
    """Read a riskguard.yaml; its relative paths start from its folder, and nothing that it names is opened.

    The ``ConfigError`` is the first error of the file by line; its ``errors`` are all of them.
    """
    from pytest_riskguard.config import yaml_lines
    from pytest_riskguard.config.problems import checked

    try:
        document = yaml_lines.parse(read_limited(path, YAML_BYTES))
    except FileError as error:
        raise ConfigError(path, 1, error.fault) from None
    except yaml_lines.YamlError as error:
        raise ConfigError(path, error.line, error.problem) from None
    return checked(document, path, require_gates=require_gates)
