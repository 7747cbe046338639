"""AIRS 2019, Table 2: eight TREC 2012 Web runs against indriCASP, ERR@20, alpha-hat = 2, linear and smooth.

R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of risk", AIRS 2019. Two decimals, in the minus
convention. The columns of ZRisk- and GeoRisk- are computed here, in the test, to show what Eq. 8 does.
"""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from pytest_riskguard.risk import georisk, trisk, zrisk
from pytest_riskguard.risk.georisk import z_scores
from tests.published.web2012 import TOPICS, minus, of_paper

#: run: URisk- linear, smooth; TRisk- linear, smooth; ZRisk- linear, smooth; GeoRisk- linear, smooth, as printed
PUBLISHED = {
    run: tuple(cells)
    for run, *cells in of_paper(
        "airs2019_web2012_minus",
        "run",
        *(f"{risk}_minus_{kind}" for risk in ("urisk", "trisk", "zrisk") for kind in ("linear", "smooth")),
        *(f"georisk_minus_{kind}_as_printed" for kind in ("linear", "smooth")),
    )
}
ALPHA = 1.0
#: Rank-biased overlap of the orders by l and by s (System Risk Ordering); GeoRisk with the right sign, printed 0.937.
RBO = {"URisk": 0.903, "ZRisk": 0.316, "GeoRisk": 0.876}


@pytest.mark.parametrize("run", PUBLISHED)
def test_table_2_comes_out_to_the_printed_digit(differences, run):
    by_line, by_cubic = (trisk(differences[run], alpha=ALPHA, tradeoff=kind) for kind in ("linear", "smooth"))
    ours = (by_line.estimate, by_cubic.estimate, by_line.statistic, by_cubic.statistic)
    assert tuple(round(minus(value), 2) for value in ours) == PUBLISHED[run][:4]


def test_the_public_dfalah121a_is_the_one_of_this_paper_and_not_of_sigir_2014(differences):
    statistic = trisk(differences["DFalah121A"], alpha=ALPHA).statistic
    assert round(minus(statistic), 2) == PUBLISHED["DFalah121A"][2]
    assert abs(statistic - 0.7401) > 0.1  # SIGIR 2014, Table 2, at the same alpha


def of_run(pool: dict[str, np.ndarray], values: np.ndarray, run: str) -> float:
    return float(values[list(pool).index(run)])


@pytest.mark.parametrize("run", PUBLISHED)
def test_zrisk_minus_of_table_2_comes_out_to_the_printed_digit(pool_of_49, run):
    scores = list(pool_of_49.values())
    by_line, by_cubic = (minus(zrisk(scores, alpha=ALPHA, kind=kind)) for kind in ("linear", "smooth"))
    ours = (of_run(pool_of_49, by_line, run), of_run(pool_of_49, by_cubic, run))
    assert tuple(round(value, 2) for value in ours) == PUBLISHED[run][4:6]


def test_zrisk_minus_needs_indri_casp_in_the_pool(submitted):
    ours = minus(zrisk(list(submitted.values()), alpha=ALPHA))
    missed = [run for run in PUBLISHED if round(of_run(submitted, ours, run), 2) != PUBLISHED[run][4]]
    assert len(missed) >= 4


@pytest.mark.parametrize("run", PUBLISHED)
def test_smooth_after_standardising_is_another_figure(pool_of_49, run):
    z = z_scores(list(pool_of_49.values()))[list(pool_of_49).index(run)]
    s_of_z = 1.38426 * z**3 - 0.51659 * z**2 + 0.11578 * z
    assert abs(-s_of_z.sum() - PUBLISHED[run][5]) > 0.5


@pytest.mark.parametrize("run", PUBLISHED)
def test_georisk_minus_as_printed_counts_more_risk_as_safer(pool_of_49, run):
    scores = list(pool_of_49.values())
    for kind, printed in zip(("linear", "smooth"), PUBLISHED[run][6:], strict=True):
        zrisk_minus = of_run(pool_of_49, minus(zrisk(scores, alpha=ALPHA, kind=kind)), run)
        mean = pool_of_49[run].mean()
        as_printed = -math.sqrt(mean * ndtr(zrisk_minus / TOPICS.size))  # Eq. 8: high ZRisk- is risky, and raises Phi
        assert round(as_printed, 2) == printed
        right = of_run(pool_of_49, minus(georisk(scores, alpha=ALPHA, kind=kind)), run)
        assert as_printed < right  # further from 0, that is safer


def test_georisk_minus_of_dfalah121a(pool_of_49):
    ours = minus(georisk(list(pool_of_49.values()), alpha=ALPHA))
    assert round(of_run(pool_of_49, ours, "DFalah121A"), 2) == -0.36  # printed: -0.41


def test_the_points_of_the_smooth_function_are_the_fences_of_figure_1(differences):
    every = np.concatenate(list(differences.values()))  # the boxplot "All" of Figure 1, not of Figure 2
    first, third = np.quantile(every, [0.25, 0.75])
    assert third + 1.5 * (third - first) == pytest.approx(0.292, abs=5e-4)
    # the lower fence is -0.24192: cut off after three digits, not rounded
    assert first - 1.5 * (third - first) == pytest.approx(-0.24192, abs=5e-6)
