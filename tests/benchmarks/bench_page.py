"""How large pages of many gates are, and how long a browser takes to load them.

python -m tests.benchmarks.bench_page          one gate, 30 on the same runs, 30 on different runs, 10,000 topics
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import sync_playwright

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html import render
from tests.reports.html.browsers import CHROMIUM
from tests.reports.html.many import many_candidates, many_gates
from tests.reports.html.verdicts import pair, with_documents

#: How often a page is loaded; the median counts.
_LOADS = 7
#: Until the script has run: the table of topics has its rows.
_READY = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"

_PAGES: dict[str, Callable[[], list[Verdict]]] = {
    "1 gate, 250 topics": lambda: [with_documents(pair(250))],
    "30 gates on the same runs, 100 topics": lambda: many_gates(30, topics=100),
    "30 gates on different runs, 100 topics": lambda: many_candidates(30, topics=100),
    "1 gate, 10,000 topics": lambda: [pair(10_000)],
}


def main() -> None:
    if CHROMIUM is None:
        sys.exit("no browser: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, make in _PAGES.items():
            verdicts = make()
            start = time.perf_counter()
            text = render(verdicts)
            took = time.perf_counter() - start
            path = Path(folder) / "page.html"
            path.write_text(text, encoding="utf-8")
            loads, nodes = [], 0
            for _ in range(_LOADS):
                page = browser.new_page()
                page.goto(path.as_uri())
                loads.append(page.evaluate(_READY))
                nodes = page.evaluate("document.querySelectorAll('*').length")
                page.close()
            print(
                f"{name:40} rendered in {took:6.2f} s {len(text.encode()) / 1e6:6.2f} MB {nodes:6} nodes, "
                f"loaded in {statistics.median(loads):6.0f} ms"
            )
        browser.close()


if __name__ == "__main__":
    main()
