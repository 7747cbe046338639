"""The rank of a candidate in its pool by GeoRisk, and how stable it is when topics are resampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.georisk_resampling import Pool, PoolKernel
from pytest_riskguard.inference._bootstrap.large_pools import georisk_replicates
from pytest_riskguard.inference._bootstrap.replicates import Draws
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray


@dataclass(frozen=True, eq=False)
class CandidateRanks:
    """The rank of the candidate's GeoRisk in its pool at one alpha, as ``PoolInference`` has it of every system.

    ``rank_probabilities`` and ``probability_below`` have shape (n_systems,).
    """

    rank: int
    rank_probabilities: FloatArray
    probability_below: FloatArray


def candidate_ranks(
    scores: npt.ArrayLike,
    *,
    candidate: int,
    alpha: float,
    beside: Sequence[float] = (),
    tradeoff: str = "linear",
    replicates: int,
    draws: Draws | None = None,
) -> CandidateRanks:
    """How often each system beats the candidate, and how many do at once; parameters as ``georisk_differences``."""
    pool = Pool.of(scores)
    sample = PoolKernel(pool, alphas=(alpha, *beside), tradeoff=tradeoff).sample()[0]
    same = ROUNDING_ERROR * float(np.max(sample))
    ranked, below = np.zeros(pool.n_systems), np.zeros(pool.n_systems)
    drawn = georisk_replicates(
        pool,
        pool.scores - pool.scores[candidate],
        alphas=(alpha,),
        tradeoff=tradeoff,
        replicates=replicates,
        draws=draws,
    )
    for georisk in drawn:
        beats = georisk[0] > georisk[0, candidate] + same
        ranked += np.bincount(np.count_nonzero(beats, axis=0), minlength=pool.n_systems)
        below += np.count_nonzero(beats, axis=1)
    rank = 1 + int(np.count_nonzero(sample[0] > sample[0, candidate] + same))
    return CandidateRanks(rank, ranked / replicates, below / replicates)
