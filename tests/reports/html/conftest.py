"""One browser for all tests of pages, and pages opened in it from disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.reports.html.browsers import CHROMIUM, Open, Opened

if TYPE_CHECKING:
    import playwright.sync_api as sync_api


@pytest.fixture(scope="session")
def browser() -> Iterator[sync_api.Browser]:
    required = os.environ.get("RISKGUARD_REQUIRE_BROWSER") == "1"
    if CHROMIUM is None:
        if required:
            pytest.fail("RISKGUARD_REQUIRE_BROWSER=1, and no Chromium: apt-get install chromium")
        pytest.skip("no browser: apt-get install chromium")
    if not required:
        pytest.importorskip("playwright.sync_api", reason="no browser: playwright is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser: sync_api.Browser, tmp_path: Path) -> Iterator[Open]:
    contexts = []

    def open_(text: str, *, width: int = 1200, **options: Any) -> Opened:
        path = tmp_path / "report.html"
        path.write_text(text, encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **options))
        return Opened(contexts[-1].new_page(), path)

    yield open_
    for context in contexts:
        context.close()
