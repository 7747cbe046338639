"""How wide text is, and text cut to a width: estimated, because whoever draws a chart does not know its font."""

from __future__ import annotations

import unicodedata
from functools import cache

#: Widths in em of a wide sans-serif (DejaVu Sans), so that text takes no more room than planned in narrower ones.
_WIDTHS = {
    character: width
    for width, characters in {
        0.3: "'IJijl",
        0.35: " ,-./:;\\f|",
        0.4: "!()[]rt",
        0.5: '"*_`',
        0.55: "?Lcsz",
        0.6: "FPTYakovxy",
        0.65: "$0123456789EKSbdeghnpqu{}",
        0.7: "ABCRVXZ",
        0.8: "&DGHNOQU",
        0.85: "#+<=>M^w~→−±",
        1.0: "%@Wm…",
    }.items()
    for character in characters
}
#: Ideographs are as wide as they are high, emoji a little wider.
_IDEOGRAPH, _EMOJI, _OTHER = 1.0, 1.35, 0.75


def text_width(text: str, size: float) -> float:
    """The width of a line of text whose font is ``size`` high, in the same unit."""
    return size * sum(map(_width, text))


def without_stacks(text: str) -> str:
    """The text with two marks on a letter at most: more of them would reach into other lines."""
    if text.isascii():
        return text
    kept, marks = [], 0
    for character in text:
        marks = marks + 1 if _width(character) == 0 else 0
        if marks <= 2:
            kept.append(character)
    return "".join(kept)


@cache
def _width(character: str) -> float:
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return _EMOJI if unicodedata.category(character)[0] == "S" else _IDEOGRAPH
    return 1.1 if unicodedata.category(character) in {"Lu", "So", "Sm"} else _OTHER


def clipped(text: str, *, width: float, size: float, middle: bool = False) -> str:
    """The text if it is no wider than ``width``, else its beginning and an ellipsis.

    With ``middle`` the end is kept as well: names often differ only there.
    """
    if text_width(text, size) <= width:
        return text
    room = width / size - _WIDTHS["…"]
    if middle:
        end = _fitting(text[::-1], room / 2)[::-1]
        return _fitting(text, room - text_width(end, 1)).rstrip() + "…" + end.lstrip()
    return _fitting(text, room).rstrip() + "…"


def _fitting(text: str, room: float) -> str:
    """As much of the text as has room, in em."""
    for place, character in enumerate(text):
        room -= _width(character)
        if room < 0:
            return text[:place]
    return text
