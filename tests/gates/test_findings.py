"""Topics as columns, which charts draw."""

from dataclasses import replace

from pytest_riskguard.gates import findings
from pytest_riskguard.gates.findings import Exhibits, ResponsibleTopic
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from pytest_riskguard.risk.urisk import COUNTED

ROWS = (
    ResponsibleTopic("q1", "red shoes", 0.25, 0.75, -0.5, -0.05, 0.5, True, standardised=-3.5),
    ResponsibleTopic("q2", None, 0.5, 0.375, 0.125, 0.0125, None, False, standardised=2.0),
)


def test_a_topic_is_flagged_beyond_the_critical_value_on_either_side():
    columns = Exhibits.of(ROWS)
    assert [columns.flagged(place) for place in (0, 1)] == [False, False]
    for critical, flagged in ((1.9, [True, True]), (2.0, [True, False]), (3.5, [False, False])):
        beyond = replace(columns, critical_value=critical)
        assert [beyond.flagged(place) for place in (0, 1)] == flagged


def test_what_counts_as_a_change_is_the_same_where_it_is_computed_and_where_it_is_shown():
    assert (ROUNDING_ERROR, COUNTED) == (findings.ROUNDING_ERROR, findings.COUNTED)
