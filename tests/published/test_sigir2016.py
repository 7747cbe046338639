"""SIGIR 2016, Tables 4 and 5: the example systems; Table 6: nine TREC 2012 Web runs in a pool of 49, ERR@20.

B. T. Dinçer, C. Macdonald, I. Ounis, "Risk-sensitive evaluation and learning to rank using multiple baselines", SIGIR
2016. The columns of Table 6 agree among themselves, and those against one baseline, or against MEAN, with the public
scores; ZRisk of Table 6 was computed from other scores (see the last tests).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from pytest_riskguard.risk import georisk, topic_contributions, trisk, zrisk
from pytest_riskguard.risk.georisk import georisk_curve, z_scores, zrisk_curve
from pytest_riskguard.risk.reference import reference_scores
from tests.published.web2012 import TOPICS

#: Table 3: systems s1 to s8 on five topics.
EXAMPLE = np.array(
    [
        (0.0500, 0.1500, 0.3000, 0.4500, 0.5500),
        (0.4000, 0.3500, 0.3000, 0.2500, 0.2000),
        (0.3000, 0.3000, 0.3000, 0.3000, 0.3000),
        (0.2500, 0.2500, 0.2500, 0.2500, 0.2500),
        (0.4000, 0.1500, 0.4000, 0.1500, 0.4000),
        (0.2000, 0.4500, 0.2000, 0.4500, 0.2000),
        (0.2542, 0.2629, 0.2802, 0.2975, 0.3061),
        (0.2918, 0.2994, 0.3147, 0.3301, 0.3378),
    ]
)
#: Table 4: system, its one baseline, z of the five topics, ZRisk; alpha 0.
ONE_BASELINE = [
    (2, 1, (0.3689, 0.2000, 0.0000, -0.1690, -0.2858), 0.1141),
    (1, 2, (-0.3689, -0.2000, 0.0000, 0.1690, 0.2858), -0.1141),
    (3, 1, (0.2988, 0.1581, 0.0000, -0.1225, -0.1917), 0.1427),
    (1, 3, (-0.2988, -0.1581, 0.0000, 0.1225, 0.1917), -0.1427),
    (4, 1, (0.3077, 0.1599, 0.0000, -0.1209, -0.1884), 0.1583),
    (1, 4, (-0.2809, -0.1460, 0.0000, 0.1103, 0.1720), -0.1445),
    (5, 1, (0.3689, 0.0000, 0.0845, -0.2739, -0.1088), 0.0708),
    (1, 5, (-0.3689, 0.0000, -0.0845, 0.2739, 0.1088), -0.0708),
    (6, 1, (0.2121, 0.2739, -0.1000, 0.0000, -0.2858), 0.1002),
    (1, 6, (-0.2121, -0.2739, 0.1000, 0.0000, 0.2858), -0.1002),
    (7, 1, (0.2799, 0.1422, 0.0000, -0.1057, -0.1669), 0.1496),
    (1, 7, (-0.2705, -0.1374, 0.0000, 0.1021, 0.1613), -0.1446),
    (8, 1, (0.2792, 0.1445, -0.0001, -0.1097, -0.1732), 0.1408),
    (1, 8, (-0.2860, -0.1480, 0.0001, 0.1123, 0.1774), -0.1442),
]
#: Table 5: mean, and by alpha ZRisk and GeoRisk, of s1 to s8.
MEANS = (0.300, 0.300, 0.300, 0.250, 0.300, 0.300, 0.280, 0.315)
ALPHAS = (0, 1, 5, 10)
ZRISK = (
    (-0.049, -0.727, -3.442, -6.835),
    (0.026, -0.312, -1.668, -3.362),
    (0.006, -0.069, -0.368, -0.742),
    (0.005, -0.063, -0.336, -0.677),
    (0.006, -0.541, -2.727, -5.460),
    (0.005, -0.539, -2.718, -5.442),
    (-0.001, -0.008, -0.036, -0.072),
    (0.001, -0.010, -0.052, -0.106),
)
GEORISK = (
    (0.386, 0.364, 0.271, 0.160),
    (0.388, 0.378, 0.333, 0.274),
    (0.387, 0.385, 0.376, 0.364),
    (0.354, 0.352, 0.344, 0.334),
    (0.387, 0.370, 0.296, 0.203),
    (0.387, 0.370, 0.297, 0.204),
    (0.374, 0.374, 0.373, 0.372),
    (0.397, 0.396, 0.395, 0.393),
)
#: Table 6: mean ERR@20; T*, ZRisk and GeoRisk at alpha 0; T*, ZRisk and GeoRisk at alpha 5; GeoRisk at alpha 20.
WEB_2012 = {
    "uogTrA44xu": (0.3406, 4.833, 0.962, 0.4158, 2.767, -29.255, 0.308, 0.053),
    "srchvrs12c00": (0.3067, 2.985, -0.912, 0.3887, -0.678, -37.069, 0.265, 0.024),
    "DFalah121A": (0.2920, 2.895, -0.328, 0.3811, -0.861, -32.635, 0.274, 0.037),
    "QUTparaBline": (0.2901, 2.870, 0.004, 0.3809, -1.006, -30.966, 0.279, 0.044),
    "utw2012c1": (0.2203, 0.917, -0.172, 0.3314, -2.987, -29.807, 0.246, 0.044),
    "ICTNET12ADR2": (0.2149, 0.569, 0.233, 0.3284, -3.238, -32.887, 0.234, 0.030),
    "indriCASP": (0.1947, -0.120, -0.339, 0.3111, None, -38.619, 0.207, 0.014),
    "autoSTA": (0.1735, -0.968, -0.143, 0.2942, -4.195, -38.215, 0.196, 0.014),
    "irra12c": (0.1723, -1.214, 0.265, 0.2942, -4.510, -30.410, 0.216, 0.035),
}
#: The runs of the table whose scores are the public ones, in T* too.
FROM_PUBLIC_SCORES = ("uogTrA44xu", "utw2012c1", "ICTNET12ADR2", "indriCASP", "autoSTA")


@pytest.mark.parametrize(("system", "baseline", "z", "total"), ONE_BASELINE)
def test_table_4_every_value_with_one_baseline(
    system: int, baseline: int, z: tuple[float, ...], total: float
) -> None:
    pair = EXAMPLE[[system - 1, baseline - 1]]
    assert tuple(np.round(z_scores(pair)[0], 4)) == z
    assert round(zrisk(pair, alpha=0)[0], 4) == total
    assert topic_contributions(pair, alpha=0)[0].sum() == pytest.approx(total, abs=5e-5)


def test_table_5_every_value() -> None:
    assert np.array_equal(np.round(zrisk_curve(EXAMPLE, alphas=ALPHAS), 3), ZRISK)
    assert np.array_equal(np.round(georisk_curve(EXAMPLE, alphas=ALPHAS), 3), GEORISK)
    assert tuple(np.round(EXAMPLE.mean(axis=1), 3)) == MEANS


def test_section_4_what_the_example_is_to_show() -> None:
    # against s1 alone s4 looks least risky; in the pool s7 and s8 do, from alpha 1 on
    alone = {system: total for system, baseline, _, total in ONE_BASELINE if baseline == 1}
    assert max(alone, key=lambda system: alone[system]) == 4
    for alpha in (1, 5, 10):
        ours = zrisk(EXAMPLE, alpha=alpha)
        assert set(np.argsort(-ours)[:2] + 1) == {7, 8}
        assert np.argmin(ours) + 1 == 1
    # ZRisk has s4 above s3, which has the same shape and the higher mean; GeoRisk has them the other way round
    assert zrisk(EXAMPLE, alpha=5)[3] > zrisk(EXAMPLE, alpha=5)[2]
    assert georisk(EXAMPLE, alpha=5)[3] < georisk(EXAMPLE, alpha=5)[2]


@pytest.mark.parametrize("run", WEB_2012)
def test_table_6_georisk_follows_from_its_mean_and_zrisk(run: str) -> None:
    mean, _, at_zero, georisk_0, _, at_five, georisk_5, georisk_20 = WEB_2012[run]
    slope = (at_five - at_zero) / 5  # ZRisk is affine in alpha
    # atol: half a unit of the output, and of the mean, of four decimals
    for alpha, printed, half in ((0, georisk_0, 5e-5), (5, georisk_5, 5e-4), (20, georisk_20, 5e-4)):
        ours = math.sqrt(mean * ndtr((at_zero + alpha * slope) / TOPICS.size))
        assert ours == pytest.approx(printed, abs=half + 5e-5)


@pytest.mark.parametrize("run", FROM_PUBLIC_SCORES)
def test_table_6_trisk_against_the_mean_of_all_49(pool_of_49: dict[str, np.ndarray], run: str) -> None:
    """The pool of T* is the 48 runs and indriCASP, the run inside."""
    mean = reference_scores(list(pool_of_49.values()), kind="mean")
    _, at_zero, _, _, at_five, *_ = WEB_2012[run]
    assert trisk(pool_of_49[run] - mean, alpha=0).statistic == pytest.approx(at_zero, abs=0.002)
    if at_five is not None:  # the table has none for indriCASP
        assert trisk(pool_of_49[run] - mean, alpha=5).statistic == pytest.approx(at_five, abs=0.005)


def test_table_6_tells_the_pool_of_49_from_that_without_indri_casp(
    submitted: dict[str, np.ndarray], pool_of_49: dict[str, np.ndarray]
) -> None:
    run = "uogTrA44xu"
    without = reference_scores(list(submitted.values()), kind="mean")
    assert abs(trisk(submitted[run] - without, alpha=0).statistic - WEB_2012[run][1]) > 0.03
    # but not whether the run itself is inside: that changes the differences by a factor, and not TRisk
    others = reference_scores([scores for name, scores in pool_of_49.items() if name != run], kind="mean")
    assert trisk(submitted[run] - others, alpha=0).statistic == pytest.approx(WEB_2012[run][1], abs=0.002)


@pytest.mark.parametrize(
    ("run", "off"), [("srchvrs12c00", -0.114), ("DFalah121A", 0.272), ("QUTparaBline", 0.028), ("irra12c", 0.005)]
)
def test_table_6_trisk_of_four_runs_is_of_other_scores(
    pool_of_49: dict[str, np.ndarray], run: str, off: float
) -> None:
    mean = reference_scores(list(pool_of_49.values()), kind="mean")
    ours = trisk(pool_of_49[run] - mean, alpha=0).statistic
    assert ours - WEB_2012[run][1] == pytest.approx(off, abs=1e-3)


def test_table_6_zrisk_is_of_other_scores(pool_of_49: dict[str, np.ndarray]) -> None:
    # AIRS 2019, with the pool described in the same words, agrees to the printed digit
    runs = list(pool_of_49)
    ours = zrisk_curve(list(pool_of_49.values()), alphas=[0, 5])
    off = {run: ours[runs.index(run)] - (row[2], row[5]) for run, row in WEB_2012.items()}
    assert round(ours[runs.index("uogTrA44xu"), 0], 3) == 0.800  # printed: 0.962
    assert min(abs(at_zero) for at_zero, _ in off.values()) > 0.04
    assert max(abs(at_zero) for at_zero, _ in off.values()) == pytest.approx(1.438, abs=1e-3)  # indriCASP
    assert max(abs(at_five) for _, at_five in off.values()) == pytest.approx(2.677, abs=1e-3)  # srchvrs12c00


def test_table_6_georisk_is_hardly_moved_by_that(pool_of_49: dict[str, np.ndarray]) -> None:
    runs = list(pool_of_49)
    ours = georisk_curve(list(pool_of_49.values()), alphas=[0, 5])
    for run, row in WEB_2012.items():
        at_zero, at_five = ours[runs.index(run)]
        assert at_zero == pytest.approx(row[3], abs=0.0055)
        assert at_five == pytest.approx(row[6], abs=0.0095)
