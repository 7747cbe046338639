"""Times of riskguard beside other libraries, on generated files.

python -m tests.benchmarks.scale                     every comparison, about half an hour on two cores
python -m tests.benchmarks.scale --only scoring      one of them
python -m tests.benchmarks.scale --small             tiny files, for results rather than times
python -m tests.benchmarks.scale --write             also writes the tables of docs/performance.md

Each command runs in a process of its own, alternately with its peers; the smallest of several rounds counts for
scoring, the median elsewhere. Files are generated in --folder and kept there.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.benchmarks.scale import comparisons, tables
from tests.benchmarks.scale.comparisons import Row
from tests.benchmarks.scale.measuring import ROOT

Comparison = Callable[[Path, bool, int], list[Row]]

DATA = ROOT / "docs" / "data" / "performance"
CHART = ROOT / "docs" / "pictures" / "growth.svg"


def scoring(folder: Path, small: bool, rounds: int) -> list[Row]:
    rows = []
    for topics, depth in [(300, 50)] if small else [(7_000, 1_000), (100_000, 100)]:
        collection = comparisons.generated(folder, topics, depth)
        peers = comparisons.available()
        rows += comparisons.scoring(collection, comparisons.SIX, peers=peers, rounds=rounds, ours=comparisons.OURS)
        rows += comparisons.scoring(collection, ["nDCG@10"], peers=peers[:1], rounds=rounds)
    return rows


def comparing(folder: Path, small: bool, rounds: int) -> list[Row]:
    sizes = [(300, 50)] if small else [(7_000, 1_000), (100_000, 100)]
    collections = [comparisons.generated(folder, *size) for size in sizes]
    return [row for collection in collections for row in comparisons.failing_comparison(collection, rounds=rounds)]


def caching(folder: Path, small: bool, rounds: int) -> list[Row]:
    collection = comparisons.generated(folder, *((300, 50) if small else (7_000, 1_000)))
    return comparisons.judged_again(collection, folder)


def growing(folder: Path, small: bool, rounds: int) -> list[Row]:
    sizes = [(20, 20), (300, 50)] if small else [(100, 100), (1_000, 100), (1_000, 1_000), (10_000, 1_000)]
    return comparisons.growth_of_scoring(folder, sizes, rounds=rounds)


def verdicts(folder: Path, small: bool, rounds: int) -> list[Row]:
    sizes = [100, 1_000] if small else [1_000, 10_000, 100_000, 1_000_000]
    return comparisons.growth_of_verdicts(folder, sizes, rounds=rounds)


COMPARISONS: Mapping[str, Comparison] = {
    **{"scoring": scoring, "comparing": comparing, "caching": caching},
    **{"growing": growing, "verdicts": verdicts},
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
        rows = COMPARISONS[name](options.folder, options.small, options.rounds)
        print(f"{name}\n{tables.as_text(rows)}\n", flush=True)
        if options.write:
            DATA.mkdir(parents=True, exist_ok=True)
            (DATA / f"{name}.csv").write_text(tables.as_csv(rows), encoding="utf-8", newline="\n")
            (DATA / "machine.csv").write_text(tables.machine(), encoding="utf-8", newline="\n")
            if name == "growing":
                CHART.write_text(tables.growth_chart(rows), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
