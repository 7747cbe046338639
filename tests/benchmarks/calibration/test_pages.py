"""What pages say of the study by the number of changes is what its tables hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from tests.benchmarks.calibration.family_study import APART, FAMILIES, LIKE, SAME, TOGETHER
from tests.benchmarks.calibration.pool_study import POPULATIONS
from tests.benchmarks.calibration.populations import BETS, CONTINUOUS, LATTICE, REAL, REWEIGHTED, SHIFTED
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


def span(found: Iterable[float]) -> str:
    """The lowest and the highest of shares, in words."""
    found = sorted(found)
    low, high = f"{found[0]:.1f}%", f"{found[-1]:.1f}%"
    return low if low == high else f"{low} to {high}"


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


def said_of_few_changes() -> list[str]:
    """What calibration.md says of the rule and its rivals."""
    return [
        f"the rule fails {span(few('rule', alphas=(0, 1, 5)))} at alpha 0, 1 and 5,",
        f"and {span(few('rule', alphas=(10,)))} at alpha 10",
        f"BCa alone fails {span(few('BCa', alphas=(0,), changed=range(6, 13)))} at alpha 0 with 6 to 12 changes",
        f"Reweighted data fail in {span(few('rule', kinds=(REWEIGHTED,)))}",
        f"`Student-t or flips` fails {span(few('Student-t or flips'))}",
        f"`BCa and Student-t` fails {span(few('BCa and Student-t', alphas=(5, 10)))} at alpha 5 and 10",
        f"at level 0.9 (nominal 5%) the rule fails {span(few('rule at 0.9'))},",
        f"at 0.99 (nominal 0.5%) {span(few('rule at 0.99'))}",
    ]


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


def said_of_auto() -> list[str]:
    """The table of intervals.md by the number of changes."""
    lines = []
    for n, m in ((100, 4), (100, 6), (100, 10), (50, 12), (100, 25), (100, 100)):
        cells = []
        for alpha in (0, 1, 5):
            for column in ("BCa", "Student-t", "rule"):
                (share,) = shares(
                    "few-changes",
                    column,
                    lambda row, place=(str(m), str(n), REAL, SHIFTED, str(alpha)): (  # type: ignore[misc]
                        tuple(row[key] for key in ("changed", "topics", "data", "kind", "alpha")) == place
                    ),
                )
                cells.append(f"{share:.1f}")
        three = [" / ".join(cells[i : i + 3]) for i in (0, 3, 6)]
        lines.append(f"| {m} | {n} | {' | '.join(three)} |")
    return lines


def said_of_losses() -> list[str]:
    """The power of the rule beside Student-t's."""
    seen = [
        shares("losses-seen", column, lambda row: int(row["changed"]) >= ENOUGH) for column in ("rule", "Student-t")
    ]
    return [f"the rule sees {span(seen[0])} of such losses, Student-t alone {span(seen[1])}"]


def said_of_not_inferior() -> list[str]:
    """What intervals.md says of the lower side."""

    def of(column: str, *alphas: int) -> str:
        return span(shares("not-inferior", column, lambda row: int(row["alpha"]) in alphas))

    return [
        f"BCa and Student-t together pass {of('BCa and Student-t', 0)} at alpha 0,",
        f"{of('BCa and Student-t', 1)} at alpha 1 and {of('BCa and Student-t', 5)} at alpha 5",
        f"the gate passes {of('rule', 0, 1, 5)}",
    ]


def said_of_equivalent() -> list[str]:
    """What intervals.md says of both sides."""
    return [f"where the mean difference is exactly the tolerance, it passes {span(shares('equivalent', 'rule'))}"]


def unequal(column: str, gate: str, **where: object) -> list[float]:
    """Shares of the table of wins and losses of unequal size, in the rows with these values."""
    values = {key.replace("_", " "): str(value) for key, value in where.items()}

    def of(row: dict[str, str]) -> bool:
        return row["gate"] == gate and all(row[key] == value for key, value in values.items())

    return shares("unequal-sizes", column, of)


