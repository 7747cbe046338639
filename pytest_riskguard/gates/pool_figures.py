"""What a pool of systems says of each of them as the baseline of all the others: frozen, complete, plain JSON."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_riskguard.risk.concordance import RankTest
from pytest_riskguard.risk.yardstick import YardstickFit

#: Rows are systems judged, columns their baselines; None where there is no such number.
Table = tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Member:
    """One system for one measure.

    Attributes
    ----------
    system : str
    mean : float
        In units of the measure.
    correlation_lowest, correlation_median, correlation_highest : float or None
        Over topics with the other systems; None where its scores, or those of all others, do not vary over topics.
    missing : tuple of str
        Topics that it did not answer; it scores 0 there.
    """

    system: str
    mean: float
    correlation_lowest: float | None
    correlation_median: float | None
    correlation_highest: float | None
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Axes:
    """Principal axes: ``shares`` of all of them, ``coordinates`` of each system on the first five."""

    shares: tuple[float, ...]
    coordinates: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Odd:
    """A baseline that is an odd yardstick for a candidate, both by name."""

    candidate: str
    baseline: str
    fit: YardstickFit


@dataclass(frozen=True)
class Standing:
    """One system at one alpha, against all the others as baselines.

    Attributes
    ----------
    system : str
    urisk_lowest, urisk_median, urisk_highest : float
        Over baselines, in units of the measure.
    place_mean, place_best, place_worst : float or None
        By URisk, 1 is the least risky; None in a pool of two.
    firsts : int
        Baselines under which no other system has a better place.
    zrisk, georisk : float or None
        In the whole pool; None where a score is below 0.
    """

    system: str
    urisk_lowest: float
    urisk_median: float
    urisk_highest: float
    place_mean: float | None
    place_best: float | None
    place_worst: float | None
    firsts: int
    zrisk: float | None
    georisk: float | None


@dataclass(frozen=True)
class Ranking:
    """Places of the systems under every baseline.

    Attributes
    ----------
    by : str
        ``urisk`` or ``trisk``.
    places : Table
        1 is the least risky, equals share the mean of their places; None on the diagonal.
    pairs, pairs_changing : int
        Pairs of systems, and those whose order is another under another baseline.
    friedman, durbin : RankTest or None
        With each baseline's own 0 among the values, as in ECIR 2014, and without; see ``risk.concordance``.
    """

    by: str
    places: Table
    pairs: int
    pairs_changing: int
    friedman: RankTest | None
    durbin: RankTest | None


@dataclass(frozen=True)
class AtAlpha:
    """All systems against all, at one alpha; no ranking in a pool of two."""

    alpha: float
    urisk: Table
    trisk: Table
    standings: tuple[Standing, ...]
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True)
class AtMeasure:
    """All systems against all, for one measure; ``odd`` holds the pairs that go together badly."""

    measure: str | None
    topics: int
    members: tuple[Member, ...]
    correlations: Table
    uncentred: Axes
    centred: Axes
    odd: tuple[Odd, ...]
    alphas: tuple[AtAlpha, ...]


@dataclass(frozen=True)
class Order:
    """An order of the systems: by their mean score (``alpha`` None), or by their mean place at an alpha."""

    measure: str | None
    alpha: float | None


@dataclass(frozen=True)
class Agreement:
    """How far two orders agree.

    Attributes
    ----------
    first, second : Order
    overlap_lower, overlap_residual : float
        Rank-biased overlap at phi 0.9. Their sum is the overlap of the pool taken as complete.
    tau : float or None
        Kendall's tau-b; None where an order has all systems tied.
    """

    first: Order
    second: Order
    overlap_lower: float
    overlap_residual: float
    tau: float | None


@dataclass(frozen=True)
class PoolReport:
    """A pool of systems as each other's yardstick.

    Attributes
    ----------
    systems : tuple of str
        In the order of every row and column.
    qrels : str or None
        Digest of the judgements; None for scores that came without.
    digests : tuple of (str or None)
        Of each system's run or scores.
    measures : tuple of AtMeasure
    agreements : tuple of Agreement
        Between the orders of one measure, and between measures at the same alpha; none in a pool of two.
    """

    systems: tuple[str, ...]
    qrels: str | None
    digests: tuple[str | None, ...]
    measures: tuple[AtMeasure, ...]
    agreements: tuple[Agreement, ...]
