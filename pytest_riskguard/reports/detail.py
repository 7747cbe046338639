"""How much a report shows; set once by whoever owns the screen. Imports nothing, for the plugin reads it early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Detail:
    """How many topics a failure lists, how wide it may be, and how a test is named where the user stands."""

    topics: int | None = 10
    width: int = 100
    locate: Callable[[str], str] = str


#: What messages use when nobody passes a ``Detail``: pytest's ``-q``, ``-v`` and width, as the plugin found them.
CURRENT = Detail()
