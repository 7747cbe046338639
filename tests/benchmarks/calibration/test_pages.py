"""What pages say of the study by the number of changes is what its tables hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from tests.benchmarks.calibration.family_study import APART, FAMILIES, LIKE, SAME, TOGETHER
from tests.benchmarks.calibration.pool_study import POPULATIONS
from tests.benchmarks.calibration.populations import BETS, CONTINUOUS, LATTICE, REAL, SHIFTED
from tests.benchmarks.calibration.tables import read
from tests.docs.pages import DOCS

EXPLANATION = DOCS / "explanation"
#: Changes from which on the rule is near its level.
ENOUGH = 6


def rows(name: str) -> list[dict[str, str]]:
    header, *lines = read(name)
    return [dict(zip(header, line, strict=True)) for line in lines]


def everywhere(row: dict[str, str]) -> bool:
    return bool(row)


def shares(name: str, column: str, where: Callable[[dict[str, str]], bool] = everywhere) -> list[float]:
    """A column of the rows asked for, of which there must be some."""
    found = [float(row[column]) for row in rows(name) if where(row)]
    assert found
    return found


def few(
    column: str,
    *,
    kinds: tuple[str, ...] = (SHIFTED, BETS),
    alphas: tuple[int, ...] = (0, 1, 5, 10),
    changed: Iterable[int] = range(ENOUGH, 10_000),
    sources: tuple[str, ...] = (REAL, CONTINUOUS, LATTICE),
) -> list[float]:
    """Shares of the table of few changes."""
    sizes = set(changed)
    return shares(
        "few-changes",
        column,
        lambda row: (
            row["kind"] in kinds
            and int(row["alpha"]) in alphas
            and int(row["changed"]) in sizes
            and row["data"] in sources
        ),
    )


def families(where: str, *, column: str = "auto", see: str = "nothing", **of: int) -> list[float]:
    """Shares of the table of families, of those with these gates or this alpha."""
    return shares(
        "families",
        column,
        lambda row: (
            (row["topics are"], row["to see"]) == (where, see)
            and all(int(row[name]) == value for name, value in of.items())
        ),
    )


def decided(table: str, gate: str = "") -> list[float]:
    """Shares of wrong decisions, where there were any decisions."""
    return shares(table, "wrong", lambda row: row["wrong"] != "" and row.get("gate", "") == gate)


def test_false_alarms_are_near_their_level() -> None:
    # nominal is 2.5%; where only conservative, as with fair bets at alpha 10 and few changes, it may be less
    assert max(few("rule")) <= 4.5
    assert min(few("rule", alphas=(0, 1, 5), sources=(REAL,))) >= 0.9
    assert max(few("BCa", alphas=(0,))) > 8


def test_families_seldom_fail_by_mistake() -> None:
    # nominal is 2.5%; 4.5% plus one standard error of 4,000 families
    apart, same = families(LIKE, changed=APART[1]), families(SAME, changed=TOGETHER[1])
    assert max(*apart, *same) <= 4.5 + 0.33


@pytest.mark.parametrize(("where", "changed"), [(LIKE, APART[1]), (SAME, TOGETHER[1])])
def test_families_see_a_loss_about_as_often_as_by_holms_method(where: str, changed: int) -> None:
    for gates in FAMILIES:
        for alpha, below in ((0, 5.0 if gates < 10 else 0.0), (1, 9.0)):
            of = {"changed": changed, "gates": gates, "alpha": alpha}
            (auto,), (holm,) = (families(where, column=by, see="a loss", **of) for by in ("auto", "Holm"))
            assert auto >= holm - below


def test_not_inferior_seldom_passes_what_it_should_not() -> None:
    assert max(shares("not-inferior", "rule")) <= 4.8


def test_what_differs_by_the_tolerance_is_seldom_called_equivalent() -> None:
    assert max(shares("equivalent", "rule")) <= 4.5


def test_pools_are_near_their_level() -> None:
    assert max(shares("georisk-few-changes", "rule")) <= 4.3
    assert set(POPULATIONS) > {row["population"] for row in rows("georisk-few-changes")}


def test_clusters_and_strata_are_near_their_level() -> None:
    # with 1,000 data sets three standard errors are 1.5 points
    upper = [*decided("clusters", "not_significantly_risky"), *decided("strata")]
    assert max(upper) <= 4.3
    assert min(upper) >= 0.7
    assert max(decided("clusters", "not_inferior")) <= 4.3
