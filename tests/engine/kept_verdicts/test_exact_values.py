"""Verdicts as JSON and back: nothing is rounded, nothing is added, and nothing else can be read."""

from __future__ import annotations

import dataclasses
import json
import math
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.engine.kept_verdicts import exact_values
from pytest_riskguard.engine.kept_verdicts.exact_values import ExactError, read, written
from pytest_riskguard.gates.findings import Estimates, ResponsibleTopic
from pytest_riskguard.gates.kinds import KINDS, gate_of
from pytest_riskguard.gates.rankings.label_findings import Judgements, UnjudgedTopic
from pytest_riskguard.gates.verdict import Deferred, Findings, Verdict, VerdictWarning

QUESTION = Verdict(gate_of("g", "not_significantly_risky"), "pass", None, "AP", "candidate", ("prod",))


def with_findings(**findings: Any) -> Verdict:
    return dataclasses.replace(QUESTION, findings=Deferred.of(Findings(**findings)))


@given(st.floats(), st.text(st.characters()))
def test_numbers_and_texts_come_back_as_they_were(number, text):
    verdict = with_findings(
        estimates=Estimates(urisk=number, georisk={text: number, "a": 1}, flip_set=(text,)),
        warnings=(VerdictWarning("code", text, {"n": number, "t": (text, 1, None, True)}),),
    )
    found = read(written(verdict))
    assert found.estimates.urisk is not None
    assert math.copysign(1, found.estimates.urisk) == math.copysign(1, number) or math.isnan(number)
    for one in (found, verdict):
        assert one.diagnostics is None  # computed when it is first read
    assert repr(vars(found)) == repr(vars(verdict))
    assert found.warnings[0].parameters.keys() == {"n", "t"}
    assert written(found) == written(verdict)


def test_the_order_of_mappings_stays():
    verdict = with_findings(estimates=Estimates(georisk={"z": 1.0, "a": 2.0}))
    assert list(read(written(verdict)).estimates.georisk or ()) == ["z", "a"]


@pytest.mark.parametrize("number", [0, 1, 2, 5])
def test_long_lists_are_read_as_they_were(number):
    topics = tuple(
        ResponsibleTopic(f"t{place}", None, 0.1, 0.2, -0.1 * place, 0.3, 0.4, 0.5, False, True)
        for place in range(number)
    )
    assert read(written(with_findings(responsible_topics=topics))).responsible_topics == topics


@given(st.lists(st.builds(UnjudgedTopic, st.text(), st.integers(), st.integers())), st.data())
def test_topics_that_are_made_late_are_those_that_were_written(topics, data):
    judgements = Judgements(10, 1, 2, 3, tuple(topics), (), depends=False)
    verdict = dataclasses.replace(QUESTION, judgements=judgements)
    found = read(written(verdict))
    assert found == verdict
    assert verdict == found
    assert hash(found) == hash(verdict)
    assert found.judgements is not None
    late = found.judgements.topics
    assert (len(late), tuple(late), repr(late)) == (len(topics), tuple(topics), repr(tuple(topics)))
    part = data.draw(st.slices(len(topics)))
    assert late[part] == tuple(topics)[part]
    assert topics == [] or (late[-1], late[0]) == (topics[-1], topics[0])
    assert found.to_dict() == verdict.to_dict()
    assert written(found) == written(verdict)


@pytest.mark.parametrize("value", [np.float64(0.5), np.int64(1), {1, 2}, object(), b"bytes", 1j])
def test_a_value_that_no_verdict_holds_is_refused(value):
    with pytest.raises(ExactError, match="expected a value that a verdict holds, found"):
        written(with_findings(estimates=Estimates(urisk=value)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"Verdict":[]}',
        '{"Path":["/"]}',
        '{"deferred":1}',
        '{"Count":[1]}',
        '{"columns of Estimates":[[1],[2]]}',
        '{"list":5}',
        '{"mapping":[[1]]}',
        '{"a":1,"b":2}',
        "[" * 100_000,
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(ExactError, match=r"^expected "):
        read(text)


def test_a_verdict_without_one_of_its_values_is_refused():
    content = json.loads(written(QUESTION))
    content["Verdict"].pop()
    with pytest.raises(ExactError):
        read(json.dumps(content))


def test_a_long_table_is_not_read_until_somebody_looks_at_it():
    topics = tuple(UnjudgedTopic(f"t{place}", 1, 0) for place in range(9))
    verdict = dataclasses.replace(QUESTION, judgements=Judgements(10, 1, 2, 3, topics, (), depends=False))
    first, table = written(verdict).split("\n")
    assert "t8" not in first
    shorter = json.dumps([column[:-1] for column in json.loads(table)])
    longer = table.replace('"t8"', '"t8","t9"')
    for damaged in (table[:-1], shorter, longer, "[]", "null", '[[1],{"Verdict":[]},[1]]'):
        found = read(f"{first}\n{damaged}").judgements
        assert found is not None
        assert len(found.topics) == 9
        with pytest.raises((ValueError, TypeError)):
            list(found.topics)
    with pytest.raises(ExactError):
        read(first)
    with pytest.raises(ExactError):
        read(f"{first.replace('below of UnjudgedTopic', 'below of Estimates')}\n{table}")


def test_every_record_that_a_verdict_can_hold_is_known():
    known = set(exact_values._records().values())
    assert {*_records(Verdict), *_records(Findings), *KINDS.values()} <= known


def _records(kind: Any) -> Iterator[type]:
    """The dataclasses that the fields of one can hold, and that one."""
    waiting, seen = [kind], set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        if isinstance(one, type) and dataclasses.is_dataclass(one):
            seen.add(one)
            yield one
            waiting += typing.get_type_hints(one, localns=_names()).values()
        else:
            waiting += [part for part in typing.get_args(one) if not isinstance(part, str | tuple | list)]


def _names() -> dict[str, Any]:
    """Names that modules import for type checking only."""
    from pytest_riskguard.gates.origins import Origins
    from pytest_riskguard.gates.rankings import Rankings

    return {"Origins": Origins, "Rankings": Rankings}
