"""``riskguard study intervals``: its figures, computed by other means."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm, shapiro

from pytest_riskguard.data import TopicScores
from pytest_riskguard.inference import interval
from pytest_riskguard.studies.intervals import Sample, quantiles_of_mean, sample, studentized
from pytest_riskguard.studies.pool import Pool
from tests.studies.pools import BASE, DIFFERENCES, LEVEL, RNG, SCORES, approx, weighted, write

METHODS = ("student_t", "basic", "studentized", "percentile", "bca")
LEVELS = {"95%": 0.95, "99.9%": 0.999}
#: "near" changed three topics.
X = np.array([weighted(row, 9) for name, row in DIFFERENCES.items() if name != "near"])
BEST = next(iter(DIFFERENCES))
ASKED = f"intervals --baseline {BASE} --alpha 9"


def limits(method, level, xs):
    if method == "studentized":
        return studentized(xs)[level, method]
    found = [interval(x, method=method, level=level) for x in xs]
    return np.array([(one.lower, one.upper) for one in found])


def ends(shown):
    """Of a span."""
    return [float(end) for end in shown]


def test_verdicts_widths_and_median_limits(figures):
    found = figures(ASKED)
    for text, level in LEVELS.items():
        table, drawn = (found[f"{what}, alpha 9, level {text}"] for what in ("Verdicts", "Median limits"))
        for method in METHODS:
            row, (lower, upper) = f"{method}, 40", limits(method, level, X).T
            risky, better = sum(upper < 0), sum(lower > 0)
            quartiles = [np.quantile(end[:4], [0.25, 0.5, 0.75]) for end in (lower, upper)]  # of the best
            (low, l_half), (high, u_half) = ((q[1], 1.57 * (q[2] - q[0]) / 4**0.5) for q in quartiles)  # McGill's
            shown = [risky, better, 6 - risky - better, approx(np.median(upper - lower)), approx((low, high))]
            assert [*table[method].values()] == shown
            assert drawn[row][""] == approx((low, high))
            assert drawn[f"{row}, lower limit"][""] == approx((low - l_half, low + l_half))
            assert drawn[f"{row}, upper limit"][""] == approx((high - u_half, high + u_half))


def test_answers_name_the_systems_that_methods_disagree_on(done, folder):
    # rare and large losses, whose law is skewed
    changes = {f"s{i}": np.where(np.arange(40) < 3, -0.3, 0.002 * i) + 0.001 * LEVEL for i in range(5, 0, -1)}
    write(folder / "odd.csv", {"base": np.full(40, 0.4)} | {name: 0.4 + row for name, row in changes.items()})
    signs = [np.sign(limits(method, 0.95, np.array([*changes.values()]))).sum(axis=1) for method in METHODS]
    apart = [name for name, said in zip(changes, np.transpose(signs), strict=True) if len({*said}) > 1]
    assert 0 < len(apart) < 4
    text = " ".join(done("study intervals --scores odd.csv --baseline base --alpha 0").split())
    assert f"95%: methods disagree on {len(apart)} of 5 systems: {', '.join(apart)} alpha 0, level 99.9%" in text


def test_drawn_limits_are_near_the_exact_ones():
    for (level, method), found in studentized(X).items():
        # in standard errors; at level 99.9% some 50 of 100,000 draws are further out
        exact = [interval(row, method=method, level=level) for row in X]
        gaps = (found - [(one.lower, one.upper) for one in exact]).T / X.std(axis=1) * 40**0.5
        assert np.abs(gaps).max() < (0.06 if level == 0.95 else 0.3)
    np.testing.assert_allclose(studentized(np.full((1, 12), 0.25))[0.95, "studentized"], [[0.25, 0.25]])


def test_quantiles_of_a_mean_are_those_of_resamples():
    x, z = X[-1], np.linspace(-2, 2, 8)
    means = np.random.default_rng(1).choice(x, (40_000, x.size)).mean(axis=1)
    np.testing.assert_allclose(quantiles_of_mean(x, z), np.quantile(means, norm.cdf(z)), atol=0.04 * means.std())


def test_the_example_is_the_best_systems_law_and_its_intervals(figures):
    shown, x = figures(ASKED)[f"Bootstrap law of URisk: {BEST}"], X[0]
    across, up = np.array(ends(shown["alpha 9"])), np.array([*shown["alpha 9"].values()])
    assert trapezoid(up, across) == approx(1, abs=0.01)
    assert trapezoid(up * across, across) == approx(x.mean(), rel=0.02)
    assert up.max() == approx(norm.pdf(0) / (x.std() / 40**0.5), rel=0.05)
    for method in METHODS:
        exact = interval(x, method=method, level=0.95)
        assert ends(shown[f"alpha 9, {method}"]) == approx([exact.lower, exact.upper])
        assert max(shown[f"alpha 9, {method}"].values()) < 0


# ---- samples of topics


def pool(topics=130, *, changed=130):
    """Of the first of three systems only so many topics changed."""
    names = tuple(sorted(f"q{number}" for number in range(1, topics + 1)))
    moved = RNG.normal(0.05, 0.1, (3, topics))
    moved[0, [int(name[1:]) > changed for name in names]] = 0
    systems = {"base": 0 * moved[0]} | dict(zip("abc", moved, strict=True))
    scores = [TopicScores(name, None, names, 0.5 + row) for name, row in systems.items()]
    return Pool("AP", scores, baselines=["base"], alphas=(1.0,))


def test_a_fifth_is_every_fifth_topic_by_number():
    made = pool()
    assert made.topics == tuple(f"q{number}" for number in range(1, 131))
    second = sample(made, 1.0, slice(1, None, 5))
    np.testing.assert_allclose(second.x, weighted(made.differences[:, 1::5], 1))
    assert second.topics == "26 topics"


@pytest.mark.parametrize(("topics", "fewer"), [(124, []), (125, [25])])
def test_fewer_topics_are_studied_where_a_fifth_is_25(figures, folder, topics, fewer):
    made = pool(topics)
    write(folder / "long.csv", dict(zip(made.systems, made.scores, strict=True)), made.topics)
    found = figures("intervals --baseline base --alpha 1", scores="long.csv")
    x = weighted(made.differences, 1)
    table = found["Shapiro-Wilk's W, medians over systems"]
    for size, rows in zip([*fewer, topics], [x[:, ::5], x][-len(table) :], strict=True):
        row = table[f"alpha 1, {size} topics"]
        assert row["trade-off scores"] == approx(
            np.median([shapiro(values).statistic for values in rows[: round(0.75 * len(rows))]])
        )
        assert 0.98 < row["bootstrap means"] < 1
    assert [name for name in found["Median limits, alpha 1, level 95%"] if name.startswith("bca")][::3] == [
        f"bca, {size}" for size in (*fewer, topics)
    ]

    def apart(x, level):
        gaps = np.abs(limits("student_t", level, x) - limits("bca", level, x)).mean(axis=1)
        return np.median(gaps / (x.std(axis=1, ddof=1) / x.shape[1] ** 0.5))

    for text, level in LEVELS.items() if fewer else ():
        fifths = [apart(x[:, k::5], level) for k in range(5)]
        shown = found["Student-t and BCa apart"][f"alpha 1, level {text}"]
        assert [*shown.values()] == approx([fifths[0], np.median(fifths), apart(x, level)])
    assert ("Student-t and BCa apart" in found) == bool(fewer)


def test_systems_that_changed_too_few_topics_are_left_out(refused, folder):
    assert [{*sample(pool(changed=many), 1.0, slice(None)).names} for many in (9, 10)] == [{*"bc"}, {*"abc"}]
    write(folder / "few.csv", {name: SCORES[name] for name in (BASE, "near")})
    refused("study intervals --scores few.csv", "no system changed 10 topics or more, which an interval needs")


@pytest.mark.parametrize(
    ("lower", "upper", "verdict"),
    [(-0.2, -0.1, "risky"), (-0.2, 0, "neither"), (-1, 1, "neither"), (0, 0.1, "neither"), (0.1, 0.2, "better")],
)
def test_risky_is_what_lies_below_zero(lower, upper, verdict):
    assert Sample(("s",), X[:1], {(0.95, "bca"): np.array([[lower, upper]])}).verdicts(0.95, "bca") == [verdict]


def test_a_system_that_differs_by_the_same_everywhere_is_left_out_and_named(done, folder):
    write(folder / "one.csv", {"base": 0.5 * LEVEL, "higher": 0.5 * LEVEL + 0.125, "other": RNG.random(40)})
    text = " ".join(done("study intervals --scores one.csv --baseline base").split())
    assert "methods disagree on 0 of 1 system" in text
    assert "Left out, since too few topics changed, or all by the same: higher." in text


@pytest.mark.parametrize("changed", [49, 50])
def test_fifths_are_studied_if_each_has_a_system_that_changed_ten_topics(figures, folder, changed):
    names = [*range(1, 131)]
    moved = np.where(np.array(names) <= changed, -0.01, 0) * LEVEL[np.array(names) % 40]
    write(folder / "few.csv", {"base": np.full(130, 0.5), "new": 0.5 + moved}, names)
    found = figures("intervals --baseline base --alpha 1", scores="few.csv")
    assert ("Student-t and BCa apart" in found) == (changed == 50)
