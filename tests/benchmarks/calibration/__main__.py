"""How often gates are wrong: simulates it, and makes the tables of docs/explanation/calibration.md.

Run from the checkout: ``python -m tests.benchmarks.calibration``. ``--write`` puts the tables into
docs/data/calibration as CSV files, where the pages find them. ``--quick`` takes a minute or two.
"""

import argparse
import os

from tests.benchmarks.calibration.studies import STUDIES
from tests.benchmarks.calibration.tables import TABLES, as_csv, processes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=f"{', '.join(STUDIES)} (default: all)")
    parser.add_argument("--simulations", type=int, help="data sets of each cell (default: as on the pages)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help="50 simulations, to see that it works")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/data/calibration")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.studies if name not in STUDIES]
    if unknown:
        parser.error(f"expected studies among {', '.join(STUDIES)}, got {unknown[0]}")
    with processes(arguments.workers) as pool:
        for name in arguments.studies or STUDIES:
            study = STUDIES[name]
            simulations = 50 if arguments.quick else arguments.simulations or study.simulations
            table = as_csv(study.again(name, pool, simulations=simulations, seed=arguments.seed))
            if arguments.write:
                (TABLES / f"{name}.csv").write_text(table, encoding="utf-8", newline="\n")
            else:
                print(f"# {name}.csv\n{table}")


if __name__ == "__main__":
    main()
