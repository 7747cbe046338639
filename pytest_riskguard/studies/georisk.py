"""Which systems keep up with the whole pool: ZRisk and GeoRisk beside the measures of one baseline.

B. T. Dinçer, C. Macdonald, I. Ounis, "Risk-sensitive evaluation and learning to rank using multiple baselines", SIGIR
2016: Tables 3 to 6, Figures 1 to 3, and the statistic G² (Eq. 4).
"""

from __future__ import annotations

import numpy as np

from pytest_riskguard.errors import UsageError
from pytest_riskguard.reports import Plot, Section, Table, clean, listed
from pytest_riskguard.risk import georisk, topic_contributions, trisk, zrisk
from pytest_riskguard.risk.checks import FloatArray
from pytest_riskguard.studies.pool import FEW, Pool, matrix, ranked

#: The alphas of Figure 3.
CURVE = np.arange(0, 21)


def study(pool: Pool) -> Section:
    """All measures of every system side by side, each with the systems' places, and the profiles behind them."""
    if np.any(pool.scores < 0):
        raise UsageError("ZRisk and GeoRisk need scores of at least 0")
    statistic = np.sum(topic_contributions(pool.scores, alpha=0) ** 2)
    answers = []
    for alpha in pool.alphas:
        best = np.argsort(-georisk(pool.scores, alpha=alpha), kind="stable")[:3]
        named = listed(tuple(pool.systems[one] for one in best), most=3)
        answers.append(f"alpha {alpha:g}: GeoRisk is highest for {named}")
    answers.append(
        f"G² is {statistic:.2f} with {(len(pool.systems) - 1) * (len(pool.topics) - 1)} degrees of freedom: 0 if all "
        "systems had the same profile over topics; scores are not counts, so there is no p-value"
    )
    notes = (
        "R: places, 1 is the best. URisk and TRisk: against the baseline. T*: TRisk against the mean score of the "
        "pool on each topic. ZRisk: how well a system keeps to the shape of the pool's scores. GeoRisk: the "
        "geometric mean of mean score and Phi(ZRisk / topics). High is good."
    )
    profile = np.vstack([pool.scores, pool.scores.mean(axis=0)])
    return Section(
        pool.title,
        answers,
        [
            *(_measures(pool, alpha) for alpha in pool.alphas),
            _curves(pool),
            _profiles(pool),
            matrix("Scores", [*pool.systems, "Mean"], pool.topics, ".4f", profile),
            *([_alone(pool)] if pool.baselines else []),
        ],
        pool.warnings,
        [notes],
    )


def _measures(pool: Pool, alpha: float) -> Table:
    """Table 6: the measures at one alpha."""
    tests = {"T*": pool.scores - pool.scores.mean(axis=0)}
    if pool.baselines:
        tests["TRisk"] = pool.scores - pool.scores[pool.baselines[0]]
    found = {
        name: np.array([trisk(row, alpha=alpha).statistic for row in rows], dtype=np.float64)
        for name, rows in tests.items()
    }
    figures = {"mean": ("R.4f", pool.means)}
    if pool.baselines:
        urisks = np.array([trisk(row, alpha=alpha).estimate for row in tests["TRisk"]])
        urisks[pool.baselines[0]] = np.nan  # a baseline has no risk against itself
        figures |= {"URisk": ("R+.3f", urisks), "TRisk": ("R+.3f", found["TRisk"])}
    return ranked(
        f"All measures, alpha {alpha:g}",
        pool.systems,
        figures
        | {
            "T*": ("R+.3f", found["T*"]),
            "ZRisk": ("R+.3f", zrisk(pool.scores, alpha=alpha)),
            "GeoRisk": ("R.4f", georisk(pool.scores, alpha=alpha)),
        },
    )


def _curves(pool: Pool) -> Plot:
    """Figures 2 and 3."""
    plot = Plot(
        "GeoRisk over alpha",
        "alpha (doing worse than expected counts 1 + alpha times)",
        "GeoRisk",
        caption="A line that falls steeply is that of a system with a profile of its own.",
    )
    values = np.column_stack([georisk(pool.scores, alpha=float(alpha)) for alpha in CURVE])
    for place, (name, row) in enumerate(zip(pool.systems, values, strict=True)):
        plot.curve(name, CURVE, row, series=place)
    return plot


def _profiles(pool: Pool) -> Plot:
    """Figure 1: scores over topics, of the systems with the best means."""
    plot = Plot(
        "Profiles over topics",
        "topic, the hardest for the pool first",
        clean(pool.measure),
        caption=f"The {min(FEW, len(pool.systems))} systems with the best means; dashed: the mean of the whole pool.",
    )
    order = np.argsort(pool.scores.mean(axis=0), kind="stable")
    for place, (name, row) in enumerate(zip(pool.systems[:FEW], pool.scores, strict=False)):
        plot.curve(name, range(1, order.size + 1), row[order], series=place)
    plot.line(enumerate(pool.scores.mean(axis=0)[order].tolist(), 1), means="mean", colour="ink", dashed=True)
    return plot


def _alone(pool: Pool) -> Table:
    """Table 4: each system in a pool of two, with the baseline, at alpha 0."""
    own, names, rows = pool.baselines[0], list[str](), list[FloatArray]()
    for place in pool.candidates:
        pair = [place, own]
        z = topic_contributions(pool.scores[pair], alpha=0)
        names += [f"{pool.systems[one]} against {pool.systems[other]}" for one, other in (pair, pair[::-1])]
        rows += [*np.column_stack([z.sum(axis=1), z])]
    return matrix("z with one baseline", names, ["ZRisk", *pool.topics], "+.4f", np.array(rows))
