"""Does the order by risk depend on the baseline? Every system as the baseline, and baselines made of the pool.

B. T. Dinçer, I. Ounis, C. Macdonald, "Tackling biased baselines in the risk-sensitive evaluation of retrieval
systems", ECIR 2014: Tables 1 to 3, Figures 1 and 2. A baseline favours systems whose scores rise and fall over topics
as its own do.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import UsageError
from pytest_riskguard.reports import Plot, Section, Table, counted
from pytest_riskguard.risk import urisk
from pytest_riskguard.risk.checks import FloatArray, systems_by_topics
from pytest_riskguard.studies.pool import Pool, matrix, ranked
from pytest_riskguard.studies.rank_tests import changing_pairs, durbin_test, friedman_test, ranks

#: Baselines made of the pool: what each scores on a topic (Eq. 2 and section 3).
REFERENCES: Mapping[str, Any] = {"MEAN": np.mean, "MEDIAN": np.median, "MAX": np.max}
#: With more points, names would cover one another.
MAX_LABELS = 15
_NOTES = (
    "MEAN, MEDIAN, MAX: baselines that score what the pool scores on each topic; its systems are inside. R: places, "
    "1 is the best. r: correlation over topics, with the other systems (median) and with MEAN. tau: Kendall's, 1 for "
    "the same order. W: 1 when all baselines give the same order; a small p means that they agree more than by "
    "chance, not that they differ. Friedman ranks each baseline's own 0 as well, as the paper does; Durbin does not."
)


def study(pool: Pool) -> Section:
    """Tables and figures of the paper, for all systems."""
    from scipy.stats import kendalltau  # takes 0.8 s to import

    n, systems = len(pool.systems), pool.systems
    if n < 3:
        raise UsageError("two systems are not enough to tell whether one baseline is a fair yardstick")
    made = {name: np.asarray(of_topic(pool.scores, axis=0)) for name, of_topic in REFERENCES.items()}
    references = made | {systems[place]: pool.scores[place] for place in pool.baselines}
    tables, tests, pairs, taus = list[Table](), list[tuple[object, ...]](), list[Table](), list[list[float]]()
    answers = list[str]()
    for alpha in pool.alphas:
        against = {
            name: np.array([urisk(row - reference, alpha=alpha) for row in pool.scores])
            for name, reference in references.items()
        }
        for place in pool.baselines:
            against[systems[place]][place] = np.nan  # no risk against itself
        figures = {"mean": ("R.4f", pool.means)} | {name: ("R+.4f", values) for name, values in against.items()}
        tables.append(ranked(f"URisk against each baseline, alpha {alpha:g}", systems, figures))
        taus.append([kendalltau(pool.means, values, nan_policy="omit").statistic for values in against.values()])
        risks = every_baseline(pool.scores, alpha=alpha)
        changing, found = changing_pairs(ranks(risks)), (durbin_test(risks), friedman_test(risks))
        figures_of_tests = [(t.statistic, t.p_value, t.concordance) if t else (None,) * 3 for t in found]
        tests.append((f"{alpha:g}", changing, *figures_of_tests[0], *figures_of_tests[1]))
        all_pairs = counted(n * (n - 1) // 2, "pair")
        answers.append(f"alpha {alpha:g}: the order of {changing} of {all_pairs} depends on the baseline")
        for what, form, values in (("URisk", "+.4f", risks), ("Places", "g", ranks(risks))):
            pairs.append(matrix(f"{what}, columns are baselines, alpha {alpha:g}", systems, systems, form, values))
    answers.insert(
        0,
        "do not rank systems by their risk against one baseline: the order depends on it"
        if any(row[1] for row in tests)
        else "every baseline gives the same order: any of them is a fair yardstick here",
    )
    columns = {"alpha": "text", "pairs that change": "d"}
    for name in ("Durbin", "Friedman"):
        columns |= {name: ".3f", f"p {name}": "p", f"W {name}": ".2f"}
    correlation = correlations([*pool.scores, made["MEAN"]])
    at = [f"alpha {alpha:g}" for alpha in pool.alphas]
    return Section(
        pool.title,
        answers,
        [
            *tables,
            matrix("tau with the order of means", [*references], at, ".4f", np.transpose(taus)),
            Table("Do baselines agree?", columns, tests, none="-"),
            *_profiles(pool, made, correlation),
            matrix("Correlation over topics", systems, systems, ".2f", correlation[:n, :n]),
            *pairs,
        ],
        pool.warnings,
        [_NOTES],
    )


def _profiles(pool: Pool, made: Mapping[str, FloatArray], correlation: FloatArray) -> tuple[Plot, Table]:
    """Figure 2, and the coordinates of Figure 1, which has the systems alone."""
    alone, of_alone = principal_components(pool.scores)
    found, of_found = principal_components([*pool.scores, *made.values()])
    shares = [" and ".join(f"{share:.2%}" for share in one[:2]) for one in (of_alone, of_found)]
    plot = Plot(
        "Systems on principal axes",
        "first axis, close to the mean",
        "second axis",
        caption=f"The axes explain {shares[1]} of the sum of squares; of the systems without MEAN, MEDIAN and MAX "
        f"{shares[0]}. A baseline favours the systems on its side of the second axis.",
    )
    for name, (x, y) in zip([*pool.systems, *made], found[:, :2].tolist(), strict=True):
        label = name if len(found) <= MAX_LABELS or name in made else ""
        means = "made of the pool" if name in made else "system"
        plot.point(x, y, name, means=means, series=int(name in made), label=label)
    n, (first, second, *_) = len(pool.systems), alone.T
    medians = [
        np.nanmedian(np.delete(row[:n], place)) if np.isfinite(row[:n]).sum() > 1 else np.nan  # with no other
        for place, row in enumerate(correlation[:n])
    ]
    figures = {"r median": (".2f", np.array(medians)), "r MEAN": (".2f", correlation[:n, n])}
    figures |= {"axis 1": (".3f", first), "axis 2": ("+.3f", second)}
    return plot, ranked("Profiles over topics", pool.systems, figures)


def principal_components(scores: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Coordinates of the systems on the principal axes of their scores, and the share that each axis explains.

    Uncentred, as in section 2.4: the first axis is close to the mean, the others contrast systems that do well on
    different topics. Coordinates, shape (n_systems, n_axes), are in units of the measure times the square root of
    topics; the system farthest from 0 has a positive one. Shares, of the sum of squares, add up to 1, the largest
    first. Scores are those of ``correlations``.
    """
    left, singular, _ = np.linalg.svd(systems_by_topics(scores), full_matrices=False)
    coordinates = left * singular
    farthest = np.argmax(np.abs(coordinates).round(9), axis=0)  # of equals the first, whatever rounding does
    coordinates *= np.sign(coordinates[farthest, np.arange(singular.size)])
    return coordinates, singular**2 / (np.sum(singular**2) or 1.0)


def correlations(scores: npt.ArrayLike) -> FloatArray:
    """Pearson's correlation over topics between all pairs of systems: symmetric, from -1 to 1.

    The row and the column of a system that scores the same on every topic are NaN. ``scores``, shape (n_systems,
    n_topics), are in units of the measure; at least two systems and one topic, finite (else ValueError).
    """
    scores = systems_by_topics(scores)
    with np.errstate(divide="ignore", invalid="ignore"):  # equal scores are exactly 0 once the first is subtracted
        return np.asarray(np.corrcoef(scores - scores[:, :1]))


def every_baseline(scores: npt.ArrayLike, *, alpha: float) -> FloatArray:
    """URisk of every system against every system as the baseline (Table 2): rows are judged, columns are baselines.

    Shape (n_systems, n_systems), in units of the measure, 0 on the diagonal. Scores are those of ``correlations``, of
    either sign; alpha is at least 0; the trade-off is linear.
    """
    scores = systems_by_topics(scores)
    risks = [urisk(system - baseline, alpha=alpha) for system, baseline in product(scores, scores)]
    return np.array(risks).reshape(len(scores), len(scores))
