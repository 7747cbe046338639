"""A verdict for a terminal: what happened, the worst topics, statistics, warnings, what to do next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.verdict import Verdict, VerdictWarning
from pytest_riskguard.reports.card import MAX_PROBLEM, Card, card, promotion, tone, unsaid
from pytest_riskguard.reports.comparisons import comparisons
from pytest_riskguard.reports.figures import figures
from pytest_riskguard.reports.parts import Table
from pytest_riskguard.reports.provenance import TIES
from pytest_riskguard.reports.sections import documents, judgements, slices, topics, worst_topics
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.reports.wording.paragraph import lost_documents
from pytest_riskguard.reports.wording.sentences import reasons, weakness
from pytest_riskguard.run_context import Detail, Screen
from pytest_riskguard.text import clean, columns, counted, fitted, listed, short, signed

#: From this width on the table has room for long headings beside the query texts.
_WIDE = 90
_SHORT = {"baseline -> candidate": "scores", "difference": "change"}


def topic_table(topics: Table, screen: Screen) -> list[str]:
    """The rows as lines, indented: topics, perhaps queries, and figures and marks, which are never cut."""
    columns = topics.columns
    if screen.width < _WIDE:
        columns = {_SHORT.get(label, label): kind for label, kind in columns.items()}
    return replace(topics, columns=columns).lines(screen.width, indent=4, whole=True)


#: The longest text of a failure, on a screen of 80 columns.
MAX_LINES = 20
#: Topics of a failure, and of the table of its statistics.
MAX_WORST, MAX_TOPICS = 5, 10
#: Lines of the paragraph, of a warning that inputs have changed (names may be long), and of another.
_MAX_PARAGRAPH, _MAX_CHANGE, _MAX_WARNING = 7, 3, 2
#: Columns to write in, however narrow the screen is.
_MIN_WIDTH = 40


def explain(
    verdict: Verdict,
    screen: Screen | None = None,
    *,
    reproduce: str | None = None,
    report: str | None = None,
    problem: str | None = None,
    same_as: str | None = None,
    said: Collection[str] = (),
    run: Sequence[Verdict] = (),
    complete: bool = True,
) -> str:
    """The whole answer: its line, what happened, the worst topics, statistics, warnings, what to do next.

    ``reproduce``, ``report``, ``run``, ``complete`` are as ``card`` takes them; ``problem`` says what is wrong with
    the data where the caller knows more than the verdict (whole paths); ``same_as`` names a gate whose text, shown
    before, is about the same queries, ``said`` the messages of warnings shown before.
    """
    screen = screen or Screen()
    shown = card(verdict, run=run, complete=complete, reproduce=reproduce, report=report, here=True)
    lines = [_first_line(verdict, shown, screen)]
    after = _indented(filter(None, [shown.why]), screen)
    after += _statistics(verdict, shown, screen) if screen.detail > Detail.BRIEF else []
    after += first_warnings(verdict, screen, said)
    has_body = verdict.outcome != "pass" or screen.detail > Detail.BRIEF or shown.tone == "caution"
    has_body &= same_as is None
    unsaid_here = unsaid(verdict, with_paragraph=has_body or same_as is not None)
    after += _indented(_warnings(verdict, unsaid_here, screen, said), screen, most=_MAX_WARNING)
    after += steps_of(shown, screen)
    if same_as is not None:
        lines.append(pointer(same_as))
    if has_body:
        room = MAX_LINES - _rows([*lines, *after], screen)
        lines += body(verdict, screen, problem=problem, room=room)
    return "\n".join([*lines, *after])


def first_warnings(verdict: Verdict, screen: Screen, before: Collection[str] = ()) -> list[str]:
    """The warnings about inputs that come first, whole, but for those that were shown ``before``."""
    new = [warning.message for warning in verdict.first_warnings if warning.message not in before]
    return _indented([f"warning: {message}" for message in new], screen, most=_MAX_CHANGE)


def one_line(verdict: Verdict, *, problem: str | None = None) -> str:
    """The card's line, and the question; of data that cannot be compared, what is wrong with them."""
    if verdict.outcome == "incomparable":
        what = clean(problem or verdict.problem or "", limit=MAX_PROBLEM)
        return f"cannot be compared ({clean(verdict.reason or '')}): {what}"
    line = card(verdict).line
    alpha = [] if verdict.asked.by_topic else [f"alpha {short(verdict.alpha)}"]
    about = ", ".join([*_about(verdict), *alpha])
    return f"{line} ({about})" if about else line


