"""How long the HTML report takes, and how large it is.

python -m tests.benchmarks.bench_report          in a fresh process each, so that loading the libraries counts
"""

from __future__ import annotations

import argparse
import subprocess
import sys

_ONE = """
import sys, time
from tests.reports.html.verdicts import pair
verdict = pair(int(sys.argv[1]))
start = time.perf_counter()
from pytest_riskguard.reports.html import render
page = render([verdict])
print(f"{sys.argv[1]:>8} topics {time.perf_counter() - start:8.2f} s {len(page.encode()) / 1e6:8.2f} MB")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topics", type=int, nargs="*", default=[50, 250, 10_000])
    for topics in parser.parse_args().topics:
        subprocess.run([sys.executable, "-c", _ONE, str(topics)], check=True)


if __name__ == "__main__":
    main()
