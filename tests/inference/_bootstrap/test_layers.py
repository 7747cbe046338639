"""Inside the bootstrap imports point one way: a module imports only what stands above it in this table."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest_riskguard.inference._bootstrap as package

FOLDER = Path(package.__file__).parent
IMPORTS = {
    "sample": set(),
    "inversion": set(),
    "replicates": set(),
    "tilting": {"sample"},
    "resamples": {"sample", "tilting"},
    "convolution": {"inversion", "sample", "tilting"},
    "far_tail": {"convolution", "inversion", "resamples", "sample", "tilting"},
    "laws": {"far_tail", "sample"},
    "enumeration": {"laws", "resamples", "sample"},
    "fft_law": {"convolution", "inversion", "laws", "sample"},
    "few_values_law": {"convolution", "fft_law", "laws", "sample"},
    "inversion_law": {"inversion", "laws", "sample"},
    "studentized_inversion": {"inversion", "sample"},
    "studentized_replicates": {"laws", "replicates", "sample"},
    "choice": {
        "enumeration",
        "few_values_law",
        "fft_law",
        "inversion_law",
        "laws",
        "sample",
        "studentized_inversion",
        "studentized_replicates",
    },
    "georisk_resampling": {"replicates"},
    "large_pools": {"georisk_resampling", "replicates"},
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


def test_nothing_outside_inference_imports_the_bootstrap() -> None:
    root = FOLDER.parents[1]
    for path in root.rglob("*.py"):
        if FOLDER.parent not in path.parents:
            assert package.__name__ not in path.read_text(encoding="utf-8"), path
