"""Does the order by risk depend on the baseline? Every system as the baseline, and baselines made of the pool.

B. T. Dinçer, I. Ounis, C. Macdonald, "Tackling biased baselines in the risk-sensitive evaluation of retrieval
systems", ECIR 2014: Tables 1 to 3, Figures 1 and 2. A baseline favours systems whose scores rise and fall over topics
as its own do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.reports import Plot, Section, Table, clean, counted
from pytest_riskguard.risk import principal_components, urisk
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, systems_by_topics
from pytest_riskguard.studies.pool import Pool, matrix, ranked
from pytest_riskguard.studies.rank_tests import changing_pairs, durbin_test, friedman_test, ranks

#: Baselines made of the pool: what each scores on a topic (Eq. 2 and section 3).
REFERENCES: dict[str, Callable[..., Any]] = {"MEAN": np.mean, "MEDIAN": np.median, "MAX": np.max}
_NOTES = (
    "MEAN, MEDIAN, MAX: baselines that score what the pool scores on each topic; its systems are inside. R: places, "
    "1 is the best. r: correlation over topics, with the other systems (median) and with MEAN. tau: Kendall's, 1 for "
    "the same order. W: 1 when all baselines give the same order; a small p means that they agree more than by "
    "chance, not that they differ. Friedman ranks each baseline's own 0 as well, as the paper does; Durbin does not."
)


def study(pool: Pool) -> Section:
    """Tables and figures of the paper, for all systems."""
    references = {name: np.asarray(combine(pool.scores, axis=0)) for name, combine in REFERENCES.items()}
    references |= {pool.systems[place]: pool.scores[place] for place in pool.baselines}
    against = {
        alpha: {
            name: np.array([urisk(row - reference, alpha=alpha) for row in pool.scores])
            for name, reference in references.items()
        }
        for alpha in pool.alphas
    }
    every = {alpha: every_baseline(pool.scores, alpha=alpha) for alpha in pool.alphas}
    taus = np.array([[_tau(pool.means, values) for values in against[alpha].values()] for alpha in pool.alphas])
    correlation = correlations(pool.scores)
    parts = [
        *(_references(pool, alpha, against[alpha]) for alpha in pool.alphas),
        matrix("tau with the order of means", [*references], [f"alpha {a:g}" for a in pool.alphas], ".4f", taus.T),
        *_agreement(every),
        *_axes(pool, references, correlation),
        matrix("Correlation over topics", pool.systems, pool.systems, ".2f", correlation),
    ]
    for alpha, risks in every.items():
        for what, form, values in (("URisk", "+.4f", risks), ("Places", "g", ranks(risks))):
            title = f"{what}, columns are baselines, alpha {alpha:g}"
            parts.append(matrix(title, pool.systems, pool.systems, form, values))
    return Section(pool.title, [*_answers(pool, every, correlation)], parts, pool.warnings, [_NOTES])


def _answers(pool: Pool, every: dict[float, FloatArray], correlation: FloatArray) -> Iterator[str]:
    n = len(pool.systems)
    if n == 2:
        yield "two systems are not enough to tell whether one baseline is a fair yardstick"
        return
    changing = {alpha: changing_pairs(ranks(risks)) for alpha, risks in every.items()}
    yield (
        "do not rank systems by their risk against one baseline: the order depends on it"
        if any(changing.values())
        else "every baseline gives the same order: any of them is a fair yardstick here"
    )
    for alpha, count in changing.items():
        yield f"alpha {alpha:g}: the order of {count} of {counted(n * (n - 1) // 2, 'pair')} depends on the baseline"
    medians = _medians(correlation)
    if not np.all(np.isnan(medians)):
        closest, farthest = (pool.systems[find(medians)] for find in (np.nanargmax, np.nanargmin))
        yield (
            f"{clean(closest, limit=60)} is closest to the others (median correlation {np.nanmax(medians):.2f}), "
            f"{clean(farthest, limit=60)} is farthest ({np.nanmin(medians):.2f})"
        )


def _references(pool: Pool, alpha: float, against: dict[str, FloatArray]) -> Table:
    """Table 3; with a named baseline Table 1."""
    figures = {"mean": ("R.4f", pool.means)} | {name: ("R+.4f", values) for name, values in against.items()}
    return ranked(f"URisk against each baseline, alpha {alpha:g}", pool.systems, figures)


def _agreement(every: dict[float, FloatArray]) -> Iterator[Table]:
    """The tests of Table 2."""
    rows = []
    for alpha, risks in every.items():
        tests = [durbin_test(risks), friedman_test(risks)] if len(risks) > 2 else [None, None]
        found = [(t.statistic, t.p_value, t.concordance) if t else (None,) * 3 for t in tests]
        rows.append((f"{alpha:g}", changing_pairs(ranks(risks)), *found[0], *found[1]))
    columns = {"alpha": "text", "pairs that change": "d"}
    for name in ("Durbin", "Friedman"):
        columns |= {name: ".3f", f"p {name}": "p", f"W {name}": ".2f"}
    yield Table("Do baselines agree?", columns, rows, none="-")


def _axes(pool: Pool, references: dict[str, FloatArray], correlation: FloatArray) -> Iterator[Plot | Table]:
    """Figure 2, with the shares of Figure 1, which has the systems alone."""
    alone = principal_components(pool.scores, centred=False)
    virtual = [name for name in references if name in REFERENCES]
    every = np.vstack([pool.scores, *(references[name] for name in virtual)])
    found = principal_components(every, centred=False)
    axes = np.pad(found.coordinates, ((0, 0), (0, 2)))[:, :2]
    shares = [" and ".join(f"{share:.2%}" for share in one.shares[:2]) for one in (alone, found)]
    plot = Plot(
        "Systems on principal axes",
        "first axis, close to the mean",
        "second axis",
        description="Systems that lie apart on the second axis are good on different topics.",
        caption=f"The axes explain {shares[1]} of the sum of squares; of the systems without MEAN, MEDIAN and MAX "
        f"{shares[0]}. A baseline favours the systems on its side of the second axis.",
    )
    names = [*pool.systems, *virtual]
    for name, (x, y) in zip(names, axes.tolist(), strict=True):
        is_virtual = name in virtual
        plot.point(x, y, name, means="made of the pool" if is_virtual else "system", series=int(is_virtual))
    yield plot
    own = np.pad(alone.coordinates, ((0, 0), (0, 2)))[:, :2]
    with_mean = [correlations(np.vstack([row, references["MEAN"]]))[0, 1] for row in pool.scores]
    yield ranked(
        f"Profiles over topics; axes explain {shares[0]}",
        pool.systems,
        {
            "r median": (".2f", _medians(correlation)),
            "r MEAN": (".2f", np.array(with_mean)),
            "axis 1": (".3f", own[:, 0]),
            "axis 2": ("+.3f", own[:, 1]),
        },
    )


def _medians(correlation: FloatArray) -> FloatArray:
    """Each system's median correlation with the others, NaN where it has none."""
    others = np.where(np.eye(len(correlation), dtype=bool), np.nan, correlation)
    known_rows = ~np.all(np.isnan(others), axis=1)
    found = np.full(len(others), np.nan)
    found[known_rows] = np.nanmedian(others[known_rows], axis=1)
    return found


