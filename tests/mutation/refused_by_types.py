"""Mutants that ``mypy --strict`` refuses: printed as mypy's JSON, for mutmut's ``type_check_command``.

mutmut runs this in its own folder, where each function stands beside its mutants. There mypy also complains about
mutmut's own lines, so a complaint counts only inside a mutant, and only if there is none inside the original.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

PACKAGE = "pytest_riskguard"


def main() -> int:
    """Print the complaints that count, a line each."""
    mypy = [sys.executable, "-m", "mypy", "--output=json", "--cache-dir=.mypy_cache_mutants", PACKAGE]
    complaints = subprocess.run(mypy, capture_output=True, text=True, check=False)
    if complaints.stderr:
        sys.exit(complaints.stderr)
    by_file: dict[str, list[tuple[int, str]]] = {}
    for line in complaints.stdout.splitlines():
        complaint = json.loads(line)
        if complaint["severity"] == "error":
            by_file.setdefault(complaint["file"], []).append((complaint["line"], line))
    for path, lines in by_file.items():
        for line in inside_mutants(Path(path), lines):
            print(line)
    return 0


def inside_mutants(path: Path, complaints: list[tuple[int, str]]) -> list[str]:
    """Those of a file's complaints that a mutation caused."""
    functions = [
        (node.lineno, node.end_lineno or node.lineno, node.name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and "__mutmut_" in node.name
    ]
    named = []
    for number, complaint in complaints:
        name = next((name for first, last, name in functions if first <= number <= last), None)
        if name is not None:
            function, _, variant = name.rpartition("__mutmut_")
            named.append((function, variant, complaint))
    unclear = {function for function, variant, _ in named if variant == "orig"}
    return [complaint for function, _, complaint in named if function not in unclear]


if __name__ == "__main__":
    sys.exit(main())
