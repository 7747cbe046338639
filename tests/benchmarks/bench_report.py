"""How long the charts of a gate and the HTML report take, and how large they are.

python -m tests.benchmarks.bench_report          in a fresh process each, so that loading the libraries counts

Charts may take 0.15 s of processor time for each gate; the benchmark fails where they take more.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

MAX_CHART_SECONDS = 0.15

_ONE = """
import sys, time
from tests.reports.html.verdicts import pair, wide_pool
count = int(sys.argv[2])
verdict = pair(count) if sys.argv[1] == "topics" else wide_pool(count)
verdict.findings.value, verdict.diagnostics  # computed when they are first read, with or without charts
start = time.process_time()
from pytest_riskguard.reports.html.charts import charts
drawn = [chart.svg for chart in charts(verdict)]
seconds = time.process_time() - start
print(f"{count:>8} {sys.argv[1]}: {len(drawn)} charts {seconds:6.3f} s of processor time", end=" ")
print(f"{sum(map(len, drawn)) / 1e3:6.0f} kB,", end=" ")
start = time.perf_counter()
from pytest_riskguard.reports.html import render
page = render([verdict])
print(f"page {time.perf_counter() - start:6.2f} s {len(page.encode()) / 1e6:6.2f} MB")
raise SystemExit(seconds > float(sys.argv[3]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, nargs="*", default=[50, 250, 10_000])
    parser.add_argument("--systems", type=int, nargs="*", default=[40], help="systems of a pool")
    options = parser.parse_args()
    cases = [("topics", count) for count in options.topics] + [("systems", count) for count in options.systems]
    slow = 0
    for case in cases:
        command = [sys.executable, "-c", _ONE, *map(str, case), str(MAX_CHART_SECONDS)]
        slow += subprocess.run(command, check=False).returncode
    sys.exit(f"{slow} of {len(cases)} are slower than {MAX_CHART_SECONDS} s" if slow else 0)


if __name__ == "__main__":
    main()