def _tau(first: FloatArray, second: FloatArray) -> float:
    from scipy.stats import kendalltau  # takes 0.8 s to import

    return float(kendalltau(first, second).statistic)


def correlations(scores: npt.ArrayLike) -> FloatArray:
    """Pearson's correlation over topics between all pairs of systems: symmetric, from -1 to 1.

    The row and the column of a system that scores the same on every topic are NaN, the diagonal included. ``scores``,
    shape (n_systems, n_topics), are in units of the measure; at least two systems and one topic, finite (else
    ValueError).
    """
    scores = systems_by_topics(scores)
    sizes = np.maximum(1.0, np.max(np.abs(scores), axis=1))
    varying = np.flatnonzero(np.ptp(scores, axis=1) > ROUNDING_ERROR * sizes)
    matrix = np.full((len(scores), len(scores)), np.nan)
    matrix[np.ix_(varying, varying)] = np.corrcoef(scores[varying])
    matrix = np.asarray((matrix + matrix.T) / 2)
    matrix[np.abs(matrix - 1) <= ROUNDING_ERROR] = 1.0  # exact for a system with itself or with its equal
    return matrix


def every_baseline(scores: npt.ArrayLike, *, alpha: float) -> FloatArray:
    """URisk of every system against every system as the baseline (Table 2): rows are judged, columns are baselines.

    Shape (n_systems, n_systems), in units of the measure, 0 on the diagonal. Scores are those of ``correlations``, of
    either sign; alpha is at least 0; the trade-off is linear.
    """
    scores = systems_by_topics(scores)
    risks = [urisk(system - baseline, alpha=alpha) for system, baseline in product(scores, scores)]
    return np.array(risks).reshape(len(scores), len(scores))
