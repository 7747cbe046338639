"""What of the package one failing gate goes through: ``python -m tests.benchmarks.entered``.

Counts, for ``pytest --riskguard`` in a folder with one gate that fails, the files of the package of which functions
are entered (module and class bodies aside), the calls of these (each step of a generator is one), and how deep they
nest. ``--list`` names the files.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "pytest_riskguard"
#: A flag of code objects: bodies of functions have it, those of modules and classes do not.
IS_FUNCTION = 1
QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:xdist")


@dataclass(frozen=True)
class Entered:
    """Calls by file of the package, and the most that were open at once."""

    calls: dict[str, int]
    depth: int

    def __str__(self) -> str:
        return f"{len(self.calls)} files, {sum(self.calls.values()):,} calls, {self.depth} deep"


def of_a_failing_gate() -> Entered:
    """Measured in a process of its own."""
    from tests.plugin import world

    with tempfile.TemporaryDirectory() as folder:
        world.write_world(Path(folder), world.LOSS)
        command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.entered", "--inside", folder]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    lines = ended.stdout.splitlines()
    if ended.returncode or "1 failed" not in ended.stdout:
        raise RuntimeError(f"expected one gate that fails, found:\n{ended.stdout}\n{ended.stderr}")
    return Entered(**json.loads(lines[-1]))


def _inside(folder: str) -> None:
    import pytest

    calls: Counter[str] = Counter()
    depths: Counter[int] = Counter()
    deepest = 0

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest
        code = frame.f_code
        if event not in ("call", "return") or not code.co_flags & IS_FUNCTION or not code.co_filename.startswith(own):
            return
        thread = threading.get_ident()
        if event == "call":
            calls[code.co_filename[len(own) :]] += 1
            depths[thread] += 1
            deepest = max(deepest, depths[thread])
        else:
            depths[thread] -= 1

    own = f"{PACKAGE}{os.sep}"
    os.chdir(folder)
    threading.setprofile(profile)
    sys.setprofile(profile)
    status = pytest.main(["--riskguard", *QUIET])
    sys.setprofile(None)
    print()
    print(json.dumps(asdict(Entered(dict(calls), deepest))))
    sys.exit(status != pytest.ExitCode.TESTS_FAILED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="the files, most calls first")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        _inside(options.inside)
        return
    entered = of_a_failing_gate()
    if options.list:
        for file, count in sorted(entered.calls.items(), key=lambda item: -item[1]):
            print(f"{count:7,}  {file}")
    print(entered)


if __name__ == "__main__":
    main()
