"""The browser that tests and benchmarks use, and a page opened in it."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import playwright.sync_api as sync_api

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


class Opened:
    """A page and all that it did beside showing itself."""

    def __init__(self, page: sync_api.Page, path: Path) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("console", lambda message: self.faults.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", self._dismissed)
        page.on("request", self._asked)
        page.on("popup", lambda popup: self.faults.append(f"popup: {popup.url}"))
        self.address = path.as_uri()
        page.goto(self.address)

    def _dismissed(self, dialog: sync_api.Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: sync_api.Request) -> None:
        if request.url.partition("#")[0] != self.address:
            self.faults.append(f"request: {request.url[:200]}")

    def until(self, condition: str) -> None:
        """Wait for a condition; the page's policy forbids the browser's own way, which evaluates text."""
        deadline = time.monotonic() + 10
        while not self.page.evaluate(condition):
            assert time.monotonic() < deadline, condition
            self.page.wait_for_timeout(20)

    def texts(self, selector: str) -> list[str]:
        return [text.strip() for text in self.page.locator(selector).all_inner_texts()]
