"""A verdict as text: the first line that a failing test shows, the paragraph under it, the table of topics."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from pytest_riskguard.gates.findings import ResponsibleTopic
from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.figures import estimate, figures, has, shown
from pytest_riskguard.reports.sections import moved_documents, slices, unjudged
from pytest_riskguard.reports.topic_table import strip, table
from pytest_riskguard.run_context import Screen
from pytest_riskguard.text import clean, counted, listed, short, signed

_VERDICTS = {
    ("not_significantly_risky", "pass"): "not significantly risky",
    ("not_significantly_risky", "fail"): "significantly risky",
    ("georisk_not_worse", "pass"): "GeoRisk not worse",
    ("georisk_not_worse", "fail"): "GeoRisk significantly worse",
    ("not_inferior", "pass"): "not inferior",
    ("not_inferior", "fail"): "not shown to be not inferior",
}


def headline(verdict: Verdict, *, problem: str | None = None) -> str:
    """The verdict in one line, most important first: what ``FAILED id - ...`` shows.

    ``problem`` says what is wrong with the data, where the caller knows more than the verdict (whole paths).
    """
    if verdict.outcome == "incomparable":
        return f"incomparable ({clean(verdict.reason or '')}): {clean(problem or verdict.problem or '', limit=2000)}"
    about = f"{clean(verdict.measure)}, " if verdict.measure else ""
    about += part_of_topics(verdict)
    if verdict.pool is not None:
        about += f", pool of {len(verdict.pool.systems)}"
    if verdict.kind == "no_topic_collapse":
        line = f"{collapse(verdict)} ({about}"
    else:
        asked = verdict.kind == "not_inferior" or verdict.tolerance > 0
        bound = f"; bound {shown(verdict, -verdict.tolerance)}" if asked else ""
        line = f"{_said(verdict)}: {estimate(verdict)} ({about}{bound}"
        if verdict.responsible_topics and verdict.outcome == "fail":
            line += f"; worst: {clean(verdict.responsible_topics[0].topic, limit=60)}"
    if verdict.topics.missing_in_candidate:
        line += f"; {len(verdict.topics.missing_in_candidate)} unanswered"
    return line + ")"


def part_of_topics(verdict: Verdict) -> str:
    """``intent=code, 30 topics``; without a slice the number of topics alone."""
    part = "" if verdict.slice is None else f"{clean(verdict.slice, limit=60)}, "
    return f"{part}{counted(verdict.topics.count, 'topic')}"


def worst_loss(verdict: Verdict) -> float | None:
    """The largest loss of a topic that collapsed, else of any topic; None where none lost."""
    worst = next(iter(_collapsed(verdict) or _worst_first(verdict.responsible_topics)), None)
    return None if worst is None else worst.difference


def _collapsed(verdict: Verdict) -> tuple[ResponsibleTopic, ...]:
    return _worst_first(tuple(topic for topic in verdict.responsible_topics if topic.exceeds))


def collapse(verdict: Verdict) -> str:
    """What became of the topic that fell furthest, beside what topics may lose."""
    guilty, others = _collapsed(verdict), _worst_first(verdict.responsible_topics)
    limits = []
    if verdict.max_loss is not None:
        limits.append(f"loss {short(verdict.max_loss)}")
    if verdict.max_share is not None:
        limits.append(f"{short(100 * verdict.max_share)} % of the baseline's score")
    if verdict.protected:
        limits.append(f"{counted(len(verdict.protected), 'entry', 'entries')} protected")
    may = f"limits: {', '.join(limits)}"
    if guilty:
        worst = f"worst {clean(guilty[0].topic, limit=60)} {signed(guilty[0].difference)}"
        return f"{counted(len(guilty), 'topic')} collapsed: {worst}; {may}"
    largest = (
        f"largest loss {clean(others[0].topic, limit=60)} {signed(others[0].difference)}" if others else "no loss"
    )
    return f"no topic collapsed: {largest}; {may}"


def _worst_first(topics: tuple[ResponsibleTopic, ...]) -> tuple[ResponsibleTopic, ...]:
    return tuple(sorted(topics, key=lambda topic: round(topic.difference, 12)))


def _said(verdict: Verdict) -> str:
    if verdict.outcome == "inconclusive":
        return f"inconclusive, {inconclusive(verdict)}"
    if verdict.outcome == "pass" and has(verdict, "churn"):
        return "churn let through"
    return _VERDICTS.get((verdict.kind, verdict.outcome), verdict.outcome)


def inconclusive(verdict: Verdict) -> str:
    """Why there is no answer, in words."""
    return "too few topics" if verdict.reason == "too_few_topics" else "too weak"


def explain(
    verdict: Verdict, screen: Screen | None = None, *, reproduce: str | None = None, problem: str | None = None
) -> str:
    """The whole answer: headline, figures, loss or churn, topics responsible, warnings, how to see it again."""
    screen = screen or Screen()
    lines = [headline(verdict, problem=problem)]
    if verdict.explanation is not None:
        lines += _indented([clean(verdict.explanation.summary, limit=1_000_000)], screen)
    if verdict.outcome != "incomparable":
        lines += [*_indented(figures(verdict), screen), *strip(verdict, screen)]
        if verdict.outcome == "fail" or has(verdict, "churn"):
            lines += _responsible(verdict, screen)
        lines += _indented([*slices(verdict, screen), *unjudged(verdict, screen)], screen)
    lines += _indented([f"warning ({clean(w.code)}): {_cut(w.message, screen)}" for w in verdict.warnings], screen)
    if reproduce:
        lines.append(f"  reproduce: {reproduce}")
    return "\n".join(lines)


def _cut(message: str, screen: Screen) -> str:
    """A message that lists topics, no longer than a screen unless everything was asked for."""
    if screen.topics is None:
        return clean(message, limit=1_000_000)
    return clean(message, limit=12 * screen.width)


def _indented(paragraphs: list[str], screen: Screen, *, room: int = 0) -> list[str]:
    """Each paragraph wrapped, ``room`` columns narrower than the screen."""
    wrapped: list[str] = []
    for paragraph in paragraphs:
        wrapped += textwrap.wrap(
            paragraph,
            width=max(screen.width - room, 40),
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return wrapped


def _responsible(verdict: Verdict, screen: Screen) -> list[str]:
    # most harmful first, so those behind are differences that no tool prints: no losses to look at
    losers = verdict.responsible_topics[: verdict.topics.losses] or verdict.responsible_topics
    lost = f"{counted(len(losers), 'topic')} lost"
    if verdict.kind == "no_topic_collapse":
        losers = _worst_first(tuple(topic for topic in losers if topic.exceeds))
        lost = f"{len(losers)} of {lost} too much"
    if not losers:
        return []
    most = len(losers) if screen.topics is None else screen.topics
    title = f"topics responsible ({lost}"
    title += f"; the {most} most harmful, -vv shows all):" if most < len(losers) else "):"
    by_share = verdict.kind != "no_topic_collapse"  # there nothing adds up: each topic has its own limit
    lines = [*_indented([title], screen), *table(losers[:most], screen, shares=by_share)]
    if told := moved_documents(verdict, losers, screen):
        lines += _indented(["documents that moved:"], screen)
        lines += ["  " + line for line in _indented(told, screen, room=2)]
    if verdict.flagged_wins and verdict.kind != "no_topic_collapse":
        wins = tuple(f"{t.topic} ({signed(t.difference)})" for t in verdict.flagged_wins)
        lines += _indented([f"flagged wins: {listed(wins, most=most)}"], screen)
    if flips := _flips(verdict, most):
        lines += _indented([flips], screen)
    return lines


def _flips(verdict: Verdict, most: int) -> str | None:
    flips = verdict.estimates.flip_set
    if verdict.outcome != "fail" or verdict.kind == "no_topic_collapse":
        return None
    if flips is None:
        if verdict.topics.count <= MIN_TOPICS:
            return None
        return f"taking out the worst topics does not flip it, as long as {MIN_TOPICS} are left"
    bound = "" if len(flips) == 1 else " (found greedily: an upper bound on the smallest such set)"
    return f"would pass without {counted(len(flips), 'topic')}: {listed(flips, most=max(most, 10))}{bound}"


def warning_lines(verdict: Verdict, screen: Screen) -> list[str]:
    """The warnings of a verdict that no failure message has shown, one a line."""
    if not verdict.passed:
        return []
    return [f"{clean(warning.code)}: {_cut(warning.message, screen)}" for warning in verdict.warnings]


def uncorrected(verdicts: Sequence[Verdict]) -> str | None:
    """That several risk gates were judged, each at its own level; None where there is nothing to say."""
    alone = [v for v in verdicts if v.estimates.decision_p_value is not None and v.family is None]
    if len(alone) < 2:
        return None
    return (
        f"{len(alone)} risk gates, each at its own level: nothing is corrected for asking several questions "
        "(family: holm does)"
    )
