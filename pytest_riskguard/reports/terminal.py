"""Verdicts for a terminal: what happened, the worst topics, statistics, what to do next; the table of all gates.

In the table the gate comes last, so that a long node id is never broken. What a reader should know of a gate that
passed, such as a weak pass, stands under its line; a gate that failed has said everything in its failure.
"""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from pytest_riskguard import run_context
from pytest_riskguard.gates.verdict import FIRST_WARNINGS, Verdict, VerdictWarning
from pytest_riskguard.reports import provenance, words
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.comparisons import after, compared
from pytest_riskguard.reports.details import details, worst_topics
from pytest_riskguard.reports.numbers import short
from pytest_riskguard.reports.parts import Table, at_most, wrapped
from pytest_riskguard.run_context import Screen
from pytest_riskguard.text import clean, columns, fitted

#: The longest text of a failure, on a screen of 80 columns.
MAX_LINES = 20
#: Topics of a failure, those that no later one repeats, and rows of a table of its statistics.
MAX_WORST, MAX_REPEATED, MAX_ROWS = 5, 6, 20
#: Lines of the paragraph, and of a warning.
_MAX_PARAGRAPH, _MAX_WARNING = 7, 3
#: Columns to write in, however narrow the screen is.
_MIN_WIDTH = 40


def explain(
    verdict: Verdict,
    screen: Screen | None = None,
    *,
    reproduce: str | None = None,
    report: str | None = None,
    same_as: str | None = None,
    said: Collection[object] = (),
    run: Sequence[Verdict] = (),
    complete: bool = True,
    after_word: bool = False,
) -> str:
    """The whole answer: its line, what happened, the worst topics, statistics, warnings, what to do next.

    Paths and commands are as they are typed, but in its line, which has no room for them. ``reproduce``, ``report``,
    ``run``, ``complete`` are as ``words.steps`` takes them, ``after_word`` as ``words.line`` does; ``same_as`` names
    a gate whose text, shown before, has the same queries, ``said`` what was shown before: messages of warnings, ages
    of baselines, and by the candidate that it rests on unjudged documents.
    """
    screen = screen or Screen()
    has_body = same_as is None and (screen.verbose or verdict.outcome != "pass" or Card(verdict).tone == "caution")
    first = [_first_line(verdict, screen, after_word)]
    first += [] if same_as is None else [f"  queries and documents: see {clean(same_as)}"]
    after = _indented([words.why(verdict), *({ages(verdict)} - {*said})], screen)
    for section in details(verdict) if screen.verbose else ():
        after += [f"  {line}" for line in section.lines(_width(screen) - 2, most=MAX_ROWS) if line]
    after += warnings_in(verdict, screen, said, with_paragraph=has_body or same_as is not None)
    commands = verdict.commands
    if commands is not None and same_as is not None:  # whose failure says how to look into the same query
        commands = replace(commands, explain="")
    steps = words.steps(verdict, run, complete=complete, reproduce=reproduce, report=report, commands=commands)
    after += steps_in((step for step in steps if (verdict.candidate, step.text) not in said), screen)
    room = MAX_LINES - sum(-(-max(columns(line), 1) // _width(screen)) for line in (*first, *after))
    return "\n".join([*first, *(body(typed(verdict), screen, room=room) if has_body else []), *after])


def ages(verdict: Verdict) -> str:
    """How old the baselines are, today; nothing where that is not known, or is nothing."""
    from pytest_riskguard.build import report_date

    return "" if verdict.origins is None else provenance.ages(verdict.origins.baselines, report_date())


def body(verdict: Verdict, screen: Screen, *, room: int = MAX_LINES) -> list[str]:
    """What happened, and the worst topics.

    ``room`` is how many lines it may have, where not more than the line was asked for.
    """
    card = Card(verdict)
    most = _MAX_PARAGRAPH - 2 * sum(
        one.code != "suspicious_run" for one in verdict.first_warnings
    )  # which need the room more
    lines = _indented([words.paragraph(verdict)], screen, hanging="", most=most)
    if not card.worst or (verdict.outcome == "pass" and not card.is_churn) or screen.verbose:
        return lines  # the statistics list topics with their figures
    total = len(card.worst) + card.more
    most = min(total, MAX_WORST, max(room - len(lines) - 1, 1))
    which = f"{words.extreme(verdict)} {most} of {total}" if most < total else f"all {total}"
    which = "the only one" if total == 1 else which
    systems = f"{words.opponent(verdict)} -> {clean(verdict.candidate, limit=60)}"
    rows = worst_topics(verdict, most=most).lines(screen.width, indent=4, head=False)
    return [*lines, *_indented([f"{which}, {systems}:"], screen, most=1), *rows]


def typed(verdict: Verdict) -> Verdict:
    """The verdict whose problem names files as they are typed where it was judged."""
    known = verdict.commands
    return replace(verdict, problem=known.problem) if known is not None and known.problem else verdict


def warnings_in(
    verdict: Verdict, screen: Screen, before: Collection[object] = (), *, with_paragraph: bool = True
) -> list[str]:
    """The warnings that nothing states and that were not shown ``before``.

    A short text has those about inputs whole, or else one, and the codes of the others.
    """
    left = [one for one in words.unsaid(verdict, with_paragraph=with_paragraph) if one.message not in before]
    whole = max(sum(one.code in FIRST_WARNINGS for one in left), 1)
    if screen.verbose:
        return _indented([f"warning ({clean(one.code)}): {one.message}" for one in left], screen)
    said = [f"warning: {one.message}" for one in left[:whole]]
    if codes := dict.fromkeys(clean(one.code) for one in left[whole:]):
        said.append(f"more warnings (-v shows all): {', '.join(codes)}")
    return _indented(said, screen, most=_MAX_WARNING)


def steps_in(steps: Iterable[words.Step], screen: Screen) -> list[str]:
    """What to do next; commands are never broken, so that they can be copied."""
    lines = []
    for step in steps:
        text = step.text[0].lower() + step.text[1:]
        if not step.command:
            lines += _indented([text], screen, most=5)
        elif columns(line := f"  {text}: {step.command}") <= _width(screen) or step.text == "Reproduce":
            lines.append(line)
        else:
            lines += [*_indented([f"{text}:"], screen, most=2), f"    {step.command}"]
    return lines


def one_line(verdict: Verdict, *, after_word: bool = False) -> str:
    """The answer, and the question; of data that cannot be compared, what is wrong with them."""
    if verdict.outcome == "incomparable":
        reason, fault = clean(verdict.reason or ""), words.fault(verdict)
        return f"{fault} ({reason})" if after_word else f"cannot be compared ({reason}): {fault}"
    alpha = [] if verdict.asked.by_topic else [f"alpha {short(verdict.alpha)}"]
    about = ", ".join([*_about(verdict), *alpha])
    return words.line(verdict) + (f" ({about})" if about else "")


def repeats(verdicts: Sequence[Verdict]) -> dict[int, str]:
    """By the place of a failure whose worst queries an earlier one on the same runs has shown: that one's gate."""
    shown, same = dict[tuple[str, str], str](), dict[int, str]()
    for place, verdict in enumerate(verdicts):
        names = [(compared(verdict, place), topic.topic) for topic in Card(verdict).worst[:MAX_REPEATED]]
        if verdict.passed or not names:
            continue
        if all(name in shown for name in names):
            same[place] = shown[names[0]]
        for name in names:
            shown.setdefault(name, verdict.gate)
    return same


def _about(verdict: Verdict) -> list[str]:
    """The measure, and which slice; of data that cannot be compared, the code of the reason, and the measure."""
    first = clean(verdict.reason or "") if verdict.outcome == "incomparable" else ""
    return [*filter(None, (first, clean(verdict.measure or "", limit=24), words.part_of_topics(verdict)))]


def _first_line(verdict: Verdict, screen: Screen, after_word: bool) -> str:
    """The answer, and what it was measured on where there is room."""
    line, about, width = words.line(verdict, after_word=after_word), _about(verdict), min(screen.width, 80)
    if verdict.outcome == "incomparable":  # the code of the reason stands in any case
        line = fitted(line, width - columns(f" ({about[0]})"))
    for rest in (", ".join(about), *about[:1]) if about else ():
        if columns(f"{line} ({rest})") <= width:
            return f"{line} ({rest})"
    return line


def _indented(
    paragraphs: Iterable[str], screen: Screen, *, hanging: str = "  ", most: int | None = None
) -> list[str]:
    """Each paragraph wrapped, in at most so many lines unless statistics were asked for."""
    lines, most = [], None if screen.verbose else most
    for paragraph in filter(None, paragraphs):
        text = clean(paragraph, limit=1_000_000)
        part = wrapped([text], width=_width(screen), hanging=hanging, breaks_words=most is not None)
        lines += part if most is None else at_most(most, part, text, _width(screen))
    return lines


def _width(screen: Screen) -> int:
    return max(screen.width, _MIN_WIDTH)


# ---- all gates


def notes(run: Sequence[Verdict], *, complete: bool, with_commands: bool = True) -> list[list[str]]:
    """For each verdict what a reader of the table of gates should know of it, if it passes; nothing is said twice.

    A command, of use where the verdict was judged, stands on a line of its own.
    """
    said = {note for verdict in run if not verdict.passed for note in warning_lines(verdict)}  # failures showed them
    found = []
    for verdict in run:
        lines = []
        if verdict.passed:
            if Card(verdict).tone == "caution":
                lines.append(words.weakness(verdict) or words.paragraph(verdict))
            commands = verdict.commands if with_commands else None
            step = words.promotion(verdict, run, complete=complete, commands=commands)
            lines += [] if step is None else [f"{step.text}:\n{step.command}" if step.command else step.text]
            lines += warning_lines(verdict)
        new = [note for note in lines if note not in said]
        said.update(new)
        found.append(new)
    return found


def warning_lines(verdict: Verdict) -> list[str]:
    """The warnings that a line of the table does not state, one a line."""
    return coded(words.unsaid(verdict, with_paragraph=False))


def coded(warnings: Iterable[VerdictWarning]) -> list[str]:
    """Each warning behind its code."""
    return [f"{clean(warning.code)}: {clean(warning.message, limit=100_000)}" for warning in warnings]


def remarks(verdicts: Sequence[Verdict]) -> list[str]:
    """What is to be said of all verdicts together: that nothing is corrected."""
    alone = sum(one.estimates.decision_p_value is not None and one.family is None for one in verdicts)
    said = (
        f"{alone} risk gates, each at its own level, not corrected for multiple comparisons (family: auto corrects)"
    )
    return [said] if alone > 1 else []


#: Codes of ANSI: green, yellow, bold red.
_COLOURS = {"pass": "32", "pass with care": "33", "inconclusive": "33", "fail": "1;31", "incomparable": "1;31"}
#: Columns of the table, none of which is cut.
_ANY_WIDTH = 10_000
_COLUMNS = dict.fromkeys(("outcome", "estimate", "measure", "mean", "gate"), "text")
#: Columns of what is wrong with data that cannot be compared: its failure says all of it. Lines of a note.
_MAX_CELL, _MAX_NOTE = 40, 3


def gates_table(
    judged: Sequence[tuple[str, Verdict]],
    screen: Screen,
    *,
    colour: bool = False,
    failures: Mapping[str, int] | None = None,
    complete: bool = True,
) -> list[str]:
    """The table of verdicts, each with the test that asked for it: a line for each, in the order given, and notes.

    ``colour`` colours outcomes with ANSI codes. ``failures`` says how often a test failed before its last attempt.
    The run is ``complete`` if every gate was judged.
    """
    run = [verdict for _, verdict in judged]
    rows = [_row(test, verdict, (failures or {}).get(test)) for test, verdict in judged]
    for gone in ((), ("mean",), ("mean", "measure")):
        shown = [[None if name in gone else cell for name, cell in zip(_COLUMNS, row, strict=True)] for row in rows]
        heading, *lines = Table("", _COLUMNS, shown).filled.lines(_ANY_WIDTH, indent=0)
        if max(map(columns, (heading, *lines))) <= screen.width:
            break
    text = [heading]
    for verdict, (outcome, *_), line, under in zip(run, rows, lines, notes(run, complete=complete), strict=True):
        code = _COLOURS[words.word(verdict)]
        text.append(f"\x1b[{code}m{outcome}\x1b[0m{line.removeprefix(outcome)}" if colour else line)
        for note, _, command in (said.partition("\n") for said in under):
            text += _indented([note], screen, most=_MAX_NOTE)
            text += [f"    {command}"] if command else []
    return text


def _row(test: str, verdict: Verdict, failures: int | None) -> tuple[str, ...]:
    outcome = words.word(verdict).upper()
    outcome += f" {clean(verdict.reason)}" if verdict.outcome == "fail" and verdict.reason else ""
    problem = words.line(verdict, after_word=True)
    figures = words.estimate(verdict) or fitted(problem, _MAX_CELL)
    measure = clean(verdict.measure or "", limit=24)
    return outcome + after(failures), figures, measure, words.means(verdict), clean(test)


# ---- what is typed


def report_hint() -> str:
    """What a failure says of the report where none is written; a page needs the extra [report]."""
    return f"add --riskguard-report=report.{'html' if importlib.util.find_spec('jinja2') else 'md'}"


def command(test: str, *, options: str = "") -> str:
    """The command that runs one test again, from the folder where pytest was called."""
    return " ".join(filter(None, ["pytest", options, shlex.quote(run_context.current().locate(test))]))
