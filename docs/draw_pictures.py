"""Draws the pictures of the README from a real failure: ``python docs/draw_pictures.py`` writes ``docs/pictures``.

The failure is that of the help centre in ``examples``: its text in the terminal as it is, and the first screen of its
report. A test compares the pictures with fresh ones, so run this after changing what people see.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.style import Style
from rich.text import Text

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import words as said_of
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.html.charts.plots import Colour, disc, element, line, quoted
from pytest_riskguard.reports.json import read
from pytest_riskguard.reports.numbers import brief, percent, plain
from pytest_riskguard.reports.parts import ends
from pytest_riskguard.text import clean, columns

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
EXAMPLE = "examples/help_center"
SYSTEM = "synonyms"
COMMAND = f"HELP_CENTER_SYSTEM={SYSTEM} pytest --riskguard {EXAMPLE}"

#: A terminal's line: its height, the width of a character and the size of the font.
_LINE, _CELL, _FONT = 19.0, 8.4, 14.0
#: Columns of the terminal, dark on every page; its red, green, yellow, blue and cyan by their numbers.
_COLUMNS = 80
_TERMINAL = {1: "#ff8f7a", 2: "#7ee2a8", 3: "#f0c75e", 4: "#8ab4ff", 6: "#7cc7f5"}
_FOREGROUND, _BACKGROUND, _FRAME = "#e6edf3", "#14191f", "#303a45"

#: The page: its width, its margin, where its right column begins, and how many queries it shows.
_WIDTH, _EDGE, _COLUMN = 900.0, 28.0, 500.0
_ROW, _MOST = 26.0, 6
#: The page's colours in the dark; the light ones are those that a drawing has by itself.
_DARK = {
    "page": "#0f1419", "ink": "#e6edf3", "muted": "#a3afbb", "line": "#303a45", "grey": "#7f8b97", "loss": "#ff9248",
    "win": "#5cb2ec", "limit": "#2fc79a",
}  # fmt: skip


def text_width(text: str, size: float) -> float:
    """At most about the width of a line of text."""
    return 0.7 * size * columns(text)


def words(
    x: float,
    y: float,
    text: str,
    *,
    size: float,
    width: float | None = None,
    anchor: str | None = None,
    colour: str = Colour.INK,
    weight: str | None = None,
) -> str:
    """A line of text on the height ``y``, cut to ``width``."""
    shown = clean(text) if width is None else ends(clean(text), width / 0.7 / size)
    return element(
        "text", quoted(shown), x=x, y=y, fill=colour, font_size=size, text_anchor=anchor, font_weight=weight
    )


def ring(x: float, y: float, radius: float, colour: str) -> str:
    """A hollow circle."""
    return element("circle", cx=x, cy=y, r=radius, fill=Colour.PAGE, stroke=colour, stroke_width=2)


def run(*arguments: str) -> str:
    """What ``pytest --riskguard`` prints for the example, in colour at 80 columns."""
    unwanted = ("CI", "BUILD_NUMBER", "NO_COLOR", "GITHUB_ACTIONS", "PYTEST_ADDOPTS")
    env = {name: value for name, value in os.environ.items() if name not in unwanted}
    env |= {"HELP_CENTER_SYSTEM": SYSTEM, "COLUMNS": str(_COLUMNS), "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "pytest", "--riskguard", "--color=yes", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(  # noqa: S603 - our own command
        [*command, EXAMPLE], cwd=ROOT, env=env, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 1:
        raise RuntimeError(f"expected a failing gate, found status {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def failure() -> Verdict:
    """The verdict of the example's gate on the tail, from its JSON report."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        run(f"--riskguard-report={path}")
        return next(verdict for verdict in read(path).verdicts if verdict.gate == "tail")


# ---- the terminal


def terminal(output: str) -> str:
    """The command and the text of the failure, without what pytest prints around it, which its versions differ in."""
    rows_of_failure = output[output.index("FAILURES") :].splitlines()[1:]
    end = next(place for place, row in enumerate(rows_of_failure) if "short test summary info" in row)
    # each day and each commit would make the baseline older
    shown = "\n".join(row for row in rows_of_failure[:end] if not re.search(r": stored .* ago", row))
    text = Text.assemble((f"$ {COMMAND}\n", "bold"), Text.from_ansi(shown))
    rows = [row[start : start + _COLUMNS] for row in text.split("\n") for start in range(0, len(row) or 1, _COLUMNS)]
    width, height = _COLUMNS * _CELL + 2 * _EDGE, len(rows) * _LINE + 2 * _EDGE
    drawn = "".join(_terminal_line(row, _EDGE + _LINE * number + _FONT) for number, row in enumerate(rows))
    frame = element("rect", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=10, fill=_BACKGROUND, stroke=_FRAME)
    fonts = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    said = element("desc", quoted("\n".join(row.plain for row in rows)))
    return _picture(width, height, "A failed gate in the terminal", said, frame, drawn, font=fonts, size=_FONT)


