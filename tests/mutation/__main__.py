"""``python -m tests.mutation``: change one expression after another in a copy of the checkout, and run the tests.

mutmut makes the mutants and finds which tests call which function; mypy refuses some mutants, and the tests of the
package try the others. A mutant with a reason to survive is tried with a few seconds of tests, quickest first, and
any other with all of them. Tests that start other processes are left out: these would run the package as it is.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.forks import MUTANTS, RESULTS, SECONDS_OF_TESTS
from tests.mutation.results import EXPLANATIONS, Result, explanations, record, results_of, share_noticed, table
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
    "tests/baselines/test_writing.py::test_a_writer_that_is_killed",
    "tests/baselines/test_writing.py::test_a_first_baseline_that_was_not_finished",
    "tests/baselines/test_writing.py::test_who_is_killed",
    "tests/baselines/test_writing.py::test_runs_that_two_processes",
    "tests/baselines/test_writing.py::test_replicates_that_two_processes",
    "tests/baselines/test_writing.py::test_two_processes",
    "tests/baselines/test_writing.py::test_readers_see",
    "tests/gates/test_determinism.py",
    "tests/gates/test_import_order.py",
    "tests/inference/test_imports.py",
)
MIN_NOTICED = 0.9
#: Seconds of tests for every mutant, then for those that survived and are not explained.
ROUNDS = (3.0, 30.0, math.inf)
#: A file that says that a copy holds all mutants, and which of them mypy refuses.
_MADE = "mutants-are-made"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the mutants of each package and print the results; 1 if too few were noticed or one is not explained."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("packages", nargs="*", help="packages to mutate, default all")
    parser.add_argument("--folder", type=Path, help="keep the copies here; a later run goes on from there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    options = parser.parse_args(arguments)
    explained = {row["mutant"] for row in explanations()}
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        results: list[Result] = []
        for package in options.packages or TESTS:
            copy = folder / package
            if not (copy / _MADE).exists():
                make_mutants(copy, package)
            _record_answers(copy)
            waiting = [result.name for result in results_of(copy) if result.outcome == "not run"]
            for seconds in ROUNDS:
                try_mutants(copy, package, waiting, seconds, options.jobs)
                waiting = _unexplained(results_of(copy), explained)
            results += results_of(copy)
    print("\n".join(table(results)))
    unexplained = _unexplained(results, explained)
    print("".join(f"\nsurvives and is not explained in {EXPLANATIONS}: {name}" for name in unexplained))
    return int(share_noticed(results) < MIN_NOTICED or bool(unexplained))


def make_mutants(copy: Path, package: str) -> None:
    """Copy what is committed, let mutmut mutate a package there, and note what mypy refuses."""
    copy.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=CHECKOUT, capture_output=True, check=True)
    subprocess.run(["tar", "-x"], cwd=copy, input=archive.stdout, check=True)
    with (copy / "pyproject.toml").open("a", encoding="utf-8") as settings:
        settings.write(f"""
[tool.mutmut]
source_paths = ["pytest_riskguard"]
only_mutate = ["pytest_riskguard/{package}/*"]
also_copy = ["docs", "examples", "noxfile.py", "README.md", "CHANGELOG.md"]
pytest_add_cli_args = {_arguments(package)}
pytest_add_cli_args_test_selection = {list(TESTS[package])}
""")
    # It makes every mutant and measures the tests; then it stops, because no mutant has this name.
    command = [sys.executable, "-m", "mutmut", "run", "none"]
    ended = subprocess.run(command, cwd=copy, env=_environment(), capture_output=True, text=True, check=False)
    if "nothing matches" not in ended.stderr:
        sys.exit(f"mutmut could not make the mutants of {package}:\n{ended.stdout}\n{ended.stderr}")
    refused = [sys.executable, "-m", "tests.mutation.refused_by_types"]
    names = subprocess.run(
        refused, cwd=copy / "mutants", env=_environment(), capture_output=True, text=True, check=True
    )
    record(copy, dict.fromkeys(names.stdout.split(), "refused"))
    (copy / _MADE).touch()


def try_mutants(copy: Path, package: str, mutants: Sequence[str], seconds: float, jobs: int) -> None:
    """Run the tests on each of these mutants, as many tests as take so many seconds."""
    if not mutants:
        return
    processes = []
    for job in range(jobs):
        names, answers = copy / f"mutants-{job}.txt", copy / f"results-{job}.jsonl"
        names.write_text("\n".join(f"pytest_riskguard.{name}" for name in mutants[job::jobs]), encoding="utf-8")
        settings = {MUTANTS: str(names), RESULTS: str(answers), SECONDS_OF_TESTS: str(seconds)}
        plugin = ["-q", "-p", "tests.mutation.forks", *_arguments(package), *TESTS[package]]
        command = [sys.executable, "-m", "pytest", *plugin]
        processes.append(subprocess.Popen(command, cwd=copy / "mutants", env=_environment() | settings))
    try:
        failed = [process.returncode for process in processes if process.wait() != 0]
    finally:
        _record_answers(copy)
    if failed:
        sys.exit(f"pytest ended with {failed[0]} while it tried mutants of {package}")


def _record_answers(copy: Path) -> None:
    """Keep what was found, and forget the answers, which a later round with fewer processes would not replace."""
    for answers in copy.glob("results-*.jsonl"):
        lines = answers.read_text(encoding="utf-8").splitlines()
        record(copy, {answer["mutant"]: answer["outcome"] for answer in map(json.loads, lines)})
        answers.unlink()


def _unexplained(results: Sequence[Result], explained: set[str]) -> list[str]:
    return [result.name for result in results if result.outcome == "survived" and result.name not in explained]


def _arguments(package: str) -> list[str]:
    left_out = [f"--deselect={path}" for path in LEFT_OUT if path.startswith(TESTS[package])]
    return ["-p", "no:cacheprovider", *left_out]


def _environment() -> dict[str, str]:
    return os.environ | {"RISKGUARD_SHARED": str(SHARED), "PYTHONPATH": "", "MUTANT_UNDER_TEST": ""}


if __name__ == "__main__":
    sys.exit(main())
