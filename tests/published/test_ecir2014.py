"""ECIR 2014, Tables 2 and 3: nine runs of TREC 2012 Web, each other's baseline, and against MEAN, MEDIAN and MAX.

B. T. Dinçer, I. Ounis, C. Macdonald, "Tackling biased baselines in the risk-sensitive evaluation of retrieval
systems", ECIR 2014; ERR@20, 50 topics. Two of the runs, DFalah121A and irra12c, were scored from other files than the
public ones. They are in the pool of MEAN, MEDIAN and MAX, so none of those agrees to the printed digit.
"""

import numpy as np
import pytest

from pytest_riskguard.risk import urisk
from tests.published.web2012 import of_paper, reference_scores

#: Table 2, alpha 10: the runs, and by run its URisk against each of them.
TABLE_2 = (
    "uogTrA44xi",
    "srchvrs12c09",
    "DFalah121A",
    "QUTparaBline",
    "utw2012fc1",
    "ICTNET12ADR2",
    "irra12c",
    "qutwb",
)
AGAINST_EACH = {run: cells for run, *cells in of_paper("ecir2014_web2012_every_run_as_baseline_a10", "run", *TABLE_2)}
#: The runs that were scored from other files than the public ones.
FROM_OTHER_FILES = ("DFalah121A", "irra12c")
RUNS = tuple(run for run in TABLE_2 if run not in FROM_OTHER_FILES)
#: Table 3, alpha 5 and 10, as printed: the pool, by column.
POOL = (*TABLE_2[:6], "indriCASP", *TABLE_2[6:])
MEAN, MEDIAN, MAX = (
    {
        alpha: tuple(cell for _, cell in of_paper("ecir2014_web2012_reference_baselines", "run", f"{kind}_a{alpha}"))
        for alpha in (5, 10)
    }
    for kind in ("mean", "median", "max")
)


@pytest.mark.parametrize("baseline", RUNS)
@pytest.mark.parametrize("run", RUNS)
def test_table_2_rows_are_candidates_and_columns_baselines(submitted, run, baseline):
    ours = urisk(submitted[run] - submitted[baseline], alpha=10)
    # half a unit of the third decimal, and eleven times half a unit of the fifth, in which the scores are public
    assert ours == pytest.approx(AGAINST_EACH[run][TABLE_2.index(baseline)], abs=5e-4 + 5.5e-5)


@pytest.mark.parametrize(("other", "off"), [("DFalah121A", 0.080), ("irra12c", 0.003)])
@pytest.mark.parametrize("run", RUNS)
def test_table_2_cells_of_two_runs_are_of_other_scores(submitted, run, other, off):
    candidate = urisk(submitted[other] - submitted[run], alpha=10)
    baseline = urisk(submitted[run] - submitted[other], alpha=10)
    off_as_candidate = candidate - AGAINST_EACH[other][TABLE_2.index(run)]
    off_as_baseline = baseline - AGAINST_EACH[run][TABLE_2.index(other)]
    assert max(abs(off_as_candidate), abs(off_as_baseline)) < off
    if (
        other == "DFalah121A"
    ):  # the public scores are better: less risk as a candidate, more to others as the baseline
        assert off_as_candidate > 0.007
        assert off_as_baseline < -0.03


@pytest.fixture(scope="module")
def pool(submitted, indri_casp):
    return np.array([indri_casp if run == "indriCASP" else submitted[run] for run in POOL])


def apart(pool: np.ndarray, reference: np.ndarray, printed: tuple[float, ...], alpha: float) -> dict[str, float]:
    """How far URisk against a reference baseline is from the printed cell, by run."""
    return {
        run: abs(urisk(scores - reference, alpha=alpha) - cell)
        for run, scores, cell in zip(POOL, pool, printed, strict=True)
    }


def exchanged(printed: tuple[float, ...], one: str, other: str) -> tuple[float, ...]:
    cells = list(printed)
    i, j = POOL.index(one), POOL.index(other)
    cells[i], cells[j] = cells[j], cells[i]
    return tuple(cells)


def of_both(pool: np.ndarray, reference: np.ndarray, pair: tuple[str, str], alpha: float) -> tuple[float, ...]:
    return tuple(round(urisk(pool[POOL.index(run)] - reference, alpha=alpha), 4) for run in pair)


@pytest.mark.parametrize(("alpha", "ours"), [(5, (-0.1801, -0.1580)), (10, (-0.4235, -0.3735))])
def test_table_3_mean_cells_of_two_runs_are_exchanged(pool, alpha, ours):
    reference, pair = reference_scores(pool, kind="mean"), ("srchvrs12c09", "DFalah121A")
    as_printed = apart(pool, reference, MEAN[alpha], alpha)
    right = apart(pool, reference, exchanged(MEAN[alpha], *pair), alpha)
    # DFalah121A itself stays apart: its scores are others, as is its share of MEAN
    assert max(value for run, value in right.items() if run != "DFalah121A") < 0.0086
    assert right["DFalah121A"] < 0.012
    assert min(as_printed[run] for run in pair) > (0.013 if alpha == 5 else 0.038)
    assert of_both(pool, reference, pair, alpha) == ours


@pytest.mark.parametrize(("alpha", "ours"), [(5, (-0.3833, -0.3510)), (10, (-0.7568, -0.6633))])
def test_table_3_median_cells_of_two_runs_are_exchanged(pool, alpha, ours):
    reference, pair = reference_scores(pool, kind="median"), ("indriCASP", "qutwb")
    as_printed = apart(pool, reference, MEDIAN[alpha], alpha)
    right = apart(pool, reference, exchanged(MEDIAN[alpha], *pair), alpha)
    assert max(value for run, value in right.items() if run != "DFalah121A") < 0.0022
    assert right["DFalah121A"] < 0.012
    assert min(as_printed[run] for run in pair) > 0.03
    assert of_both(pool, reference, pair, alpha) == ours


@pytest.mark.parametrize("alpha", [5, 10])
def test_table_3_has_each_run_inside_its_own_pool(pool, alpha):
    right = {
        "mean": exchanged(MEAN[alpha], "srchvrs12c09", "DFalah121A"),
        "median": exchanged(MEDIAN[alpha], "indriCASP", "qutwb"),
        "max": MAX[alpha],
    }
    off: dict[str, list[float]] = {kind: [] for kind in right}
    for kind, printed in right.items():
        for i, cell in enumerate(printed):
            others = reference_scores(np.delete(pool, i, axis=0), kind=kind)
            off[kind].append(urisk(pool[i] - others, alpha=alpha) - cell)
    # with the run itself left out it would be these
    assert max(off["mean"]) < -0.01
    assert max(off["median"]) < -0.02
    others = np.delete(off["max"], POOL.index("DFalah121A"))
    assert max(others) - min(others) > 0.02  # inside, these nearly are the same (see below)


@pytest.mark.parametrize("alpha", [5, 10])
def test_table_3_max_moves_with_the_scores_of_dfalah121a_alone(pool, alpha):
    off = apart(pool, reference_scores(pool, kind="max"), MAX[alpha], alpha)
    # the better DFalah121A raises MAX, and lowers the URisk of every other run by about as much
    others = [value for run, value in off.items() if run != "DFalah121A"]
    assert max(others) - min(others) < 0.0025
    assert max(others) < 0.026
    assert off["DFalah121A"] < 0.054
