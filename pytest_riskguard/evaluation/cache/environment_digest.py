"""What scores depend on besides their data: riskguard's own code, libraries that compute, Python, the processor."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pytest_riskguard import __version__

#: Distributions whose versions may change a value.
_LIBRARIES = ("ir-measures", "pytrec-eval-terrier", "pytrec_eval", "cwl-eval", "numpy", "scipy")
_PACKAGE = Path(__file__).parents[2]
#: The parts of the package that read and score.
_PARTS = ("evaluation", "formats")


@functools.cache
def environment_digest() -> str:
    """One text for everything that scores depend on; no version of our own has to be raised by hand."""
    known = [__version__, sys.version, sys.platform, platform.machine(), _code()]
    known += [_version(name) for name in _LIBRARIES]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()


def _code() -> str:
    """The digest of the modules that read and score; empty where they are not files."""
    digest = hashlib.sha256()
    for path in sorted(path for part in _PARTS for path in (_PACKAGE / part).rglob("*.py")):
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
