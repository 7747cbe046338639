"""Names that are too long for a table or a chart, shortened so that no two of them become the same."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby, takewhile
from urllib.parse import quote, urljoin

from pytest_riskguard.text import clean, columns, fitted

#: Longer names are cut even where there is room.
_MAX_NAME = 1000
#: The parts of a name that are compared: words with their numbers, words and numbers apart, characters.
_PARTS = (
    re.compile(r"(?:[^\W_]|(?<=\d)\.(?=\d))+|."),
    re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+|."),
    re.compile(r"."),
)


def shortened(names: Sequence[str], cut: Callable[[str], str]) -> list[str]:
    """The names, all different and short enough, as one printable line each.

    ``cut`` shortens a text and leaves a short enough one as it is. Names that it leaves alone stay whole. The others
    are cut, unless that makes two of them the same: those keep only the parts that differ, such as ``…alpha1…`` of
    ``ltr-alpha1-final``, or ``…1…`` where that is still too long. Where nothing else helps, a number is added.
    """
    whole = [clean(name, limit=_MAX_NAME) for name in names]
    found = [cut(name) for name in whole]
    equal = [place for place in range(len(names)) if found[place] != whole[place] and found.count(found[place]) > 1]
    if len(equal) > 1:
        taken = {name for place, name in enumerate(found) if place not in equal}
        better = _apart([whole[place] for place in equal], cut, taken)
        for place, text in zip(equal, better, strict=True):
            found[place] = text or found[place]
    return _numbered(found, whole, cut)


def _apart(names: Sequence[str], cut: Callable[[str], str], taken: set[str]) -> list[str | None]:
    """What differs in each name, or None where that is never short enough.

    All names are divided in the same way if possible. ``taken`` are texts that other names have.
    """
    *tries, last = ([*_differing(names, parts)] for parts in _PARTS)
    levels = [*tries, [*map(cut, last)]]

    def fits(text: str, texts: Sequence[str]) -> bool:
        return cut(text) == text and text not in taken and texts.count(text) == 1 and text.strip("…") != ""

    for texts in levels:
        if all(fits(text, texts) for text in texts):
            return [*texts]
    found: list[str | None] = [None] * len(names)
    for texts in levels:
        left = [place for place, text in enumerate(found) if text is None]
        for place in left:
            if fits(texts[place], [texts[other] for other in left]):
                found[place] = texts[place]
        taken = taken | {text for text in found if text}
    return found


def _differing(names: Sequence[str], pattern: re.Pattern[str]) -> list[str]:
    """What differs in each name; an ellipsis stands for what they have in common."""
    split = [pattern.findall(name) for name in names]
    start = _in_common(split)
    end = _in_common([parts[start:][::-1] for parts in split])
    everywhere: set[int] = set()
    if len({len(parts) for parts in split}) == 1:
        everywhere = {place for place, column in enumerate(zip(*split, strict=True)) if len(set(column)) == 1}
    texts = []
    for parts in split:
        shared = [i < start or i >= len(parts) - end or i in everywhere for i in range(len(parts))]
        runs = [
            (is_shared, "".join(part for _, part in run))
            for is_shared, run in groupby(zip(shared, parts, strict=True), key=lambda pair: pair[0])
        ]
        texts.append("".join("…" if is_shared and len(text) > 1 else text for is_shared, text in runs))
    return texts


def _in_common(split: Sequence[Sequence[str]]) -> int:
    """How many equal parts all of them begin with."""
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*split, strict=False)))


def _numbered(names: Sequence[str], whole: Sequence[str], cut: Callable[[str], str]) -> list[str]:
    """The names, with a number at the end of those that equal an earlier one, or one that is whole."""
    found: list[str] = []
    not_cut = {name for name, long in zip(names, whole, strict=True) if name == long}
    for name, long in zip(names, whole, strict=True):
        shown, number = name, 1
        while shown in found or (name != long and shown in not_cut) or (number > 1 and shown in names):
            number, kept = number + 1, name
            while kept and cut(f"{kept}~{number}") != f"{kept}~{number}":
                kept = kept[:-1]
            shown = f"{kept}~{number}"
        found.append(shown)
    return found


def ends(name: str, width: int) -> str:
    """The name in at most ``width`` columns of a terminal, with its end kept: models often differ only there."""
    if columns(name) <= width:
        return name
    end = fitted(name[::-1], width // 2 + 1)[:-1]  # without the ellipsis
    return fitted(name, width - columns(end)) + end[::-1]


@cache
def documentation() -> str | None:
    """Where the documentation begins; None in a copy of the package that was never installed."""
    try:
        addresses = importlib.metadata.metadata("pytest-riskguard").get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    named = dict(address.split(", ", 1) for address in addresses if ", " in address)
    return named.get("Documentation")


def glossary(term: str = "") -> str | None:
    """The page that explains the words of a report, or the entry of one of them."""
    start = documentation()
    return start and urljoin(start, "glossary.md") + (f"#{quote(term)}" if term else "")
