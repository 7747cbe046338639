"""GitHub Actions: annotations at the line of a gate, and the summary of the step.

An annotation is a line of output that begins with ``::``; riskguard writes no other such lines.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.frozen import frozen
from pytest_riskguard.run_context import ACTIONS, SUMMARY
from pytest_riskguard.text import clean, counted, listed, sentence

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.reports.comparisons import Report

#: How many errors GitHub shows for one step; it drops the others silently.
MAX_ERRORS = 10
_MAX_TEXT = 2000
#: Topics that an annotation names.
_MAX_WORST = 5


@frozen
class Annotation:
    """An error or a notice, with the file and the line that it is about, if there are any."""

    title: str
    lines: Sequence[str]
    file: str | None = None
    line: int | None = None
    level: str = "error"

    def __str__(self) -> str:
        properties = {"file": self.file, "line": self.line, "title": self.title}
        details = ",".join(
            f"{name}={_property(clean(str(value), limit=_MAX_TEXT))}"
            for name, value in properties.items()
            if value is not None
        )
        return f"::{self.level} {details}::{_data(chr(10).join(clean(line, limit=_MAX_TEXT) for line in self.lines))}"


def annotation(verdict: Verdict, file: str | None = None, line: int | None = None) -> Annotation:
    """The annotation of a verdict that did not pass, at its line."""
    from pytest_riskguard.reports import words
    from pytest_riskguard.reports.card import Card
    from pytest_riskguard.reports.numbers import from_to

    card, lines = Card(verdict), [words.line(verdict), words.paragraph(verdict)]
    if card.worst:
        worst = (f"{topic.query or topic.topic} ({from_to(topic.baseline, topic.candidate)})" for topic in card.worst)
        extreme = words.extreme(verdict).capitalize()
        lines.append(f"{extreme}: {listed(tuple(worst), most=_MAX_WORST, left_out=card.more)}")
    if verdict.remedy is not None:
        lines.append(sentence(verdict.remedy))
    return Annotation(f"riskguard: {verdict.gate}", lines, file, line)


def commands(annotations: Sequence[Annotation]) -> list[str]:
    """The annotations as lines of output, at most as many as GitHub shows: the last one counts those left out."""
    if len(annotations) <= MAX_ERRORS:
        return list(map(str, annotations))
    kept = annotations[: MAX_ERRORS - 1]
    rest = len(annotations) - len(kept)
    more = Annotation("riskguard", [f"and {counted(rest, 'more error')}: see the log or the summary of the step"])
    return [*map(str, kept), str(more)]


def told(report: Report, annotations: Sequence[Annotation], errors: Sequence[Annotation] = ()) -> list[str]:
    """Append the summary of the step, where there is anything to say, and return the lines to print for GitHub.

    ``annotations`` are those of verdicts, ``errors`` are what kept gates from being judged.
    """
    summary, lines = os.environ.get(SUMMARY), list[str]()
    if summary and (report.verdicts or errors or report.gates):
        try:
            append_summary(Path(summary), report, errors)
        except OSError as error:
            lines.append(f"riskguard: could not write {SUMMARY}: {error.strerror}")
    if os.environ.get(ACTIONS) == "true":
        lines += commands([*annotations, *errors])
        changes = report.policy_changes if report.verdicts else ()
        lines += [str(Annotation("riskguard", [change], level="notice")) for change in changes]
    return lines


def append_summary(path: Path, report: Report, errors: Sequence[Annotation] = ()) -> None:
    """Append a report to the step summary, in the room that is left.

    ``errors`` are what kept gates from being judged. ``OSError`` if the file cannot be written.
    """
    from pytest_riskguard.reports.markdown import SUMMARY_LIMIT, render

    errors_text = "".join(f"\n{_as_markdown(error)}\n" for error in errors[:MAX_ERRORS])
    with path.open("a", encoding="utf-8", newline="\n") as file:
        limit = max(SUMMARY_LIMIT - (used := file.tell()) - len(errors_text.encode()), 0)
        file.write(("\n" if used else "") + render(report.shown, limit=limit) + errors_text)


def _as_markdown(error: Annotation) -> str:
    from pytest_riskguard.reports.markdown import code, prose

    where = "" if error.file is None else f"{code(error.file)} "
    return f"Error: {where}{prose(' '.join(error.lines), limit=_MAX_TEXT)}"


def place(path: Path) -> str:
    """A file as GitHub names it: from the root of the checkout, with forward slashes."""
    path, root = (Path(os.path.abspath(one)) for one in (path, os.environ.get("GITHUB_WORKSPACE", "")))  # noqa: PTH100
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
