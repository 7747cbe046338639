"""A verdict as text: the first line that a failing test shows, the paragraph under it, the table of topics."""

from __future__ import annotations

import io
import textwrap

from pytest_riskguard.gates.spec import FEWEST_TOPICS
from pytest_riskguard.gates.verdict import NAMES, ReportedInterval, ResponsibleTopic, Verdict
from pytest_riskguard.reports.detail import CURRENT, Detail
from pytest_riskguard.reports.text import clean, counted, listed, plain, short, signed

_VERDICTS = {
    ("not_significantly_risky", "pass"): "not significantly risky",
    ("not_significantly_risky", "fail"): "significantly risky",
}
#: From this width on the table has room for long headings beside the query texts.
_WIDE = 90
_TOO_FEW = "too few topics: no interval can be trusted below 10"
_TOO_WEAK = "too weak: it could not have seen a loss of the size that max_mde asks for"


def headline(verdict: Verdict, *, problem: str | None = None) -> str:
    """The verdict in one line, most important first: what ``FAILED id - ...`` shows.

    ``problem`` says what is wrong with the data, where the caller knows more than the verdict (whole paths).
    """
    if verdict.outcome == "incomparable":
        return f"incomparable ({verdict.reason}): {clean(problem or verdict.problem or '', limit=2000)}"
    measure = f"{verdict.measure}, " if verdict.measure else ""
    line = f"{_said(verdict)}: {_estimate(verdict)} ({measure}{counted(verdict.topics.count, 'topic')}"
    if verdict.responsible_topics and verdict.outcome == "fail":
        line += f"; worst: {clean(verdict.responsible_topics[0].topic, limit=60)}"
    if verdict.topics.missing_in_candidate:
        line += f"; {len(verdict.topics.missing_in_candidate)} unanswered"
    return line + ")"


def _said(verdict: Verdict) -> str:
    if verdict.outcome == "inconclusive":
        return "inconclusive, " + ("too few topics" if verdict.reason == "too_few_topics" else "too weak")
    if verdict.outcome == "pass" and _has(verdict, "churn"):
        return "churn let through"
    return _VERDICTS.get((verdict.kind, verdict.outcome), verdict.outcome)


def _has(verdict: Verdict, code: str) -> bool:
    return any(warning.code == code for warning in verdict.warnings)


def _estimate(verdict: Verdict) -> str:
    urisk = verdict.estimates.urisk
    line = f"URisk(alpha={short(verdict.alpha)}) = {'undefined' if urisk is None else signed(urisk)}"
    interval = verdict.decisive_interval
    return line if interval is None else f"{line} {_limits(interval)}"


def _limits(interval: ReportedInterval) -> str:
    return f"[{signed(interval.lower)}, {signed(interval.upper)}]"


def explain(
    verdict: Verdict, *, detail: Detail | None = None, reproduce: str | None = None, problem: str | None = None
) -> str:
    """The whole answer: headline, figures, loss or churn, topics responsible, warnings, how to see it again."""
    detail = detail or CURRENT
    lines = [headline(verdict, problem=problem)]
    if verdict.outcome != "incomparable":
        lines += _indented(_figures(verdict), detail)
        if verdict.outcome == "fail" or _has(verdict, "churn"):
            lines += _responsible(verdict, detail)
    lines += _indented([f"warning ({w.code}): {_cut(w.message, detail)}" for w in verdict.warnings], detail)
    if reproduce:
        lines.append(f"  reproduce: {reproduce}")
    return "\n".join(lines)


def _cut(message: str, detail: Detail) -> str:
    """A message that lists topics, no longer than a screen unless everything was asked for."""
    if detail.topics is None:
        return clean(message, limit=1_000_000)
    return clean(message, limit=12 * detail.width)