def _terminal_line(text: Text, y: float) -> str:
    """A line, each word at its column whatever the font; the spans of rich give the colours."""
    parts = []
    for match in re.finditer(r"\S+(?: \S+)*", text.plain):
        for begin, end, colour, weight in _same_style(text, *match.span()):
            parts.append(
                element(
                    "text", quoted(text.plain[begin:end]), x=_EDGE + _CELL * begin, y=y, fill=colour,
                    font_weight=weight, textLength=_CELL * (end - begin), lengthAdjust="spacingAndGlyphs",
                )
            )  # fmt: skip
    return "".join(parts)


def _same_style(text: Text, begin: int, end: int) -> Iterator[tuple[int, int, str, str | None]]:
    """The pieces of a text that look the same, without spaces at their ends."""
    looks = [_look(text, place) for place in range(begin, end)]
    start = begin
    for place in range(begin + 1, end + 1):
        if place == end or looks[place - begin] != looks[start - begin]:
            piece = text.plain[start:place]
            first, last = start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
            if first < last:
                yield (first, last, *looks[start - begin])
            start = place


def _look(text: Text, place: int) -> tuple[str, str | None]:
    """The colour of a character, and whether it is bold."""
    styles = [text.style, *(span.style for span in text.spans if span.start <= place < span.end)]
    style = Style.combine(style if isinstance(style, Style) else Style.parse(style) for style in styles)
    colour = None if style.color is None else style.color.number
    return _TERMINAL.get(colour or 0, _FOREGROUND), "bold" if style.bold else None


# ---- the page


def page(verdict: Verdict) -> str:
    """The first screen of the report: what happened, the worst queries, the slices, why, and what to do next."""
    shown = Card(verdict)
    name = f"{said_of.own_advice(verdict)}: {said_of.line(verdict)}".replace(" -> ", " → ")
    paragraph = said_of.paragraph(verdict).replace(" -> ", " → ")
    systems = f" · {verdict.candidate} against {', '.join(verdict.baselines)} · {verdict.measure}"
    parts = [
        words(_EDGE, 36, "riskguard", size=13, weight="bold"),
        words(_EDGE + 78, 36, systems, size=13, colour=Colour.MUTED),
        words(_EDGE, 74, f"✗ {name}", size=_fitting(f"✗ {name}"), weight="bold"),
    ]
    y = _paragraph(paragraph, parts, (_EDGE, 104), width=_WIDTH - 2 * _EDGE, size=15) + 16
    below = [_queries(shown, parts, y), _where(shown, parts, y)]
    y = _next(verdict, parts, max(below) + 14)
    stripe = element("rect", x=0, y=0, width=_WIDTH, height=y, rx=10, fill=Colour.LOSS)
    frame = element("rect", x=6, y=0, width=_WIDTH - 6, height=y, rx=8, fill=Colour.LINE)
    frame += element("rect", x=6, y=1, width=_WIDTH - 7, height=y - 2, rx=8, fill=Colour.PAGE)
    dark = "".join(f"--{name}: {value};" for name, value in _DARK.items())
    style = element("style", f"@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}")
    fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
    said = element("desc", quoted(paragraph))
    return _picture(_WIDTH, y, name, said, style, stripe, frame, *parts, font=fonts, size=14)


def _fitting(title: str, largest: float = 25) -> float:
    """The size of a title, bold, that fits on one line."""
    return round(min(largest, largest * (_WIDTH - 2 * _EDGE) / (1.12 * text_width(title, largest))), 1)


def _paragraph(text: str, parts: list[str], place: tuple[float, float], *, width: float, size: float) -> float:
    """Lines of text, the first one at this place; the height of the line that would follow."""
    rows = [""]
    for word in text.split():
        longer = f"{rows[-1]} {word}".strip()
        if text_width(longer, size) > width and rows[-1]:
            rows.append(word)
        else:
            rows[-1] = longer
    x, y = place
    parts += [words(x, y + 1.45 * size * number, row, size=size) for number, row in enumerate(rows)]
    return y + 1.45 * size * len(rows)


