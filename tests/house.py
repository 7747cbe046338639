"""Counts of the code and the docs: ``python -m tests.house``, with ``--durations`` also the time the tests take."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGE = CHECKOUT / "pytest_riskguard"
DOCS = CHECKOUT / "docs"


def words(*pages: Path) -> int:
    """Words of pages, code and tables included."""
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages)


def duration(*arguments: str) -> str:
    """What pytest says last, and the minutes it took."""
    started = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", *arguments]
    end = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    return f"{minutes} min {seconds} s: {end.stdout.strip().splitlines()[-1]}"


def report() -> Iterator[str]:
    """All counts, one a line."""
    for name, root in (("package", PACKAGE), ("tests", CHECKOUT / "tests")):
        modules = sorted(root.rglob("*.py"))
        lines = sum(len(module.read_text(encoding="utf-8").splitlines()) for module in modules)
        yield f"{name}: {len(modules):,} modules, {lines:,} lines"
    yield f"docs: {words(*DOCS.rglob('*.md')):,} words, README {words(CHECKOUT / 'README.md'):,}"


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
