"""Rows with named fields as tables: ir_measures' ``ScoredDoc``, ``Qrel`` and ``Metric``, mappings, dataclasses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass

from pytest_riskguard.evaluation.memory.input_data import Input
from pytest_riskguard.evaluation.memory.tables import Table
from pytest_riskguard.evaluation.memory.values import shown


def table_of_rows(given: Input, rows: Iterable[object]) -> Table:
    """The columns of rows with named fields; a mapping without one of them has nothing there.

    ``TypeError`` for rows without names.
    """
    kept = list(rows)
    names: dict[str, None] = {}
    classes: dict[type, Sequence[str]] = {}
    for number, row in enumerate(kept, 1):
        if isinstance(row, Mapping):
            names.update(dict.fromkeys(map(str, row)))
        elif type(row) not in classes:
            classes[type(row)] = _fields(given, number, row)
            names.update(dict.fromkeys(classes[type(row)]))
    listed = tuple(names)
    return Table(given, listed, lambda place: [_value(row, listed[place]) for row in kept])


def _fields(given: Input, number: int, row: object) -> Sequence[str]:
    names = getattr(type(row), "_fields", None)
    if isinstance(names, tuple):
        return names
    if is_dataclass(row):
        return [field.name for field in fields(row)]
    if hasattr(row, "__dict__"):
        return [name for name in vars(row) if not name.startswith("_")]
    expected = "rows with named fields, such as ir_measures.ScoredDoc or dicts, or a mapping with the topics as keys"
    raise TypeError(f"{given.name}: expected {expected}; found {shown(row)} as row {number}")


def _value(row: object, name: str) -> object:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)
