"""Looks at one collection: what counts, what is the same look, and the level that each leaves its gates."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.gates.families import at_levels, in_families
from pytest_riskguard.gates.judge import compare, judge
from pytest_riskguard.gates.looks import Look, Looks, RecordedLook, digest_of, expected_false_alarms
from pytest_riskguard.inference.many_looks import share_of_next_look
from tests.strict import NotSignificantlyRisky

GATES = ("no-risk",)
#: How many looks were expected where nothing else is said.
LOOKS = 2


def recorded(inputs: str, *, failed: bool = False, number: int = 1, **more: str) -> RecordedLook:
    share = share_of_next_look(number - 1, looks=LOOKS)
    return RecordedLook(more.get("collection", "c"), GATES, inputs, number, share, LOOKS, failed)


def test_only_looks_that_did_not_fail_are_counted():
    looks = Looks([recorded("a"), recorded("b", failed=True, number=2), recorded("c", number=2)])
    found = looks.next("c", GATES, "d", looks=LOOKS)
    assert (found.number, found.share) == (3, share_of_next_look(2, looks=LOOKS))
    assert looks.next("other", GATES, "d", looks=10).number == 1  # another collection begins anew


def test_looks_of_all_gates_are_one_sequence():
    looks = Looks([recorded("a"), replace(recorded("a", number=2), gates=("other",))])
    assert len(looks) == len(looks.at("c")) == 2
    for gates in (GATES, ("other",), ("third",)):
        assert looks.next("c", gates, "d", looks=2) == Look("c", gates, "d", 3, share_of_next_look(2, looks=2), 2)
    assert looks.spent("c") == 0.5


def test_the_same_look_again_spends_nothing_and_keeps_its_share():
    looks = Looks([recorded("a"), recorded("b", number=2)])
    again = Looks([recorded("a", failed=True, number=9), *looks.at("c")])  # the record that cost counts
    for known in (looks, again):
        assert known.next("c", GATES, "a", looks=1) == Look("c", GATES, "a", 1, 0.25, LOOKS)
        assert known.next("c", GATES, "z", looks=1).number == 3
    assert len(again) == 2


def test_the_order_of_records_is_irrelevant():
    records = [recorded("a"), recorded("b", failed=True), recorded("c", number=2), recorded("d", collection="e")]
    records += [recorded("c", number=4), replace(recorded("c", number=4), share=0.125, looks=3)]
    for asked in ("c", "z"):
        states = {Looks(order).next("c", GATES, asked, looks=5) for order in permutations(records)}
        assert len(states) == 1
    assert Looks(records).next("c", GATES, "c", looks=5).number == 4


def test_another_number_of_looks_has_only_what_is_left():
    taken = [replace(recorded(f"i{n}", number=n + 1), share=0.05, looks=10) for n in range(10)]
    looks = Looks(taken)
    assert looks.spent("c") == 0.5
    found = looks.next("c", GATES, "z", looks=1000)
    assert (found.number, found.share, found.looks) == (11, 0.5 / 2000, 1000)
    assert looks.next("c", GATES, "z", looks=10).share == 0.025  # as if nothing had changed
    assert looks.next("c", GATES, "i3", looks=1000) == Look("c", GATES, "i3", 4, 0.05, 10)  # keeps what it had
    more = [replace(recorded(f"j{n}", number=n + 11), share=0.00025, looks=1000) for n in range(1000)]
    assert Looks([*taken, *more]).spent("c") == 0.75
    assert Looks([*taken, *more]).next("c", GATES, "z", looks=10).share == 0.0125


def test_records_are_lines_of_json():
    look = replace(recorded("a", failed=True), share=0.05, looks=10)
    assert "\n" not in look.to_json()
    assert RecordedLook(**{**json.loads(look.to_json()), "gates": GATES}) == look
    assert digest_of(["a"]) != digest_of(["b"])


def test_a_family_shares_one_look():
    look = Look("c", ("a", "b", "c"), "i", 1, 0.25, 2)
    families = at_levels([0.002, 0.9, 0.02], 0.95, correction="holm", look=look)
    assert [round(1 - family.level, 12) for family in families] == [round(0.0125 / 3, 12), 0.00625, 0.00625]
    assert [round(family.adjusted_p_value, 12) for family in families] == [0.024, 1.0, 0.16]
    plain = at_levels([0.002, 0.9, 0.02], 0.95, correction="holm", look=replace(look, share=1.0))
    without = at_levels([0.002, 0.9, 0.02], 0.95, correction="holm", look=None)
    assert [replace(family, look=None) for family in plain] == without


def test_rounding_never_separates_the_two_sides():
    for number in range(1, 200):
        look = Look("c", ("g",), "i", number, share_of_next_look(number - 1, looks=70), 70)
        edge = 1 - (1 - (1 - 0.95) * look.share)
        for p in (np.nextafter(edge, 0), edge, np.nextafter(edge, 1)):
            (family,) = at_levels([float(p)], 0.95, correction="none", look=look)
            assert (family.adjusted_p_value <= 1 - 0.95) == (p <= 1 - family.level)


def test_a_collection_that_is_used_up_says_so():
    look = Look("c", ("g",), "i", 1401, share_of_next_look(1400, looks=200), 200)
    with pytest.raises(ValueError, match=r"budget: after 1400 looks at this collection .* judge new topics"):
        at_levels([0.5], 0.95, correction="none", look=look)


def test_false_alarms_are_those_of_the_next_larger_number_of_looks():
    known = [expected_false_alarms(looks) for looks in (1, 50, 51, 100, 101, 200, 1000)]
    assert known == sorted(known)
    assert known[0] == known[1] < known[2] == known[3]
    assert expected_false_alarms(4000) == pytest.approx(4 * expected_false_alarms(1000))


def judged_as_a_look(both, *, looks, **options):
    """The p-values by both rules, and the verdict that the first of so many looks gives."""
    gate = NotSignificantlyRisky("g", tolerance=0.0, on_churn="fail", **options)
    look = Look("c", ("g",), "i", 1, share_of_next_look(0, looks=looks), looks)
    found = compare(gate, *both)
    (family,) = in_families([found], correction="none", look=look)
    return found, look, judge(gate, *both, family=family)


def losing(changed, topics=50):
    """So many topics lose nearly the same, and none wins."""
    losses = np.zeros(topics)
    losses[:changed] = 0.3 + np.random.default_rng(1).uniform(-0.002, 0.002, changed)
    names = tuple(f"t{number:03d}" for number in range(topics))
    return TopicScores("new", "AP", names, 0.8 - losses), TopicScores("old", "AP", names, np.full(topics, 0.8))


@pytest.mark.parametrize(("alpha", "looks", "losses"), [(0.0, 2, (8, 14)), (0.0, 1000, (18, 24)), (1.0, 20, (8, 10))])
def test_a_verdict_fails_exactly_where_the_stricter_p_value_is_within_the_share(alpha, looks, losses):
    outcomes = set()
    for changed in losses:
        found, look, verdict = judged_as_a_look(losing(changed), looks=looks, alpha=alpha)
        outcomes.add(verdict.outcome)
        assert found.ruling.p_value_of_look >= found.p_value
        assert (verdict.outcome == "fail") == (found.ruling.p_value_of_look <= 0.05 * look.share)
        assert (verdict.outcome == "fail") == (verdict.family.adjusted_p_value <= 1 - verdict.level)
        assert verdict.decisive_interval.level == verdict.family.level >= 1 - 0.05 * look.share - 1e-15
    assert outcomes == {"pass", "fail"}


def test_what_a_look_needs_holds_at_both_conditions_where_churn_only_warns():
    """Two wins: by the mean alone sixteen losses do not fail, though by URisk at alpha 1 they do."""
    candidate, baseline = losing(16)
    values = candidate.values.copy()
    values[20:23] = 1.0
    both = replace(candidate, values=values), baseline
    gates = [
        NotSignificantlyRisky("g", alpha=alpha, tolerance=0.0, on_churn=churn)
        for alpha, churn in ((0, "fail"), (1, "fail"), (1, "warn"))
    ]
    mean, urisk, warned = (compare(gate, *both).ruling.p_value_of_look for gate in gates)
    assert urisk < mean == warned
