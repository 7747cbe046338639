"""Counts of the code and the docs: ``python -m tests.house``, with ``--durations`` also the time the tests take."""

from __future__ import annotations

import argparse
import ast
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGE = CHECKOUT / "pytest_riskguard"
DOCS = CHECKOUT / "docs"

MAX_MODULES = 165
MAX_MODULE_LINES = 450
MAX_LINES = 27_000
MAX_FOLDER_ENTRIES = 20
MAX_FUNCTION_LINES = 60
MAX_CLASS_FIELDS = 25
MAX_DOCS_WORDS = 47_500


@dataclass(frozen=True, order=True)
class Count:
    """How many, and of what."""

    number: int
    what: str

    def __str__(self) -> str:
        return f"{self.number:,} ({self.what})"


def modules() -> dict[str, int]:
    """Lines of each module of the package."""
    return {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in sorted(PACKAGE.rglob("*.py"))}


def functions() -> list[Count]:
    """Lines of each function from ``def`` on, docstring included, longest first."""
    counts = [
        Count((node.end_lineno or node.lineno) - node.lineno + 1, f"{_name(path)}: {node.name}")
        for path, node in _nodes()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return sorted(counts, reverse=True)


def classes() -> list[Count]:
    """Annotated fields of each class, most first."""
    counts = [
        Count(sum(isinstance(line, ast.AnnAssign) for line in node.body), f"{_name(path)}: {node.name}")
        for path, node in _nodes()
        if isinstance(node, ast.ClassDef)
    ]
    return sorted(counts, reverse=True)


def folders(root: Path) -> list[Count]:
    """Entries of each folder from a root down, most first."""
    every = [root, *(path for path in root.rglob("*") if path.is_dir() and path.name != "__pycache__")]
    return sorted((Count(len(_entries(folder)), _name(folder)) for folder in every), reverse=True)


def repeated_names() -> dict[str, list[str]]:
    """Modules of the package that share a file name with others, by that name."""
    paths = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"]
    counts = Counter(path.name for path in paths)
    return {name: [_name(path) for path in paths if path.name == name] for name in sorted(counts) if counts[name] > 1}


def words(*pages: Path) -> int:
    """Words of pages, code and tables included."""
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages)


def pages() -> list[Path]:
    """The pages of the docs."""
    return sorted(DOCS.rglob("*.md"))


def duration(*arguments: str) -> str:
    """What pytest says last, and the minutes it took."""
    started = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", *arguments]
    end = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    return f"{minutes} min {seconds} s: {end.stdout.strip().splitlines()[-1]}"


@dataclass(frozen=True)
class Limit:
    """The largest count of a kind, where it is, and what it may be at most."""

    largest: Count
    maximum: int

    @property
    def holds(self) -> bool:
        return self.largest.number <= self.maximum

    def __str__(self) -> str:
        return f"{self.largest}, {'at most' if self.holds else 'SHOULD BE AT MOST'} {self.maximum:,}"


def limits() -> dict[str, Limit]:
    """Every count that has a limit."""
    lines = modules()
    largest = max(lines, key=lambda name: lines[name])
    return {
        "modules": Limit(Count(len(lines), "pytest_riskguard"), MAX_MODULES),
        "lines": Limit(Count(sum(lines.values()), "pytest_riskguard"), MAX_LINES),
        "largest module": Limit(Count(lines[largest], largest), MAX_MODULE_LINES),
        "longest function": Limit(functions()[0], MAX_FUNCTION_LINES),
        "fields of a class": Limit(classes()[0], MAX_CLASS_FIELDS),
        "largest folder": Limit(folders(PACKAGE)[0], MAX_FOLDER_ENTRIES),
        "words of docs": Limit(Count(words(*pages()), "docs"), MAX_DOCS_WORDS),
    }


def report() -> Iterator[str]:
    """All counts, one a line."""
    yield from (f"{name}: {limit}" for name, limit in limits().items())
    yield f"median module: {statistics.median(modules().values()):g} lines"
    yield f"words of README: {words(CHECKOUT / 'README.md'):,}"
    yield f"largest folder of the tests: {folders(CHECKOUT / 'tests')[0]}"
    repeated = repeated_names()
    yield f"file names that occur more than once: {len(repeated)}"
    yield from (f"  {name}: {', '.join(paths)}" for name, paths in repeated.items())


@cache
def _nodes() -> tuple[tuple[Path, ast.AST], ...]:
    trees = [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(PACKAGE.rglob("*.py"))]
    return tuple((path, node) for path, tree in trees for node in ast.walk(tree))


def _entries(folder: Path) -> list[Path]:
    return [entry for entry in folder.iterdir() if entry.name != "__pycache__" and not entry.name.startswith(".")]


def _name(path: Path) -> str:
    return path.relative_to(CHECKOUT).as_posix()


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--durations", action="store_true", help="Run the quick tests, then all, and print the time.")
    options = parser.parse_args()
    print("\n".join(report()))
    if options.durations:
        print(f"quick tests: {duration()}")
        print(f"all tests: {duration('-m', '')}")


if __name__ == "__main__":
    main()
