"""A badge: how the gates ended, as a small SVG of its own for a README or a dashboard."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.comparisons import KnownGate, answer
from pytest_riskguard.text import clean

LABEL = "riskguard"
#: Longest label.
MAX_LABEL = 60
#: What the label stands on, and what the state stands on; white text has a contrast of at least 4.5:1 on each.
LABEL_COLOUR = "#3d444d"
COLOURS = {"fail": "#b42318", "doubt": "#8a5a00", "pass": "#1a7f37", "none": "#59636e"}
_HEIGHT, _MARGIN, _FONT_SIZE = 20, 7, 11
#: Widths of characters in pixels; ``textLength`` makes the text fit, whatever font the reader has.
_NARROW, _WIDE, _OTHER = 4.0, 10.0, 7.0


class State(NamedTuple):
    """How a run ended, in a key of ``COLOURS`` and in words."""

    colour: str
    words: str


NO_VERDICT = State("none", "no verdict")
_OF_TONES = {"stop": "fail", "caution": "doubt", "go": "pass"}


def state(verdicts: Sequence[Verdict], gates: Sequence[KnownGate] = ()) -> State:
    """The answer of a run; a gate that was not judged keeps the badge from being green."""
    if not (verdicts or gates):
        return NO_VERDICT
    said = answer(verdicts, gates)
    undecided = {verdict.outcome for verdict in verdicts if not verdict.passed} == {"inconclusive"}
    colour = "doubt" if undecided else _OF_TONES[said.tone]
    return State(colour, f"{said.advice.lower()}: {said.counts}")


def render(state: State, *, label: str = LABEL) -> str:
    """The badge as SVG; the same state and label give the same text."""
    label = clean(label, limit=MAX_LABEL)
    name = escape(f"{label}: {state.words}" if label else state.words, {'"': "&quot;"})
    left = _width(label) + 2 * _MARGIN if label else 0.0
    right = _width(state.words) + 2 * _MARGIN
    texts = [_text(label, left / 2, _width(label))] if label else []
    texts.append(_text(state.words, left + right / 2, _width(state.words)))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:g}" height="{_HEIGHT}" role="img" '
        f'aria-label="{name}">',
        f"<title>{name}</title>",
        f'<rect width="{left + right:g}" height="{_HEIGHT}" rx="3" fill="{COLOURS[state.colour]}"/>',
        *(
            [f'<path d="M3 0h{left - 3:g}v20h-{left - 3:g}a3 3 0 0 1-3-3v-14a3 3 0 0 1 3-3z" fill="{LABEL_COLOUR}"/>']
            * bool(label)
        ),
        f'<g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="{_FONT_SIZE}" '
        'text-anchor="middle">',
        *texts,
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _text(text: str, middle: float, width: float) -> str:
    return f'<text x="{middle:g}" y="14" textLength="{width:g}">{escape(text)}</text>'


def _width(text: str) -> float:
    """About the pixels that a text takes."""
    return sum(
        _NARROW if character in "fijlrtI1.,:;'|! ()[]" else _WIDE if _is_wide(character) else _OTHER
        for character in text
    )


def _is_wide(character: str) -> bool:
    return character in "mwMW%@" or unicodedata.east_asian_width(character) in "WF"
