"""Basic, studentized, percentile and BCa limits against R's boot package (see the README beside the vectors)."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.inference.intervals import interval
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.risk import trisk
from tests.inference.laws import furthest_off, resampled

VECTORS = (
    "normal50_r1",
    "normal50_r2",
    "zeros50_r1",
    "skew50_r1",
    "lattice50_r1",
    "normal250_r6",
    "beta250_r6",
)
SEEDS = 5
THEIR_NAMES = {"basic": "basic", "studentized": "stud", "percentile": "perc", "bca": "bca"}


@pytest.fixture(scope="module")
def oracle(reference_data):
    vectors: dict[str, Any] = json.loads((reference_data / "rboot/oracle.json").read_text())["vectors"]
    return vectors


def read(reference_data: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    with (reference_data / f"rboot/{name}.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    return np.array([float(row["d"]) for row in rows]), np.array([float(row["x"]) for row in rows])


@pytest.mark.parametrize("level", [0.95, 0.999])
@pytest.mark.parametrize(
    "method", ["basic", pytest.param("studentized", marks=pytest.mark.slow), "percentile", "bca"]
)
@pytest.mark.parametrize("name", VECTORS)
def test_limits_agree_with_a_million_replicates_of_r(reference_data, oracle, name, method, level):
    _, x = read(reference_data, name)
    published = oracle[name]["boot_ci"][f"{THEIR_NAMES[method]}_{level}"]
    computed = interval(x, method=method, level=level)
    for side, limit in (("lower", computed.lower), ("upper", computed.upper)):
        noise = max(published.get(f"{side}_mc_se_theory") or 0.0, published[f"{side}_mc_se"])
        tolerance = 4.5 * noise / math.sqrt(SEEDS)
        if name == "lattice50_r1":
            # visible atoms, and R counts none of the atom at the mean in the bias correction
            tolerance = max(tolerance, 0.2 * oracle[name]["summary"]["se_population"])
        assert limit == pytest.approx(published[f"{side}_mean"], abs=tolerance)


@pytest.mark.parametrize("name", VECTORS)
def test_student_t_agrees_with_r(reference_data, oracle, name):
    d, x = read(reference_data, name)
    summary = oracle[name]["summary"]
    computed = trisk(d, alpha=summary["r"] - 1)
    assert computed.statistic == pytest.approx(summary["trisk"], rel=1e-8)
    assert computed.p_value == pytest.approx(summary["p_two_sided"], rel=1e-8)
    for level, name_of_level in ((0.95, "95"), (0.999, "999")):
        limits = interval(x, method="student_t", level=level)
        assert limits.lower == pytest.approx(summary[f"t_lo{name_of_level}"], rel=1e-8)
        assert limits.upper == pytest.approx(summary[f"t_hi{name_of_level}"], rel=1e-8)


def test_the_bias_correction_counts_half_of_the_atom_at_the_mean(reference_data, oracle):
    from scipy.special import ndtri

    for name in VECTORS:
        _, x = read(reference_data, name)
        expected = oracle[name]["summary"]["bca_w_exact_midp"]
        assert ndtri(Sample.of(x).sums.mid) == pytest.approx(expected, abs=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", VECTORS)
def test_limits_agree_with_simulation(reference_data, name):
    """As was done once with 10^7."""
    _, x = read(reference_data, name)
    means = resampled(x, 100_000 if x.size > 50 else 300_000, seed=1)
    assert furthest_off(x, means, levels=(0.95, 0.999)) < 4
