"""One fixed stream of random words, from which all replicates are drawn: they are the same for everyone.

Draws come in chunks, each from a generator seeded by its own number, so it does not matter who computes which chunk,
when, or how many at a time. Only the raw words of the generator are used: numpy promises that these never change,
which it does not for its distributions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: The only seed: draws are part of the method, users do not choose them.
SEED = 20190523


def stream(*chunk: int) -> np.random.SFC64:
    """The generator of a chunk, at its start."""
    return np.random.SFC64(np.random.SeedSequence((SEED, *chunk)))


def next_words(generator: np.random.SFC64, count: int) -> npt.NDArray[np.uint64]:
    """The next random words of a generator, low byte first on every machine."""
    return np.asarray(generator.random_raw(count), dtype="<u8")
