"""Which measures are computed by known code; a project may register measures and providers of its own."""

from __future__ import annotations

from pytest_riskguard.errors import RiskguardError

#: The packages whose code and versions are part of every key.
_PACKAGES = frozenset({"ir_measures", "pytest_riskguard"})


def is_known(measure: str) -> bool:
    """Whether a measure, and what computes it in this process, are those of ir-measures or riskguard."""
    from pytest_riskguard.evaluation.measures import parse_measure, provider_of

    try:
        parsed = parse_measure(measure)
        return all(type(part).__module__.partition(".")[0] in _PACKAGES for part in (parsed, provider_of(parsed)))
    except (RiskguardError, ValueError):
        return False
