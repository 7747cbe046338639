"""The comment on a pull request: what is known about one commit, from the moment its CI run begins.

It names its commit first, so that an answer is never read as one about other code, and says so where there is none.
Addresses of a run come from the caller alone: a report may be written by the code that is judged.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_riskguard.frozen import frozen
from pytest_riskguard.reports.comparisons import Report, answer, missing, title, urgency
from pytest_riskguard.reports.markdown import code, fitting, prose
from pytest_riskguard.reports.parts import GLOSSARY
from pytest_riskguard.reports.provenance import ages
from pytest_riskguard.reports.words import line

#: The first line, by which a comment is found again; GitHub and GitLab do not show it.
MARKER = "<!-- riskguard -->"
#: Digits of a commit that a reader sees; warnings about inputs.
_MAX_COMMIT, _MAX_WARNINGS = 7, 5
_SIGNS = {"stop": "❌", "caution": "⚠️", "go": "✅"}
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
    """The comment on a run's report, shortened to what fits: policy and inputs that changed, then the gates."""
    if not report.verdicts:
        return no_verdict(run, "no gate was judged")
    report = report.shown
    inputs = dict.fromkeys(warning.message for verdict in report.verdicts for warning in verdict.first_warnings)
    head = [_heading(run, report), "", *_links(run)]
    unknown = ["The report does not say which commit it is about."] * (report.commit is None)
    for text in (*report.policy_changes, *[*inputs][:_MAX_WARNINGS], *unknown):
        head += [f"⚠️ {prose(text.replace(' -> ', ' → '), limit=2000)}", ""]
    known = report.provenance
    old = "" if known is None else ages(known.baselines, known.date)
    head += [f"{prose(old, limit=300)}.", ""] if old else []
    return _comment([fitting(head, report)])


def _comment(lines: Sequence[str]) -> str:
    return "\n".join([MARKER, *lines]).rstrip("\n") + "\n"


def _heading(run: Run, report: Report) -> str:
    commit, said, first = _commit(run), answer(report.verdicts, report.gates), min(report.verdicts, key=urgency)
    sign, advice = _SIGNS[said.tone], f"{said.advice} for" if said.advice == "No verdict" else said.advice
    why = prose(": ".join(filter(None, (first.service, line(first)))).replace(" -> ", " → "), limit=300)
    if said.tone != "stop" and missing(report.gates):
        advice, why = "No verdict for", title(report.gates)
    elif said.tone != "stop" and run.ended is not None and run.ended not in SUCCEEDED:
        ended = code(run.ended, limit=40)
        sign, advice, why = _SIGNS["caution"], "No verdict for", f"the gates pass, but the run ended with {ended}"
    elif said.is_divided:
        return f"### {sign} {commit}: {said.title}"
    elif said.tone == "go" and len(report.verdicts) > 1:
        why = said.counts
    return f"### {sign} {advice} {commit}: {why}"


def _commit(run: Run) -> str:
    return code(run.commit[:_MAX_COMMIT])


def _links(run: Run) -> list[str]:
    pages = (("full report", run.report_url), ("run", run.url), ("what the words mean", GLOSSARY))
    named = [f"[{name}](<{url}>)" for name, url in pages if url]
    return [" · ".join(named), ""] if named else []
