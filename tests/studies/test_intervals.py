"""``riskguard study intervals``: its figures, computed by other means."""

import numpy as np
import pytest
from scipy.stats import norm, shapiro

from pytest_riskguard.data import TopicScores
from pytest_riskguard.inference import interval
from pytest_riskguard.studies.intervals import quantiles_of_mean, sample, studentized
from pytest_riskguard.studies.pool import Pool
from tests.studies.pools import LEVEL, ORDER, RNG, SCORES, weighted, write

BASE = "kin2"
#: "near" changed three topics.
JUDGED = [name for name in ORDER if name not in (BASE, "near")]
METHODS = ("student_t", "basic", "studentized", "percentile", "bca")
ALPHA, LEVELS = 9, {"95%": 0.95, "99.9%": 0.999}
X = {name: weighted(SCORES[name] - SCORES[BASE], ALPHA) for name in JUDGED}


def limits(method, level, xs=X):
    """Of each row."""
    if method == "studentized":
        return studentized(np.array([*xs.values()]))[level, method]
    found = [interval(x, method=method, level=level) for x in xs.values()]
    return np.array([(one.lower, one.upper) for one in found])


def medians(ends, systems):
    """McGill's interval of each median limit, of the best three quarters."""
    kept = ends[: round(0.75 * systems)]
    first, middle, third = np.quantile(kept, [0.25, 0.5, 0.75], axis=0)
    half = 1.57 * (third - first) / len(kept) ** 0.5
    return [(m - h, m, m + h) for m, h in zip(middle, half, strict=True)]


def test_verdicts_widths_and_median_limits(figures):
    found = figures(f"intervals --baseline {BASE} --alpha {ALPHA}")
    for text, level in LEVELS.items():
        table = found[f"Verdicts, alpha {ALPHA}, level {text}"]
        drawn = found[f"Median limits, alpha {ALPHA}, level {text}"]
        assert [*table] == [*METHODS]
        for place, (method, row) in enumerate(table.items()):
            ends = limits(method, level)
            risky, better = np.sum(ends[:, 1] < 0), np.sum(ends[:, 0] > 0)
            said = [row[verdict] for verdict in ("risky", "better", "neither")]
            assert said == [risky, better, len(JUDGED) - risky - better]
            assert row["median width"] == pytest.approx(np.median(ends[:, 1] - ends[:, 0]))
            lower, upper = medians(ends, len(JUDGED))
            assert row["median limits"] == pytest.approx((lower[1], upper[1]))
            for name, span in (
                ("", (lower[1], upper[1])),
                (", lower limit", (lower[0], lower[2])),
                (", upper limit", (upper[0], upper[2])),
            ):
                shown = drawn[f"{method}, 40{name}"]
                assert [*map(float, shown)] == pytest.approx(span)
                assert {*shown.values()} == {place}


def test_answers_name_the_systems_that_methods_disagree_on(done, folder):
    # rare and large losses, whose law is skewed
    changes = {f"s{i}": np.where(np.arange(40) < 3, -0.3, 0.002 * i) + 0.001 * LEVEL for i in range(1, 6)}
    write(folder / "odd.csv", {"base": np.full(40, 0.4)} | {name: 0.4 + row for name, row in changes.items()})
    order = sorted(changes, key=lambda name: -changes[name].mean())
    every = [limits(method, 0.95, {name: changes[name] for name in order}) for method in METHODS]
    said = zip(*(np.sign(ends).sum(axis=1) for ends in every), strict=True)
    apart = [name for name, signs in zip(order, said, strict=True) if len({*signs}) > 1]
    assert 0 < len(apart) < 4
    text = " ".join(done("study intervals --scores odd.csv --alpha 0").split())
    assert (
        f"level 95%: methods disagree on {len(apart)} of 5 systems: {', '.join(apart)} alpha 0, level 99.9%" in text
    )


def test_drawn_limits_are_near_the_exact_ones():
    x = np.array([*X.values()])
    for (level, _), found in studentized(x).items():
        for row, ends in zip(x, found, strict=True):
            exact = interval(row, method="studentized", level=level)
            error = row.std(ddof=1) / row.size**0.5
            # at level 99.9% some 50 of 100,000 draws are further out
            assert ends == pytest.approx((exact.lower, exact.upper), abs=(0.06 if level == 0.95 else 0.3) * error)
    constant = studentized(np.full((1, 12), 0.25))[0.95, "studentized"]
    np.testing.assert_allclose(constant, [[0.25, 0.25]])


def test_quantiles_of_a_mean_are_those_of_resamples():
    x, z = X["stranger"], np.linspace(-2, 2, 8)
    means = np.random.default_rng(1).choice(x, (40_000, x.size)).mean(axis=1)
    np.testing.assert_allclose(quantiles_of_mean(x, z), np.quantile(means, norm.cdf(z)), atol=0.04 * means.std())
    ends = interval(x, method="percentile", level=2 * norm.cdf(2) - 1)
    assert [*quantiles_of_mean(x, z)[[0, -1]]] == [ends.lower, ends.upper]


