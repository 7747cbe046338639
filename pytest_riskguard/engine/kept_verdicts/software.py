"""What a verdict depends on besides its question and its data: code, libraries, the interpreter, switches."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import sys
from pathlib import Path

from pytest_riskguard import __version__

_PACKAGE = Path(__file__).parents[2]
#: What installed packages are named by: the folders with their names and versions.
_INSTALLED = (".dist-info", ".egg-info")
_SWITCHES = "RISKGUARD_"


@functools.cache
def software_digest() -> str:
    """One text for everything that computes: riskguard's own code, Python, and every package that is installed.

    Any other version of any package makes another digest: which of them a verdict rests on need not be known.
    """
    known = [__version__, _code(), sys.version, sys.platform, platform.machine(), *_installed()]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()


def switches() -> dict[str, str]:
    """The variables of the environment that are riskguard's own: limits, and what switches something off."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(_SWITCHES)}


def _code() -> str:
    """The digest of the modules of this package, which change without their version in an editable installation."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _installed() -> list[str]:
    """Packages with their versions, as installers name them."""
    found: set[str] = set()
    for place in sys.path:
        try:
            found.update(entry.name for entry in os.scandir(place or ".") if entry.name.endswith(_INSTALLED))
        except OSError:  # not a folder
            continue
    return sorted(found)
