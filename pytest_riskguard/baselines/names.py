"""Which names a baseline may have."""

from __future__ import annotations

import re

MAX_NAME_LENGTH = 100

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Windows reserves these for devices, with any extension ("Naming Files, Paths, and Namespaces", Microsoft).
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


def name_problem(name: str) -> str | None:
    """Why ``name``, which must also suit a folder on every system, cannot name a baseline; None if it can."""
    if not _NAME.fullmatch(name):
        return "expected letters, digits, '.', '_' and '-', beginning with a letter or digit"
    if ".." in name or name.endswith("."):
        return "'..' and a final '.' have a special meaning in file systems"
    if name.split(".")[0].lower() in _DEVICES:
        return f"Windows reserves {name.split('.')[0]!r} for a device"
    return f"longer than {MAX_NAME_LENGTH} characters" if len(name) > MAX_NAME_LENGTH else None
