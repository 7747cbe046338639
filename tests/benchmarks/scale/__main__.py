"""Times of riskguard beside other libraries, on generated files.

python -m tests.benchmarks.scale                     every comparison, about 20 minutes on two cores
python -m tests.benchmarks.scale --only scoring      one of them
python -m tests.benchmarks.scale --small             tiny files, for results rather than times
python -m tests.benchmarks.scale --write             also writes the tables of docs/performance.md

Each command runs in a process of its own, alternately with its peers; the smallest of several rounds counts for
scoring, the median elsewhere. Files are generated in --folder and kept there (4 GB).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.benchmarks.scale import comparisons, growth, tables
from tests.benchmarks.scale.measuring import ROOT

#: Tables as CSV by the names of their files.
Files = Mapping[str, str]
Comparison = Callable[[Path, bool, int], Files]

DATA = ROOT / "docs" / "data" / "performance"
#: Deep rankings, and many topics.
SIZES = ((7_000, 1_000), (100_000, 100))


def scoring(folder: Path, small: bool, rounds: int) -> Files:
    rows = []
    for collection in _collections(folder, small):
        peers = comparisons.available()
        rows += comparisons.scoring(collection, comparisons.SIX, peers=peers, rounds=rounds)
        rows += comparisons.scoring(collection, ["nDCG@10"], peers=peers[:1], rounds=rounds)
    return {"scoring.csv": tables.as_csv(rows)}


def comparing(folder: Path, small: bool, rounds: int) -> Files:
    collections = _collections(folder, small)
    rows = [row for collection in collections for row in comparisons.failing_comparison(collection, rounds=rounds)]
    return {"comparing.csv": tables.as_csv(rows)}


def verdicts(folder: Path, small: bool, rounds: int) -> Files:
    sizes = [100, 1_000] if small else [1_000, 10_000, 100_000, 1_000_000]
    return {"verdicts.csv": tables.as_csv(growth.of_verdicts(folder, sizes, rounds=rounds))}


COMPARISONS: Mapping[str, Comparison] = {
    "scoring": scoring,
    "comparing": comparing,
    "verdicts": verdicts,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=COMPARISONS, action="append", help="a comparison; repeatable")
    parser.add_argument("--small", action="store_true", help="tiny files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "riskguard-scale"))
    parser.add_argument("--write", action="store_true", help="write the tables of docs/performance.md")
    options = parser.parse_args(arguments)
    for name in options.only or COMPARISONS:
        files = COMPARISONS[name](options.folder, options.small, options.rounds)
        shown = [tables.as_text(content) for content in files.values()]
        print("\n\n".join([name, *shown]), "\n", flush=True)
        if options.write:
            _write({**files, "machine.csv": tables.machine()})


def _collections(folder: Path, small: bool) -> list[comparisons.Collection]:
    return [comparisons.generated(folder, *size) for size in ([(300, 50)] if small else SIZES)]


def _write(files: Files) -> None:
    DATA.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (DATA / name).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
