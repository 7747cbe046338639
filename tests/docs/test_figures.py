"""Numbers that the documentation states and the code holds are the same."""

from __future__ import annotations

import math

import pytest

from pytest_riskguard.baselines import lock, manifest
from pytest_riskguard.config import yaml_lines
from pytest_riskguard.evaluation.scoring.providers import err
from pytest_riskguard.formats import limits, text_files
from pytest_riskguard.gates import findings, kinds, warnings
from pytest_riskguard.gates.flips import alpha_star
from pytest_riskguard.gates.ruling import could_fail
from pytest_riskguard.inference import georisk_pool, largest_ratio, minimum_detectable_effect, replicates_for
from pytest_riskguard.inference._bootstrap import convolution, fft_law, sample
from pytest_riskguard.inference._flips.counting import MAX_COUNTED
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from pytest_riskguard.risk.urisk import COUNTED
from tests.docs.pages import DOCS


def fewest_changes(
    alpha: float, n: int, *, level: float, tolerance: float = 0.0, on_churn: kinds.Response = "fail"
) -> int:
    """With how many changed topics of n, that can lose 1 each, a gate can fail."""
    gate = kinds.NotSignificantlyRisky("g", alpha=alpha, level=level, tolerance=tolerance, on_churn=on_churn)
    return next(m for m in range(1, n) if could_fail(gate, m, n, largest_loss=1.0))


STATED = [
    ("explanation/rules.md", "Below 25 topics every verdict warns", warnings.FEW_TOPICS == 25),
    ("explanation/rules.md", "Fewer than 10 topics: `inconclusive`", kinds.MIN_TOPICS == 10),
    ("explanation/rules.md", "within 1e-12 of that counts as having reached it", ROUNDING_ERROR == 1e-12),
    (
        "explanation/rules.md",
        "at level 0.95 with up to 5 changes at alpha 0, 3 at alpha 1, one at alpha 5",
        [max(m for m in range(1, 9) if 2 * (2 + alpha) ** -m > 0.05) for alpha in (0, 1, 5)] == [5, 3, 1],
    ),
    ("explanation/rules.md", "p is 1/27 at alpha 1", 2 * (1 / 27) > 0.05),
    *(
        (
            "explanation/topics.md",
            f"| {level} | " + " | ".join(f"{fewest_changes(alpha, 100, level=level)}" for alpha in (0, 1, 5, 10)),
            fewest_changes(10, 100, level=level, on_churn="warn") == fewest_changes(0, 100, level=level),
        )
        for level in (0.9, 0.95, 0.99, 0.999)
    ),
    (
        "explanation/topics.md",
        "of 400 topics that can lose 1 each, five must change instead of four",
        [fewest_changes(1, 400, level=0.95, tolerance=tolerance) for tolerance in (0, 0.005)] == [4, 5],
    ),
    ("explanation/rules.md", "differing by more than\n1e-12", ROUNDING_ERROR == 1e-12),
    ("explanation/rules.md", "moves by more than 1e-6", COUNTED == 1e-6),
    ("explanation/rules.md", "a loss of 1e-6 or less does not count", COUNTED == 1e-6),
    ("explanation/rules.md", "fewer than 250 topics warns", warnings.ENOUGH_FOR_STUDENT == 250),
    ("how-to/judge-several-gates.md", "in 18% of cases (1 - 0.975^8)", round(100 * (1 - 0.975**8)) == 18),
    (
        "explanation/intervals.md",
        "Twelve losses without a win stand up to 2.77 at alpha 0",
        int(100 * (largest_ratio([1.0] * 12, [1.0] * 12, [True] * 12, p_value=0.025) or 0)) == 277,
    ),
    ("explanation/intervals.md", "(2.77/3.77)^12 is 2.5%", round(1000 * (2.77 / 3.77) ** 12) == 25),
    ("explanation/rules.md", "3.7/n at level 0.95", round(-math.log(0.025), 1) == 3.7),
    ("explanation/alpha.md", "at every alpha (up to a million)", alpha_star.MAX_ALPHA == 2**20),
    ("explanation/intervals.md", "With up to 30\nchanged topics", MAX_COUNTED == 30),
    ("explanation/intervals.md", "up to 131,072 steps where", fft_law.MAX_SPARSE_LATTICE_POINTS == 131_072),
    ("explanation/intervals.md", "over 32,768 steps in 24 standard errors", fft_law.MAX_LATTICE_POINTS == 32_768),
    ("explanation/intervals.md", "grid of 65,536 points over 24 standard errors", convolution.GRID_POINTS == 65_536),
    ("explanation/intervals.md", "Steps within 1e-10 standard errors are one", sample.SAME == 1e-10),
    *(
        (
            "explanation/topics.md",
            f"| level {level} | "
            + " | ".join(
                f"{minimum_detectable_effect(0.15, n, level=level):.3f}" for n in (10, 25, 50, 100, 250, 1000)
            ),
            True,
        )
        for level in (0.95, 0.999)
    ),
    (
        "explanation/georisk.md",
        "40,000 of them for an interval at\nlevel 0.95",
        replicates_for(level=0.95, n_systems=20, n_topics=225) == 40_000,
    ),
    ("explanation/georisk.md", "up to 200,000", georisk_pool.MAX_REPLICATES == 200_000),
    ("explanation/georisk.md", "The highest level\nis 0.9999", kinds.MAX_GEORISK_LEVEL == 0.9999),
    (
        "explanation/georisk.md",
        "Gates with fewer than 50 topics at an alpha above 1",
        (warnings.ENOUGH_FOR_POOLS, warnings.MODEST_ALPHA) == (50, 1),
    ),
    ("how-to/read-a-failure.md", "With at most 5 changed topics", 2 / 2**5 > 0.05 >= 2 / 2**6),
    ("how-to/read-a-failure.md", "with at most 3 at alpha 1", 2 / 27 > 0.05 >= 2 / 81),
    ("reference/files.md", "from -1000 to 1000", text_files.MAX_GRADE == 1000),
    *(
        ("reference/files.md", f"| {limit.what} | {limit.default:,} |", True)
        for limit in vars(limits).values()
        if isinstance(limit, limits.Limit)
    ),
    ("reference/measures.md", "where max is 4", err.DEFAULT_MAX_GRADE == 4),
    ("reference/store.md", "waits up to 60 seconds", lock.LOCK_TIMEOUT == 60),
    ("reference/store.md", "at most 100 characters", manifest.MAX_NAME_LENGTH == 100),
    ("reference/report.md", "No list of topics names more than 5,000", findings.MAX_LISTED == 5000),
    (
        "../pytest_riskguard/reports/riskguard-report-1.schema.json",
        "at most 5,000, see `left_out` in `topics`",
        findings.MAX_LISTED == 5000,
    ),
    (
        "../pytest_riskguard/reports/riskguard-report-1.schema.json",
        "of more than 10,000, the 5,000 with the lowest contributions and as many with the highest",
        findings.MAX_LISTED == 5000,
    ),
    (
        "reference/configuration.md",
        "more than 1,000,000\n  bytes, 20,000 values or 20 levels",
        (limits.YAML_BYTES.default, yaml_lines.MAX_VALUES, yaml_lines.MAX_DEPTH) == (1_000_000, 20_000, 20),
    ),
]


@pytest.mark.parametrize(("page", "words", "true"), STATED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_number_is_stated_and_true(page: str, words: str, true: bool):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert " ".join(words.split()) in " ".join(text.split())
    assert true
