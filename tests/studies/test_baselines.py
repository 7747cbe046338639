"""``riskguard study baselines``: its figures, computed by other means."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2, friedmanchisquare

from pytest_riskguard.data import TopicScores
from pytest_riskguard.studies.baselines import study
from pytest_riskguard.studies.pool import Pool
from tests.studies.pools import MATRIX, ORDER, RNG, SCORES, TOPICS, agree, approx, by_name, places, urisk, write

MEANS = by_name(MATRIX.mean(axis=1))
MADE = {"MEAN": MATRIX.mean(axis=0), "MEDIAN": np.median(MATRIX, axis=0), "MAX": MATRIX.max(axis=0)}


def test_risk_against_baselines_made_of_the_pool_and_named_ones(figures):
    found = figures("baselines --baseline kin2")
    for alpha in (5, 10):
        table = found[f"URisk against each baseline, alpha {alpha}"]
        agree(table, "mean", MEANS)
        for reference, scores in (MADE | {"kin2": SCORES["kin2"]}).items():
            # a baseline has no risk against itself
            risks = {name: urisk(SCORES[name] - scores, alpha) for name in ORDER if name != reference}
            agree(table, reference, risks)
            signs = [np.sign((MEANS[a] - MEANS[b]) * (risks[a] - risks[b])) for a, b in combinations(risks, 2)]
            tau = found["tau with the order of means"][reference][f"alpha {alpha}"]
            assert tau == approx(np.mean(signs))
    assert [*table] == ORDER


def test_every_system_as_the_baseline_and_whether_they_agree(figures):
    found, n = figures("baselines --alpha 0 --alpha 5"), len(ORDER)
    for alpha in (0, 5):
        risks, ranks = (found[f"{what}, columns are baselines, alpha {alpha}"] for what in ("URisk", "Places"))
        matrix = np.array([[urisk(one - other, alpha) for other in MATRIX] for one in MATRIX])
        np.testing.assert_allclose([[risks[a][b] for b in ORDER] for a in ORDER], matrix, atol=1e-12)
        for baseline, column in zip(ORDER, matrix.T, strict=True):
            others = by_name(column)
            del others[baseline]
            assert {name: ranks[name][baseline] for name in ORDER} == places(others) | {baseline: None}
        # Conover's T1, without ties: n treatments, n - 1 of them in each of n blocks
        squares = sum(sum(filter(None, row.values())) ** 2 for row in ranks.values())
        durbin = 12 * squares / (n * (n - 2) * n) - 3 * (n - 1) ** 2 * n / (n - 2)
        friedman = friedmanchisquare(*matrix)
        changing = sum(
            len({ranks[a][c] < ranks[b][c] for c in ORDER if c not in (a, b)}) == 2 for a, b in combinations(ORDER, 2)
        )
        shown = [*found["Do baselines agree?"][str(alpha)].values()]
        tests = [
            durbin,
            chi2.sf(durbin, n - 1),
            friedman.statistic,
            friedman.pvalue,
            friedman.statistic / n / (n - 1),
        ]
        assert [*shown[:3], *shown[4:]] == approx([changing, *tests])
        assert (changing == 0, shown[3] == approx(1)) == (alpha == 0, alpha == 0)


def test_axes_and_correlations_show_who_is_alike(figures):
    found, n = figures("baselines"), len(ORDER)
    every = np.vstack([MATRIX, *MADE.values()])
    correlation, coordinates = np.corrcoef(every), []
    for scores in (every, MATRIX):
        values, vectors = np.linalg.eigh(scores @ scores.T)
        axes = (vectors * np.sqrt(values))[:, ::-1]
        coordinates.append(axes * np.sign(axes[np.abs(axes).argmax(axis=0), range(len(axes))]))
    profiles = found["Profiles over topics"]
    for place, name in enumerate(ORDER):
        row = correlation[place]
        expected = [np.median(np.delete(row[:n], place)), row[n], *coordinates[1][place, :2]]
        assert [*profiles[name].values()] == approx(expected)
        assert [*found["Correlation over topics"][name].values()] == approx([*row[:n]])
    for place, name in enumerate([*ORDER, *MADE]):
        ((x, y),) = found["Systems on principal axes"][name].items()
        assert [float(x), y] == approx([*coordinates[0][place, :2]])


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
    assert ["1", "0", *["-"] * 6] in [line.split() for line in out.splitlines()]  # nothing to test


def test_a_system_that_does_not_vary_spoils_no_other_ones_profile(figures, folder):
    write(folder / "odd.csv", {"flat": [0.1] * 40} | {name: SCORES[name] for name in ("kin0", "kin1", "kin3")})
    (table,) = [rows for part, rows in figures("baselines", scores="odd.csv").items() if part.startswith("Profiles")]
    assert (table["flat"]["r median"], table["flat"]["r MEAN"]) == (None, None)
    pairs = [np.corrcoef(SCORES["kin0"], SCORES[name])[0, 1] for name in ("kin1", "kin3")]
    assert table["kin0"]["r median"] == approx(np.median(pairs))


@pytest.mark.parametrize("systems", [12, 13])
def test_names_stand_beside_points_as_long_as_there_is_room(systems):
    scores = [TopicScores(f"s{i}", None, tuple(TOPICS), RNG.random(40)) for i in range(systems)]
    parts = study(Pool("AP", scores, baselines=[], alphas=(1.0,))).parts
    (marks,) = [part.marks for part in parts if hasattr(part, "marks")]
    assert [bool(mark.label) for mark in marks] == [systems == 12] * systems + [True] * 3
    assert len({(mark.means, mark.colour) for mark in marks}) == 2  # systems, and those made of them


def test_a_system_among_those_that_do_not_vary_has_no_correlation_with_them(figures, folder):
    write(folder / "odd.csv", {"kin0": SCORES["kin0"], "low": [0.1] * 40, "high": [0.9] * 40})
    table = figures("baselines", scores="odd.csv")["Profiles over topics"]
    assert [row["r median"] for row in table.values()] == [None] * 3
    assert table["kin0"]["r MEAN"] == approx(1)
