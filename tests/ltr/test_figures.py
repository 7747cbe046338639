"""Models against baselines: figures one by one in plain Python, laws, and the papers' own tables."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pytest_riskguard.ltr.report import ModelFigures, average, figures_against, pareto_front
from pytest_riskguard.risk import urisk

#: Scores in eighths, whose sums are exact in floats: ties are common, and a share of 20% is never met by rounding.
EIGHTHS = st.integers(0, 8).map(lambda eighth: eighth / 8)


@st.composite
def systems(draw: st.DrawFn) -> tuple[Any, Any]:
    models, baselines, topics = (draw(st.integers(1, most)) for most in (4, 3, 6))
    return tuple(draw(arrays(np.float64, (rows, topics), elements=EIGHTHS)) for rows in (models, baselines))  # type: ignore[return-value]


def against(models: Any, baseline: Any, shares: Any = 1.0) -> tuple[ModelFigures, ...]:
    return figures_against({f"m{row}": scores for row, scores in enumerate(np.array(models))}, baseline, shares)


def by_hand(name: str, model: Any, baseline: Any) -> dict[str, Any]:
    """The figures of one model against one baseline, in fractions."""
    pairs = [(Fraction(float(m)), Fraction(float(b))) for m, b in zip(model, baseline, strict=True)]
    n = len(pairs)
    won, lost = [m - b for m, b in pairs if m > b], [(b - m, b) for m, b in pairs if m < b]
    reward, risk = sum(won, Fraction(0)) / n, sum((loss for loss, _ in lost), Fraction(0)) / n
    return {
        "model": name,
        "mean": float(sum((m for m, _ in pairs), Fraction(0)) / n),
        "mean_difference": float(reward - risk),
        "risk": float(risk),
        "reward": float(reward),
        "reward_to_risk": float(reward / risk) if risk else math.inf if reward else None,
        "wins": len(won),
        "losses": len(lost),
        "ties": n - len(won) - len(lost),
        "win_to_loss": len(won) / len(lost) if lost else math.inf if won else None,
        "losses_over_20_percent": sum(5 * loss > b for loss, b in lost),
    }


def agrees(found: ModelFigures, expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        is_number = isinstance(value, float | int)
        assert getattr(found, name) == (pytest.approx(value, rel=1e-12, abs=1e-15) if is_number else value), name


@given(systems())
def test_each_figure_and_each_average_is_as_by_hand(given_systems):
    models, baselines = given_systems
    tables = [against(models, baseline) for baseline in baselines]
    hands = [[by_hand(f"m{row}", model, one) for row, model in enumerate(models)] for one in baselines]
    for table, rows in zip(tables, hands, strict=True):
        for figures, row in zip(table, rows, strict=True):
            agrees(figures, row)
            for alpha in (0, 5):
                risk = urisk(models[int(figures.model[1:])] - baselines[tables.index(table)], alpha=alpha)
                assert figures.reward - (1 + alpha) * figures.risk == pytest.approx(risk, abs=1e-14)
    for figures, *rows in zip(average(tables), *hands, strict=True):
        expected: dict[str, Any] = {"model": figures.model}
        for name in rows[0].keys() - {"model"}:
            column = [row[name] for row in rows]
            expected[name] = None if None in column else math.fsum(column) / len(column)
        agrees(figures, expected)


@given(systems(), st.data())
def test_a_weight_of_two_is_a_topic_twice_and_the_order_of_topics_does_not_matter(given_systems, data):
    models, baselines = given_systems
    twice = data.draw(arrays(np.bool_, models.shape[1]))
    repeated = np.repeat(np.arange(models.shape[1]), 1 + twice)
    weighted = against(models, baselines[0], (1 + twice) / np.mean(1 + twice))
    plain = against(models[:, repeated], baselines[0, repeated])
    for mine, theirs in zip(weighted, plain, strict=True):
        names = ("mean", "mean_difference", "risk", "reward", "reward_to_risk")
        agrees(mine, {name: getattr(theirs, name) for name in names})
    assert [row.wins for row in weighted] == [row.wins for row in against(models, baselines[0])]
    assert against(models[:, ::-1], baselines[0, ::-1]) == against(models, baselines[0])


def test_what_rounding_leaves_is_no_loss():
    (row,) = against([[0.1 + 0.2, 0.9]], np.array([0.3, 0.5]))
    assert (row.risk, row.wins, row.losses, row.ties, row.reward_to_risk) == (0.0, 1, 0, 1, math.inf)
    (row,) = against([[0.3, 0.9]], np.array([0.1 + 0.2, 0.5]))
    assert (row.risk, row.losses, row.reward_to_risk) == (0.0, 0, math.inf)


#: Few values, so that ties are common.
POINTS = st.lists(st.tuples(*(st.integers(-2, 3).map(float),) * 2), max_size=12)


@given(POINTS)
def test_a_model_is_on_the_front_if_no_other_beats_it(points):
    def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
        return one[0] >= other[0] and one[1] <= other[1] and one != other

    front = pareto_front(*np.array(points).reshape(-1, 2).T)
    assert front.tolist() == [not any(beats(other, one) for other in points) for one in points]


def test_the_front_of_sigir_2016():
    # Table 7, top half: NDCG@10 and risk against BM25 of L'MART, then U-CRO, T-FARO, T*-FARO and GeoRisk at alpha 1
    # and 5
    means = np.array([0.4578, 0.4558, 0.4461, 0.4576, 0.4569, 0.4557, 0.4562, 0.4581, 0.4557])
    risks = np.array([0.036, 0.035, 0.032, 0.035, 0.036, 0.037, 0.037, 0.037, 0.038])
    assert np.flatnonzero(pareto_front(means, risks)).tolist() == [0, 2, 3, 7]


# SIGIR 2016, Table 7, top half ("Compared to BM25 Baseline"): wins, losses, W/L as printed of L'MART, then U-CRO,
# T-FARO, T*-FARO and GeoRisk at alpha 1 and 5.
TABLE_7 = [
    *((5892, 1715, 3.44), (5913, 1684, 3.51), (5913, 1666, 3.55), (5928, 1671, 3.55), (5889, 1719, 3.43)),
    *((5857, 1753, 3.34), (5861, 1737, 3.37), (5868, 1732, 3.39), (5876, 1728, 3.40)),
]
# SIGIR 2014, Table 3: wins, losses, Loss/Win as printed of URisk 0, then URisk, SARO and FARO at alpha 1, 5, 10 and
# 20. FARO at alpha 10 is left out: its 2040 losses and 7469 wins give 0.273, the table prints 0.271.
TABLE_3 = [
    *((7400, 2080, 0.281), (7417, 2059, 0.278), (7470, 1996, 0.267), (7451, 2025, 0.272), (7468, 1992, 0.267)),
    *((7476, 1992, 0.266), (7452, 2040, 0.274), (7427, 2019, 0.272), (7437, 2024, 0.272)),
    *((7406, 2040, 0.275), (7441, 2010, 0.270), (7429, 2060, 0.277)),
]


def test_win_to_loss_is_that_of_the_papers():
    def win_to_loss(wins: int, losses: int) -> Any:
        """Of a model with this many wins and losses, all of one size."""
        (row,) = against([[1.0] * wins + [0.0] * losses], np.full(wins + losses, 0.5))
        assert (row.wins, row.losses, row.losses_over_20_percent) == (wins, losses, losses)
        return row.win_to_loss

    for wins, losses, printed in TABLE_7:
        assert win_to_loss(wins, losses) == pytest.approx(printed, abs=0.005 + 1e-9)
    for wins, losses, printed in TABLE_3:
        assert 1 / win_to_loss(wins, losses) == pytest.approx(printed, abs=0.0005 + 1e-9)


def test_averages_of_sigir_2016_are_means_of_ratios_and_not_ratios_of_means():
    """Ratios of the printed averages lie below the printed ratios, by more than rounding allows."""
    # Table 7, bottom half ("Compared to 4 Learned Models Baselines"): wins, losses, W/L as printed of L'MART, U-CRO
    # at alpha 5, T-FARO at 5 and GeoRisk at 1
    for wins, losses, printed in (
        *((3978.3, 3669.0, 1.12), (3748.8, 3887.3, 1.01)),
        *((3967.3, 3676.5, 1.12), (4017.0, 3628.8, 1.15)),
    ):
        assert wins / losses < printed - 0.025
    baselines = ([0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0, 1.0])
    (row,) = average([against([[0.5] * 5], np.array(baseline)) for baseline in baselines])
    assert row.wins == row.losses == 2.5
    assert row.win_to_loss == (4 + 1 / 4) / 2
