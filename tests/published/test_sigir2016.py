"""SIGIR 2016, Tables 4 and 5: the example systems; Table 6: nine TREC 2012 Web runs in a pool of 49, ERR@20.

B. T. Dinçer, C. Macdonald, I. Ounis, "Risk-sensitive evaluation and learning to rank using multiple baselines", SIGIR
2016. The columns of Table 6 agree among themselves, and those against one baseline, or against MEAN, with the public
scores; ZRisk of Table 6 was computed from other scores (see the last tests).
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr

from pytest_riskguard.risk import georisk, topic_contributions, trisk, zrisk
from pytest_riskguard.risk.georisk import z_scores
from tests.published.web2012 import PUBLISHED, TOPICS, of_paper, reference_scores, rows

FIVE = [f"t{number}" for number in range(1, 6)]
#: Table 3: systems s1 to s8 on five topics.
EXAMPLE = np.array([scores for _, *scores in of_paper("sigir2016_example_matrix", "system", *FIVE)])
#: Table 4: system, its one baseline, z of the five topics, ZRisk; alpha 0.
ONE_BASELINE = [
    (int(line["system"][1:]), int(line["baseline"][1:]), tuple(float(line[t]) for t in FIVE), float(line["zrisk"]))
    for line in rows(PUBLISHED / "sigir2016_single_baseline_z.csv")
]
#: Table 5: mean, and by alpha ZRisk and GeoRisk, of s1 to s8.
ALPHAS = (0, 1, 5, 10)
MEANS, ZRISK, GEORISK = (
    [tuple(cells) for _, *cells in of_paper("sigir2016_example_zrisk_georisk", "system", *columns)]
    for columns in (["mean"], [f"zrisk_a{alpha}" for alpha in ALPHAS], [f"georisk_a{alpha}" for alpha in ALPHAS])
)
#: Table 6: mean ERR@20; T*, ZRisk and GeoRisk at alpha 0; T*, ZRisk and GeoRisk at alpha 5; GeoRisk at alpha 20.
WEB_2012 = {
    run: cells
    for run, *cells in of_paper(
        "sigir2016_web2012",
        *("run", "err20", "trisk_mean_baseline_a0", "zrisk_a0", "georisk_a0"),
        *("trisk_mean_baseline_a5", "zrisk_a5", "georisk_a5", "georisk_a20"),
    )
}
#: The runs of the table whose scores are the public ones, in T* too.
FROM_PUBLIC_SCORES = ("uogTrA44xu", "utw2012c1", "ICTNET12ADR2", "indriCASP", "autoSTA")


def curve(
    risk: Callable[..., np.ndarray], scores: list[np.ndarray] | np.ndarray, alphas: tuple[int, ...]
) -> np.ndarray:
    return np.column_stack([risk(scores, alpha=alpha) for alpha in alphas])


@pytest.mark.parametrize(("system", "baseline", "z", "total"), ONE_BASELINE)
def test_table_4_every_value_with_one_baseline(system, baseline, z, total):
    pair = EXAMPLE[[system - 1, baseline - 1]]
    assert tuple(np.round(z_scores(pair)[0], 4)) == z
    assert round(zrisk(pair, alpha=0)[0], 4) == total
    assert topic_contributions(pair, alpha=0)[0].sum() == pytest.approx(total, abs=5e-5)


def test_table_5_every_value():
    assert np.array_equal(np.round(curve(zrisk, EXAMPLE, ALPHAS), 3), ZRISK)
    assert np.array_equal(np.round(curve(georisk, EXAMPLE, ALPHAS), 3), GEORISK)
    assert np.array_equal(np.round(EXAMPLE.mean(axis=1, keepdims=True), 3), MEANS)


def test_section_4_what_the_example_is_to_show():
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
def test_table_6_georisk_follows_from_its_mean_and_zrisk(run):
    mean, _, at_zero, georisk_0, _, at_five, georisk_5, georisk_20 = WEB_2012[run]
    slope = (at_five - at_zero) / 5  # ZRisk is affine in alpha
    # atol: half a unit of the output, and of the mean, of four decimals
    for alpha, printed, half in ((0, georisk_0, 5e-5), (5, georisk_5, 5e-4), (20, georisk_20, 5e-4)):
        ours = math.sqrt(mean * ndtr((at_zero + alpha * slope) / TOPICS.size))
        assert ours == pytest.approx(printed, abs=half + 5e-5)


@pytest.mark.parametrize("run", FROM_PUBLIC_SCORES)
def test_table_6_trisk_against_the_mean_of_all_49(pool_of_49, run):
    """The pool of T* is the 48 runs and indriCASP, the run inside."""
    mean = reference_scores(list(pool_of_49.values()), kind="mean")
    _, at_zero, _, _, at_five, *_ = WEB_2012[run]
    assert trisk(pool_of_49[run] - mean, alpha=0).statistic == pytest.approx(at_zero, abs=0.002)
    if at_five is not None:  # the table has none for indriCASP
        assert trisk(pool_of_49[run] - mean, alpha=5).statistic == pytest.approx(at_five, abs=0.005)


def test_table_6_tells_the_pool_of_49_from_that_without_indri_casp(submitted, pool_of_49):
    run = "uogTrA44xu"
    without = reference_scores(list(submitted.values()), kind="mean")
    assert abs(trisk(submitted[run] - without, alpha=0).statistic - WEB_2012[run][1]) > 0.03
    # but not whether the run itself is inside: that changes the differences by a factor, and not TRisk
    others = reference_scores([scores for name, scores in pool_of_49.items() if name != run], kind="mean")
    assert trisk(submitted[run] - others, alpha=0).statistic == pytest.approx(WEB_2012[run][1], abs=0.002)


@pytest.mark.parametrize(
    ("run", "off"), [("srchvrs12c00", -0.114), ("DFalah121A", 0.272), ("QUTparaBline", 0.028), ("irra12c", 0.005)]
)
def test_table_6_trisk_of_four_runs_is_of_other_scores(pool_of_49, run, off):
    mean = reference_scores(list(pool_of_49.values()), kind="mean")
    ours = trisk(pool_of_49[run] - mean, alpha=0).statistic
    assert ours - WEB_2012[run][1] == pytest.approx(off, abs=1e-3)


def test_table_6_zrisk_is_of_other_scores(pool_of_49):
    # AIRS 2019, with the pool described in the same words, agrees to the printed digit
    runs = list(pool_of_49)
    ours = curve(zrisk, list(pool_of_49.values()), (0, 5))
    off = {run: ours[runs.index(run)] - (row[2], row[5]) for run, row in WEB_2012.items()}
    assert round(ours[runs.index("uogTrA44xu"), 0], 3) == 0.800  # printed: 0.962
    assert min(abs(at_zero) for at_zero, _ in off.values()) > 0.04
    assert max(abs(at_zero) for at_zero, _ in off.values()) == pytest.approx(1.438, abs=1e-3)  # indriCASP
    assert max(abs(at_five) for _, at_five in off.values()) == pytest.approx(2.677, abs=1e-3)  # srchvrs12c00


def test_table_6_georisk_is_hardly_moved_by_that(pool_of_49):
    runs = list(pool_of_49)
    ours = curve(georisk, list(pool_of_49.values()), (0, 5))
    for run, row in WEB_2012.items():
        at_zero, at_five = ours[runs.index(run)]
        assert at_zero == pytest.approx(row[3], abs=0.0055)
        assert at_five == pytest.approx(row[6], abs=0.0095)


@pytest.mark.parametrize(("alpha", "falls"), [(1, 0), (5, 85)])
def test_an_improving_swap_may_lower_georisk(pool_of_49, alpha, falls):
    # section 6: "an improving swap will increase both the left factor and the right factor"
    pool = np.array([pool_of_49[run] for run in WEB_2012])
    before, fallen = georisk(pool, alpha=alpha), 0
    for system, topic in np.ndindex(pool.shape):
        better = pool.copy()
        better[system, topic] += 1e-4
        fallen += int(georisk(better, alpha=alpha)[system] < before[system])
    assert (fallen, pool.size) == (falls, 450)
