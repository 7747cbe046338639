"""Memory that is no longer used goes back to the system.

The C library keeps what was freed between pieces that are still in use. After a large run has been read, that is as
much memory as what is kept of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable


def release_freed_memory() -> None:
    """Give back what was freed; nothing happens where the C library has no ``malloc_trim``."""
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@functools.cache
def _malloc_trim() -> Callable[[int], int] | None:
    import ctypes

    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library; Windows has no program to look in
        return None
