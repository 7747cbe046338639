"""How often gates are wrong: simulates it, and makes the tables of docs/explanation/calibration.md.

Run from the checkout: ``python -m tests.benchmarks.calibration``. ``--write`` puts the tables into
docs/data/calibration as CSV files, where the pages find them. ``--quick`` takes a minute or two.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.benchmarks.calibration import few_changes, interval_study
from tests.benchmarks.calibration.populations import CONTINUOUS, LATTICE, REAL
from tests.benchmarks.calibration.tables import TABLES, Table, as_csv

STUDIES = ("intervals", "few-changes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", default=STUDIES, help=f"of {', '.join(STUDIES)} (default: all)")
    parser.add_argument("--simulations", type=int, help="data sets of each cell (default: as on the pages)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help="50 simulations, to see that it works")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/data/calibration")
    arguments = parser.parse_args()

    def count(of_the_pages: int) -> int:
        return 50 if arguments.quick else arguments.simulations or of_the_pages

    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"  # inherited by the workers, which load numpy anew
    tables: dict[str, Table] = {}
    with ProcessPoolExecutor(arguments.workers, mp_context=get_context("spawn")) as pool:
        if "intervals" in arguments.studies:
            drawn = 400_000 if arguments.quick else 4_000_000
            more, facts = interval_study.all_tables(pool, simulations=count(4000), seed=arguments.seed, count=drawn)
            tables |= more
            print(facts, end="")
        if "few-changes" in arguments.studies:
            sources = (REAL, CONTINUOUS, LATTICE)
            tables |= few_changes.all_tables(pool, simulations=count(10_000), seed=arguments.seed, sources=sources)
    for name, table in tables.items():
        if arguments.write:
            (TABLES / f"{name}.csv").write_text(as_csv(table), encoding="utf-8", newline="\n")
        else:
            print(f"# {name}.csv\n{as_csv(table)}")


if __name__ == "__main__":
    main()