def said_of_larger_losses() -> list[str]:
    """What intervals.md says of losses larger than wins."""
    three, ten = "losses 3 times wins", "losses 10 times wins"

    def passes(kind: str, alpha: int) -> str:
        return span(unequal("rule", "not_inferior", kind=kind, alpha=alpha, tolerance=0))

    wins = [
        share
        for kind in ("wins 3 times losses", "wins 10 times losses")
        for share in unequal("rule", "not_inferior", kind=kind, tolerance=0)
    ]
    wrong, warned = (
        sum(sum(unequal(column, "not_inferior", kind=kind, tolerance=0)) for kind in (three, ten))
        for column in ("rule", "warned")
    )

    def good(column: str, topics: int) -> list[float]:
        return unequal(column, "not_inferior", kind=BETS, topics=topics)

    def left(topics: int) -> str:
        """How many of the passes of good candidates have no warning."""
        passed, with_it = sum(good("rule", topics)), sum(good("warned", topics))
        return f"{100 * (1 - with_it / passed):.0f}%"

    return [
        f"with losses 3 times as large as wins, it passes {passes(three, 0)} at alpha 0, {passes(three, 1)} at alpha "
        f"1 and {passes(three, 5)} at alpha 5;",
        f"with losses 10 times as large {passes(ten, 0)}, {passes(ten, 1)} and {passes(ten, 5)};",
        f"with wins that are larger {span(wins)}.",
        f"`equivalent` passes {span(unequal('rule', 'equivalent', kind=three))} and "
        f"{span(unequal('rule', 'equivalent', kind=ten))} with such losses",
        f"Of these wrong passes {100 * warned / wrong:.0f}% have the warning",
        f"that would leave {left(25)} of the passes with 25 topics, {left(50)} with 50, {left(100)} with 100 and "
        f"{left(250)} with 250.",
    ]


def said_of_larger_wins() -> list[str]:
    """What intervals.md says of wins larger than losses."""

    def fails(kind: str, **where: int) -> str:
        (share,) = unequal("rule", "not_significantly_risky", kind=kind, alpha=0, **where)
        return f"{share:.1f}%"

    three, ten = "wins 3 times losses", "wins 10 times losses"
    places = ({"changed": 6, "topics": 100}, {"changed": 10, "topics": 50}, {"changed": 50, "topics": 50})
    first, second, third = (fails(three, **place) for place in places)
    tens = [fails(ten, **place) for place in places]
    return [
        f"wins that are 3 times the losses fail {first} of harmless changes if 6 of 100 topics changed, {second} if "
        f"10 of 50 did, and {third} if all of 50 did;",
        f"at 10 times {tens[0]}, {tens[1]} and {tens[2]}.",
        f"(3/4)^6 is {100 * 0.75**6:.1f}%",
    ]


def said_of_pools() -> list[str]:
    """What georisk.md says of pools in which few topics changed."""

    def of(column: str, most: int) -> str:
        return span(shares("georisk-few-changes", column, lambda row: ENOUGH <= int(row["changed"]) <= most))

    return [
        f"BCa alone fails {of('BCa', 12)} where 6 to 12 topics changed",
        f"the gate {of('rule', 10_000)} from 6 changes on",
    ]


def decided(table: str, gate: str = "") -> list[float]:
    """Shares of wrong decisions, where there were any decisions."""
    return shares(table, "wrong", lambda row: row["wrong"] != "" and row.get("gate", "") == gate)


def said_of_parts() -> list[str]:
    """What is said of clusters and strata."""
    by_topic = max(shares("clusters", "by topic", lambda row: row["gate"] == "not_significantly_risky"))
    return [
        f"gates with clusters fail {span(decided('clusters', 'not_significantly_risky'))},",
        f"topic by topic up to {by_topic:.0f}%;",
        f"`not_inferior` passes {span(decided('clusters', 'not_inferior'))}",
        f"gates with strata fail {span(decided('strata'))}",
    ]


def said_of_years() -> list[str]:
    """What a-year-of-gates.md says of looks."""
    most = max(s for looks in (20, 50) for s in shares("year", f"years of {looks}", everywhere))
    hundred, two, thousand = (max(shares("year", f"alarms in {looks}", everywhere)) for looks in (100, 200, 1000))
    return [
        f"in at most {most:.1f}% of simulated years",
        f"100 harmless looks raise {hundred:.3f} false alarms on average, 200 raise {two:.3f} and 1,000 raise",
        f"1,000 raise {thousand:.3f}.",
    ]


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("calibration.md", said_of_few_changes),
        ("calibration.md", said_of_losses),
        ("intervals.md", said_of_auto),
        ("intervals.md", said_of_not_inferior),
        ("intervals.md", said_of_equivalent),
        ("intervals.md", said_of_larger_losses),
        ("intervals.md", said_of_larger_wins),
        ("georisk.md", said_of_pools),
        ("a-year-of-gates.md", said_of_years),
        ("topics-that-hang-together.md", said_of_parts),
    ],
)
def test_pages_say_what_the_tables_hold(page: str, said: Callable[[], list[str]]) -> None:
    text = " ".join((EXPLANATION / page).read_text(encoding="utf-8").split())
    assert [each for each in said() if each not in text] == []


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
