"""docs/architecture.md is true: it names every module, and imports point one way as its table says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.docs.pages import DOCS

PACKAGE = DOCS.parent / "pytest_riskguard"
TEXT = (DOCS / "architecture.md").read_text(encoding="utf-8")


def part_of(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(module: Path) -> set[str]:
    """Parts of the package that a module imports, anywhere in it, but not for type checking alone."""
    found: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(module.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            nodes.extend(node.orelse)
            continue
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative imports are not used here"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("pytest_riskguard.")}
        nodes.extend(ast.iter_child_nodes(node))
    return found


def table() -> dict[str, set[str]]:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", TEXT, re.MULTILINE)
    return {part: set(re.findall(r"`(\w+)`", imports)) for part, imports in rows if "/" not in imports}


def test_imports_are_those_of_the_table():
    found: dict[str, set[str]] = {}
    for module in PACKAGE.rglob("*.py"):
        part = part_of(module)
        if part != "__init__":
            found.setdefault(part, set()).update(imported_parts(module) - {part})
    assert table() == found


def test_imports_point_one_way():
    above: set[str] = set()
    for part, imports in table().items():
        assert imports <= above, part
        above.add(part)


def test_every_module_is_named():
    described = TEXT[TEXT.index("## Parts and modules") : TEXT.index("## Imports point one way")]
    paragraphs = {
        match[1]: match[0]
        for match in re.finditer(r"^\*\*`(\w+)`\*\*.*?(?=\n\n\*\*)", described, re.MULTILINE | re.DOTALL)
    }
    single = described[described.index("**Single modules**") :]
    for module in PACKAGE.rglob("*.py"):
        if module.name == "__init__.py":
            continue
        paragraph = single if module.parent == PACKAGE else paragraphs[part_of(module)]
        assert f"`{module.stem}`" in paragraph, module


def test_no_module_is_named_that_is_not_there():
    described = TEXT[TEXT.index("## Parts and modules") : TEXT.index("## Imports point one way")]
    names = set(re.findall(r"^\*\*`(\w+)`\*\*", described, re.MULTILINE))
    assert names == {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    for path in re.findall(r"`([a-z]+/[a-z_]+\.py)`", TEXT):
        assert (PACKAGE / path).is_file(), path
