"""What the tables show: every rule of a gate is near its level, or errs on the side that is promised."""

from collections.abc import Callable

from pytest_riskguard.gates.kinds import NoDrift
from tests.benchmarks.calibration.drift_study import GROW
from tests.benchmarks.calibration.family_study import LIKE, SAME
from tests.benchmarks.calibration.populations import BETS, SHIFTED
from tests.benchmarks.calibration.tables import read

Row = dict[str, str]


def shares(name: str, column: str, where: Callable[[Row], bool] = bool) -> list[float]:
    """A column of the rows asked for, of which there must be some."""
    header, *lines = read(name)
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    found = [float(row[column]) for row in rows if where(row) and row[column]]
    assert found
    return found


def few(column: str, *alphas: int) -> list[float]:
    """Shares of the table of few changes, from six changes on."""
    return shares(
        "few-changes",
        column,
        lambda row: row["kind"] in (SHIFTED, BETS) and int(row["changed"]) >= 6 and int(row["alpha"]) in alphas,
    )


def test_false_alarms_are_near_their_level() -> None:
    # nominal is 2.5%; where only conservative, as with fair bets at alpha 10 and few changes, it may be less
    assert max(few("rule", 0, 1, 5, 10)) <= 4.5
    assert max(few("BCa", 0)) > 8
    assert max(shares("georisk-few-changes", "rule")) <= 4.3


def test_families_seldom_fail_by_mistake() -> None:
    # nominal is 2.5%; 4.5% plus one standard error of 4,000 families
    for where, changed in ((LIKE, 12), (SAME, 80)):
        place = (where, "nothing", str(changed))
        found = shares("families", "auto", lambda row: (row["topics are"], row["to see"], row["changed"]) == place)  # noqa: B023
        assert max(found) <= 4.5 + 0.33


def test_what_should_not_pass_seldom_does() -> None:
    assert max(shares("not-inferior", "rule")) <= 4.8
    assert max(shares("equivalent", "rule")) <= 4.5


def test_clusters_are_near_their_level() -> None:
    # with 1,000 data sets three standard errors are 1.5 points
    risky = shares("clusters", "wrong", lambda row: row["gate"] == "not_significantly_risky")
    assert 0.7 <= min(risky) <= max(risky) <= 4.3
    assert max(shares("clusters", "wrong", lambda row: row["gate"] == "not_inferior")) <= 4.3


def test_years_of_no_drift_keep_what_the_docs_promise() -> None:
    level = NoDrift().level
    assert max(shares("no-drift", f"rule at {level:g}", lambda row: row["the difference"] == GROW)) <= 4.0


def test_pools_of_equal_systems_are_near_their_level_where_no_verdict_warns() -> None:
    many = shares("georisk", "BCa", lambda row: int(row["topics"]) >= 50 or int(row["alpha"]) == 1)
    assert 1.0 <= min(many) <= max(many) <= 4.0
