"""Which systems are risky against one baseline, and on which topics.

B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive evaluation of retrieval systems",
SIGIR 2014: Tables 1 and 2, Figures 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pytest_riskguard.inference import critical_value
from pytest_riskguard.reports import Plot, Section, Table, clean, listed
from pytest_riskguard.risk import linear, standardised, trisk
from pytest_riskguard.risk.checks import FloatArray
from pytest_riskguard.studies.pool import FEW, Pool, ranked

LEVEL = 0.95
#: So many topics are named.
MAX_NAMED = 4
#: The alphas of Figure 1.
CURVE = np.arange(0, 15.5, 0.5)


def study(pool: Pool) -> Section:
    """URisk, its errors and TRisk of every system against the baseline, and the topics that stand out."""
    limit = critical_value(len(pool.topics), level=LEVEL)
    notes = (
        "URisk: mean difference, losses times 1 + alpha. SE: its standard error; SE_J: by the jackknife, the same "
        f"for a mean. TRisk: URisk / SE, significant beyond {limit:.2f} (level {LEVEL:.0%}). TR_i: a topic's "
        "trade-off score in standard deviations. TJ_i: the same less the mean: how much the topic moves URisk, with "
        "the sign and the scale of the paper's Figure 2; those of its Eq. 23 are errata."
    )
    return Section(
        pool.title,
        [*_answers(pool, limit)],
        [
            *(_risks(pool, alpha) for alpha in pool.alphas),
            _curves(pool, limit),
            *(_topics(pool, alpha, limit) for alpha in pool.alphas),
            *_bars(pool, limit),
        ],
        pool.warnings,
        [notes],
    )


def _answers(pool: Pool, limit: float) -> Iterator[str]:
    for alpha in pool.alphas:
        statistics = [trisk(row, alpha=alpha).statistic or 0.0 for row in pool.differences]
        risky = tuple(name for name, value in zip(pool.names, statistics, strict=True) if value < -limit)
        which = f" ({listed(risky, most=5)})" if risky else ""
        better = sum(value > limit for value in statistics)
        yield f"alpha {alpha:g}: {len(risky)} significantly risky{which}, {better} significantly better"


def _risks(pool: Pool, alpha: float) -> Table:
    tests = [trisk(row, alpha=alpha) for row in pool.differences]
    figures = {
        what: np.array([getattr(test, what) for test in tests], dtype=np.float64)
        for what in ("estimate", "standard_error", "statistic", "p_value")
    }
    n = len(pool.topics)
    x = [linear(row, alpha=alpha) for row in pool.differences]
    jackknife = np.sqrt((n - 1) * np.var([(row.sum() - row) / (n - 1) for row in x], axis=1))  # Eq. 17
    return ranked(
        f"Risk, alpha {alpha:g}",
        pool.names,
        {
            "mean": (".4f", pool.means[pool.candidates]),
            "URisk": ("R+.4f", figures["estimate"]),
            "SE": (".4f", figures["standard_error"]),
            "SE_J": (".4f", jackknife),
            "TRisk": ("R+.4f", figures["statistic"]),
            "p": ("p", figures["p_value"]),
        },
    )


def _curves(pool: Pool, limit: float) -> Plot:
    """Figure 1."""
    plot = Plot(
        "TRisk over alpha",
        "alpha (a loss counts 1 + alpha times)",
        "TRisk",
        caption="Dashed: below, a system is significantly risky; above, significantly better.",
        zero=True,
    )
    for side in (-limit, limit):
        plot.line([(-math.inf, side), (math.inf, side)], means="critical value", colour="muted", dashed=True)
    for place, (name, row) in enumerate(zip(pool.names, pool.differences, strict=True)):
        statistics = [trisk(row, alpha=alpha).statistic for alpha in CURVE.tolist()]
        plot.curve(name, CURVE, np.array(statistics, dtype=np.float64), series=place)
    return plot


def exploratory(differences: FloatArray, *, alpha: float) -> tuple[FloatArray, FloatArray]:
    """TR_i and TJ_i of each topic (Eq. 21, 22), shape (n_topics,); zeros where trade-off scores do not vary.

    TR_i is the trade-off score over the standard deviation of all. TJ_i, the standardised difference that the topic
    makes to URisk, is TR_i less the mean of all: Eq. 23 with its sign reversed and divided by sqrt(n).
    """
    found = standardised(linear(differences, alpha=alpha))
    return found, found - found.mean()


def _topics(pool: Pool, alpha: float, limit: float) -> Table:
    rows = []
    for name, row in zip(pool.names, pool.differences, strict=True):
        tr, tj = exploratory(row, alpha=alpha)
        said = [
            tuple(f"{pool.topics[k]} ({tr[k]:+.1f}, {tj[k]:+.1f})" for k in np.argsort(-abs(tr)) if is_out[k])
            for is_out in (np.minimum(tr, tj) < -limit, np.maximum(tr, tj) > limit)
        ]
        rows.append((name, *(listed(topics, most=MAX_NAMED) for topics in said)))
    columns = {"system": "name", "losses": "text", "wins": "text"}
    return Table(f"Topics that stand out (TR_i, TJ_i), alpha {alpha:g}", columns, rows, none="-")


def _bars(pool: Pool, limit: float) -> Iterator[Plot]:
    """Figure 2, for the systems with the best means."""
    for name, row in zip(pool.names[:FEW], pool.differences, strict=False):
        plot = Plot(
            f"TJ_i of each topic: {clean(name, limit=60)}",
            "topic, in the order of their names",
            "TJ_i",
            caption="Dashed: topics beyond lost, or won, more than chance explains.",
            zero=True,
        )
        for side in (-limit, limit):
            plot.line([(-math.inf, side), (math.inf, side)], colour="muted", dashed=True)
        for series, alpha in enumerate(pool.alphas):
            for place, value in enumerate(exploratory(row, alpha=alpha)[1]):
                text = f"alpha {alpha:g}, topic {pool.topics[place]}"
                plot.point(place + 1, float(value), text, means=f"alpha {alpha:g}", series=series)
        yield plot
