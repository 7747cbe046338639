"""Measures as a riskguard.yaml writes them: the notation of ir-measures, which a comma without quotes cuts in two."""

from __future__ import annotations

import re

from pytest_riskguard.gates.option_types import shown

# NAME, NAME(parameters), NAME@cutoff, NAME(parameters)@cutoff: the notation of ir-measures.
_MEASURE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\([^()\[\]]*\))?(?:@[0-9.]+)?")


def measure_notation(name: str) -> str:
    """A measure in the notation of ir-measures; whether it exists is not looked up."""
    if not _MEASURE.fullmatch(name):
        if cut_at_comma(name):
            raise ValueError(
                f'{shown(name)} looks cut at a comma; a measure with a comma needs quotes, such as "RBP(p=0.8,rel=1)"'
            )
        raise ValueError(f"expected a measure such as nDCG@10 or AP(rel=2), found {shown(name)}")
    return name


def cut_at_comma(name: str) -> bool:
    """Whether brackets do not match, as in ``AP(rel=2``, which a comma has cut off ``AP(rel=2,judged_only=True)``."""
    return name.count("(") != name.count(")")
