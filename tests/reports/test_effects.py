"""What a report says beside the tests: the Bayesian bootstrap and effect sizes, in either convention."""

from __future__ import annotations

from dataclasses import replace

from pytest_riskguard.gates.findings import EffectSizes, ReportedEffect
from pytest_riskguard.reports.figures import figures
from tests.plugin.world import LOSS
from tests.reports.terminal.test_failure import verdict
from tests.verdicts import altered

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
