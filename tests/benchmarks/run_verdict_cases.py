"""Runs cases of ``verdict_cases`` with whichever checkout of the package comes first on PYTHONPATH.

``python -P -m tests.benchmarks.run_verdict_cases --shared SHARED --tree CHECKOUT --out FOLDER NAME...`` writes
``FOLDER/NAME.json`` for each case: exit status and output of every command. It imports of the package nothing but
the entry point of the command, so that it works with other versions.
"""

import argparse
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.verdict_cases import CASES, Case


def run(case: Case, *, shared: Path, tree: Path) -> list[dict[str, object]]:
    """Exit status and output of each command of a case."""
    data = shared / "data"
    names = {
        "{c}": str(data / "cranfield_runs"),
        "{w}": str(data / "web2012_runs"),
        "{n}": str(data / "judge_next_counterexample"),
        "{examples}": "examples",
    }
    results: list[dict[str, object]] = []
    started = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if any("{examples}" in command for command in case.commands):
            ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache")
            shutil.copytree(tree / "examples", folder / "examples", ignore=ignored)
        if case.prepare is not None:
            case.prepare(folder, shared)
        os.chdir(folder)
        try:
            for command in case.commands:
                words = command.split()
                for placeholder, value in names.items():
                    words = [word.replace(placeholder, value) for word in words]
                status, output = _called(words[1:]) if words[0] == "riskguard" else _tested(words)
                says_when = words[1] == "baseline"
                results.append({"command": command, "status": status, "output": "" if says_when else output})
        finally:
            os.chdir(started)
    return results


def _called(arguments: Sequence[str]) -> tuple[int, str]:
    from pytest_riskguard.cli.main import main

    output = io.StringIO()
    status: object = 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        try:
            main(arguments)
        except SystemExit as end:
            status = end.code
    return int(status or 0), output.getvalue()  # type: ignore[call-overload]


def _tested(words: Sequence[str]) -> tuple[int, str]:
    split = words.index("pytest")
    environment = {**os.environ, **dict(word.split("=", 1) for word in words[:split])}
    report = Path("report.json")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--riskguard"]
    end = subprocess.run(
        [*command, f"--riskguard-report={report}", *words[split + 1 :]],
        env=environment,
        capture_output=True,
        check=False,
    )
    return end.returncode, report.read_text(encoding="utf-8") if report.exists() else ""


def main() -> None:
    """Run the cases named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+")
    for option in ("--shared", "--tree", "--out"):
        parser.add_argument(option, type=Path, required=True)
    options = parser.parse_args()
    for variable in ("CI", "GITHUB_ACTIONS", "HELP_CENTER_SYSTEM"):
        os.environ.pop(variable, None)
    for case in CASES:
        if case.name in options.names:
            results = run(case, shared=options.shared.resolve(), tree=options.tree.resolve())
            (options.out / f"{case.name}.json").write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main()
