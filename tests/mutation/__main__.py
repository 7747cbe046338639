"""``python -m tests.mutation``: change one expression after another in a copy of the checkout, and run the tests.

mutmut makes the mutants. Each package is tested by its own tests, so that a mutant is tried in a second or two. Tests
that start other processes are left out: these would run the package as it is.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.results import EXPLANATIONS, Result, explanations, results_of, share_noticed, table
from tests.shared_data import SHARED

CHECKOUT = Path(__file__).resolve().parents[2]
#: The packages, and the tests that must notice a mutant in them.
TESTS = {
    "risk": ("tests/risk", "tests/published"),
    "inference": ("tests/inference", "tests/published"),
    "gates": ("tests/gates",),
    "baselines": ("tests/baselines", "tests/cli"),
}
#: These run the package in other processes, or read its source code.
LEFT_OUT = (
    "tests/baselines/test_disks.py",
    "tests/baselines/test_kills.py",
    "tests/baselines/test_writing.py",
    "tests/gates/test_determinism.py",
    "tests/gates/test_import_order.py",
    "tests/gates/test_new_option.py",
    "tests/inference/test_imports.py",
)
MIN_NOTICED = 0.9


def main(arguments: Sequence[str] | None = None) -> int:
    """Run mutmut on each package and print the results; 1 if too few mutants were noticed or one is not explained."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("packages", nargs="*", help="packages to mutate, default all")
    parser.add_argument("--folder", type=Path, help="keep the copies here; a later run goes on from there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--only", nargs="+", default=[], metavar="MUTANT", help="names as in mutmut, with *")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        results: list[Result] = []
        for package in options.packages or TESTS:
            copy = folder / package
            prepare(copy, package)
            environment = os.environ | {"RISKGUARD_SHARED": str(SHARED), "PYTHONPATH": ""}
            command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(options.jobs), *options.only]
            subprocess.run(command, cwd=copy, env=environment, check=True)
            results += results_of(copy)
    print("\n".join(table(results)))
    explained = {row["mutant"] for row in explanations()}
    unexplained = [result.name for result in results if result.outcome == "survived" and result.name not in explained]
    print("".join(f"\nsurvives and is not explained in {EXPLANATIONS}: {name}" for name in unexplained))
    return int(share_noticed(results) < MIN_NOTICED or bool(unexplained))


def prepare(copy: Path, package: str) -> None:
    """Copy what is committed, and write mutmut's settings for one package into the copy."""
    copy.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=CHECKOUT, capture_output=True, check=True)
    subprocess.run(["tar", "-x"], cwd=copy, input=archive.stdout, check=True)
    shutil.copy(Path(__file__).with_name("refused_by_types.py"), copy)
    selected = [f"--deselect={path}" for path in LEFT_OUT if path.startswith(TESTS[package])]
    with (copy / "pyproject.toml").open("a", encoding="utf-8") as settings:
        settings.write(f"""
[tool.mutmut]
source_paths = ["pytest_riskguard"]
only_mutate = ["pytest_riskguard/{package}/*"]
also_copy = ["docs", "examples", "noxfile.py", "refused_by_types.py", "README.md", "CHANGELOG.md"]
pytest_add_cli_args = {["-p", "no:cacheprovider", *selected]}
pytest_add_cli_args_test_selection = {list(TESTS[package])}
type_check_command = ["{sys.executable}", "refused_by_types.py", "mypy"]
""")


if __name__ == "__main__":
    sys.exit(main())
