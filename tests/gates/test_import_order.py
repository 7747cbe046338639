"""Inside gates imports point one way, and limits are computed in one module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest_riskguard.gates as package

FOLDER = Path(package.__file__).parent
#: A module imports only what stands above it. Imports for type checking alone do not count.
IMPORTS = {
    "findings": set(),
    "option_types": set(),
    "origins": set(),
    "kinds": {"option_types"},
    "chain.looks": set(),
    "rankings.label_findings": {"findings"},
    "verdict": {"chain.looks", "findings", "kinds", "rankings.label_findings"},
    "rankings.documents": {"findings"},
    "rankings.entries": {"findings"},
    "alignment": {"kinds"},
    "evidence": {"alignment"},
    "chain.families": {"chain.looks", "evidence", "kinds", "verdict"},
    "rule.collapse": {"alignment", "kinds"},
    "rule.limits": {"kinds"},
    "ruling": {"alignment", "evidence", "kinds", "rule.collapse", "rule.limits"},
    "warnings": {"evidence", "kinds", "rule.limits", "ruling", "verdict"},
    "chain.policy_cost": {"evidence", "kinds", "ruling"},
    "chain.next_topics": {"alignment", "evidence", "kinds", "ruling"},
    "power_plan": {
        "alignment",
        "chain.next_topics",
        "chain.policy_cost",
        "evidence",
        "findings",
        "kinds",
        "ruling",
    },
    "chain.history": {"alignment", "findings", "kinds", "ruling", "verdict"},
    "slices": {"chain.families", "findings", "kinds", "ruling"},
    "flips.left_out": {"evidence", "kinds", "rule.limits", "ruling", "verdict"},
    "flips.flip_set": {"kinds", "ruling"},
    "flips.alpha_star": {"rule.limits", "ruling"},
    "responsible": {"evidence", "findings", "flips.left_out", "ruling", "slices", "verdict"},
    "chain.past_releases": {"alignment", "flips.alpha_star", "kinds", "ruling"},
    "figures.chart_data": {"findings", "kinds", "responsible", "ruling"},
    "figures.estimates": {"evidence", "findings", "kinds", "ruling"},
    "judge": {
        "alignment",
        "figures.chart_data",
        "figures.estimates",
        "findings",
        "flips.alpha_star",
        "flips.flip_set",
        "flips.left_out",
        "kinds",
        "power_plan",
        "responsible",
        "ruling",
        "verdict",
        "warnings",
    },
    "rankings.other_judgements": {"evidence", "kinds"},
    "rankings.uncertain_labels": {"rankings.label_findings", "rule.limits", "ruling"},
    "rankings.unjudged": {
        "findings",
        "judge",
        "kinds",
        "rankings.label_findings",
        "rankings.other_judgements",
        "rankings.uncertain_labels",
        "ruling",
        "verdict",
    },
    "rankings.side_by_side": {"rankings.entries", "rankings.unjudged"},
    "pool.against_references": {"kinds", "rule.limits"},
    "pool.ruling": {"alignment", "kinds", "pool.against_references", "rule.limits", "ruling"},
    "pool.responsible": {
        "findings",
        "kinds",
        "pool.against_references",
        "pool.ruling",
        "responsible",
        "flips.left_out",
    },
    "pool.judge": {
        "alignment",
        "figures.chart_data",
        "figures.estimates",
        "findings",
        "judge",
        "kinds",
        "pool.against_references",
        "pool.responsible",
        "pool.ruling",
        "responsible",
        "verdict",
        "warnings",
    },
}
#: What the limits and p-values of the rule of judgement are made of.
LIMITS = {"interval", "intervals", "leave_one_out_upper", "upper_p_value"}


def imports(module: Path) -> list[tuple[str, set[str]]]:
    """Modules of the package with the names that are imported from each."""
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


def modules() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(FOLDER).with_suffix("").parts): path
        for path in FOLDER.rglob("*.py")
        if path.stem != "__init__"
    }


def test_imports_are_those_of_the_table() -> None:
    assert {
        name: {module.removeprefix("gates.") for module, _ in imports(path) if module.startswith("gates.")}
        for name, path in modules().items()
    } == IMPORTS


def test_imports_point_one_way() -> None:
    above: set[str] = set()
    for module, imported in IMPORTS.items():
        assert imported <= above, module
        above.add(module)


def test_limits_are_computed_in_one_module() -> None:
    computing = {
        name
        for name, path in modules().items()
        for module, imported in imports(path)
        if module.startswith("inference") and imported & LIMITS
    }
    assert computing == {"ruling"}
