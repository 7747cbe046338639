"""SIGIR 2014, Tables 1 and 2: six TREC 2012 Web runs against indriCASP, ERR@20, 50 topics.

B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive evaluation of retrieval systems",
SIGIR 2014. The two runs of the tables that are not here (DFalah121A, irra12c) were scored on other submissions than
the public ones, so they agree to about 0.01 only.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from pytest_riskguard.inference import critical_value
from pytest_riskguard.risk import linear, standardised, trisk

TOPICS = np.arange(151, 201)
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


@pytest.fixture(scope="module")
def differences(shared: Path) -> dict[str, np.ndarray]:
    """Candidate less indriCASP, by run, topics 151 to 200."""
    folder = shared / "data"
    with (folder / "web2012_runs/gdeval/rm-cata-filtered.gdeval.csv").open() as lines:
        by_topic = {row["topic"]: float(row["err@20"]) for row in csv.DictReader(lines)}
    baseline = np.array([by_topic[str(topic)] for topic in TOPICS])
    with (folder / "web2012/err20.csv").open() as lines:
        scores = list(csv.DictReader(lines))
    with (folder / "web2012/columns.csv").open() as lines:
        columns = list(csv.DictReader(lines))
    return {
        name: np.array([float(row[line["column"]]) for row in scores]) - baseline
        for line in columns
        for name in line["official_names_with_same_means"].replace(";", " ").replace("|", " ").split()
    }


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