def test_the_example_is_the_best_systems_law_and_its_intervals(figures):
    found = figures(f"intervals --baseline {BASE} --alpha 0 --alpha {ALPHA}")
    shown = found[f"Bootstrap law of URisk: {JUDGED[0]}"]
    for alpha in (0, ALPHA):
        x = weighted(SCORES[JUDGED[0]] - SCORES[BASE], alpha)
        across, up = (np.array([*map(float, one)]) for one in zip(*shown[f"alpha {alpha}"].items(), strict=True))
        error = x.std() / 40**0.5
        assert np.sum((up[1:] + up[:-1]) / 2 * np.diff(across)) == pytest.approx(1, abs=0.01)  # a density
        assert across[up.argmax()] == pytest.approx(x.mean(), abs=0.5 * error)
        assert up.max() == pytest.approx(norm.pdf(0) / error, rel=0.05)
        for method in METHODS:
            exact = interval(x, method=method, level=0.95)
            span = shown[f"alpha {alpha}, {method}"]
            assert [*map(float, span)] == pytest.approx([exact.lower, exact.upper])
            assert max(span.values()) < 0


# ---- samples of topics


def pool(topics=130, systems=3, changed=None):
    names = tuple(sorted(f"q{number}" for number in range(1, topics + 1)))
    base = TopicScores("base", None, names, np.full(topics, 0.5))
    moved = [RNG.normal(0.01 * i, 0.1, topics) for i in range(systems)]
    for row in moved[:1] if changed is not None else ():
        row[[place for place, name in enumerate(names) if int(name[1:]) not in changed]] = 0
    others = [TopicScores(f"s{i}", None, names, 0.5 + row) for i, row in enumerate(moved)]
    return Pool("AP", [base, *others], baselines=["base"], alphas=(1.0,))


def test_a_fifth_is_every_fifth_topic_by_number():
    made = pool()
    assert made.topics[:11] == tuple(f"q{number}" for number in range(1, 12))
    second = sample(made, 1.0, slice(1, None, 5))
    assert second.x.shape == (3, 26)
    np.testing.assert_allclose(second.x, [weighted(row[1::5], 1) for row in made.differences])
    assert second.topics == "26 topics"


@pytest.mark.parametrize("topics", [124, 125])
def test_fewer_topics_are_studied_where_a_fifth_is_25(figures, folder, topics):
    made = pool(topics)
    write(folder / "long.csv", dict(zip(made.systems, made.scores, strict=True)), made.topics)
    found = figures("intervals --baseline base --alpha 1", scores="long.csv")
    samples = [weighted(made.differences[:, k::5], 1) for k in range(5)] if topics == 125 else []
    whole = weighted(made.differences, 1)
    tables = found["Shapiro-Wilk's W, medians over systems"]
    assert [*tables] == [f"alpha 1, {one.shape[1]} topics" for one in [*samples[:1], whole]]
    for x, row in zip([*samples[:1], whole], tables.values(), strict=True):
        assert row["trade-off scores"] == pytest.approx(np.median([shapiro(values).statistic for values in x]))
        assert 0.98 < row["bootstrap means"] < 1
    spans = found["Median limits, alpha 1, level 95%"]
    assert ("bca, 25" in spans, "bca, 125" in spans) == (topics == 125, topics == 125)

    def apart(x, level):
        ends = [[interval(row, method=m, level=level) for row in x] for m in ("student_t", "bca")]
        gaps = [(abs(a.lower - b.lower) + abs(a.upper - b.upper)) / 2 for a, b in zip(*ends, strict=True)]
        return np.median(np.array(gaps) / (x.std(axis=1, ddof=1) / x.shape[1] ** 0.5))

    assert ("Student-t and BCa apart" in found) == (topics == 125)
    for text, level in LEVELS.items() if topics == 125 else ():
        fifths = [apart(x, level) for x in samples]
        expected = {
            "25 topics": fifths[0],
            "median of 5 such samples": np.median(fifths),
            "125 topics": apart(whole, level),
        }
        assert found["Student-t and BCa apart"][f"alpha 1, level {text}"] == pytest.approx(expected)


def test_systems_that_changed_too_few_topics_are_left_out(refused, folder):
    assert sample(pool(changed=range(1, 11)), 1.0, slice(None)).x.shape[0] == 3
    assert sample(pool(changed=range(1, 10)), 1.0, slice(None)).names == ("s2", "s1")
    write(folder / "few.csv", {name: SCORES[name] for name in ("kin2", "near")})
    refused("study intervals --scores few.csv", "no system changed 10 topics or more, which an interval needs")
