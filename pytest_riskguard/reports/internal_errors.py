"""Internal errors while a verdict is shown or written: each is reported in one line, and the verdict stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_riskguard.run_context import report_failure
from pytest_riskguard.text import clean, signed

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: Where bugs are reported.
ISSUES = "https://github.com/pytest-riskguard/pytest-riskguard/issues"
#: How many characters of an exception's text are shown.
MAX_TEXT = 200
#: How many topics the plain text of a verdict names.
MAX_TOPICS = 10


def in_one_line(doing: str, error: BaseException) -> str:
    """What failed while ``doing`` something (``writing report.md``), and where to report it."""
    try:
        text = clean(str(error), limit=MAX_TEXT)
    except Exception as second:
        text = f"(its __str__ raised {type(second).__name__})"
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return (
        f"pytest-riskguard: internal error while {clean(doing)}: {what}; the verdict stands; "
        f"please report it at {ISSUES}"
    )


@contextmanager
def caught(doing: str, *, but: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Pass an exception of the block, ``but`` those named, to the listeners of ``run_context`` as a line, and go on.

    Listeners write the line to standard error and make the exit status 3 (pytest: ``INTERNAL_ERROR``).
    """
    try:
        yield
    except but:
        raise
    except Exception as error:
        report_failure(in_one_line(doing, error))


def shown_or_plain(verdict: Verdict, render: Callable[[], str]) -> str:
    """A verdict as ``render`` shows it; if that raises, only the main facts and what went wrong."""
    try:
        return render()
    except Exception as error:
        line = in_one_line("showing a verdict", error)
        report_failure(line)
        return f"{plain(verdict)}\n  {line}"


def plain(verdict: Verdict) -> str:
    """Outcome, reason, measure, URisk and the topics that lost most, without any of the code of the other reports.

    A figure that cannot be computed is left out.
    """
    reason = f" ({verdict.reason})" if verdict.reason else ""
    lines = [f"{verdict.outcome}{reason}: {clean(verdict.gate)} {verdict.measure or ''}".rstrip()]
    if verdict.problem:
        lines.append(f"  {clean(verdict.problem, limit=1000)}")
    for show in (_urisk, _topics):
        if text := _or_nothing(lambda show=show: show(verdict)):  # type: ignore[misc]
            lines.append(f"  {text}")
    return "\n".join(lines)


def bare(verdict: Verdict) -> Verdict:
    """The answer without its findings, which can still be written if a finding raises."""
    from pytest_riskguard.gates.verdict import Deferred, Findings

    return replace(
        verdict,
        findings=Deferred.of(Findings()),
        lineage=None,
        documents=None,
        judgements=None,
        exhibits=None,
        rankings=None,
    )


def _urisk(verdict: Verdict) -> str:
    value = verdict.estimates.urisk
    return "" if value is None else f"URisk = {signed(value)}"


def _topics(verdict: Verdict) -> str:
    losers = [topic for topic in verdict.responsible_topics if topic.difference < 0]
    if not losers:
        return ""
    shown = ", ".join(f"{clean(topic.topic)} ({signed(topic.difference)})" for topic in losers[:MAX_TOPICS])
    left_out = verdict.topics.left_out.get("responsible_topics", 0)
    rest = f" and {len(losers) + left_out - MAX_TOPICS} more" if len(losers) > MAX_TOPICS else ""
    return f"topics that lost: {shown}{rest}"


def _or_nothing(work: Callable[[], Any]) -> str:
    try:
        return str(work())
    except Exception:
        return ""
