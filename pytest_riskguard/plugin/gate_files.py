"""The gates that the gate files of a run declare, read in the controller, so that uncollected files count too."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError
from pytest_riskguard.plugin.gate_log import RollEntry


def entries(path: Path, *, root: Path, typed: bool) -> tuple[list[RollEntry], int | str | None]:
    """The gates of a file, one entry for each name, and how many gates it requires to be judged.

    A file that cannot be read has one entry, with the name of its failing item. ``typed`` says that if the file was
    not collected, the typed command line is the reason.
    """
    file = Path(os.path.relpath(path, root)).as_posix()
    try:
        settings = load_config(path)
    except ConfigError as error:
        return [RollEntry(f"{file}::configuration", error.line, broken=True, typed=typed)], None
    found = [RollEntry(f"{file}::{gate.name}", settings.line_of(gate), typed=typed) for gate in settings.gates]
    return found, settings.require
