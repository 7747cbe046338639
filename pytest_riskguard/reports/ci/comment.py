"""The comment on a pull request, from the moment a run begins: what is known about one commit, in Markdown.

It names its commit first, so that an answer is never read as one about other code, and says so where there is none.
Addresses of a run come from the caller alone: a report may be written by the code that is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import ResponsibleTopic
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import Card, Step, card, word
from pytest_riskguard.reports.comparisons import Comparison, answer, comparisons, missing, summary, title, urgency
from pytest_riskguard.reports.json import Report
from pytest_riskguard.reports.markdown import COMMENT_LIMIT, code, folded, grid, prose
from pytest_riskguard.reports.parts import glossary
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import counted, plain, signed

#: The first line, by which a comment is found again; GitHub and GitLab do not show it.
MARKER = "<!-- riskguard -->"
#: What to do next, at most so many things; other gates that failed on the same runs, as many.
MAX_STEPS = MAX_OTHERS = 5
#: Digits of a commit that a reader sees.
_MAX_COMMIT = 7
#: How much is shown, from the most to the least: comparisons with a paragraph, topics of each, gates of the table.
_EXTENTS = ((3, 6, 50), (3, 6, 10), (1, 6, 0), (1, 0, 0))
_SIGNS = {"stop": "❌", "caution": "⚠️", "go": "✅"}
_OUTCOMES = {
    "pass": "passed",
    "pass with care": "passed with care",
    "fail": "**failed**",
    "inconclusive": "inconclusive",
    "incomparable": "**incomparable**",
}
#: How a run of CI ends where nothing went wrong, as GitHub, GitLab and Jenkins call it.
SUCCEEDED = ("success", "passed", "SUCCESS")


@frozen
class Run:
    """A run of CI: the commit it is about, its page, the whole report's page, and how it ended, where known."""

    commit: str
    url: str | None = None
    report_url: str | None = None
    ended: str | None = None


def pending(run: Run) -> str:
    """The comment while the gates are judged."""
    return _comment([f"### ⏳ Judging {_commit(run)}", "", *_links(run)])


def no_verdict(run: Run, why: str) -> str:
    """The comment on a run that left no report to read."""
    how = f" The run ended with {code(run.ended, limit=40)}." if run.ended else ""
    reason = f"{prose(why, limit=1000)}.{how} Nothing is known about this commit's ranking."
    return _comment([f"### {_SIGNS['caution']} No verdict for {_commit(run)}", "", *_links(run), reason, ""])


def verdict(run: Run, report: Report) -> str:
    """The comment on a run's report, shortened to what fits."""
    if not report.verdicts:
        return no_verdict(run, "no gate was judged")
    for extent in _EXTENTS:
        text = _comment(_lines(run, report, *extent))
        if len(text.encode()) <= COMMENT_LIMIT:
            return text
    return _comment([_heading(run, report), "", *_links(run), *_policy(report), *_inputs(report)])


def _comment(lines: Sequence[str]) -> str:
    return "\n".join([MARKER, *lines]).rstrip("\n") + "\n"


def _lines(run: Run, report: Report, most: int, topics: int, gates: int) -> list[str]:
    lines = [_heading(run, report), "", *_links(run), *_policy(report), *_inputs(report)]
    if report.commit is None:
        lines += ["⚠️ The report does not say which commit it is about.", ""]
    if unjudged := summary(report.gates):
        lines += [*(f"- {prose(line)}" for line in unjudged), ""]
    passed = all(verdict.passed for verdict in report.verdicts)
    shown = [one for one in comparisons(report.verdicts) if passed or one.failed]
    for place, comparison in enumerate(shown[:most]):
        lines += _compared(comparison, _cards(comparison, report), topics, headed=place > 0)
    if len(shown) > most:
        lines += [f"And {counted(len(shown) - most, 'more comparison')}.", ""]
    return [*lines, *_table(report, gates)]


def _heading(run: Run, report: Report) -> str:
    commit, said = _commit(run), answer(report.verdicts, report.gates)
    first = comparisons(report.verdicts)[0].verdicts[0]
    if said.tone != "stop" and missing(report.gates):
        return f"### {_SIGNS[said.tone]} No verdict for {commit}: {title(report.gates)}"
    if said.tone != "stop" and run.ended is not None and run.ended not in SUCCEEDED:
        ended = code(run.ended, limit=40)
        return f"### {_SIGNS['caution']} No verdict for {commit}: the gates pass, but the run ended with {ended}"
    advice = f"{said.advice} for" if said.advice == "No verdict" else said.advice
    if said.advice.endswith("may ship"):  # there are several candidates
        return f"### {_SIGNS[said.tone]} {commit}: {said.title}"
    if said.tone == "go" and len(report.verdicts) > 1:
        return f"### {_SIGNS[said.tone]} {advice} {commit}: {said.counts}"
    return f"### {_SIGNS[said.tone]} {advice} {commit}: {_line(card(first))}"


