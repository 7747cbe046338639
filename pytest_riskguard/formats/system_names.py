"""What a system is called after its file."""

from __future__ import annotations

from pathlib import Path

from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.formats.known import suffixes


def system_name(given: Path | GivenFile) -> str:
    """The file's name without ``.gz``, then without one ending of the known formats; ``#PART`` stays."""
    given = given if isinstance(given, GivenFile) else GivenFile(Path(given))
    name = given.path.name
    name = name.removesuffix(".gz") or name
    ending = max((suffix for suffix in suffixes() if name.endswith(suffix)), key=len, default="")
    name = name.removesuffix(ending) or name
    return name if given.part is None else f"{name}#{given.part}"
