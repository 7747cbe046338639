"""Packages that only some formats need, which extras of this package bring."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from pytest_riskguard.errors import UsageError


def imported(module: str, *, extra: str, what: str) -> ModuleType:
    """A module of another package; ``UsageError`` if it is not installed, which says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise UsageError(f"{what} needs {package}: pip install 'pytest-riskguard[{extra}]'") from None