def _policy(report: Report) -> list[str]:
    """What the commit changed about how it is judged, which a reader must not miss."""
    lines = report.policy_changes
    return [text for line in lines for text in (f"⚠️ {prose(line.replace(' -> ', ' → '), limit=2000)}", "")]


def _inputs(report: Report) -> list[str]:
    """What changed in the inputs or is missing there, each once."""
    said = dict.fromkeys(warning.message for verdict in report.verdicts for warning in verdict.first_warnings)
    return [text for message in islice(said, MAX_OTHERS) for text in (f"⚠️ {prose(message, limit=600)}", "")]


def _line(shown: Card) -> str:
    return prose(shown.line.replace(" -> ", " → "), limit=300)


def _cards(comparison: Comparison, report: Report) -> list[Card]:
    """What the gates of a comparison say, each with the command that judges it again."""
    commands = {place: gate.reproduce for gate in report.gates for place in gate.verdicts}
    return [
        card(
            verdict,
            run=report.verdicts,
            complete=not missing(report.gates),
            reproduce=commands.get(place),
        )
        for verdict, place in zip(comparison.verdicts, comparison.places, strict=True)
    ]


def _compared(comparison: Comparison, answers: Sequence[Card], topics: int, *, headed: bool) -> Iterator[str]:
    """What happened, to which queries, and what to do next."""
    first = answers[0]
    if headed:
        yield from (f"#### {_line(first)}", "")
    yield from (prose(first.paragraph.replace(" -> ", " → "), limit=2000), "")
    if first.tone == "stop" and first.worst and topics:
        yield from (*grid(_COLUMNS, map(_topic, first.worst[:topics])), "")
        if (rest := len(first.worst) + Shown(comparison.verdicts[0]).more_losers - topics) > 0:
            yield from (f"And {counted(rest, 'more query', 'more queries')}.", "")
    others = [pair for pair in zip(comparison.verdicts, answers, strict=True) if not pair[0].passed][1:]
    yield from (_other(verdict, answer) for verdict, answer in others[:MAX_OTHERS])
    yield from [""] * bool(others)
    steps: dict[str, Step] = {}
    for step in (step for one in answers for step in one.steps):
        steps.setdefault(step.text, step)
    if comparison.failed and steps:
        yield from ("**Next**", "", *map(_step, islice(steps.values(), MAX_STEPS)), "")


def _other(verdict: Verdict, shown: Card) -> str:
    """Another gate that failed on the same runs."""
    return f"- {code(verdict.gate, limit=100)} failed as well: {_line(shown)}"


def _step(step: Step) -> str:
    return f"- {prose(step.text, limit=400)}{f': {code(step.command, limit=400)}' if step.command else ''}"


_COLUMNS = {"query": "name", "topic": "name", "before": "number", "now": "number", "change": "number"}


def _topic(topic: ResponsibleTopic) -> list[str]:
    scores = [plain(topic.baseline, 2), plain(topic.candidate, 2), signed(topic.difference, 2)]
    return [code(topic.query or "", limit=100), code(topic.topic, limit=60), *scores]


def _table(report: Report, most: int) -> list[str]:
    """Every gate in a line, those that did not pass first; folded."""
    verdicts = sorted(report.verdicts, key=urgency)
    if len(verdicts) < 2 or not most:
        return []
    failed = sum(not verdict.passed for verdict in verdicts)
    rows = grid(dict.fromkeys(("outcome", "gate", "why"), "text"), map(_gate, verdicts[:most]))
    more = [] if len(verdicts) <= most else ["", f"The first {most} of {len(verdicts)}."]
    return folded(f"{counted(len(verdicts), 'gate')}, {failed} failed", [*rows, *more])


def _gate(verdict: Verdict) -> list[str]:
    about = ", ".join(filter(None, (verdict.measure, verdict.slice)))
    name = code(verdict.gate, limit=100) + (f" {code(about, limit=80)}" if about else "")
    return [_OUTCOMES[word(verdict)], f"{name} against {code(Shown(verdict).opponent)}", _line(card(verdict))]


def _commit(run: Run) -> str:
    return code(run.commit[:_MAX_COMMIT])


def _links(run: Run) -> list[str]:
    pages = (("full report", run.report_url), ("run", run.url), ("what the words mean", glossary()))
    named = [f"[{name}](<{url}>)" for name, url in pages if url]
    return [" · ".join(named), ""] if named else []
