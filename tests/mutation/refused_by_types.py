"""Mutants that ``mypy --strict`` refuses: their names, a line each.

This runs in mutmut's folder, where each function stands beside its mutants. There mypy also complains about mutmut's
own lines, so a complaint counts only inside a mutant, and only if there is none inside the original.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

PACKAGE = "pytest_riskguard"


def main() -> int:
    """Print the names."""
    mypy = [sys.executable, "-m", "mypy", "--output=json", "--cache-dir=.mypy_cache_mutants", PACKAGE]
    complaints = subprocess.run(mypy, capture_output=True, text=True, check=False)
    if complaints.stderr:
        sys.exit(complaints.stderr)
    by_file: dict[str, list[int]] = {}
    for complaint in map(json.loads, complaints.stdout.splitlines()):
        if complaint["severity"] == "error":
            by_file.setdefault(complaint["file"], []).append(complaint["line"])
    for path, lines in by_file.items():
        module = path.removesuffix(".py").replace("/", ".")
        for name in refused_at(Path(path), lines):
            print(f"{module}.{name}")
    return 0


def refused_at(path: Path, lines: list[int]) -> list[str]:
    """The mutants of a file that hold one of the lines, while their original holds none."""
    functions = [
        (node.lineno, node.end_lineno or node.lineno, node.name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and "__mutmut_" in node.name
    ]
    refused = {name for first, last, name in functions if any(first <= line <= last for line in lines)}
    unclear = {name.removesuffix("orig") for name in refused if name.endswith("__mutmut_orig")}
    return sorted(name for name in refused if f"{name.rpartition('__mutmut_')[0]}__mutmut_" not in unclear)


if __name__ == "__main__":
    sys.exit(main())
