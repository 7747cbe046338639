"""In the minus convention every figure of risk is positive where it is risky, and its parameter is alpha-hat."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_riskguard.gates.verdict import warning
from pytest_riskguard.reports.card import card
from pytest_riskguard.reports.figures import figures
from pytest_riskguard.reports.terminal.failure import explain, one_line
from pytest_riskguard.reports.wording.messages import message
from pytest_riskguard.run_context import Detail, Screen
from tests.reports.cases import CASES
from tests.verdicts import altered


def minus(case: str, **changes: object):
    return altered(CASES[case](), convention="minus", **changes)


def test_the_terminal_names_alpha_hat():
    verdict = minus("loss")
    text = " ".join(explain(verdict, Screen(Detail.BRIEF, 100)).split())
    assert "at alpha-hat 2 losses count twice" in text
    assert one_line(verdict).endswith("(AP, alpha-hat 2)")
    assert "at alpha 1 losses count twice" in " ".join(explain(CASES["loss"](), Screen(Detail.BRIEF, 100)).split())
    estimates = replace(CASES["pass"]().estimates, alpha_star=1.5)
    assert "it passes up to alpha-hat 2.50" in card(minus("pass", estimates=estimates)).why
    assert "it passes up to alpha 1.50" in card(altered(CASES["pass"](), estimates=estimates)).why


def test_methods_that_disagree_are_quoted_with_the_signs_of_the_convention():
    about = {"method": "bca", "limit": -0.0333, "student_t_limit": 0.00121, "student_t_passes": True}
    disagree = warning("methods_disagree", decisive="bca", **about)
    assert message(CASES["loss"](), disagree).startswith(
        "by Student-t it passes (upper limit +0.00121), by BCa it fails (-0.0333)"
    )
    assert message(minus("loss"), disagree).startswith(
        "by Student-t it passes (lower limit -0.00121), by BCa it fails (+0.0333)"
    )
    unstable = warning("unstable_answers", asked=2, topics=["t1"], change=0.1, means=(0.5, 0.4), urisk=(-0.1, -0.2))
    assert message(minus("loss"), unstable).endswith("URisk- is +0.2000 instead of +0.1000")


def test_references_and_other_alphas_of_georisk_have_the_signs_of_the_convention():
    verdict = CASES["georisk"]()
    assert verdict.pool is not None
    failed = replace(verdict.pool.references[0], passes=False, georisk_difference=-0.03)
    pool = replace(verdict.pool, references=(failed, *verdict.pool.references[1:]))
    assert len(pool.references) > 1 or len(pool.systems) > 1
    pool = replace(pool, references=(*pool.references, failed) if len(pool.references) == 1 else pool.references)
    plus, other = (
        "\n".join(figures(altered(verdict, convention=convention, pool=pool))) for convention in ("plus", "minus")
    )
    assert "significantly below" in plus
    assert "(-0.0300, adjusted p" in plus
    assert "significantly above" in other
    assert "(+0.0300, adjusted p" in other
    if len(pool.curve) > 1:
        assert "GeoRisk- at each alpha-hat" in other


@pytest.mark.parametrize("case", ["loss", "pass", "explained"])
def test_p_values_say_how_many_sides_they_have(case):
    text = "\n".join(figures(CASES[case]()))
    assert "(two-sided p " in text
    assert "; one-sided: " in text


def test_a_pool_shows_no_probability_of_a_urisk_that_it_does_not_show():
    text = "\n".join(figures(CASES["georisk"]()))
    assert "URisk" not in text
    assert "of changed topics lost" in text
