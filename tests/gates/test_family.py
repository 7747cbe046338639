"""Several gates judged together: levels, adjusted p-values and intervals say the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.gates.chain.families import in_families
from pytest_riskguard.gates.judge import judge, rule
from pytest_riskguard.gates.ruling import Comparison
from pytest_riskguard.gates.verdict import Family, Verdict
from tests.gates.conftest import pair
from tests.strict import gate_of


def family_of(
    seed: int, correction: str, *, size: int = 8, level: float = 0.95, on_churn: str = "fail"
) -> list[tuple[float, Family, Comparison, Verdict | None]]:
    """Gates on comparisons some of which are losses: p-value, family, answer at its level, and of one the verdict."""
    rng = np.random.default_rng(seed)
    gates = [gate_of(f"g{i}", alpha=float(i % 3), level=level, on_churn=on_churn) for i in range(size)]
    pairs = [pair(rng.normal(-0.06 * (i % 4) / 3, 0.15, int(rng.integers(12, 80)))) for i in range(size)]
    p_values = [rule(gate, *both).p_value for gate, both in zip(gates, pairs, strict=True)]
    families = in_families(gates, p_values, correction=correction)
    return [
        (
            p,
            family,
            rule(replace(gate, level=family.level), *both),
            judge(gate, *both, family=family) if i == seed % size else None,
        )
        for i, (p, gate, both, family) in enumerate(zip(p_values, gates, pairs, families, strict=True))
    ]


@pytest.mark.parametrize("on_churn", ["fail", "warn"])
@pytest.mark.parametrize("correction", ["holm", "benjamini_hochberg"])
@pytest.mark.parametrize("seed", range(12))
def test_a_gate_fails_exactly_where_its_adjusted_p_value_and_its_interval_say_so(seed, correction, on_churn):
    for p, family, comparison, verdict in family_of(seed, correction, on_churn=on_churn):
        interval = comparison.ruling.deciding
        failed = comparison.answer[0] == "fail"
        assert failed == (family.adjusted_p_value <= 0.05)
        assert failed == (p <= 1 - family.level)
        assert interval.level == family.level >= 0.95 - 1e-12
        if on_churn == "fail":
            assert failed == (interval.upper < -1e-12)
        if verdict is not None:
            assert (verdict.outcome == "fail") == failed
            assert verdict.family == family
            assert verdict.level == 0.95
            assert verdict.decisive_interval.level == family.level
            assert verdict.decisive_interval.upper == interval.upper


def test_holm_by_hand():
    """Three p-values 0.01, 0.02, 0.04: thresholds 0.05/3, 0.05/2, 0.05: all three fail."""
    gates = [gate_of(name) for name in "abc"]
    families = in_families(gates, [0.02, 0.04, 0.01], correction="holm")
    assert [round(f.adjusted_p_value, 12) for f in families] == [0.04, 0.04, 0.03]
    assert [round(1 - f.level, 12) for f in families] == [0.025, 0.05, round(0.05 / 3, 12)]
    assert {(f.correction, f.size) for f in families} == {("holm", 3)}


def test_without_correction_or_p_value_there_is_no_family():
    gates = [gate_of("a"), gate_of("b")]
    assert in_families(gates, [0.01, 0.02], correction="none") == [None, None]
    first, second = in_families(gates, [None, 0.02], correction="holm")
    assert first is None
    assert second.level == pytest.approx(0.95)
    assert (second.size, second.adjusted_p_value) == (1, 0.02)
    assert in_families(gates, [None, None], correction="holm") == [None, None]


def test_a_family_has_one_level():
    with pytest.raises(ValueError, match=r"a family of gates has one level, got 0.9, 0.95"):
        in_families([gate_of("a"), gate_of("b", level=0.9)], [0.1, 0.2], correction="holm")


def test_a_family_too_large_for_its_level_is_refused():
    gates, p_values = [gate_of("g", level=0.9999)] * 200, [0.5] * 200
    with pytest.raises(
        ValueError, match=r"family of 200 gates at level 0.9999 leaves level 0.9999995 to one of them"
    ):
        in_families(gates, p_values, correction="holm")


def test_holm_keeps_the_chance_of_any_false_alarm_at_the_level():
    """Of six comparisons of equal systems at alpha 0 one fails by chance in 14 % of cases, with Holm in 2.5 %."""
    rng = np.random.default_rng(0)
    any_alone = any_corrected = 0
    for _ in range(200):
        p_values = [
            rule(gate_of("g", alpha=0, method="student_t"), *pair(rng.normal(0, 0.1, 30))).p_value for _ in range(6)
        ]
        families = in_families([gate_of("g")] * 6, p_values, correction="holm")
        any_alone += any(p <= 0.05 for p in p_values)
        any_corrected += any(f.adjusted_p_value <= 0.05 for f in families)
    assert any_alone >= 18
    assert any_corrected <= 14
