"""Kinds of gates: the options that each offers, and what no gate may ask."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_riskguard.gates.kinds import (
    KINDS,
    OPTIONS,
    GeoRiskNotWorse,
    NotInferior,
    NoTopicCollapse,
    NotSignificantlyRisky,
    gate_of,
    kinds_with,
    options_of,
)
from pytest_riskguard.gates.option_types import OptionTypeError

UNITS = "it is in units of the measure, but scores of tradeoff smooth are not; leave it out, or use tradeoff linear"


def test_a_gate_without_a_name_has_that_of_its_kind():
    needed: dict[str, dict[str, Any]] = {"equivalent": {"tolerance": 0.1}}
    assert {kind: gate_of("", kind, **needed.get(kind, {})).name for kind in KINDS} == {kind: kind for kind in KINDS}
    assert gate_of("") == NotSignificantlyRisky("not_significantly_risky")
    assert gate_of("mine", "not_inferior", tolerance=0.1) == NotInferior("mine", tolerance=0.1)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("alpha", tuple(KINDS)),
        ("weighted", ("not_significantly_risky", "not_inferior", "equivalent", "no_drift")),
        ("reference", ("georisk_not_worse",)),
        ("max_loss", ("no_topic_collapse",)),
        ("no such option", ()),
    ],
)
def test_which_kinds_offer_an_option(name, kinds):
    assert kinds_with(name) == kinds


def test_an_option_of_several_kinds_is_described_as_the_first_of_them_declares_it():
    assert OPTIONS["tolerance"] == options_of(NotSignificantlyRisky)["tolerance"]
    assert OPTIONS["tolerance"] != options_of(GeoRiskNotWorse)["tolerance"]
    assert {*OPTIONS} == {name for kind in KINDS.values() for name in options_of(kind)}


def test_another_kind_of_gate_keeps_the_options_that_both_offer():
    gate = NotInferior("g", alpha=3.0, level=0.9, tolerance=0.1, weighted=True, method="basic")
    assert gate.as_kind(NotSignificantlyRisky) == NotSignificantlyRisky(
        "g", alpha=3.0, level=0.9, tolerance=0.1, weighted=True, method="basic"
    )
    assert gate.as_kind(NoTopicCollapse) == NoTopicCollapse("g", alpha=3.0, level=0.9)


@pytest.mark.parametrize(
    ("kind", "options", "error", "message"),
    [
        (
            "not_inferor",
            {},
            ValueError,
            "kind: expected not_significantly_risky, georisk_not_worse, not_inferior, equivalent, no_drift or "
            "no_topic_collapse, "
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
            "level: expected a number between 0.000001 and 0.9999, found the number 0.99999",
        ),
        ("not_inferior", {"slice": "kind"}, ValueError, "slice: expected TAG=VALUE, found 'kind'"),
        (
            "not_significantly_risky",
            {"tradeoff": "smooth", "alpha": 2},
            ValueError,
            "tradeoff: smooth is for alpha 1 only, found alpha 2",
        ),
        ("not_inferior", {"tradeoff": "smooth", "tolerance": 0.01}, ValueError, f"tolerance: {UNITS}"),
        ("not_significantly_risky", {"tradeoff": "smooth", "max_mde": 0.0}, ValueError, f"max_mde: {UNITS}"),
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
    assert (type(refused.value), str(refused.value)) == (error, message)


def test_an_option_that_a_kind_does_not_offer_may_be_given_its_default():
    assert gate_of("g", "not_inferior", max_loss=0.5, on_churn="warn") == NotInferior("g")
    assert gate_of("g", "no_topic_collapse", max_loss=None, max_share=0.5).max_share == 0.5
    assert gate_of("g", "no_topic_collapse", max_loss=None, protected=["q1"]).protected == ("q1",)
    assert gate_of("g", "no_topic_collapse", slice=" kind = brand ").slice == "kind=brand"


@pytest.mark.parametrize(
    ("gate", "largest"),
    [
        (NotSignificantlyRisky("g", alpha=3.0), 8.0),
        (NotInferior("g", alpha=0.5), 3.0),
        (GeoRiskNotWorse("g", alpha=3.0), math.sqrt(2)),
    ],
)
def test_the_most_that_a_measure_spanning_2_can_lose(gate, largest):
    assert gate.largest_loss(2.0) == largest


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
    gate_of("g", kind, **options).refuse_if_it_cannot_fail(1.0)


TOO_MUCH = "lets a topic lose {}, the most that it can, so the gate could never fail; choose a smaller limit"


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            "not_significantly_risky",
            {"alpha": 1, "tolerance": 2},
            "tolerance: 2 is at least the most that can be lost (2), so the gate could never fail; "
            "choose a smaller one, or leave it out",
        ),
        (
            "not_significantly_risky",
            {"alpha": 1, "max_mde": 2.5},
            "max_mde: 2.5 is at least the most that can be lost (2), so it would have no effect; "
            "choose a smaller one, or leave it out",
        ),
        (
            "georisk_not_worse",
            {"tolerance": 1},
            "tolerance: 1 is at least the most that can be lost (1), so the gate could never fail; "
            "choose a smaller one, or leave it out",
        ),
        ("no_topic_collapse", {"max_loss": 1}, f"max_loss: 1 {TOO_MUCH.format(1)}"),
        ("no_topic_collapse", {"max_loss": 1.5, "max_share": 1}, f"max_loss: 1.5 {TOO_MUCH.format(1)}"),
        (
            "no_topic_collapse",
            {"max_loss": None, "max_share": 1},
            f"max_share: 1 {TOO_MUCH.format('the whole score')}",
        ),
    ],
)
def test_a_gate_that_no_scores_from_0_to_1_fail_is_refused(kind, options: dict[str, Any], message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is compared in full
        gate_of("g", kind, **options).refuse_if_it_cannot_fail(1.0)
    assert str(refused.value) == message


def test_a_measure_without_a_greatest_value_can_lose_any_amount():
    for gate in (
        NotSignificantlyRisky("g", tolerance=1e6),
        NoTopicCollapse("g", max_loss=1e6),
        NoTopicCollapse("g", max_loss=None, max_share=1.0),
    ):
        gate.refuse_if_it_cannot_fail(math.inf)
