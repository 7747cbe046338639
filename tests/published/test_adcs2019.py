"""ADCS 2019, BCa: into which form its adjusted levels go, and what its tool does with ties.

R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019. The text puts the
levels of Eq. 7 into the basic interval, Eq. 3. The paper computed its intervals with R's boot, whose limits are at
hand for seven vectors (see the README beside them).
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from pytest_riskguard.inference.intervals import interval
from pytest_riskguard.inference.sample import Sample
from tests.published.web2012 import rows

SEEDS = 5


@pytest.fixture(scope="module")
def oracle(reference_data):
    vectors: dict[str, Any] = json.loads((reference_data / "rboot/oracle.json").read_text())["vectors"]
    return vectors


def read(reference_data: Path, name: str) -> np.ndarray:
    return np.array([float(row["x"]) for row in rows(reference_data / f"rboot/{name}.csv")])


def levels_of_equation_7(x: np.ndarray, level: float, *, below: float) -> tuple[float, float]:
    """The adjusted levels, given the share of replicates counted as below the mean."""
    jackknife = x - x.mean()
    a = (jackknife**3).sum() / (6 * (jackknife**2).sum() ** 1.5)  # Eq. 6
    w = ndtri(below)
    shifted = w + ndtri([(1 - level) / 2, (1 + level) / 2])
    lower, upper = ndtr(w + shifted / (1 - a * shifted))
    return lower, upper


def tolerances(theirs: dict[str, float]) -> tuple[float, float]:
    """4.5 standard errors of R's mean over its seeds, for the lower and the upper limit."""
    lower, upper = (
        4.5 * max(theirs.get(f"{side}_mc_se_theory") or 0.0, theirs[f"{side}_mc_se"]) / math.sqrt(SEEDS)
        for side in ("lower", "upper")
    )
    return lower, upper


@pytest.mark.parametrize("level", [0.95, 0.999])
@pytest.mark.parametrize("name", ["normal50_r2", "zeros50_r1", "skew50_r1", "normal250_r6", "beta250_r6"])
def test_the_levels_of_equation_7_belong_into_equation_5(reference_data, oracle, name, level):
    x, theirs = read(reference_data, name), oracle[name]["boot_ci"][f"bca_{level}"]
    law = Sample.of(x)
    low, high = levels_of_equation_7(x, level, below=law.sums.mid)
    percentile = (float(law.at_scores([ndtri(low)])[0]), float(law.at_scores([ndtri(high)])[0]))  # Eq. 5
    basic = (
        2 * law.mean - float(law.at_scores([ndtri(1 - low)])[0]),
        2 * law.mean - float(law.at_scores([ndtri(1 - high)])[0]),
    )  # Eq. 3
    printed_fits = []
    for side, limit, mirrored, tolerance in zip(
        ("lower", "upper"), percentile, basic, tolerances(theirs), strict=True
    ):
        assert limit == pytest.approx(theirs[f"{side}_mean"], abs=tolerance)
        printed_fits.append(abs(mirrored - theirs[f"{side}_mean"]) <= tolerance)
    assert not any(printed_fits)
    ours = interval(x, method="bca", level=level)
    assert (ours.lower, ours.upper) == pytest.approx(percentile, abs=1e-12)


def test_on_skewed_scores_equation_3_is_off_by_most_of_a_standard_error(reference_data, oracle):
    x = read(reference_data, "skew50_r1")
    law, error = Sample.of(x), oracle["skew50_r1"]["summary"]["se_population"]
    off = []
    for level in (0.95, 0.999):
        low, high = levels_of_equation_7(x, level, below=law.sums.mid)
        theirs = oracle["skew50_r1"]["boot_ci"][f"bca_{level}"]
        off.append((2 * law.mean - float(law.at_scores([ndtri(1 - low)])[0]) - theirs["lower_mean"]) / error)
        off.append((2 * law.mean - float(law.at_scores([ndtri(1 - high)])[0]) - theirs["upper_mean"]) / error)
    assert [round(float(value), 1) for value in off] == [-0.2, -0.3, -0.5, -0.9]


@pytest.mark.parametrize("level", [0.95, 0.999])
def test_r_counts_none_of_the_replicates_equal_to_the_mean(reference_data, oracle, level):
    x, summary = read(reference_data, "lattice50_r1"), oracle["lattice50_r1"]["summary"]
    theirs = oracle["lattice50_r1"]["boot_ci"][f"bca_{level}"]
    law = Sample.of(x)
    half = law.sums.mid
    strict = 2 * half - float(ndtr(law.score(law.mean)))
    assert (round(ndtri(strict), 4), round(ndtri(half), 4)) == (-0.0302, 0.0003)
    # R's own rounding moves some of the ties to one side or the other
    assert np.mean(summary["bca_w_by_seed"]) == pytest.approx(ndtri(strict), abs=0.004)
    ours = interval(x, method="bca", level=level)
    for side, p, limit, tolerance in zip(
        ("lower", "upper"),
        levels_of_equation_7(x, level, below=strict),
        (ours.lower, ours.upper),
        tolerances(theirs),
        strict=True,
    ):
        theirs_mean = theirs[f"{side}_mean"]
        assert float(law.at_scores([ndtri(p)])[0]) == pytest.approx(theirs_mean, abs=max(tolerance, 1e-9))
        assert 0.06 < (limit - theirs_mean) / summary["se_population"] < 0.075  # half a tie against none
