"""Finds a riskguard.yaml and reads it; importing this module loads neither pydantic nor PyYAML."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.errors import ConfigError, MissingFileError
from pytest_riskguard.formats.input_files import YAML_BYTES, LimitError, read_limited

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config

CONFIG_NAME = "riskguard.yaml"


def find_config(start: Path, *, stop: Path | None = None) -> Path | None:
    """The nearest riskguard.yaml: beside the file or in the folder ``start``, or in a folder above up to ``stop``."""
    start = Path(os.path.normpath(start.absolute()))
    last = None if stop is None else Path(os.path.normpath(stop.absolute()))
    for folder in (start, *start.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
        if folder == last:
            return None
    return None


def load_config(path: Path, *, require_gates: bool = True) -> Config:
    """Read a riskguard.yaml; nothing that it names is opened, and its relative paths start from its folder.

    The ``ConfigError`` is the first error of the file by line; its ``errors`` are all of them.
    """
    from pytest_riskguard.config import yaml_lines
    from pytest_riskguard.config.problems import check

    try:
        document = yaml_lines.parse(yaml_lines.decode(read_limited(path, YAML_BYTES)))
    except MissingFileError as error:
        raise ConfigError(path, 1, error.problem.removeprefix(f"{path.name}: ")) from None
    except LimitError as error:
        raise ConfigError(path, 1, str(error)) from None
    except yaml_lines.YamlError as error:
        raise ConfigError(path, error.line, error.problem) from None
    config, problems = check(document, path.absolute(), require_gates=require_gates)
    if config is None or problems:
        raise ConfigError.of([ConfigError(path, p.line, p.text, gate=p.gate) for p in problems])
    return config
