"""Inside the laws of flips imports point one way: a module imports only what stands above it in this table."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest_riskguard.inference._flips as package

FOLDER = Path(package.__file__).parent
IMPORTS = {
    "bets": set(),
    "counting": {"bets"},
    "line": {"bets"},
    "swings": {"bets"},
    "bounds": set(),
    "few_swings": {"bets", "bounds", "line", "swings"},
    "tilted": {"bets", "bounds", "few_swings", "line", "swings"},
    "chosen_method": {"bets", "counting", "tilted"},
}


def imported(module: Path) -> set[str]:
    return {
        node.module.removeprefix(package.__name__ + ".")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(package.__name__ + ".")
    }


def test_imports_are_those_of_the_table() -> None:
    modules = {path.stem: imported(path) for path in FOLDER.glob("*.py") if path.stem != "__init__"}
    assert modules == IMPORTS


def test_imports_point_one_way() -> None:
    above: set[str] = set()
    for module, imports in IMPORTS.items():
        assert imports <= above, module
        above.add(module)
