"""How a live system is queried, and within which limits; importing this loads no numpy."""

from __future__ import annotations

from dataclasses import dataclass

#: Seconds that an answer may take by default.
TIMEOUT = 30.0
#: The most that ``Asking`` takes.
MAX_DEPTH, MAX_WORKERS, MAX_RETRIES, MAX_RATE = 100_000, 256, 10, 10_000
#: For how many topics a query is sent twice, by default and at most.
ASK_TWICE, MAX_ASK_TWICE = 10, 1000
#: Characters of a document's id.
MAX_ID = 1000
#: After this many queries in a row without an answer in time, no more are sent.
MAX_TIMEOUTS = 3


@dataclass(frozen=True)
class Asking:
    """How a system is queried."""

    depth: int = 100  # results kept of each answer
    workers: int = 1  # queries sent at a time; one worker is the calling thread itself
    timeout: float | None = TIMEOUT  # seconds that an answer may take; None is no limit
    retries: int = 0  # further attempts for a query that failed
    rate: float | None = None  # queries sent per second, at most; None is no limit
    ask_twice: int = 0  # for how many topics the query is sent again, to compare the answers
