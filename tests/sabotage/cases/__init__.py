"""The tables of the matrix, a file of YAML for each area; what only one area breaks is in a module of its name.

An entry has the fields of ``Case``. ``breaks`` lists sabotages by their names in ``sabotages`` or the area's module:
``NAME`` alone, or ``{NAME: arguments}`` of the function that makes one. ``ways`` are words of ``case``.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.sabotage import case as words
from tests.sabotage import sabotages
from tests.sabotage.case import Case, Sabotage


@cache
def every_case() -> tuple[Case, ...]:
    """The cases of all areas, by the name ``AREA/NAME``; a name twice is a ``ValueError``."""
    cases: dict[str, Case] = {}
    for file in sorted(Path(__file__).parent.glob("*.yaml")):
        known = vars(sabotages)
        if file.with_suffix(".py").exists():
            known = {**known, **vars(importlib.import_module(f"{__name__}.{file.stem}"))}
        for entry in yaml.safe_load(file.read_text(encoding="utf-8")):
            name = f"{file.stem}/{entry['name']}"
            if name in cases:
                raise ValueError(f"the case {name} is there twice")
            breaks = list(_breaks(entry.get("breaks", ()), known))
            ways = [way for word in entry.get("ways", "").split() for way in vars(words)[word]]
            cases[name] = Case(**entry | {"name": name, "breaks": breaks, "ways": tuple(ways)})
    return tuple(cases.values())


def _breaks(given: Sequence[Any], known: Mapping[str, Any]) -> Iterator[Sabotage]:
    for one in given:
        if isinstance(one, str):
            yield known[one]
            continue
        ((name, arguments),) = one.items()
        if isinstance(arguments, dict):
            made = known[name](**arguments)
        else:
            made = known[name](*(arguments if isinstance(arguments, list) else [arguments]))
        yield from [made] if callable(made) else made
