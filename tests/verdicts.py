"""Verdicts made from others: with another option of the gate, other findings, or other fields."""

from dataclasses import fields, replace
from typing import Any

from pytest_riskguard.gates.kinds import KINDS, OPTIONS
from pytest_riskguard.gates.verdict import Findings, Verdict

_FINDINGS = frozenset(field.name for field in fields(Findings))


def altered(verdict: Verdict, **changes: Any) -> Verdict:
    """The verdict with other values by the names of the JSON object, wherever the verdict holds them."""
    asked = verdict.asked
    if "kind" in changes:
        asked = asked.as_kind(KINDS[changes.pop("kind")])
    options = {name: changes.pop(name) for name in [*changes] if name in OPTIONS}
    if "gate" in changes:
        options["name"] = changes.pop("gate")
    findings = {name: changes.pop(name) for name in [*changes] if name in _FINDINGS}
    findings.setdefault("figures", ())  # they are put into words anew
    verdict = replace(verdict, asked=replace(asked, **options), **changes)
    return verdict.with_findings(lambda own: replace(own, **findings))
