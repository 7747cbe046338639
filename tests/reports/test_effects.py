"""What a report says beside the tests: the Bayesian bootstrap and effect sizes, in either convention."""

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


def said(probability: float, effects: EffectSizes | None, **options: object) -> str:
    asked = verdict(LOSS, tolerance=0.02, **options)
    estimates = replace(asked.estimates, bayesian_bootstrap_probability=probability, effect_sizes=effects)
    return next(line for line in figures(altered(asked, estimates=estimates)) if line.startswith("Bayesian"))


def test_the_minus_convention_turns_every_sign() -> None:
    lost = "75% of changed topics lost (40% to 95%)"
    assert said(0.25, EFFECTS) == (
        "Bayesian bootstrap: URisk below -0.0200 with probability 0.2500; "
        f"effect size URisk/SD -0.50 [-0.90, -0.10]; {lost}"
    )
    assert said(0.25, EFFECTS, convention="minus") == (
        "Bayesian bootstrap: URisk- above +0.0200 with probability 0.2500; "
        f"effect size URisk-/SD +0.50 [+0.10, +0.90]; {lost}"
    )


def test_what_does_not_exist_is_not_said_and_no_probability_is_0_or_1() -> None:
    assert said(1.0, EffectSizes(None, None)).endswith("with probability > 0.9999")
    assert said(0.0, None).endswith("with probability < 0.0001")


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
