"""A baseline made of a pool of systems: topic by topic their mean, median or best score.

B. T. Dinçer, I. Ounis, C. Macdonald, "Tackling biased baselines in the risk-sensitive evaluation of retrieval
systems", ECIR 2014, section 3.

A candidate may be in the pool or not, and that changes the baseline: ``max`` above all, against which a member of the
pool has no win. For ``mean`` it changes only the size of differences: with the candidate in a pool of r, each is
(r - 1)/r of the difference from the mean of the others; URisk shrinks likewise, and TRisk stays the same.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import FloatArray, systems_by_topics

#: The ways to make one baseline of several systems.
KINDS = ("mean", "median", "max")


def reference_scores(scores: npt.ArrayLike, *, kind: str) -> FloatArray:
    """The score of a reference baseline on each topic, shape (n_topics,), in units of the measure.

    Eq. 2 for ``mean``. The order of the systems does not change a single bit. ValueError with other than two axes, no
    system, no topic, a score that is not finite or beyond 1e100, or an unknown kind.

    Parameters
    ----------
    scores : array, shape (n_systems, n_topics)
        In units of the measure; at least one system, which then is the baseline.
    kind : {"mean", "median", "max"}
        Of an even number of systems the median is the mean of the two in the middle.
    """
    if kind not in KINDS:
        raise ValueError(f"kind of reference baseline must be one of {', '.join(KINDS)}, got {kind!r}")
    pool = systems_by_topics(scores, at_least=1)
    reference: FloatArray
    if kind == "mean":
        reference = np.array([math.fsum(topic) for topic in pool.T.tolist()]) / pool.shape[0]
    else:
        reference = np.median(pool, axis=0) if kind == "median" else np.max(pool, axis=0)
    return reference
