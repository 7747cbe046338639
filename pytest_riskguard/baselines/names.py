"""Names of baselines: a name is also a folder, on every system where the store may be checked out."""

from __future__ import annotations

import re

MAX_LENGTH = 100

_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Windows reserves these for devices, with any extension ("Naming Files, Paths, and Namespaces", Microsoft).
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


def name_problem(name: str) -> str | None:
    """Why ``name`` cannot name a baseline, or None if it can."""
    if not _PATTERN.fullmatch(name):
        return "expected letters, digits, '.', '_' and '-', beginning with a letter or digit"
    if ".." in name or name.endswith("."):
        return "'..' and a final '.' have a special meaning in file systems"
    if name.split(".")[0].lower() in _DEVICES:
        return f"Windows reserves {name.split('.')[0]!r} for a device"
    if len(name) > MAX_LENGTH:
        return f"longer than {MAX_LENGTH} characters"
    return None


def history_folder(number: int) -> str:
    """The folder of an earlier run, so that they sort by number in a listing."""
    return f"{number:04d}"
