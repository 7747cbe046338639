"""Past releases under several alphas: which of them each policy would have stopped."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from pytest_riskguard.reports import Section, Table, clean, counted, document, listed

if TYPE_CHECKING:
    from pytest_riskguard import Verdict
    from pytest_riskguard.data import TopicScores

#: Below this many topics gates have no answer.
MIN_TOPICS = 10


@dataclass(frozen=True)
class AnswerAt:
    """What a gate at this alpha would have said; ``lower`` and ``upper`` are None below 10 topics."""

    alpha: float
    outcome: str
    reason: str | None
    urisk: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class PastRelease:
    """One release against what came ``against``, in units of the measure.

    ``alpha_star`` is the largest alpha that lets it pass, None for a loss and below 10 topics, ``any`` if every alpha
    does. ``collapses`` are topics that lost more than ``max_loss``. With a ``problem`` nothing could be compared.
    """

    name: str
    against: str
    regretted: bool
    mean: float | None
    mean_difference: float | None = None
    answers: tuple[AnswerAt, ...] = ()
    alpha_star: float | Literal["any"] | None = None
    worst_topic: str | None = None
    worst_difference: float | None = None
    collapses: tuple[str, ...] = ()
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
class Policy:
    """A setting, and the releases that it would have stopped; ``alpha`` is None for a gate on single topics."""

    alpha: float | None
    max_loss: float | None
    regretted: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True)
class Replay:
    """Past releases, oldest first, and what each policy would have stopped."""

    measure: str | None
    level: float
    method: str
    tolerance: float
    topics: int
    releases: tuple[PastRelease, ...]
    policies: tuple[Policy, ...]

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
    max_loss: float = 0.5,
    **options: Any,
) -> Replay:
    """Judge releases, oldest first, each against the one before it, or all against one ``baseline``.

    ``judge`` gives verdicts as ``Inputs.verdicts`` does: not_significantly_risky is asked at each of the ``alphas``,
    with further ``options``, and no_topic_collapse with ``max_loss``. Releases that cannot be compared have a
    ``problem``. ``ValueError`` for too few runs, and for regretted names that are not judged.
    """
    pairs = list(pairwise(runs)) if baseline is None else [(baseline, run) for run in runs]
    if not pairs:
        raise ValueError("one run has no release before it: name more runs, oldest first, or a baseline")
    known = [run.name for _, run in pairs]
    for name in regretted:
        if name not in known:
            raise ValueError(f"--regretted: expected one of {', '.join(known)}, found {name!r}")
    single = {"missing": options["missing"]} if "missing" in options else {}
    releases = []
    for before, run in pairs:
        # churn counts: this is about what each alpha would have stopped
        verdicts = judge("not_significantly_risky", [(run, before)], alphas=alphas, on_churn="fail", **options)
        (collapse,) = judge("no_topic_collapse", [(run, before)], max_loss=max_loss, **single)
        releases.append(_release(run, before, verdicts, collapse, regretted=run.name in regretted))
    policies = [_policy(releases, alpha=alpha) for alpha in alphas] + [_policy(releases, max_loss=max_loss)]
    asked, first = verdicts[0], runs[0]
    return Replay(
        first.measure, asked.level, asked.method, asked.tolerance, len(first.topics), tuple(releases), tuple(policies)
    )


def _release(
    run: TopicScores, before: TopicScores, verdicts: Sequence[Verdict], collapse: Verdict, *, regretted: bool
) -> PastRelease:
    release = PastRelease(run.name, before.name, regretted, math.fsum(run.values) / run.values.size)
    for verdict in (*verdicts, collapse):
        if verdict.outcome == "incomparable":
            return replace(release, problem="; ".join(filter(None, (verdict.problem, verdict.remedy))))
    estimates = verdicts[0].estimates
    lost = [topic for topic in collapse.responsible_topics if topic.difference < 0]
    worst = min(lost, key=lambda topic: topic.difference, default=None)
    return replace(
        release,
        mean=estimates.candidate_mean,
        mean_difference=estimates.mean_difference,
        answers=tuple(map(_answer, verdicts)),
        alpha_star=estimates.alpha_star,
        worst_topic=None if worst is None else worst.topic,
        worst_difference=None if worst is None else worst.difference,
        collapses=tuple(sorted(collapse.estimates.flip_set or ())),
    )


def _answer(verdict: Verdict) -> AnswerAt:
    interval = verdict.decisive_interval
    limits = (None, None) if interval is None else (interval.lower, interval.upper)
    return AnswerAt(verdict.alpha, verdict.outcome, verdict.reason, verdict.estimates.urisk, *limits)


def _policy(releases: Sequence[PastRelease], *, alpha: float | None = None, max_loss: float | None = None) -> Policy:
    stopped = [
        release
        for release in releases
        if any(answer.alpha == alpha and answer.outcome == "fail" for answer in release.answers)
        or (max_loss is not None and release.collapses)
    ]
    return Policy(
        alpha,
        max_loss,
        regretted=tuple(release.name for release in stopped if release.regretted),
        others=tuple(release.name for release in stopped if not release.regretted),
    )


SCHEMA = "riskguard-replay/1"
#: How many releases a line names.
MAX_NAMED = 5
_LEGEND = (
    "!: regretted. Below each alpha: the answer of not_significantly_risky; loss and churn stop a release, churn "
    "only because losses weigh more. alpha*: the largest alpha that lets it pass. max_loss: what no_topic_collapse "
    "stops. This describes past releases; riskguard power says how often later ones will be stopped."
)


def dumps(replays: Sequence[Replay]) -> str:
    """The replays as JSON text."""
    return document(SCHEMA, {"replays": replays})


def section(replays: Sequence[Replay]) -> Section:
    """For each measure a conclusion, a line for each release and one for each policy; then a legend."""
    return Section("Past releases", parts=[*map(_of_measure, replays)], notes=[_LEGEND])


def _of_measure(replay: Replay) -> Section:
    releases = replay.releases
    one = len({release.against for release in releases}) == 1 and len(releases) > 1
    compared = f"against {clean(releases[0].against)}" if one else "each against the one before it"
    return Section(
        f"{clean(replay.measure or 'scores')}, {counted(replay.topics, 'topic')}, "
        f"{counted(len(releases), 'release')} {compared}; level {100 * replay.level:g}%, method {replay.method}, "
        f"tolerance {replay.tolerance:g}",
        _conclusion(replay),
        [_releases(replay), _policies(replay)],
        [f"{clean(r.name)} cannot be compared: {clean(r.problem)}" for r in releases if r.problem is not None],
    )


def _releases(replay: Replay) -> Table:
    alphas = [f"{policy.alpha:g}" for policy in replay.policies if policy.alpha is not None]
    columns = {"release": "name", "change": "+.4f", f"alpha {alphas[0]}": "number"}
    columns |= dict.fromkeys(alphas[1:], "number")
    columns |= {"alpha*": "number", "worst topic": "name", "its change": "+.4f"}
    rows: list[tuple[object, ...]] = []
    for release in replay.releases:
        name, star = release.name + " !" * release.regretted, release.alpha_star
        if release.problem is not None:
            rows.append((name, *[None] * (len(alphas) + 2), "", ""))
            continue
        words = {"pass": "pass", "fail": None}
        answers = [words.get(answer.outcome, "-") or answer.reason or "fail" for answer in release.answers]
        largest = f"{star:.4g}" if isinstance(star, float) else star
        worst = (release.worst_topic or "none lost", "" if release.worst_topic is None else release.worst_difference)
        rows.append((name, release.mean_difference, *answers, largest, *worst))
    return Table("", columns, rows, none="-")


def _policies(replay: Replay) -> Table:
    regretted = sum(release.regretted for release in replay.releases)
    others = len(replay.releases) - regretted
    columns = {"policy": "text", "stops of the regretted": "text", "of the others": "text"}
    rows = [
        (
            f"max_loss {policy.max_loss:g}" if policy.alpha is None else f"alpha {policy.alpha:g}",
            _stopped(policy.regretted, regretted) if regretted else "",
            _stopped(policy.others, others),
        )
        for policy in replay.policies
    ]
    return Table("What each policy would have stopped", columns, rows)


def _stopped(names: tuple[str, ...], of: int) -> str:
    return f"{len(names)} of {of}" + (f": {listed(names, most=MAX_NAMED)}" if names else "")


def _conclusion(replay: Replay) -> list[str]:
    if replay.topics < MIN_TOPICS:
        return [f"too few topics: below {MIN_TOPICS} every gate is inconclusive"]
    if not any(release.regretted for release in replay.releases):
        return ["--regretted NAME marks a release that you regretted: the table then says what would have stopped it"]
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
