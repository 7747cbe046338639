"""A chart of points and lines: where they stand, what names them, and that nothing covers anything else."""

from __future__ import annotations

import math
import re
from itertools import combinations, pairwise

import numpy as np
import pytest

from pytest_riskguard.reports import Plot
from pytest_riskguard.reports.html.charts.axes import Box
from tests.reports.html.drawings import labels, marks, points, root_of


def stairs(number: int, *, scale: float = 1.0, prefix: str = "model") -> Plot:
    """Points, those on their upper left edge circled, and a line along it."""
    xs, ys = scale * np.random.default_rng(number).random((2, number))
    front = [p for p, x in enumerate(xs) if not any(ys[o] > ys[p] for o in range(number) if xs[o] < x)]
    front.sort(key=lambda place: xs[place])
    plot = Plot("t", "x title", "y title", description="d")
    edge: list[tuple[float, float]] = [(xs[front[0]], -math.inf)]
    for place in front:
        edge += [(xs[place], edge[-1][1]), (xs[place], ys[place])]
    plot.line([*edge, (math.inf, edge[-1][1])], means="no model beyond")
    for place, (x, y) in enumerate(zip(xs, ys, strict=True)):
        circled = "on the front" if place in front else ""
        plot.point(x, y, f"{place}", name=f"{prefix}-{place}", means="passes", circled=circled)
    return plot


CASES = {
    "one": lambda: stairs(1),
    "four": lambda: stairs(4),
    "forty": lambda: stairs(40),
    "long names": lambda: stairs(9, prefix="a-name-of-very-many-words-that-never-ends-of-week"),
    "ideographs": lambda: stairs(5, prefix="検索結果の順位が大きく"),
    "tiny": lambda: stairs(7, scale=1e-9),
    "large": lambda: stairs(7, scale=1e6),
}


def line_of(plot: Plot) -> list[tuple[float, float]]:
    (line,) = (element for element in root_of(plot).iter("path") if element.get("stroke-linejoin"))
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", line.attrib["d"])]


def centres(plot: Plot) -> list[tuple[float, float]]:
    found = []
    for one in marks(root_of(plot)):
        xs, ys = zip(*points(one), strict=True)
        found.append(((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2))
    return found


@pytest.mark.parametrize("name", CASES)
def test_nothing_covers_anything_else_or_leaves_the_picture(name):
    plot = CASES[name]()
    root, at = root_of(plot), centres(plot)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    picture, shown = Box(left, top, left + width, top + height), labels(root)
    assert {"x title", "y title", "passes", "on the front", "no model beyond"} <= {label.text for label in shown}
    assert not [label.text for label in shown if not label.room.within(picture)]
    assert not [(a.text, b.text) for a, b in combinations(shown, 2) if a.room.overlaps(b.room)]
    assert not [(x, y) for x, y in points(root) if not (0 <= x <= width and 0 <= y <= height)]
    names = [label for label in shown if re.search(r"-\d+$|検", label.text)]
    assert names
    strokes = [
        Box(min(x1, x2) - 0.1, min(y1, y2) - 0.1, max(x1, x2) + 0.1, max(y1, y2) + 0.1)
        for (x1, y1), (x2, y2) in pairwise(line_of(plot))
    ]
    covered = [*strokes, *(Box(x - 4, y - 4, x + 4, y + 4) for x, y in at)]
    assert not [label.text for label in names if any(map(label.room.overlaps, covered))]


@pytest.mark.parametrize("name", ["four", "forty", "tiny", "large"])
def test_points_stand_where_their_values_are(name):
    plot = CASES[name]()
    xs, ys = zip(*((point.x, point.y) for point in plot._marks), strict=True)
    across, up = zip(*centres(plot), strict=True)
    assert np.corrcoef(xs, across)[0, 1] == pytest.approx(1, abs=1e-4)
    assert np.corrcoef(ys, up)[0, 1] == pytest.approx(-1, abs=1e-4)
    line = line_of(plot)
    assert min(across) < max(across) < line[-1][0] - 5  # the line ends at the edges, no point does
    assert max(up) < line[0][1] - 5
    for x, y in zip(across, up, strict=True):  # and no point lies beyond the line
        assert y >= min(height for place, height in line if place <= x + 0.1) - 0.1


def over_time(values: list[float | None], **options: object) -> Plot:
    plot = Plot("t", labels=[f"01-{place:02}" for place in range(len(values))], zero=True, wide=True)
    plot.line(list(enumerate(values)))
    for place, value in enumerate(values):
        low, high = (None, None) if value is None else (value - 1, value + 2)
        plot.point(place, value, f"{place}", low=low, high=high)
    return plot


def test_gaps_break_a_line_and_intervals_are_as_long_as_they_are():
    plot = over_time([1, 2, None, 3, 1])
    drawn = [e for e in root_of(plot).iter("path") if e.get("stroke-linejoin")]
    assert [len([*points(line)]) for line in drawn] == [2, 2]
    at = centres(plot)
    assert at[2][1] == max(y for _, y in at)  # below all others
    assert np.diff([x for x, _ in at]) == pytest.approx([at[1][0] - at[0][0]] * 4, abs=0.02)
    (whiskers,) = (e for e in root_of(plot).iter("path") if e.get("stroke-width") == "2")
    ends = [*points(whiskers)]
    unit = at[0][1] - at[1][1]
    assert [low[1] - high[1] for low, high in zip(ends[::2], ends[1::2], strict=True)] == pytest.approx(
        [3 * unit] * 4, abs=0.05
    )


@pytest.mark.parametrize("count", [1, 5, 120])
def test_labels_are_those_there_is_room_for_the_newest_always(count):
    wide = over_time([0.0] * count).svg
    texts = re.findall(r">(01-\d+)<", wide)
    assert texts[0] == f"01-{count - 1:02}"
    assert len(texts) == count if count < 10 else 10 < len(texts) < 25
    assert wide.count("<title>") == count
    assert "nan" not in wide