def _about(verdict: Verdict) -> list[str]:
    """The measure, and which topics; of data that cannot be compared, the code of the reason, and the measure."""
    measure = [clean(verdict.measure, limit=24)] if verdict.measure else []
    if verdict.outcome == "incomparable":
        return [clean(verdict.reason or ""), *measure]
    special = verdict.slice is not None or verdict.topics.clusters or verdict.topics.strata
    return [*measure, Shown(verdict).part_of_topics] if special else measure


def repeats(verdicts: Sequence[Verdict], *, most: int | None) -> dict[int, int]:
    """By the place of a failure whose worst ``most`` topics an earlier one has shown: the place of that one."""
    same = {}
    for comparison in comparisons(verdicts):
        shown: dict[str, int] = {}
        for place in sorted(comparison.places):
            verdict = verdicts[place]
            names = [topic.topic for topic in card(verdict).worst[:most]]
            if verdict.passed or not names:
                continue
            if all(name in shown for name in names):
                same[place] = shown[names[0]]
            else:
                shown |= {name: place for name in names if name not in shown}
    return same


def most_topics(screen: Screen) -> int | None:
    """How many topics a failure shows; None for all."""
    return {Detail.BRIEF: MAX_WORST, Detail.STATISTICS: MAX_TOPICS}.get(screen.detail)


def pointer(gate: str) -> str:
    """The line that stands for the body of a text that another gate's text has shown already."""
    return f"  queries and documents: see {clean(gate)}"


def body(verdict: Verdict, screen: Screen, *, problem: str | None = None, room: int = MAX_LINES) -> list[str]:
    """What happened, the worst topics, and what took the place of lost documents.

    ``room`` is how many lines it may have, where not more than the card was asked for.
    """
    shown = card(verdict)
    paragraph = shown.paragraph if problem is None else f"Nothing was compared: {clean(problem, limit=10_000)}"
    most = _MAX_PARAGRAPH - 2 * len(verdict.first_warnings)  # which need the room more
    first = _indented([paragraph], screen, hanging="", most=most)
    if not shown.worst or (verdict.outcome == "pass" and not Shown(verdict).is_churn):
        return first
    new = _new_results(verdict, shown, screen) if screen.detail == Detail.BRIEF and room > len(first) + 2 else []
    room -= len(first) + len(new) + 1
    return [*first, *_worst(verdict, shown, screen, most=min(max(room, 1), MAX_WORST)), *new]


