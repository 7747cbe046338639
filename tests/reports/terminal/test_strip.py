"""One line for all topics: what can be read off it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_riskguard import check
from pytest_riskguard.gates.findings import Exhibits, TopicColumns
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.terminal.failure import strip
from pytest_riskguard.run_context import Screen, draws_blocks
from tests.verdicts import altered


def verdict(differences: list[float], *, known: bool = True) -> Verdict:
    """On a baseline of 0.5 everywhere; ``known``: with every topic's scores, as a report has them."""
    topics = tuple(f"t{number:05d}" for number in range(len(differences)))
    baseline = (0.5,) * len(topics)
    candidate = tuple(0.5 + difference for difference in differences)
    judged = check(
        "not_significantly_risky", dict(zip(topics, candidate, strict=True)), dict(zip(topics, baseline, strict=True))
    )
    nothing = (0.0,) * len(topics)
    columns = TopicColumns(topics, (None,) * len(topics), candidate, baseline, nothing, nothing, None, {})
    return replace(judged, exhibits=Exhibits(columns) if known else None)


MIXED = [-0.4, 0.3, 0.0, -0.1, 0.05, 0.0, -0.25]


def test_losses_hang_wins_stand_and_what_stayed_is_dotted():
    assert strip(verdict(MIXED), Screen()) == ["  losses -0.4000 █▀▔··▂▇ +0.3000 wins"]
    assert strip(verdict(MIXED), Screen(blocks=False)) == ["  losses -0.4000 #\"'--.# +0.3000 wins"]


def test_without_a_report_wins_are_counted_and_not_measured():
    assert strip(verdict(MIXED, known=False), Screen()) == ["  losses -0.4000 █▀▔··++ 2 wins"]
    assert strip(verdict([0.1, 0.2, 0.0], known=False), Screen()) == ["  no loss ·++ 2 wins"]


def test_wins_that_are_all_flagged_are_measured_without_a_report():
    known, unknown = verdict(MIXED), verdict(MIXED, known=False)
    (loss, *_) = unknown.responsible_topics
    wins = tuple(replace(loss, topic=f"w{size}", difference=size) for size in (0.05, 0.3))
    assert strip(altered(unknown, flagged_wins=wins), Screen()) == strip(known, Screen())
    assert strip(altered(unknown, flagged_wins=wins[:1]), Screen()) == strip(unknown, Screen())


def test_one_sided_changes_say_so_and_no_change_says_nothing():
    assert strip(verdict([-0.1, -0.2]), Screen()) == ["  losses -0.2000 █▀ no win"]
    assert strip(verdict([0.1, 0.2]), Screen()) == ["  no loss ▅█ +0.2000 wins"]
    assert strip(verdict([-0.1, 0.1]), Screen()) == ["  losses -0.1000 █│█ +0.1000 wins"]
    assert strip(verdict([0.0, 1e-16]), Screen()) == []


@pytest.mark.parametrize("n", [30, 100, 1000, 10_000])
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("known", [True, False])
def test_a_single_collapse_stays_in_sight_among_any_number(n, width, known):
    quiet = [0.001 * (-1) ** number for number in range(n - 1)]
    line, *notes = strip(verdict([*quiet[: n // 2], -0.5, *quiet[n // 2 :]], known=known), Screen(width=width))
    marks = line.split()[2]
    assert len(line) <= width
    assert marks[0] == "█"
    assert set(marks[1:]) <= set("▔│▁+")
    assert bool(notes) == (n > len(marks) - 1)


def test_a_single_win_and_a_single_tie_are_never_dropped():
    line, note = strip(verdict([*[-0.2] * 5000, 0.0, 0.1]), Screen(width=80))
    marks = line.split()[2]
    assert marks[-2:] == "·▅"
    assert set(marks[:-2]) == {"█"}
    (several,) = [int(word) for word in note.split() if word.isdigit()]
    assert several * (len(marks) - 2) >= 5000 > (several - 1) * (len(marks) - 2)


@pytest.mark.parametrize(
    ("encoding", "draws"), [("utf-8", True), ("cp1252", False), ("ascii", False), (None, False), ("nonsense", False)]
)
def test_a_stream_that_cannot_show_blocks_gets_ascii(encoding, draws):
    assert draws_blocks(encoding) is draws
    everything = "".join(strip(verdict([*MIXED, -0.01, 0.2, 0.1]), Screen(blocks=draws)))
    everything.encode(encoding if encoding not in (None, "nonsense") else "ascii")
