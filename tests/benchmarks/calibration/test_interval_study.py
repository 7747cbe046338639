"""The calibration study: its process, its tables on the page, and what others found for the same cells."""

from __future__ import annotations

import csv
import math
import re

import numpy as np
import pytest

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference import interval
from tests.benchmarks.calibration import interval_study
from tests.benchmarks.calibration.interval_study import METHODS, STUDY, Cell, Truth, simulate
from tests.benchmarks.calibration.populations import weigh
from tests.benchmarks.calibration.tables import TABLES, allowed
from tests.docs.pages import DOCS
from tests.strict import NotSignificantlyRisky, check

Row = dict[str, str]

#: Simulations of the page and of the published tables, for each cell.
SIMULATIONS = 4000

# Measured with a prototype that shares no code with this project, from the process of this study: 4000 simulations
# for each cell, percentages to one digit. r is 1 + alpha. Columns: coverage by method, then the share of data sets
# whose two-sided 95% upper limit is below 0, by method (Student-t, basic, percentile, BCa, studentized).
PUBLISHED_ZERO = """
25 1 95.0 93.6 92.3 91.1 92.9 2.7 3.5 4.0 4.5 3.6
25 2 94.5 92.8 92.2 91.6 92.8 1.3 1.5 2.5 3.5 2.8
25 6 89.1 86.6 88.2 88.5 90.2 0.2 0.2 0.9 2.4 1.3
25 11 83.4 79.5 82.9 84.2 86.1 0.2 0.2 0.6 2.1 1.0
50 1 95.5 95.1 94.5 93.9 94.6 2.6 2.8 3.0 3.3 3.0
50 2 94.0 93.5 93.3 92.9 93.8 1.6 1.6 2.2 3.0 2.5
50 6 92.3 90.2 92.1 93.2 94.6 0.5 0.4 1.2 2.4 1.7
50 11 88.7 85.8 89.2 90.8 92.4 0.4 0.3 0.9 2.5 1.8
100 1 94.8 94.6 94.2 94.0 94.4 2.9 2.9 3.1 3.3 3.0
100 2 94.7 94.4 94.3 94.0 94.3 2.1 2.0 2.5 3.3 3.0
100 6 93.1 92.1 93.1 94.2 95.0 1.0 0.9 1.6 2.6 2.2
100 11 92.0 90.2 92.3 93.8 95.1 0.5 0.3 1.2 2.2 1.8
250 1 95.3 95.2 95.1 95.0 95.1 2.0 2.1 2.1 2.1 2.1
250 2 94.9 94.6 94.7 94.8 95.0 1.9 1.8 2.1 2.5 2.3
250 6 94.3 93.8 94.3 94.3 94.9 1.5 1.3 1.9 2.9 2.6
250 11 93.8 92.7 94.0 94.6 95.3 1.1 0.9 1.6 2.6 2.3
"""
# The same for two equal systems; the last column is the share of sign-flip p-values of 2.5% or less.
PUBLISHED_EQUAL = """
25 1 94.9 93.7 92.5 91.5 92.7 2.8 3.5 4.1 4.6 3.9 2.9
25 2 93.9 92.1 92.2 91.8 93.5 13.5 15.1 20.7 26.6 21.7 2.7
25 6 92.0 89.1 91.5 93.1 95.7 56.0 55.6 74.9 85.2 80.0 2.8
25 11 91.0 87.6 90.7 92.9 96.2 74.1 71.9 90.4 96.0 93.2 2.5
50 1 95.2 94.7 94.3 93.5 94.6 2.2 2.4 2.5 3.0 2.5 2.1
50 2 94.2 93.5 93.4 93.2 94.2 31.0 31.0 37.4 42.5 39.3 3.2
50 6 93.8 92.0 93.5 94.5 96.0 94.0 92.6 96.7 98.5 97.7 2.6
50 11 93.2 91.3 92.6 93.8 95.5 99.3 98.8 99.9 100.0 100.0 2.8
100 1 95.1 94.8 94.5 94.2 94.5 2.6 2.8 2.9 3.1 2.9 3.0
100 2 94.3 93.9 94.0 94.0 94.4 60.8 59.9 64.4 67.5 66.2 2.5
100 6 93.6 92.4 93.4 94.5 95.1 100.0 100.0 100.0 100.0 100.0 2.5
100 11 94.2 93.0 94.1 95.4 96.2 100.0 100.0 100.0 100.0 100.0 2.4
250 1 95.2 95.0 95.0 94.9 94.9 2.4 2.5 2.5 2.5 2.4 2.5
250 2 94.8 94.8 94.6 94.7 94.7 94.8 94.7 95.4 96.0 95.8 2.7
250 6 94.1 93.7 94.3 94.7 95.2 100.0 100.0 100.0 100.0 100.0 2.6
250 11 95.2 94.6 95.3 95.4 95.8 100.0 100.0 100.0 100.0 100.0 2.8
"""
# The summary of these tables in words: lowest and highest share of false alarms where the true URisk is 0, alpha > 0.
PUBLISHED_RANGES = {
    ("bca", 1): (2.1, 3.5),
    ("studentized", 1): (1.0, 3.0),
    ("percentile", 1): (0.6, 2.5),
    ("student_t", 5): (0.2, 1.5),
    ("basic", 5): (0.2, 1.5),
}
COLUMNS = [f"{what} {method}" for what in ("covers", "fails") for method in METHODS]


