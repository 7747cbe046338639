"""Finds a riskguard.yaml and reads it; importing this module loads neither pydantic nor PyYAML."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.data.input_files import read_limited
from pytest_riskguard.errors import ConfigError, FileError
from pytest_riskguard.limits import YAML_BYTES
from pytest_riskguard.text import relative

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config

CONFIG_NAME = "riskguard.yaml"
#: Folders below which no riskguard.yaml is looked for, besides hidden ones and virtual environments.
_SKIPPED = ("node_modules", "__pycache__", "build", "dist", "venv")
#: What a version control system has in the root of a repository.
_REPOSITORIES = (".git", ".hg", ".jj", ".svn")


def find_config(start: Path, *, stop: Path | None = None) -> Path | None:
    """The nearest riskguard.yaml: beside the file or in the folder ``start``, or in a folder above up to ``stop``.

    By default that is the repository's root. Outside repositories it is the home folder where ``start`` is below it,
    else ``start`` itself: a folder above may belong to somebody else.
    """
    files = (folder / CONFIG_NAME for folder in _searched(start, stop))
    return next((file for file in files if file.is_file()), None)


def _searched(start: Path, stop: Path | None = None) -> list[Path]:
    """The folders where a riskguard.yaml is looked for, nearest first."""
    start = Path(os.path.abspath(start))  # noqa: PTH100 - Path.absolute keeps ".."
    start = start.parent if start.is_file() else start
    folders = [start, *start.parents]
    if stop is None:
        home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home raises where nobody knows it
        roots = [folder for folder in folders if any((folder / name).exists() for name in _REPOSITORIES)]
        is_below_home = home in folders and home.parent != home
        stop = next(iter(roots), home if is_below_home else start)
    return folders[: folders.index(stop) + 1 if stop in folders else None]


def not_found(start: Path) -> str:
    """That no riskguard.yaml was found, where it was looked for, and a file that was probably meant."""
    folders = _searched(start)
    misnamed = (relative(path, start) for folder in folders if (path := folder / "riskguard.yml").is_file())
    renamed = next((f"; rename {path} to {CONFIG_NAME}" for path in misnamed), "")
    above = f" or above, up to {folders[-1]}" * (len(folders) > 1)
    return f"no {CONFIG_NAME} in {folders[0]}{above}{renamed}"


def inner_configs(folder: Path) -> list[str]:
    """Each riskguard.yaml with gates that lies one folder down or two, as it is typed in the folder."""
    found = (path for depth in ("*", "*/*") for path in folder.glob(f"{depth}/{CONFIG_NAME}"))
    return sorted(path.relative_to(folder).as_posix() for path in found if _may_have_gates(path))


def configs_below(folder: Path) -> list[Path]:
    """Each riskguard.yaml in a folder or below that has gates, or cannot be read; one of tests may have only data.

    ``ConfigError`` for a riskguard.yml, whose gates would not be judged.
    """
    found = []
    for here, inner, files in os.walk(folder):
        kept = [name for name in inner if name[0] != "." and name not in _SKIPPED]
        inner[:] = sorted(name for name in kept if not Path(here, name, "pyvenv.cfg").exists())
        if CONFIG_NAME not in files and "riskguard.yml" in files:
            raise ConfigError(Path(here, "riskguard.yml"), 1, f"rename the file to {CONFIG_NAME}")
        if CONFIG_NAME in files and _may_have_gates(Path(here, CONFIG_NAME)):
            found.append(Path(here, CONFIG_NAME))
    return found


def _may_have_gates(path: Path) -> bool:
    try:
        return bool(load_config(path, require_gates=False).gates)
    except ConfigError:
        return True


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