def _indented(paragraphs: list[str], detail: Detail) -> list[str]:
    wrapped: list[str] = []
    for paragraph in paragraphs:
        wrapped += textwrap.wrap(
            paragraph,
            width=max(detail.width, 40),
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return wrapped


def _figures(verdict: Verdict) -> list[str]:
    e, topics = verdict.estimates, verdict.topics
    lines = []
    if e.candidate_mean is not None and e.baseline_mean is not None and e.mean_difference is not None:
        lines.append(
            f"{clean(verdict.candidate)} against {clean(verdict.baselines[0])}: mean {plain(e.baseline_mean)} -> "
            f"{plain(e.candidate_mean)} ({signed(e.mean_difference)})"
        )
    if e.trisk is not None and e.p_value is not None:
        lines.append(
            f"TRisk {signed(e.trisk, 3)} (p {_p(e.p_value)}); sign-flip p of the mean {_p(e.sign_flip_p_value)}; "
            + _intervals(verdict)
        )
    if verdict.outcome == "inconclusive":
        lines.append(_TOO_FEW if verdict.reason == "too_few_topics" else _too_weak(verdict))
    if meaning := _loss_or_churn(verdict):
        lines.append(meaning)
    lines.append(
        f"{counted(topics.wins, 'win')}, {counted(topics.losses, 'loss', 'losses')} ({topics.losses_over_20_percent} "
        f"of more than 20 %), {counted(topics.ties, 'tie')}"
    )
    if verdict.outcome == "pass" and (seen := verdict.power.minimum_detectable_effect):
        what = "mean loss" if verdict.on_churn == "warn" else "URisk"
        lines.append(f"this gate sees a {what} of {signed(-seen)} or worse with 80 % power")
    return lines


def _p(value: float | None) -> str:
    if value is None:
        return "undefined"
    return "< 0.0001" if value < 1e-4 else plain(value)


def _intervals(verdict: Verdict) -> str:
    shown = []
    for interval in verdict.intervals:
        mark = " (decisive)" if interval.decisive else ""
        shown.append(f"{NAMES[interval.method]} {_limits(interval)}{mark}")
    return f"{short(100 * verdict.level)} % intervals: " + ", ".join(shown)


def _too_weak(verdict: Verdict) -> str:
    seen = verdict.power.minimum_detectable_effect
    return _TOO_WEAK if seen is None else f"{_TOO_WEAK} (the smallest it sees with 80 % power: {plain(seen)})"


def _loss_or_churn(verdict: Verdict) -> str | None:
    star = verdict.estimates.alpha_star
    down = "significantly down" if verdict.tolerance == 0 else "significantly down by more than the tolerance"
    if verdict.reason == "loss":
        also = "" if verdict.alpha == 0 else " (the gate fails at alpha 0 too)"
        return f"loss: the mean itself is {down}{also}"
    if not (verdict.reason == "churn" or _has(verdict, "churn")):
        return None
    weight = short(1 + verdict.alpha)
    text = f"churn: the mean is not {down} (at alpha 0 the gate passes); a loss counts {weight} times here"
    if verdict.topics.wins:
        text += ", and the wins do not pay for that"
    if isinstance(star, float):
        text += f". It passes up to alpha {_floored(star)}"
    if verdict.on_churn == "fail":
        text += ". on_churn: warn lets churn pass with a warning"
    return text + "."


def _floored(star: float) -> str:
    """alpha* rounded down, so that the alpha printed is one that passes."""
    scaled = int(star * 1000) / 1000
    return f"{scaled:.3g}" if scaled < 1 else f"{int(scaled * 100) / 100:.2f}"


def _responsible(verdict: Verdict, detail: Detail) -> list[str]:
    # most harmful first, so those behind are differences that no tool prints: no losses to look at
    losers = verdict.responsible_topics[: verdict.topics.losses] or verdict.responsible_topics
    if not losers:
        return []
    most = len(losers) if detail.topics is None else detail.topics
    title = f"topics responsible ({counted(len(losers), 'topic')} lost"
    title += f"; the {most} most harmful, -vv shows all):" if most < len(losers) else "):"
    lines = [*_indented([title], detail), *_table(losers[:most], detail)]
    if verdict.flagged_wins:
        wins = tuple(f"{t.topic} ({signed(t.difference)})" for t in verdict.flagged_wins)
        lines += _indented([f"flagged wins: {listed(wins, most=most)}"], detail)
    if flips := _flips(verdict, most):
        lines += _indented([flips], detail)
    return lines


def _flips(verdict: Verdict, most: int) -> str | None:
    flips = verdict.estimates.flip_set
    if verdict.outcome != "fail":
        return None
    if flips is None:
        if verdict.topics.count <= FEWEST_TOPICS:
            return None
        return f"taking out the worst topics does not flip it, as long as {FEWEST_TOPICS} are left"
    bound = "" if len(flips) == 1 else " (found greedily: an upper bound on the smallest such set)"
    return f"would pass without {counted(len(flips), 'topic')}: {listed(flips, most=max(most, 10))}{bound}"


def _table(topics: tuple[ResponsibleTopic, ...], detail: Detail) -> list[str]:
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="", show_edge=False)
    with_queries = any(topic.query for topic in topics)
    narrow = detail.width < _WIDE
    widest = 16 if narrow and with_queries else 24
    longest = max(cell_len(clean(topic.topic)) for topic in topics)
    table.add_column("topic", no_wrap=True, overflow="ellipsis", min_width=min(longest, widest), max_width=widest)
    scores = [f"{plain(topic.baseline)} -> {plain(topic.candidate)}" for topic in topics]
    figures = (
        ("scores" if narrow else "baseline -> candidate", max(map(len, scores))),
        ("change" if narrow else "difference", max(len(signed(topic.difference)) for topic in topics)),
        ("of loss", 7),
        ("", max(map(len, map(_marks, topics)))),
    )
    widths = [max(width, len(name)) for name, width in figures]
    if with_queries:
        # The query takes what the topic and the figures leave: these are never cut.
        left = max(detail.width - 4, 60) - min(longest, widest) - sum(widths) - 2 * (len(widths) + 1)
        table.add_column("query", no_wrap=True, overflow="ellipsis", max_width=max(left, 8))
    for (name, _), width in zip(figures, widths, strict=True):
        right = name in {"change", "difference", "of loss"}
        table.add_column(name, no_wrap=True, min_width=width, justify="right" if right else "left")
    for topic, score in zip(topics, scores, strict=True):
        cells = [clean(topic.topic)]
        if with_queries:
            cells.append(_fitting(clean(topic.query or ""), max(left, 8)))
        cells += [score, signed(topic.difference), f"{100 * (topic.share or 0):.1f} %", _marks(topic)]
        table.add_row(*(Text(cell) for cell in cells))
    console = Console(
        file=io.StringIO(),
        width=max(detail.width - 4, 60),
        color_system=None,
        force_terminal=False,
        legacy_windows=False,
    )
    with console.capture() as capture:
        console.print(table)
    return ["    " + line.rstrip() for line in capture.get().splitlines()]


