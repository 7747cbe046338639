"""``riskguard study baselines``: its figures, computed by other means."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2, friedmanchisquare

from pytest_riskguard.data import TopicScores
from pytest_riskguard.reports import Plot
from pytest_riskguard.studies.baselines import study
from pytest_riskguard.studies.pool import Pool
from tests.studies.pools import MATRIX, ORDER, RNG, SCORES, TOPICS, agree, places, urisk, write

MEANS = {name: SCORES[name].mean() for name in ORDER}
MADE = {"MEAN": MATRIX.mean(axis=0), "MEDIAN": np.median(MATRIX, axis=0), "MAX": MATRIX.max(axis=0)}


def tau(first, second):
    signs = [np.sign((first[a] - first[b]) * (second[a] - second[b])) for a, b in combinations(second, 2)]
    return sum(signs) / len(signs)


def test_risk_against_baselines_made_of_the_pool_and_named_ones(figures):
    found = figures("baselines --baseline kin2")
    for alpha in (5, 10):
        table = found[f"URisk against each baseline, alpha {alpha}"]
        assert [*table] == ORDER
        agree(table, "mean", MEANS)
        for reference, scores in (MADE | {"kin2": SCORES["kin2"]}).items():
            # a baseline has no risk against itself
            risks = {name: urisk(SCORES[name] - scores, alpha) for name in ORDER if name != reference}
            agree(table, reference, risks)
            expected = tau(MEANS, risks)
            assert found["tau with the order of means"][reference][f"alpha {alpha}"] == pytest.approx(expected)


def test_every_system_as_the_baseline_and_whether_they_agree(figures):
    found, n = figures("baselines --alpha 0 --alpha 5"), len(ORDER)
    for alpha in (0, 5):
        risks, ranks = (found[f"{what}, columns are baselines, alpha {alpha}"] for what in ("URisk", "Places"))
        matrix = np.array([[urisk(one - other, alpha) for other in MATRIX] for one in MATRIX])
        np.testing.assert_allclose([[risks[a][b] for b in ORDER] for a in ORDER], matrix, atol=1e-12)
        for column, baseline in enumerate(ORDER):
            others = {name: matrix[row, column] for row, name in enumerate(ORDER) if name != baseline}
            assert {name: ranks[name][baseline] for name in ORDER} == places(others) | {baseline: None}
        # Conover's T1, without ties: n treatments, n - 1 of them in each of n blocks
        sums = [sum(filter(None, ranks[name].values())) for name in ORDER]
        durbin = 12 * sum(total**2 for total in sums) / (n * (n - 2) * n) - 3 * (n - 1) ** 2 * n / (n - 2)
        friedman = friedmanchisquare(*matrix)
        said = found["Do baselines agree?"][str(alpha)]
        assert (said["Durbin"], said["p Durbin"]) == pytest.approx((durbin, chi2.sf(durbin, n - 1)))
        assert (said["Friedman"], said["p Friedman"]) == pytest.approx((friedman.statistic, friedman.pvalue))
        assert said["W Friedman"] == pytest.approx(friedman.statistic / n / (n - 1))
        changing = 0
        for a, b in combinations(ORDER, 2):
            before = {ranks[a][c] < ranks[b][c] for c in ORDER if c not in (a, b)}
            changing += len(before) == 2
        assert said["pairs that change"] == changing
        assert (changing > 0) == (alpha > 0)
    assert found["Do baselines agree?"]["0"]["W Durbin"] == pytest.approx(1)
    assert found["Do baselines agree?"]["5"]["W Durbin"] < 0.99


def test_axes_and_correlations_show_who_is_alike(figures):
    found, n = figures("baselines"), len(ORDER)
    every = np.vstack([MATRIX, *MADE.values()])
    correlation = np.corrcoef(every)
    (title,) = [part for part in found if part.startswith("Profiles")]
    axes = {}
    for name, scores in (("alone", MATRIX), ("all", every)):
        values, vectors = np.linalg.eigh(scores @ scores.T)
        axes[name] = (vectors * np.sqrt(values))[:, ::-1]
        axes[name] *= np.sign(axes[name][np.abs(axes[name]).argmax(axis=0), range(len(scores))])
        shares = values[::-1] / values.sum()
        if name == "alone":
            assert title == f"Profiles over topics; axes explain {shares[0]:.2%} and {shares[1]:.2%}"
    for place, name in enumerate(ORDER):
        row = found[title][name]
        assert row["r median"] == pytest.approx(np.median(np.delete(correlation[place, :n], place)))
        assert row["r MEAN"] == pytest.approx(correlation[place, n])
        assert (row["axis 1"], row["axis 2"]) == pytest.approx(tuple(axes["alone"][place, :2]))
        assert [*found["Correlation over topics"][name].values()] == pytest.approx([*correlation[place, :n]])
    for place, name in enumerate([*ORDER, *MADE]):
        ((x, y),) = found["Systems on principal axes"][name].items()
        assert (float(x), y) == pytest.approx(tuple(axes["all"][place, :2]))


def test_answers_say_whether_there_is_a_fair_yardstick(done, refused, folder, table):
    text = " ".join(done("study baselines --scores pool.csv --alpha 0 --alpha 10").split())
    assert "do not rank systems by their risk against one baseline: the order depends on it" in text
    assert "alpha 0: the order of 0 of 28 pairs depends on the baseline" in text
    steady = {f"s{i}": SCORES["kin0"] / (1 + i) for i in range(3)}
    write(folder / "odd.csv", steady)
    assert "every baseline gives the same order: any" in done("study baselines --scores odd.csv --alpha 1")
    refused("study baselines --scores odd.csv s0 s1", "two systems are not enough to tell")
    write(folder / "odd.csv", dict.fromkeys(steady, SCORES["kin0"]))
    out = done("study baselines --scores odd.csv --alpha 1")
    (line,) = [line.split() for line in out.splitlines() if line.startswith("  1 ")]
    assert line == ["1", "0", *["-"] * 6]  # nothing to test


def test_a_system_that_does_not_vary_spoils_no_other_ones_profile(figures, folder):
    write(folder / "odd.csv", {"flat": [0.1] * 40} | {name: SCORES[name] for name in ("kin0", "kin1", "kin3")})
    (table,) = [rows for part, rows in figures("baselines", scores="odd.csv").items() if part.startswith("Profiles")]
    assert (table["flat"]["r median"], table["flat"]["r MEAN"]) == (None, None)
    pairs = [np.corrcoef(SCORES["kin0"], SCORES[name])[0, 1] for name in ("kin1", "kin3")]
    assert table["kin0"]["r median"] == pytest.approx(np.median(pairs))


@pytest.mark.parametrize(("systems", "labelled"), [(12, True), (13, False)])
def test_names_stand_beside_points_as_long_as_there_is_room(systems, labelled):
    scores = [TopicScores(f"s{i}", None, tuple(TOPICS), RNG.random(40)) for i in range(systems)]
    section = study(Pool("AP", scores, baselines=[], alphas=(1.0,)))
    (plot,) = [part for part in section.parts if isinstance(part, Plot)]
    assert {bool(mark.label) for mark in plot.marks} == {labelled}
    assert len({(mark.means, mark.colour) for mark in plot.marks}) == 2  # systems, and those made of them