EXPLANATION = DOCS / "explanation"
ZERO, EQUAL = "urisk-zero", "equal-systems"


def table(name: str) -> list[Row]:
    """The rows of a table of the study, by the words of its header."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def by_cell(name: str) -> dict[tuple[int, float], dict[str, float]]:
    return {
        (int(row["topics"]), int(row["alpha"])): {column: float(row[column]) for column in row} for row in table(name)
    }


def published(text: str, columns: list[str]) -> dict[tuple[int, int], dict[str, float]]:
    cells = {}
    for line in text.split("\n")[1:-1]:
        n, r, *shares = line.split()
        cells[int(n), int(r) - 1] = dict(zip(columns, map(float, shares), strict=True))
    return cells


@pytest.mark.parametrize(
    ("heading", "text", "columns"),
    [(ZERO, PUBLISHED_ZERO, COLUMNS), (EQUAL, PUBLISHED_EQUAL, [*COLUMNS, "sign-flip"])],
)
def test_the_page_agrees_with_the_published_tables_cell_by_cell(heading, text, columns):
    ours, theirs = by_cell(heading), published(text, columns)
    assert ours.keys() == theirs.keys()
    for cell, shares in theirs.items():
        for column, share in shares.items():
            error = allowed(ours[cell][column], share, SIMULATIONS, SIMULATIONS)
            assert ours[cell][column] == pytest.approx(share, abs=error, rel=0), (cell, column)


def test_the_two_tables_do_not_differ_on_the_whole_either():
    # single cells may differ by much; their mean over cells may not (the cells of a number of topics share data)
    for heading, text in ((ZERO, PUBLISHED_ZERO), (EQUAL, PUBLISHED_EQUAL)):
        ours, theirs = by_cell(heading), published(text, COLUMNS if heading == ZERO else [*COLUMNS, "sign-flip"])
        for method in METHODS:
            column = f"covers {method}"
            assert np.mean([ours[cell][column] - theirs[cell][column] for cell in theirs]) == pytest.approx(
                0, abs=0.5
            )


@pytest.mark.parametrize(("method", "least_alpha"), PUBLISHED_RANGES)
def test_false_alarms_lie_in_the_published_ranges(method, least_alpha):
    shares = [row[f"fails {method}"] for (_, alpha), row in by_cell(ZERO).items() if alpha >= least_alpha]
    low, high = PUBLISHED_RANGES[method, least_alpha]
    assert min(shares) == pytest.approx(low, abs=allowed(low, low, SIMULATIONS, SIMULATIONS))
    assert max(shares) == pytest.approx(high, abs=allowed(high, high, SIMULATIONS, SIMULATIONS))


def test_equal_systems_fail_as_often_as_published():
    # "31-43% (n=50, alpha=1), 95% (n=250, alpha=1) and 93-100% (alpha=5) of cases, with every interval method
    # alike"; sign-flip "2.1-3.2% at nominal 2.5%"
    cells = by_cell(EQUAL)
    for cell, low, high in (((50, 1), 31, 43), ((250, 1), 95, 96), ((50, 5), 93, 98), ((250, 5), 100, 100)):
        for method in METHODS:
            error = allowed(low, high, SIMULATIONS, SIMULATIONS)
            assert low - error <= cells[cell][f"fails {method}"] <= high + error, (cell, method)
    for row in cells.values():
        assert row["sign-flip"] == pytest.approx(2.5, abs=allowed(2.5, 2.5, SIMULATIONS))


def test_two_equal_systems_fail_a_gate_that_warns_of_churn_in_no_more_than_3_5_percent():
    warn = [
        float(row["equal systems: auto, on_churn: warn"]) for row in table("whole-gates") if int(row["topics"]) >= 50
    ]
    moving = [
        float(row["on_churn: warn"])
        for row in table("other-differences")
        if row["differences"] == interval_study.EVERY_TOPIC.name
    ]
    assert (len(warn), len(moving)) == (12, 9)
    assert max(warn + moving) <= 3.5


@pytest.mark.parametrize(("equal", "heading"), [(False, ZERO), (True, EQUAL)])
def test_a_small_run_agrees_with_the_page(equal, heading):
    simulations = 200
    truth = Truth.of(STUDY, seed=1, count=400_000)
    found = simulate(Cell(STUDY, truth, equal, 50, (0, 1, 5), simulations, seed=1))
    page, gates = by_cell(heading), {(row["topics"], row["alpha"]): row for row in table("whole-gates")}
    for alpha, rates in found.items():
        pairs = [(rates.covered[m], page[50, alpha][f"covers {m}"]) for m in METHODS]
        pairs += [(rates.fails[m], page[50, alpha][f"fails {m}"]) for m in METHODS]
        gate = gates["50", f"{alpha:g}"]
        pairs.append((rates.gate, float(gate["equal systems: auto, on_churn: fail" if equal else "URisk 0: auto"])))
        if equal:
            pairs.append((rates.gate_warns, float(gate["equal systems: auto, on_churn: warn"])))
        for share, said in pairs:
            error = allowed(100 * share, said, simulations, SIMULATIONS)
            assert 100 * share == pytest.approx(said, abs=error, rel=0), alpha


def test_the_process_is_the_published_one():
    # "20% exact ties d=0; sd(d)=.161, mean|d|=.110"; "delta .048/.127/.171 at r=2/6/11"
    d = STUDY.draw(np.random.default_rng(0), (500, 500))
    assert np.mean(d == 0) == pytest.approx(0.2, abs=0.005)
    assert d.std() == pytest.approx(0.161, abs=0.001)
    truth = Truth.of(STUDY, seed=0, count=400_000)
    assert truth.mean_size == pytest.approx(0.110, abs=0.001)
    assert [truth.shifts[alpha] for alpha in (1, 5, 10)] == pytest.approx([0.048, 0.127, 0.171], abs=0.001)


def test_the_shift_makes_urisk_0_and_equal_systems_have_the_urisk_of_their_churn():
    truth = Truth.of(STUDY, seed=0, count=400_000)
    for alpha in (1, 5, 10):
        shifted = weigh(STUDY.draw(np.random.default_rng(1), (600, 600), shift=truth.shifts[alpha]), alpha)
        equal = weigh(STUDY.draw(np.random.default_rng(2), (600, 600)), alpha)
        assert shifted.mean() == pytest.approx(0, abs=4.5 * shifted.std() / 600 + 1e-3)
        assert equal.mean() == pytest.approx(truth.urisk(alpha, equal=True), abs=4.5 * equal.std() / 600 + 1e-3)


@pytest.mark.parametrize("n", [12, 25, 40])
def test_whole_gates_are_those_of_the_package(n):
    population = interval_study.Population("half unchanged", interval_study.study, 0.7)
    d = population.draw(np.random.default_rng(n), (n, 25)) - 0.01
    d[np.random.default_rng(0).random(d.shape) < 0.5] = 0.0
    fails = {
        alpha: interval_study.gate_fails(
            d, interval_study.limits_of(weigh(d, alpha), ("student_t", "bca"), None), alpha
        )
        for alpha in (0, 5)
    }
    for column, differences in enumerate(d.T):
        evidence = Evidence(differences, np.zeros((0, n)))
        assert Ruling(NotSignificantlyRisky("g", alpha=5), evidence).lets_through is not bool(fails[5][column])
        assert Ruling(NotSignificantlyRisky("g", alpha=5, on_churn="warn"), evidence).lets_through is not bool(
            fails[5][column] & fails[0][column]
        )
    scores = {f"t{i:02d}": 0.5 + value for i, value in enumerate(d[:, 0])}
    assert check("not_significantly_risky", scores, dict.fromkeys(scores, 0.5), alpha=5).passed is not bool(
        fails[5][0]
    )


def test_the_studentized_limits_are_those_of_the_resamples():
    rng = np.random.default_rng(0)
    x = np.where(rng.random((12, 3)) < 0.4, 0.0, rng.normal(size=(12, 3)))
    chosen = rng.integers(0, 12, size=(400, 12))
    counts = np.array([np.bincount(each, minlength=12) for each in chosen], dtype=float)
    lower, upper = interval_study.studentized(x, counts)
    for column, values in enumerate(x.T):
        resamples = values[chosen]
        resamples = resamples[resamples.std(axis=1) > 1e-9]
        error = values.std(ddof=1) / math.sqrt(12)
        t = np.sort((resamples.mean(axis=1) - values.mean()) / (resamples.std(axis=1, ddof=1) / math.sqrt(12)))
        least = math.ceil(interval_study.NOMINAL * t.size)  # from below and, for the lower limit, from above
        expected = [values.mean() - t[t.size - least] * error, values.mean() - t[least - 1] * error]
        assert [lower[column], upper[column]] == pytest.approx(expected, rel=1e-9)


def test_the_studentized_limits_are_about_those_of_the_package():
    rng = np.random.default_rng(5)
    x = weigh(STUDY.draw(rng, (50, 2)), 1)
    counts = rng.multinomial(50, np.full(50, 1 / 50), size=40_000).astype(float)
    lower, upper = interval_study.studentized(x, counts)
    for column, values in enumerate(x.T):
        packaged = interval(values, method="studentized", level=0.95)
        near = 0.1 * values.std(ddof=1) / math.sqrt(50)
        assert [lower[column], upper[column]] == pytest.approx([packaged.lower, packaged.upper], abs=near)


def test_pages_show_every_table():
    shown = [
        name
        for page in ("calibration.md", "georisk.md", "plain-cases.md")
        for name in re.findall(r"^:file: \.\./data/calibration/(\S+)$", (EXPLANATION / page).read_text("utf-8"), re.M)
    ]
    assert sorted(shown) == sorted(path.name for path in TABLES.iterdir())


def test_a_constant_column_has_no_width():
    counts = np.ones((10, 5))
    lower, upper = interval_study.studentized(np.full((5, 1), 0.25), counts)
    assert (lower[0], upper[0]) == (0.25, 0.25)


def test_a_gate_takes_the_noise_off_as_the_study_does():
    d = np.random.default_rng(0).normal(size=(4, 30, 1))
    for count in interval_study.REPLICATED:
        scores = Evidence(d[0, :, 0], d[1 : 1 + count, :, 0]).scores(5)
        assert interval_study.beyond_noise(d, 5, count)[:, 0] == pytest.approx(scores, abs=1e-12)


def test_weighted_gates_ask_both_witnesses():
    # a short run; 4,000 simulations gave 3.1, 6.5 and 3.1%
    rates = interval_study.weigh_topics(interval_study.Weighted(50, 1.0, 150, seed=1))
    assert rates.judged > 0.9
    assert rates.auto <= min(rates.student_t, rates.bca) + 0.02
    assert rates.student_t < 0.09
    assert 15 < rates.effective < 30


def test_replicates_take_the_churn_out():
    # a short run, far from the 90% and more that fail without
    fails = interval_study.rerun(interval_study.Rerun(50, 100, seed=1))
    assert fails[5, 0] > 0.8
    assert max(fails[5, 1], fails[5, 3]) < 0.15
