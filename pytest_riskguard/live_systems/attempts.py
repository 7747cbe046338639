"""How an attempt to query a system failed, where the system itself says whether another one makes sense."""

from __future__ import annotations


class AttemptError(Exception):
    """A query without an answer, in words that name no code: nothing of the team's own is at fault.

    ``is_final`` if another attempt would end like this one; ``wait`` is how many seconds the system asks to wait
    before it.
    """

    def __init__(self, problem: str, *, is_final: bool = False, wait: float | None = None) -> None:
        super().__init__(problem)
        self.is_final, self.wait = is_final, wait
