"""Kinds of gates: the options that each offers, and what no gate may ask."""

import math
from typing import Any

import pytest

from pytest_riskguard.gates.could_fail import refuse_options
from pytest_riskguard.gates.kinds import (
    KINDS,
    OPTIONS,
    NotInferior,
    NotSignificantlyRisky,
    gate_of,
)
from pytest_riskguard.gates.option_types import OptionTypeError

UNITS = "it is in units of the measure, but scores of tradeoff smooth are not; leave it out, or use tradeoff linear"


def test_a_gate_without_a_name_has_that_of_its_kind():
    needed: dict[str, dict[str, Any]] = {"equivalent": {"tolerance": 0.1}}
    assert {kind: gate_of("", kind, **needed.get(kind, {})).name for kind in KINDS} == {kind: kind for kind in KINDS}
    assert gate_of("") == NotSignificantlyRisky("not_significantly_risky")
    assert gate_of("mine", "not_inferior", tolerance=0.1) == NotInferior("mine", tolerance=0.1)


@pytest.mark.parametrize(
    ("kind", "options", "error", "message"),
    [
        (
            "not_inferor",
            {},
            ValueError,
            "kind: expected not_significantly_risky, georisk_not_worse, not_inferior, equivalent, no_drift, "
            "no_topic_collapse or no_surprise, "
            "found 'not_inferor'; did you mean 'not_inferior'?",
        ),
        ("not_inferior", {"tolerence": 1}, TypeError, "unknown option 'tolerence'; did you mean 'tolerance'?"),
        ("not_inferior", {"xyz": 1}, TypeError, f"unknown option 'xyz'; there are {', '.join(OPTIONS)}"),
        ("not_inferior", {"max_loss": 0.2}, ValueError, "max_loss has no meaning for not_inferior: leave it out"),
        ("not_inferior", {"alpha": "1"}, OptionTypeError, "alpha: expected a number from 0 to 1e+09, found '1'"),
        (
            "not_inferior",
            {"level": 1},
            ValueError,
            "level: expected a number between 0.000001 and 0.999999 such as 0.95, found the number 1",
        ),
        (
            "georisk_not_worse",
            {"level": 0.99999},
            ValueError,
            "level: expected a number from 1e-06 to 0.9999, found the number 0.99999",
        ),
        (
            "equivalent",
            {},
            ValueError,
            "tolerance: expected a number above 0, the smallest difference of the mean that matters, found the "
            "number 0.0",
        ),
        (
            "equivalent",
            {"tolerance": 0.1, "alpha": 1},
            ValueError,
            "alpha: expected 0, since equivalence is about the mean difference, where a loss counts like a win, "
            "found the number 1",
        ),
        ("not_inferior", {"slice": "kind"}, ValueError, "slice: expected TAG=VALUE, found 'kind'"),
        (
            "georisk_not_worse",
            {"method": "studentized"},
            ValueError,
            "method: expected auto, student_t, percentile or bca, found 'studentized'; did you mean 'student_t'?",
        ),
        (
            "not_significantly_risky",
            {"tradeoff": "smooth", "alpha": 2},
            ValueError,
            "tradeoff: smooth is for alpha 1 only, found alpha 2",
        ),
        ("not_inferior", {"tradeoff": "smooth", "tolerance": 0.01}, ValueError, f"tolerance: {UNITS}"),
        ("not_significantly_risky", {"tradeoff": "smooth", "max_mde": 0.1}, ValueError, f"max_mde: {UNITS}"),
        (
            "no_topic_collapse",
            {"max_loss": None},
            ValueError,
            "no_topic_collapse needs one of max_loss, max_share and protected",
        ),
    ],
)
def test_what_no_gate_may_ask_is_refused_in_words(kind, options, error, message):
    with pytest.raises(error) as refused:
        gate_of("g", kind, **options)
    assert (isinstance(refused.value, TypeError), str(refused.value)) == (issubclass(error, TypeError), message)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("not_significantly_risky", {"alpha": 1, "tolerance": 1.999, "max_mde": 1.999}),
        ("not_significantly_risky", {"max_mde": 0.0}),
        ("georisk_not_worse", {"tolerance": 0.999}),
        ("no_topic_collapse", {"max_loss": 0.999}),
        ("no_topic_collapse", {"max_loss": 7.0, "max_share": 0.999}),
        ("no_topic_collapse", {"max_loss": None, "max_share": 0.5}),
        ("no_topic_collapse", {"max_loss": 7.0, "protected": ["q1"]}),
    ],
)
def test_a_gate_that_some_scores_from_0_to_1_fail_is_let_through(kind, options):
    refuse_options(gate_of("g", kind, **options), 1.0)
    refuse_options(gate_of("g", "no_topic_collapse", max_share=1.0, max_loss=None), math.inf)  # below 0


TOO_MUCH = "{} is at least the most that can be lost ({}), so {}; choose a smaller one, or leave it out"
NEVER, USELESS = "the gate could never fail", "it would have no effect"


@pytest.mark.parametrize(
    ("kind", "options", "name", "said"),
    [
        ("not_significantly_risky", {"alpha": 1, "tolerance": 2}, "tolerance", (2, 2, NEVER)),
        ("not_significantly_risky", {"alpha": 1, "max_mde": 2.5}, "max_mde", (2.5, 2, USELESS)),
        ("georisk_not_worse", {"tolerance": 1}, "tolerance", (1, 1, NEVER)),
        ("no_topic_collapse", {"max_loss": 1}, "max_loss", (1, 1, NEVER)),
        ("no_topic_collapse", {"max_loss": 1.5, "max_share": 1}, "max_loss", (1.5, 1, NEVER)),
        ("no_topic_collapse", {"max_loss": None, "max_share": 1}, "max_share", (1, 1, NEVER)),
    ],
)
def test_a_gate_that_no_scores_from_0_to_1_fail_is_refused(kind, options, name, said):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is compared in full
        refuse_options(gate_of("g", kind, **options), 1.0)
    assert str(refused.value) == f"{name}: {TOO_MUCH.format(*said)}"