def _fitting(text: str, width: int) -> str:
    """Cut to so many columns of a terminal, where wide characters take two."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def _marks(topic: ResponsibleTopic) -> str:
    return ", ".join(mark for mark, on in (("flagged", topic.flagged), ("flips it", topic.flips_verdict)) if on)


def summary_line(test: str, verdict: Verdict) -> str:
    """One gate in one line, with how far it was from the other verdict."""
    if verdict.outcome == "incomparable":
        return f"{clean(test)}: " + headline(verdict).removeprefix("incomparable ")
    parts = [_estimate(verdict)]
    if verdict.estimates.baseline_mean is not None:
        parts.append(f"mean {plain(verdict.estimates.baseline_mean)} -> {plain(verdict.estimates.candidate_mean)}")
    if verdict.reason:
        parts.append(verdict.reason)
    if (interval := verdict.decisive_interval) is not None:
        parts.append(f"margin {signed(interval.upper + verdict.tolerance)}")
    if verdict.warnings and not verdict.passed:
        parts.append("warnings: " + ", ".join(dict.fromkeys(w.code for w in verdict.warnings)))
    measure = f" {verdict.measure}" if verdict.measure else ""
    return f"{clean(test)}{measure}: {'; '.join(parts)}"


def warning_lines(verdict: Verdict) -> list[str]:
    """The warnings of a verdict that no failure message has shown, one a line."""
    if not verdict.passed:
        return []
    return [f"{warning.code}: {_cut(warning.message, CURRENT)}" for warning in verdict.warnings]
