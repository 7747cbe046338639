"""A verdict as text: the first line that a failing test shows, the paragraph under it, the table of topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.figures import figures
from pytest_riskguard.reports.sections import documents, judgements, slices, topics
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.reports.terminal.topic_table import strip, topic_table
from pytest_riskguard.run_context import Screen
from pytest_riskguard.text import clean, counted, listed, signed


def explain(
    verdict: Verdict, screen: Screen | None = None, *, reproduce: str | None = None, problem: str | None = None
) -> str:
    """The whole answer: headline, figures, loss or churn, topics responsible, warnings, how to see it again."""
    screen = screen or Screen()
    shown, everything = Shown(verdict), screen.topics is None
    lines = [shown.headline(problem=problem)]
    if verdict.explanation is not None:
        lines += _indented([clean(verdict.explanation.summary, limit=1_000_000)], screen)
    if verdict.outcome != "incomparable":
        lines += [*_indented(figures(verdict), screen), *strip(verdict, screen)]
        if shown.explains_topics and shown.losers:
            lines += _responsible(shown, screen)
        for section in (slices(verdict, everything=everything), judgements(verdict, everything=everything)):
            lines += _indented(section.sentences if section else (), screen)
    lines += _indented([f"warning ({clean(w.code)}): {_cut(w.message, screen)}" for w in verdict.warnings], screen)
    if reproduce:
        lines.append(f"  reproduce: {reproduce}")
    return "\n".join(lines)


def _cut(message: str, screen: Screen) -> str:
    """A message that lists topics, no longer than a screen unless everything was asked for."""
    if screen.topics is None:
        return clean(message, limit=1_000_000)
    return clean(message, limit=12 * screen.width)


def _indented(paragraphs: Iterable[str], screen: Screen, *, room: int = 0) -> list[str]:
    """Each paragraph wrapped, ``room`` columns narrower than the screen."""
    return layout.wrapped(paragraphs, width=max(screen.width - room, 40))


def _responsible(shown: Shown, screen: Screen) -> list[str]:
    verdict, count = shown.verdict, len(shown.losers)
    lost = f"{counted(count, 'topic')} lost"
    if verdict.asked.by_topic:
        lost = f"{count} of {counted(verdict.topics.losses, 'topic')} lost too much"
    most = count if screen.topics is None else screen.topics
    title = f"topics responsible ({lost}"
    title += f"; the {most} most harmful, -vv shows all):" if most < count else "):"
    lines = [*_indented([title], screen), *topic_table(topics(shown), screen)]
    moved = documents(verdict, everything=screen.topics is None)
    if moved and moved.sentences:
        lines += _indented(["documents that moved:"], screen)
        lines += ["  " + line for line in _indented(moved.sentences, screen, room=2)]
    if verdict.flagged_wins and not verdict.asked.by_topic:
        wins = tuple(f"{topic.topic} ({signed(topic.difference)})" for topic in verdict.flagged_wins)
        lines += _indented([f"flagged wins: {listed(wins, most=most)}"], screen)
    if flips := _flips(verdict, most):
        lines += _indented([flips], screen)
    return lines


def _flips(verdict: Verdict, most: int) -> str | None:
    flips = verdict.estimates.flip_set
    if verdict.outcome != "fail" or verdict.asked.by_topic:
        return None
    if flips is None:
        if verdict.topics.count <= MIN_TOPICS:
            return None
        return f"removing the worst topics does not flip the verdict as long as {MIN_TOPICS} remain"
    bound = "" if len(flips) == 1 else " (found greedily: an upper bound on the smallest such set)"
    return f"would pass without {counted(len(flips), 'topic')}: {listed(flips, most=max(most, 10))}{bound}"


def warning_lines(verdict: Verdict, screen: Screen) -> list[str]:
    """The warnings of a verdict that no failure message has shown, one a line."""
    if not verdict.passed:
        return []
    return [f"{clean(warning.code)}: {_cut(warning.message, screen)}" for warning in verdict.warnings]


def uncorrected(verdicts: Sequence[Verdict]) -> str | None:
    """A note that several risk gates were judged, each at its own level; None if fewer than two were."""
    alone = [v for v in verdicts if v.estimates.decision_p_value is not None and v.family is None]
    if len(alone) < 2:
        return None
    return (
        f"{len(alone)} risk gates, each at its own level, not corrected for multiple comparisons (family: holm "
        "corrects)"
    )
