"""How a live system is queried, and within which limits; importing this loads no numpy."""

from __future__ import annotations

from pytest_riskguard.frozen import frozen

#: Seconds that an answer may take by default.
TIMEOUT = 30.0
#: The most that ``Asking`` takes.
MAX_DEPTH, MAX_WORKERS = 100_000, 256


@frozen
class Asking:
    """How a system is queried."""

    depth: int = 100  # results kept of each answer
    workers: int = 1  # queries sent at a time; one worker is the calling thread itself
    timeout: float | None = TIMEOUT  # seconds that an answer may take; None is no limit
