"""The tables of the matrix, one module for each area with a list ``CASES``."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache

from tests.sabotage.case import Case


@cache
def every_case() -> tuple[Case, ...]:
    """The cases of all areas, by the name ``AREA/NAME``; a name twice is a ``ValueError``."""
    cases: dict[str, Case] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        for case in importlib.import_module(f"{__name__}.{module.name}").CASES:
            name = f"{module.name}/{case.name}"
            if name in cases:
                raise ValueError(f"the case {name} is there twice")
            cases[name] = replace(case, name=name)
    return tuple(cases.values())
