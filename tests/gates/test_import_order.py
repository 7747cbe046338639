"""Inside gates and inference imports point one way, and limits are computed in one module."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import pytest_riskguard

PACKAGE = Path(pytest_riskguard.__file__).parent
#: What the limits and p-values of the rule of judgement are made of.
LIMITS = {"interval", "intervals", "upper_p_value"}


def imports(module: Path) -> list[tuple[str, set[str]]]:
    """Modules of the package with the names that are imported from each; not those for type checking alone."""
    nodes: list[ast.AST] = [ast.parse(module.read_text(encoding="utf-8"))]
    imported = []
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pytest_riskguard."):
            imported.append((node.module.removeprefix("pytest_riskguard."), {alias.name for alias in node.names}))
        nodes.extend(ast.iter_child_nodes(node))
    return imported


def modules(folder: str) -> dict[str, Path]:
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
        for path in (PACKAGE / folder).rglob("*.py")
        if path.stem != "__init__"
    }


@pytest.mark.parametrize("folder", ["gates", "inference"])
def test_imports_point_one_way(folder):
    own = modules(folder)
    order = TopologicalSorter({name: {other for other, _ in imports(path)} for name, path in own.items()})
    assert set(order.static_order()) >= set(own)  # a circle is a CycleError


def test_limits_are_computed_in_one_module():
    computing = {
        name
        for name, path in modules("gates").items()
        for module, imported in imports(path)
        if module.startswith("inference") and imported & LIMITS
    }
    assert computing == {"gates.ruling"}
