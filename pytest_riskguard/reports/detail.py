"""How much a report shows; set once by whoever owns the screen. Imports nothing, for the plugin reads it early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: What a strip of differences is drawn with; a stream that cannot encode these gets ASCII.
BLOCKS = "▁▂▃▄▅▆▇█▀▔·│"


@dataclass
class Detail:
    """How much a failure shows.

    ``topics`` is how many topics it lists (None: everything there is), ``width`` how wide it may be, ``locate`` how a
    test is named where the user stands, ``blocks`` whether the screen can show block characters.
    """

    topics: int | None = 10
    width: int = 100
    locate: Callable[[str], str] = str
    blocks: bool = True


#: What messages use when nobody passes a ``Detail``: pytest's ``-q``, ``-v`` and width, as the plugin found them.
CURRENT = Detail()


def draws_blocks(encoding: str | None) -> bool:
    """Whether a stream of this encoding can show block characters."""
    try:
        BLOCKS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
