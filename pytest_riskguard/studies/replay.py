"""Past releases under several alphas: which of them each policy would have stopped."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from pytest_riskguard.formats.serialization import to_plain
from pytest_riskguard.reports.json import document
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.text import clean, counted, fitted, listed, percent, short, signed

if TYPE_CHECKING:
    from pytest_riskguard import Verdict
    from pytest_riskguard.evaluation import TopicScores

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
        raise ValueError("expected at least two runs, or a baseline; found nothing to compare")
    known = [run.name for _, run in pairs]
    for name in regretted:
        if name not in known:
            raise ValueError(f"regretted: expected one of {', '.join(known)}, found {name!r}")
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
            return replace(release, problem=verdict.problem)
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
#: No table is readable at a smaller width.
MIN_WIDTH = 60
_MOST_NAMED, _NAME_WIDTH = 5, 16


def dumps(replays: Sequence[Replay]) -> str:
    """The replays as JSON text."""
    return document(SCHEMA, {"replays": to_plain(replays)})


def explain(replays: Sequence[Replay], *, width: int) -> str:
    """For each measure a line for each release, a line for each policy, and a conclusion; then a legend."""
    width = max(width, MIN_WIDTH)
    blocks = [_block(replay, width) for replay in replays]
    return "\n\n".join([*blocks, textwrap.fill(_LEGEND, width=width)])


_LEGEND = (
    "!: regretted. Below each alpha: the answer of not_significantly_risky; loss and churn stop a release, churn "
    "only because losses weigh more. alpha*: the largest alpha that lets it pass. max_loss: what no_topic_collapse "
    "stops. This describes past releases; riskguard power says how often later ones will be stopped."
)


def _block(replay: Replay, width: int) -> str:
    releases = replay.releases
    against = {release.against for release in releases}
    one = len(against) == 1 and len(releases) > 1
    compared = f"against {clean(releases[0].against)}" if one else "each against the one before it"
    heading = (
        f"{clean(replay.measure or 'scores')}, {counted(replay.topics, 'topic')}, "
        f"{counted(len(releases), 'release')} {compared}; level {percent(replay.level)}, method {replay.method}, "
        f"tolerance {short(replay.tolerance)}"
    )
    lines = [*textwrap.wrap(heading, width=width), *_releases(replay, width), "", *_policies(replay, width)]
    notes = [f"{clean(r.name)} cannot be compared: {clean(r.problem)}" for r in releases if r.problem is not None]
    return "\n".join([*lines, *layout.wrapped([*notes, *_conclusion(replay)], width=width)])


def _table(names: Sequence[str], rows: Sequence[Sequence[str]], *, left: Collection[int], width: int) -> list[str]:
    """Only the last column is broken where the lines are too short."""
    from rich.text import Text

    table = layout.bare_table()
    for column, name in enumerate(names):
        last = column == len(names) - 1
        table.add_column(name, justify="left" if column in left else "right", no_wrap=not last, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return ["  " + line for line in layout.lines(table, width=width - 2)]


def _releases(replay: Replay, width: int) -> list[str]:
    alphas = [policy.alpha for policy in replay.policies if policy.alpha is not None]
    names = ["release", "change", *map(short, alphas), "alpha*", "worst topic"]
    names[2] = f"alpha {names[2]}"
    rows = []
    for release in replay.releases:
        name = fitted(clean(release.name), _NAME_WIDTH) + " !" * release.regretted
        if release.problem is not None:
            rows.append([name, *["-"] * (len(alphas) + 2), ""])
            continue
        answers = [_word(answer.outcome, answer.reason) for answer in release.answers]
        rows.append([name, signed(release.mean_difference), *answers, _largest_alpha(release), _worst(release)])
    return _table(names, rows, left=(0, len(names) - 1), width=width)


def _word(outcome: str, reason: str | None) -> str:
    return {"pass": "pass", "fail": reason or "fail"}.get(outcome, "-")


def _largest_alpha(release: PastRelease) -> str:
    star = release.alpha_star
    return "-" if star is None else star if star == "any" else f"{star:.4g}"


def _worst(release: PastRelease) -> str:
    if release.worst_topic is None:
        return "none lost"
    return f"{clean(release.worst_topic, limit=20)} {signed(release.worst_difference)}"


def _policies(replay: Replay, width: int) -> list[str]:
    regretted = sum(release.regretted for release in replay.releases)
    others = len(replay.releases) - regretted
    rows = []
    for policy in replay.policies:
        name = f"max_loss {short(policy.max_loss or 0)}" if policy.alpha is None else f"alpha {short(policy.alpha)}"
        row = [name, *([_stopped(policy.regretted, regretted)] if regretted else []), _stopped(policy.others, others)]
        rows.append(row)
    names = ["policy", "stops of the regretted", "of the others"] if regretted else ["policy", "stops"]
    return _table(names, rows, left=range(len(names)), width=width)


def _stopped(names: tuple[str, ...], of: int) -> str:
    return f"{len(names)} of {of}" + (f": {listed(names, most=_MOST_NAMED)}" if names else "")


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
        return [f"no alpha stops {listed(missed, most=_MOST_NAMED)}{_by_topics(replay.policies, missed)}"]
    which = "every alpha" if above is None else f"every alpha above {above:.4g}"
    stopped = f"{which} stops all regretted releases ({listed(names, most=_MOST_NAMED)})"
    if price := replay.price:
        return [f"{stopped}, and {listed(price, most=_MOST_NAMED)} too"]
    others = [r.alpha_star for r in replay.releases if not r.regretted and isinstance(r.alpha_star, float)]
    if others:
        return [f"{stopped}; up to {min(others):.4g} it stops no other"]
    return [f"{stopped} and no other"]


def _by_topics(policies: Sequence[Policy], missed: tuple[str, ...]) -> str:
    """What a gate on single topics does about releases that no alpha stops."""
    policy = next(policy for policy in policies if policy.alpha is None)
    caught = tuple(name for name in missed if name in policy.regretted)
    limit = short(policy.max_loss or 0)
    return f"; no_topic_collapse with max_loss {limit} stops {listed(caught, most=_MOST_NAMED)}" if caught else ""