def _queries(shown: Card, parts: list[str], y: float) -> float:
    """A row for each query: its text, a dumbbell from the baseline's score to the candidate's, both, its share."""
    parts.append(words(_EDGE, y, "Worst queries", size=16, weight="bold"))
    start, end, edge = _EDGE + 172, _EDGE + 300, _COLUMN - 24
    for topic in shown.worst[:_MOST]:
        y += _ROW
        before, after = (start + (end - start) * score for score in (topic.baseline, topic.candidate))
        parts += [
            line((_EDGE, y + 8), (edge, y + 8), colour=Colour.LINE),
            words(_EDGE, y, topic.query or topic.topic, width=160, size=14),
            line((after, y - 5), (before, y - 5), colour=Colour.LOSS, width=3),
            ring(before, y - 5, 4, Colour.GREY),
            disc(after, y - 5, 4.5, Colour.LOSS),
            words(end + 114, y, f"{plain(topic.baseline, 2)} → {plain(topic.candidate, 2)}", size=14, anchor="end"),
            words(edge, y, percent(topic.share or 0, 0), size=14, anchor="end", colour=Colour.MUTED),
        ]
    if len(shown.worst) > _MOST:
        y += _ROW
        parts.append(words(_EDGE, y, f"All {len(shown.worst)}", size=14, colour=Colour.WIN))
    return y + _ROW


def _where(shown: Card, parts: list[str], y: float) -> float:
    """A row for each slice, with how many of its queries got worse, its mean difference and whether it is risky."""
    parts.append(words(_COLUMN, y, "Where", size=16, weight="bold"))
    edge = _WIDTH - _EDGE
    for part in shown.slices[: _MOST - 1]:
        y += _ROW
        colour, weight = (Colour.LOSS, "bold") if part.risky else (Colour.MUTED, None)
        risk = "risky" if part.risky else "not tested" if part.risky is None else "ok"
        parts += [
            line((_COLUMN, y + 8), (edge, y + 8), colour=Colour.LINE),
            words(_COLUMN, y, f"{part.tag}={part.value}", width=112, size=12),
            words(_COLUMN + 226, y, f"{part.losses} of {part.count} worse", size=14, anchor="end"),
            words(_COLUMN + 286, y, brief(part.mean_difference), size=14, anchor="end"),
            words(edge, y, risk, size=14, anchor="end", colour=colour, weight=weight),
        ]
    y += _ROW + 12
    if not (why := said_of.why(shown.verdict)):
        return y
    parts.append(words(_COLUMN, y, "Why it failed", size=16, weight="bold"))
    return _paragraph(why, parts, (_COLUMN, y + 24), width=edge - _COLUMN, size=14)


def _next(verdict: Verdict, parts: list[str], y: float) -> float:
    """The steps, each with its command beside it or, where that is too long, below it."""
    parts.append(words(_EDGE, y, "Next", size=16, weight="bold"))
    code = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
    reproduce = f"pytest --riskguard {EXAMPLE}/riskguard.yaml::{verdict.gate}"
    for number, step in enumerate(said_of.steps(verdict, reproduce=reproduce), 1):
        y += 25
        text = f"{number}. {step.text}"
        parts.append(words(_EDGE, y, text, size=14))
        x = _EDGE + text_width(text, 14) + 8
        if step.command and text_width(step.command, 13) > _WIDTH - _EDGE - x:
            x, y = _EDGE + 20, y + 23
        if step.command:
            shell = quoted(step.command)
            parts.append(element("text", shell, x=x, y=y, fill=Colour.INK, font_size=13, font_family=code))
    return y + 26


def _picture(width: float, height: float, name: str, *children: str, font: str, size: float) -> str:
    return (
        element(
            "svg", *children, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", width=width,
            height=height, font_family=font, font_size=size, role="img", aria_label=name,
        )
        + "\n"
    )  # fmt: skip


def pictures() -> dict[str, str]:
    """The pictures by file name."""
    return {"terminal.svg": terminal(run()), "report.svg": page(failure())}


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for file, picture in pictures().items():
        (PICTURES / file).write_text(picture, encoding="utf-8", newline="\n")
