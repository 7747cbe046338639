"""SIGIR 2014, Tables 1 and 2: six TREC 2012 Web runs against indriCASP, ERR@20, 50 topics.

B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive evaluation of retrieval systems",
SIGIR 2014. Two runs of the tables, DFalah121A and irra12c, were scored from other files than the public ones; how far
they are off is a test of its own.
"""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.inference.intervals import critical_value
from pytest_riskguard.risk import trisk
from pytest_riskguard.risk.tradeoff import linear
from pytest_riskguard.risk.urisk import jackknife_standardised, standardised
from tests.published.web2012 import TOPICS

#: run, alpha, URisk, standard error, TRisk, two-sided p
PUBLISHED = [
    ("uogTrA44xi", 0, 0.1185, 0.0528, 2.2440, 0.029),
    ("uogTrA44xi", 1, 0.0556, 0.0739, 0.7528, 0.455),
    ("uogTrA44xi", 5, -0.1959, 0.1755, -1.1163, 0.270),
    ("uogTrA44xi", 10, -0.5104, 0.3091, -1.6512, 0.105),
    ("srchvrs12c09", 0, 0.1102, 0.0479, 2.3034, 0.026),
    ("srchvrs12c09", 1, 0.0679, 0.0644, 1.0541, 0.297),
    ("srchvrs12c09", 5, -0.1015, 0.1489, -0.6817, 0.499),
    ("srchvrs12c09", 10, -0.3133, 0.2619, -1.1961, 0.237),
    ("QUTparaBline", 0, 0.0954, 0.0448, 2.1305, 0.038),
    ("QUTparaBline", 1, 0.0385, 0.0672, 0.5723, 0.570),
    ("QUTparaBline", 5, -0.1893, 0.1703, -1.1116, 0.272),
    ("QUTparaBline", 10, -0.4740, 0.3033, -1.5626, 0.125),
    ("utw2012fc1", 0, 0.0248, 0.0449, 0.5526, 0.583),
    ("utw2012fc1", 1, -0.0558, 0.0705, -0.7914, 0.432),
    ("utw2012fc1", 5, -0.3782, 0.1849, -2.0457, 0.046),
    ("utw2012fc1", 10, -0.7813, 0.3314, -2.3574, 0.022),
    ("ICTNET12ADR2", 0, 0.0203, 0.0416, 0.4869, 0.629),
    ("ICTNET12ADR2", 1, -0.0495, 0.0637, -0.7775, 0.441),
    ("ICTNET12ADR2", 5, -0.3286, 0.1648, -1.9942, 0.052),
    ("ICTNET12ADR2", 10, -0.6774, 0.2950, -2.2960, 0.026),
    ("qutwb", 0, -0.0287, 0.0462, -0.6226, 0.536),
    ("qutwb", 1, -0.1342, 0.0791, -1.6956, 0.096),
    ("qutwb", 5, -0.5560, 0.2194, -2.5342, 0.015),
    ("qutwb", 10, -1.0832, 0.3969, -2.7295, 0.009),
]
#: run, alpha, URisk, TRisk of the two runs that were scored from other files
FROM_OTHER_FILES = [
    ("DFalah121A", 0, 0.0974, 2.2899),
    ("DFalah121A", 1, 0.0467, 0.7401),
    ("DFalah121A", 5, -0.1558, -0.9808),
    ("DFalah121A", 10, -0.4089, -1.4466),
    ("irra12c", 0, -0.0223, -0.5446),
    ("irra12c", 1, -0.1182, -1.7038),
    ("irra12c", 5, -0.5014, -2.6335),
    ("irra12c", 10, -0.9805, -2.8525),
]
#: How much higher URisk and TRisk of the public scores are, from and to.
HIGHER = {"DFalah121A": ((0.0071, 0.0132), (0.05, 0.12)), "irra12c": ((0.0001, 0.0003), (0.0005, 0.005))}


@pytest.mark.parametrize(("run", "alpha", "urisk", "error", "statistic", "p_value"), PUBLISHED)
def test_tables_1_and_2_come_out_to_the_printed_digit(
    differences: dict[str, np.ndarray],
    run: str,
    alpha: float,
    urisk: float,
    error: float,
    statistic: float,
    p_value: float,
) -> None:
    ours = trisk(differences[run], alpha=alpha)
    assert round(ours.estimate, 4) == urisk
    assert round(ours.standard_error, 4) == error
    # the public scores have five decimals
    assert ours.statistic == pytest.approx(statistic, abs=1.5e-4)
    assert round(ours.p_value, 3) == p_value


@pytest.mark.parametrize(
    ("run", "losses", "wins"),
    [
        ("uogTrA44xi", [166, 175], [154, 163, 184, 186, 192]),
        ("qutwb", [166, 172, 175, 191], [184]),
    ],
)
def test_section_5_2_names_the_topics_that_stand_out(
    differences: dict[str, np.ndarray], run: str, losses: list[int], wins: list[int]
) -> None:
    standing = standardised(linear(differences[run], alpha=0))
    critical = critical_value(50, level=0.95)
    assert TOPICS[standing < -critical].tolist() == losses
    assert TOPICS[standing > critical].tolist() == wins


@pytest.mark.parametrize(("run", "alpha", "urisk", "statistic"), FROM_OTHER_FILES)
def test_two_runs_were_scored_from_other_files(
    differences: dict[str, np.ndarray], run: str, alpha: float, urisk: float, statistic: float
) -> None:
    ours = trisk(differences[run], alpha=alpha)
    (least, most), (least_statistic, most_statistic) = HIGHER[run]
    assert least < ours.estimate - urisk < most
    assert least_statistic < ours.statistic - statistic < most_statistic


@pytest.mark.parametrize(
    ("run", "losses", "beyond"), [("uogTrA44xi", [166, 175], 29), ("qutwb", [166, 172, 175, 191], 24)]
)
def test_equation_23_as_printed_is_reversed_and_root_n_too_large(
    differences: dict[str, np.ndarray], run: str, losses: list[int], beyond: int
) -> None:
    printed = jackknife_standardised(linear(differences[run], alpha=0))
    assert abs(printed.sum()) < 1e-9
    assert np.count_nonzero(np.abs(printed) > 2) == beyond
    assert np.all(printed[np.isin(TOPICS, losses)] > 14)  # positive, where the text has losses below -2
    assert TOPICS[-printed / np.sqrt(50) < -2].tolist() == losses
