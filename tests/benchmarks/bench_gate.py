"""How long a verdict takes once both systems are scored: its answer, its explanation, its JSON object.

python -m tests.benchmarks.bench_gate                    Cranfield, 225 topics; needs the folder of real runs
python -m tests.benchmarks.bench_gate --before FOLDER    beside another checkout, which is timed in turn with this one
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from tests.shared_data import SHARED

RUNS = ("partial_longquery_trunc", "bm25s_atire", "fts5_and", "ties_bm25s_int", "improved_rrf")
ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("time_verdicts.py")


def times(tree: Path, repeats: int) -> dict[str, dict[str, float]]:
    """Milliseconds by run, as the package of a checkout takes them in a process of its own."""
    command = [sys.executable, str(DRIVER), str(SHARED / "data" / "cranfield_runs"), str(repeats), *RUNS]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    ended = subprocess.run(command, env=environment, cwd=tree, capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--before", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    before = None if options.before is None else times(options.before.resolve(), options.repeats)
    now = times(ROOT, options.repeats)
    print(f"{'milliseconds':<26}{'scoring':>10}{'answer':>10}{'explained':>11}{'written':>10}")
    for run, by_part in now.items():
        print(f"{run:<26}{by_part['scoring']:>10.1f}{by_part['answer']:>10.2f}", end="")
        print(f"{by_part['explained']:>11.1f}{by_part['written']:>10.1f}")
        if before is not None:
            ratios = {part: before[run][part] / by_part[part] for part in by_part}
            print(f"{'  times as fast as before':<26}{'':>10}{ratios['answer']:>10.1f}", end="")
            print(f"{ratios['explained']:>11.2f}{ratios['written']:>10.2f}")


if __name__ == "__main__":
    main()