def _rows(lines: Iterable[str], screen: Screen) -> int:
    """How many rows of the screen lines take."""
    return sum(-(-max(columns(line), 1) // _width(screen)) for line in lines)


def _first_line(verdict: Verdict, shown: Card, screen: Screen) -> str:
    """The card's line, and what it was measured on where there is room."""
    line, about = shown.line, _about(verdict)
    if verdict.outcome == "incomparable":  # the code of the reason stands in any case
        line = fitted(line, min(screen.width, 80) - columns(f" ({about[0]})"))
    for rest in (", ".join(about), *about[:1]) if about else ():
        if columns(f"{line} ({rest})") <= min(screen.width, 80):
            return f"{line} ({rest})"
    return line


def _indented(
    paragraphs: Iterable[str], screen: Screen, *, hanging: str = "  ", most: int | None = None, room: int = 0
) -> list[str]:
    """Each paragraph wrapped, in at most so many lines unless everything was asked for."""
    lines = []
    for paragraph in paragraphs:
        text = clean(paragraph, limit=1_000_000)
        wrapped = layout.wrapped(
            [text],
            width=_width(screen, room),
            hanging=hanging,
            breaks_words=most is not None and screen.detail < Detail.EVERYTHING,
        )
        if most is not None and screen.detail < Detail.EVERYTHING:
            wrapped = layout.at_most(most, wrapped, text, _width(screen, room))
        lines += wrapped
    return lines


def _width(screen: Screen, room: int = 0) -> int:
    return max(screen.width - room, _MIN_WIDTH)


def _worst(verdict: Verdict, shown: Card, screen: Screen, *, most: int) -> list[str]:
    """The worst topics with their queries and scores; the statistics have a longer table."""
    count = len(shown.worst)
    if screen.detail > Detail.BRIEF:
        most = min(count, most_topics(screen) or count)
        rows = topic_table(topics(Shown(verdict), most=most), screen)
    else:
        most = min(count, most)
        content = worst_topics(Shown(verdict), most=most)
        rows = content.lines(screen.width, indent=4, head=False, whole=True)
    total = count + Shown(verdict).more_losers
    which = (
        f"{Shown(verdict).extreme} {most} of {total}"
        if most < total
        else f"all {count}"
        if count > 1
        else "the only one"
    )
    return [
        *_indented([f"{which}, {Shown(verdict).opponent} -> {clean(verdict.candidate, limit=60)}:"], screen, most=1),
        *rows,
    ]


def _new_results(verdict: Verdict, shown: Card, screen: Screen) -> list[str]:
    """In one line: what users see now where documents were lost, in the worst topics."""
    by_topic, line = {moves.topic: moves for moves in verdict.documents or ()}, ""
    for topic in shown.worst[:MAX_WORST]:
        for best in by_topic[topic.topic].replacements[:1] if topic.topic in by_topic else ():
            grade = "unjudged" if best.grade is None else f"grade {best.grade}"
            document, name = clean(best.document, limit=40), clean(topic.topic, limit=16)
            new = f"{name} {document} at rank {best.candidate_rank} ({grade})"
            longer = f"{line}; {new}" if line else f"  new results: {new}"
            line = longer if not line or columns(longer) <= _width(screen) else line
    return [layout.cut(line, _width(screen))] if line else []


def _speed(verdict: Verdict) -> list[str]:
    """How fast the candidate answered, and live baselines when they were stored."""
    origins = verdict.origins
    if origins is None or origins.candidate.latency is None:
        return []
    before = [f"{clean(one.name, limit=60)} when stored: {one.latency}" for one in origins.baselines if one.latency]
    return ["; ".join([f"latency of the candidate: {origins.candidate.latency}", *before])]


def _statistics(verdict: Verdict, shown: Card, screen: Screen) -> list[str]:
    """Figures, documents, slices and judgements."""
    if verdict.outcome == "incomparable":
        return []
    everything = screen.detail == Detail.EVERYTHING
    ties = None if verdict.origins is None else verdict.origins.candidate.ties
    order = [f"equal scores of the candidate: {TIES[ties]}"] if ties else []
    lines = _indented([*figures(verdict), *order, *_speed(verdict)], screen)
    if Shown(verdict).explains_topics and shown.worst:
        lines += _about_topics(verdict, screen)
    for section in (slices(verdict, everything=everything), judgements(verdict, everything=everything)):
        lines += _indented(section.sentences if section else (), screen)
    return lines


def _about_topics(verdict: Verdict, screen: Screen) -> list[str]:
    lines, most = [], MAX_TOPICS if screen.detail < Detail.EVERYTHING else len(verdict.responsible_topics)
    moved = documents(verdict, everything=screen.detail == Detail.EVERYTHING)
    if moved and moved.sentences:
        lines += _indented([lost_documents(verdict) or "Documents that moved:"], screen)
        lines += ["  " + line for line in _indented(moved.sentences, screen, room=2)]
    if verdict.flagged_wins and not verdict.asked.by_topic:
        wins = tuple(f"{topic.topic} ({signed(topic.difference)})" for topic in verdict.flagged_wins)
        more = Shown(verdict).left_out("flagged_wins")
        lines += _indented([f"flagged wins: {listed(wins, most=most, left_out=more)}"], screen)
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
    more = Shown(verdict).left_out("flip_set")
    names = listed(flips, most=max(most, 10), left_out=more)
    return f"would pass without {counted(len(flips) + more, 'topic')}: {names}{bound}"


def _warnings(
    verdict: Verdict, warnings: Iterable[VerdictWarning], screen: Screen, before: Collection[str]
) -> list[str]:
    """Those of some warnings that nothing before states: one in words, and the codes of the others."""
    changed = {warning.code for warning in verdict.first_warnings}
    said = [w for w in warnings if w.message not in before and w.code not in changed]
    if screen.detail > Detail.BRIEF:
        return [f"warning ({clean(warning.code)}): {warning.message}" for warning in said]
    whole = 0 if changed else 1  # what has changed is said in its place
    lines = [f"warning: {warning.message}" for warning in said[:whole]]
    if left := said[whole:]:
        codes = dict.fromkeys(clean(warning.code) for warning in left)
        lines.append(f"{counted(len(left), 'more warning')} (-v shows all): {', '.join(codes)}")
    return lines


def steps_of(shown: Card, screen: Screen) -> list[str]:
    """What to do next; commands are never broken, so that they can be copied."""
    lines = []
    for step in shown.steps:
        text = step.text[0].lower() + step.text[1:]
        if not step.command:
            lines += _indented([text], screen, most=2)
        elif columns(line := f"  {text}: {step.command}") <= _width(screen) or step.text == "Reproduce":
            lines.append(line)
        else:
            lines += [*_indented([f"{text}:"], screen, most=2), f"    {step.command}"]
    return lines


def notes(verdict: Verdict, run: Sequence[Verdict], *, complete: bool) -> list[str]:
    """What a reader of the table of gates should know of a gate that passes and of which no failure was shown.

    A command stands on a line of its own.
    """
    if not verdict.passed:
        return []
    changed = changed_lines(verdict)
    lines = [*changed]
    if tone(verdict) == "caution":
        lines.append(" ".join([*weakness(verdict)] or [*reasons(verdict)]))
    step = promotion(verdict, run, complete=complete, commands=verdict.commands)
    lines += [] if step is None else [f"{step.text}:\n{step.command}" if step.command else step.text]
    return [*lines, *(line for line in warning_lines(verdict) if line not in changed)]


def warning_lines(verdict: Verdict) -> list[str]:
    """The warnings that a line of the table does not state, one a line."""
    return _coded(unsaid(verdict, with_paragraph=False))


def changed_lines(verdict: Verdict) -> list[str]:
    """The warnings about inputs that come first, one a line."""
    return _coded(verdict.first_warnings)


def _coded(warnings: Iterable[VerdictWarning]) -> list[str]:
    return [f"{clean(warning.code)}: {clean(warning.message, limit=100_000)}" for warning in warnings]


def remarks(verdicts: Sequence[Verdict]) -> list[str]:
    """What is to be said of all verdicts together: that nothing is corrected, and that judges disagree."""
    judges = dict.fromkeys(
        v.origins.judges for v in verdicts if v.origins is not None and v.origins.judges is not None
    )
    return [*filter(None, [_uncorrected(verdicts)]), *map(str, judges)]


def _uncorrected(verdicts: Sequence[Verdict]) -> str | None:
    """A note that several risk gates were judged, each at its own level; None if fewer than two were."""
    alone = [v for v in verdicts if v.estimates.decision_p_value is not None and v.family is None]
    if len(alone) < 2:
        return None
    return (
        f"{len(alone)} risk gates, each at its own level, not corrected for multiple comparisons (family: auto "
        "corrects)"
    )
