"""What a report says beside the tests: effect sizes, and how large wins are beside losses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_riskguard.gates.findings import EffectSizes, ReportedEffect
from pytest_riskguard.reports.figures import figures
from tests.plugin.world import LOSS
from tests.reports.terminal.test_failure import verdict
from tests.verdicts import altered

STANDS = "the failure stands where harmless changes win up to {} times what they lose"
EFFECTS = EffectSizes(ReportedEffect(-0.5, -0.9, -0.1), ReportedEffect(0.75, 0.4, 0.95))


def said(effects: EffectSizes, **options: object) -> list[str]:
    asked = verdict(LOSS, tolerance=0.02, **options)
    lines = figures(altered(asked, estimates=replace(asked.estimates, effect_sizes=effects)))
    return [line for line in lines if "effect size" in line or "of changed topics" in line]


def test_effect_sizes_are_said_with_their_limits() -> None:
    expected = "effect size URisk/SD -0.50 [-0.90, -0.10]; 75% of changed topics lost (40% to 95%)"
    assert said(EFFECTS) == [expected]


def test_effect_sizes_that_do_not_exist_are_not_said() -> None:
    assert said(EffectSizes(None, None)) == []


@pytest.mark.parametrize(
    ("ratio", "largest", "expected"),
    [
        (1.238, 2.769, "a mean win is 1.23 times a mean loss; " + STANDS.format("2.76")),
        (None, 1048576.0, STANDS.format("1,048,576")),
        (0.0312, None, "a mean win is 0.03 times a mean loss"),
        (250.9, 0.7, "a mean win is 250 times a mean loss; " + STANDS.format("0.70")),
    ],
)
def test_wins_are_so_many_times_as_large_as_losses(ratio: float | None, largest: float | None, expected: str) -> None:
    asked = verdict(LOSS)
    estimates = replace(asked.estimates, win_loss_ratio=ratio, stands_up_to_ratio=largest)
    assert expected in figures(altered(asked, estimates=estimates))


def test_without_wins_or_a_failure_nothing_is_said_of_their_sizes() -> None:
    asked = verdict(LOSS)
    estimates = replace(asked.estimates, win_loss_ratio=None, stands_up_to_ratio=None)
    assert not any("times" in line for line in figures(altered(asked, estimates=estimates)))
