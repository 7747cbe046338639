"""Trade-off scores of every kind that a comparison may have."""

import numpy as np


def made_up(seed: int) -> np.ndarray:
    """Samples of every kind: dense, rounded, few changes, clusters, and one change far from the others."""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.choice([10, 12, 15, 20, 25, 50, 100, 300])), int(rng.integers(8))
    d = rng.normal(-0.05, 0.2, n)
    if kind in (1, 2, 3):
        d = np.round(d, kind)
    elif kind == 4:
        d = np.where(rng.random(n) < 0.8, 0.0, d)
    elif kind == 5:
        d = rng.choice(rng.normal(-0.3, 0.2, 3), n) + rng.normal(0, 10.0 ** -rng.integers(2, 6), n)
        d[0] += rng.choice([1.0, -1.0, 0.3])
    elif kind == 6:
        d[int(rng.integers(2, 7)) :] = 0.0
    elif kind == 7:
        d = rng.choice([0.0, 0.0, 0.5, -1 / 3, -1.0], n)
    return np.where(d < 0, (1 + rng.choice([0, 1, 5])) * d, d)
