"""The figures of a verdict on a pool as text: GeoRisk of candidate and reference, the candidate's rank, the pool."""

from __future__ import annotations

from pytest_riskguard.gates.findings import AgainstReference, PoolFigures
from pytest_riskguard.gates.verdict import NAMES, Verdict
from pytest_riskguard.text import clean, counted, listed, plain, short, signed

#: Names of systems that a line shows; others are counted.
_MOST = 6


def parameter(verdict: Verdict) -> str:
    """What stands in brackets behind a risk: ``alpha=5``, ``alpha-hat=6``, ``smooth``."""
    if verdict.tradeoff == "smooth":
        return "smooth"
    if verdict.convention == "minus":
        from pytest_riskguard.risk import alpha_hat  # numpy is loaded only for those who ask for it

        return f"alpha-hat={short(alpha_hat(verdict.alpha))}"
    return f"alpha={short(verdict.alpha)}"


def name(verdict: Verdict) -> str:
    """GeoRisk with its parameter, in the convention asked for."""
    return f"GeoRisk{'-' if verdict.convention == 'minus' else ''}({parameter(verdict)})"


def against(verdict: Verdict) -> str:
    """GeoRisk and the reference that the verdict is about."""
    reference = "" if verdict.pool is None else f" against {clean(verdict.pool.decided_by, limit=60)}"
    return f"{name(verdict)}{reference}"


def systems(verdict: Verdict, pool: PoolFigures) -> list[str]:
    """GeoRisk of both sides, the references beside the one that decided, the rank, other alphas, the pool."""
    lines = [_values(verdict, pool)]
    if len(pool.references) > 1:
        lines.append(_references(pool))
    lines.append(_rank(pool))
    if len(pool.curve) > 1:
        lines.append(_curve(verdict, pool))
    lines.append(f"pool of {len(pool.systems)}: {listed(tuple(map(clean, pool.systems)), most=_MOST)}")
    return lines


def _values(verdict: Verdict, pool: PoolFigures) -> str:
    point = next(point for point in pool.curve if point.alpha == verdict.alpha)
    return (
        f"{name(verdict)}: {_signed(verdict, point.reference)} -> {_signed(verdict, point.candidate)}; difference "
        f"{_change(verdict)}"
    )


def _signed(verdict: Verdict, value: float) -> str:
    return plain(0.0 - value if verdict.convention == "minus" else value)


def _change(verdict: Verdict) -> str:
    value = verdict.estimates.georisk_difference or 0.0
    return signed(0.0 - value if verdict.convention == "minus" else value)


def _references(pool: PoolFigures) -> str:
    failed = sorted((each for each in pool.references if not each.passes), key=lambda each: each.p_value)
    if not failed:
        return f"against none of {counted(len(pool.references), 'reference')} significantly below (Holm)"
    shown = listed(tuple(map(_reference, failed)), most=_MOST)
    return f"significantly below {len(failed)} of {counted(len(pool.references), 'reference')} (Holm): {shown}"


def _reference(each: AgainstReference) -> str:
    p = "< 0.0001" if each.adjusted_p_value < 1e-4 else plain(each.adjusted_p_value)
    return f"{clean(each.reference)} ({signed(each.georisk_difference)}, adjusted p {p})"


def _rank(pool: PoolFigures) -> str:
    text = f"rank {pool.rank} of {len(pool.systems)} by GeoRisk; best in {_share(pool.rank_probabilities[0])}"
    if (below := pool.probability_below.get(pool.decided_by)) is not None:
        text += f", below {clean(pool.decided_by, limit=60)} in {_share(below)}"
    return f"{text} of {pool.replicates} replicates"


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"


def _curve(verdict: Verdict, pool: PoolFigures) -> str:
    points = ", ".join(
        f"{short(p.alpha)}: {_signed(verdict, p.reference)} -> {_signed(verdict, p.candidate)}" for p in pool.curve
    )
    return f"GeoRisk at each alpha ({clean(pool.decided_by, limit=60)} -> candidate): {points}"


def loss_or_churn(verdict: Verdict) -> str | None:
    """Which of the two it was, in words."""
    if verdict.reason == "loss":
        return "loss: GeoRisk is significantly lower at alpha 0 too, where a loss counts no more than a win"
    if verdict.reason == "churn" or any(warning.code == "churn" for warning in verdict.warnings):
        text = (
            "churn: at alpha 0 GeoRisk is not significantly lower; here a loss counts "
            f"{short(1 + verdict.alpha)} times, and that makes the difference"
        )
        return text if verdict.on_churn == "warn" else f"{text}. on_churn: warn lets churn pass with a warning."
    return None


def method_name(method: str) -> str:
    """Intervals of GeoRisk: Student-t has its error from the jackknife."""
    return "Student-t (jackknife)" if method == "student_t" else NAMES[method]
