"""The browser that tests and benchmarks use."""

from __future__ import annotations

import shutil

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
