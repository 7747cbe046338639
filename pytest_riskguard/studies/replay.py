"""Past releases under several alphas: which of them each policy would have stopped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from pytest_riskguard.reports import Section, Table, clean, counted, listed

if TYPE_CHECKING:
    from pytest_riskguard import Verdict
    from pytest_riskguard.data import TopicScores

#: Below this many topics gates have no answer.
MIN_TOPICS = 10


@dataclass(frozen=True)
class AnswerAt:
    """What a gate at this alpha would have said."""

    alpha: float
    outcome: str
    reason: str | None


@dataclass(frozen=True)
class PastRelease:
    """One release against what came ``against``, in units of the measure.

    ``alpha_star`` is the largest alpha that lets it pass, None for a loss and below 10 topics, ``any`` if every alpha
    does. With a ``problem`` nothing could be compared.
    """

    name: str
    against: str
    regretted: bool
    mean_difference: float | None = None
    answers: tuple[AnswerAt, ...] = ()
    alpha_star: float | Literal["any"] | None = None
    worst_topic: str | None = None
    worst_difference: float | None = None
    problem: str | None = None

    @property
    def decided(self) -> bool:
        """Whether the gates had an answer."""
        return any(answer.outcome in ("pass", "fail") for answer in self.answers)

    def stopped_above(self, alpha: float | None) -> bool:
        """Whether every larger alpha stops it; None is below 0."""
        star = self.alpha_star
        return self.decided and star != "any" and (star is None or (alpha is not None and star <= alpha))


@dataclass(frozen=True)
class Replay:
    """Past releases, oldest first, and the alphas that would have stopped them."""

    measure: str | None
    level: float
    method: str
    tolerance: float
    topics: int
    alphas: tuple[float, ...]
    releases: tuple[PastRelease, ...]

    @property
    def regretted(self) -> tuple[PastRelease, ...]:
        """The releases that the team regretted and that the gates had an answer for."""
        return tuple(release for release in self.releases if release.regretted and release.decided)

    @property
    def stops_regretted_above(self) -> float | Literal["any"] | None:
        """The alpha above which every regretted release is stopped; None if all fail at alpha 0 already.

        ``any`` if one of them passes at every alpha.
        """
        stars = [release.alpha_star for release in self.regretted]
        if "any" in stars:
            return "any"
        return max((star for star in stars if isinstance(star, float)), default=None)

    @property
    def price(self) -> tuple[str, ...]:
        """The other releases that every such alpha stops too."""
        above = self.stops_regretted_above
        if above == "any":
            return ()
        return tuple(r.name for r in self.releases if not r.regretted and r.stopped_above(above))


def replay(
    runs: Sequence[TopicScores],
    judge: Callable[..., Sequence[Verdict]],
    *,
    alphas: tuple[float, ...],
    baseline: TopicScores | None = None,
    regretted: Collection[str] = (),
    **options: Any,
) -> Replay:
    """Judge releases, oldest first, each against the one before it, or all against one ``baseline``.

    ``judge`` gives verdicts as ``Inputs.verdicts`` does: not_significantly_risky is asked at each of the ``alphas``,
    with further ``options``. Releases that cannot be compared have a ``problem``. ``ValueError`` for too few runs and
    for regretted names that are not judged.
    """
    pairs = list(pairwise(runs)) if baseline is None else [(baseline, run) for run in runs]
    if not pairs:
        raise ValueError("one run has no release before it: name more runs, oldest first, or a baseline")
    known = [run.name for _, run in pairs]
    for name in regretted:
        if name not in known:
            raise ValueError(f"--regretted: expected one of {', '.join(known)}, found {name!r}")
    releases = []
    for before, run in pairs:
        # churn counts: this is about what each alpha would have stopped
        verdicts = judge("not_significantly_risky", [(run, before)], alphas=alphas, on_churn="fail", **options)
        releases.append(_release(run, before, verdicts, regretted=run.name in regretted))
    asked, first = verdicts[0], runs[0]
    return Replay(
        first.measure, asked.level, asked.method, asked.tolerance, len(first.topics), alphas, tuple(releases)
    )


def _release(run: TopicScores, before: TopicScores, verdicts: Sequence[Verdict], *, regretted: bool) -> PastRelease:
    release = PastRelease(run.name, before.name, regretted)
    for verdict in verdicts:
        if verdict.outcome == "incomparable":
            return replace(release, problem="; ".join(filter(None, (verdict.problem, verdict.remedy))))
    estimates = verdicts[0].estimates
    worst = min(verdicts[0].responsible_topics, key=lambda topic: topic.difference, default=None)
    return replace(
        release,
        mean_difference=estimates.mean_difference,
        answers=tuple(AnswerAt(verdict.alpha, verdict.outcome, verdict.reason) for verdict in verdicts),
        alpha_star=estimates.alpha_star,
        worst_topic=None if worst is None else worst.topic,
        worst_difference=None if worst is None else worst.difference,
    )


SCHEMA = "riskguard-replay/1"
#: How many releases a line names.
MAX_NAMED = 5
_LEGEND = (
    "!: regretted. Below each alpha: the answer of not_significantly_risky; loss and churn stop a release, churn "
    "only because losses weigh more. alpha*: the largest alpha that lets it pass. This describes past releases; "
    "riskguard power says how often later ones will be stopped."
)


def section(replays: Sequence[Replay]) -> Section:
    """For each measure a conclusion and a line for each release; then a legend."""
    return Section("Past releases", parts=[*map(_of_measure, replays)], notes=[_LEGEND])


def _of_measure(replay: Replay) -> Section:
    releases = replay.releases
    one = len({release.against for release in releases}) == 1
    compared = f"against {clean(releases[0].against)}" if one else "each against the one before it"
    return Section(
        f"{clean(replay.measure or 'scores')}, {counted(replay.topics, 'topic')}, "
        f"{counted(len(releases), 'release')} {compared}; level {100 * replay.level:g}%, method {replay.method}, "
        f"tolerance {replay.tolerance:g}",
        _conclusion(replay),
        [_releases(replay)],
        [f"{clean(r.name)} cannot be compared: {clean(r.problem)}" for r in releases if r.problem is not None],
    )


def _releases(replay: Replay) -> Table:
    alphas = [f"{alpha:g}" for alpha in replay.alphas]
    columns = {"release": "name", "change": "+.4f", f"alpha {alphas[0]}": "number"}
    columns |= dict.fromkeys(alphas[1:], "number")
    columns |= {"alpha*": "number", "worst topic": "name", "its change": "+.4f"}
    rows: list[tuple[object, ...]] = []
    for release in replay.releases:
        name, star = release.name + " !" * release.regretted, release.alpha_star
        if release.problem is not None:
            rows.append((name, *[None] * (len(alphas) + 2), "", ""))
            continue
        answers = [{"pass": "pass", "fail": one.reason}.get(one.outcome, "-") for one in release.answers]
        largest = f"{star:.4g}" if isinstance(star, float) else star
        worst = (release.worst_topic or "none lost", "" if release.worst_topic is None else release.worst_difference)
        rows.append((name, release.mean_difference, *answers, largest, *worst))
    return Table("", columns, rows, none="-")


def _conclusion(replay: Replay) -> list[str]:
    if replay.topics < MIN_TOPICS:
        return [f"too few topics: below {MIN_TOPICS} every gate is inconclusive"]
    if not any(release.regretted for release in replay.releases):
        return ["--regretted NAME marks a release that you regretted: then this says which alpha stops it"]
    names = tuple(release.name for release in replay.regretted)
    if not names:
        return []
    above = replay.stops_regretted_above
    if above == "any":
        missed = tuple(release.name for release in replay.regretted if release.alpha_star == "any")
        return [f"no alpha stops {listed(missed, most=MAX_NAMED)}"]
    which = "every alpha" if above is None else f"every alpha above {above:.4g}"
    too = f", and {listed(replay.price, most=MAX_NAMED)} too" if replay.price else ""
    return [f"{which} stops all regretted releases ({listed(names, most=MAX_NAMED)}){too}"]
