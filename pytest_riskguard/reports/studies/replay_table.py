"""Past releases under several alphas, as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence

from pytest_riskguard.formats.serialization import to_plain
from pytest_riskguard.gates.chain.past_releases import PastRelease, Policy, Replay
from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.reports.json import document
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.text import clean, counted, fitted, listed, percent, short, signed

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
        rows.append([name, signed(release.mean_difference), *answers, _alpha_star(release), _worst(release)])
    return _table(names, rows, left=(0, len(names) - 1), width=width)


def _word(outcome: str, reason: str | None) -> str:
    return {"pass": "pass", "fail": reason or "fail"}.get(outcome, "-")


def _alpha_star(release: PastRelease) -> str:
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
