"""Verdicts on very many topics: lists are cut and say how many they leave out, and sentences count every topic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard import text
from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.topics import Topics, read_topics
from pytest_riskguard.gates import responsible, slices
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.figures import chart_data
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.slices import longest
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import json as json_report
from pytest_riskguard.reports.ci import junit
from pytest_riskguard.reports.html.charts import charts
from pytest_riskguard.reports.internal_errors import plain
from pytest_riskguard.reports.sections import sections
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.terminal.failure import explain, strip
from pytest_riskguard.reports.wording import sentences, worded
from pytest_riskguard.reports.wording.headlines import line
from pytest_riskguard.reports.wording.paragraph import paragraph
from pytest_riskguard.run_context import Detail, Screen
from tests.gates.conftest import pair

MOST = 12
RISK = gate_of("g", alpha=1)
COLLAPSE = gate_of("g", kind="no_topic_collapse", max_loss=0.05)


@pytest.fixture(autouse=True)
def _judged_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of lists and charts change here between two judgements of the same systems, which share an answer."""
    monkeypatch.setattr("pytest_riskguard.gates.judge.MAX_KEPT_TOPICS", 0)


def differences(seed: int = 1, n: int = 400) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(-0.03, 0.08, n), 3) * (rng.random(n) < 0.7)


def whole_and_cut(monkeypatch: pytest.MonkeyPatch, gate=RISK, d=None, **options) -> tuple[Verdict, Verdict]:
    """The same verdict with all topics in its lists, and with the first few."""
    candidate, baseline = pair(differences() if d is None else d)
    whole = judge(gate, candidate, baseline, report=True, **options)
    whole.to_dict()  # computes what is computed when first read
    monkeypatch.setattr(responsible, "MAX_LISTED", MOST)
    monkeypatch.setattr(chart_data, "MAX_LISTED", MOST)
    monkeypatch.setattr(slices, "MAX_LISTED", MOST)
    cut = judge(gate, candidate, baseline, report=True, **options)
    cut.to_dict()
    return whole, cut


def test_lists_hold_the_most_harmful_topics_and_say_how_many_they_leave_out(monkeypatch):
    whole, cut = whole_and_cut(monkeypatch)
    flips, left_out = whole.estimates.flip_set, cut.topics.left_out
    assert whole.topics.left_out == {}
    assert cut.responsible_topics == whole.responsible_topics[:MOST]
    assert left_out["responsible_topics"] == len(whole.responsible_topics) - MOST > 0
    assert cut.estimates.flip_set == flips[:MOST]
    assert left_out["flip_set"] == len(flips) - MOST > 0
    assert cut.outcome == whole.outcome == "fail"
    assert cut.estimates == replace(whole.estimates, flip_set=flips[:MOST])
    assert cut.topics == replace(whole.topics, left_out=left_out)


def test_flagged_wins_are_cut_as_well(monkeypatch):
    d = np.concatenate([np.full(30, 0.4), np.linspace(-0.2, -0.1, 370)])
    whole, cut = whole_and_cut(monkeypatch, d=d)
    assert len(whole.flagged_wins) == 30
    assert cut.flagged_wins == whole.flagged_wins[:MOST]
    assert cut.topics.left_out["flagged_wins"] == 30 - MOST


def test_pivotal_topics_are_cut_as_well(monkeypatch):
    d = np.concatenate([np.full(30, -0.1), np.zeros(70)])
    for size in np.linspace(0.01, 0.2, 100):  # gains that all but make up for the losses
        d[30:60] = size
        if len(judge(RISK, *pair(d)).explanation.pivotal_topics) > MOST:
            break
    whole, cut = whole_and_cut(monkeypatch, d=d)
    pivots = whole.explanation.pivotal_topics
    assert cut.explanation.pivotal_topics == pivots[:MOST]
    assert cut.topics.left_out["pivotal_topics"] == len(pivots) - MOST > 0
    assert f"any one of {len(pivots)} queries" in paragraph(cut)


def test_lists_below_the_limit_are_whole_and_nothing_is_added_to_the_json():
    verdict = judge(RISK, *pair(differences()), report=True)
    assert len(verdict.responsible_topics) > MOST
    assert "left_out" not in verdict.to_dict()["topics"]


@pytest.mark.parametrize("gate", [RISK, COLLAPSE], ids=["risk", "collapse"])
def test_sentences_count_the_topics_that_are_left_out(monkeypatch, gate):
    tags = Topics({}, {f"t{i:05d}": {"kind": "code" if i < 300 else "text"} for i in range(400)})
    for topics in (None, tags):
        with monkeypatch.context() as patched:
            whole, cut = whole_and_cut(patched, gate, topics=topics)
        assert Shown(cut).more_losers == len(Shown(whole).losers) - len(Shown(cut).losers) > 0
        assert sentences.number_lost(cut) == sentences.number_lost(whole) == len(sentences.lost_topics(whole))
        assert line(cut) == line(whole)
        assert junit.render([cut]).count("more") == junit.render([whole]).count("more")
        assert Shown(cut).worst == Shown(whole).worst
    assert paragraph(judge(gate, *pair(differences()))) == paragraph(whole_and_cut(monkeypatch, gate)[1])


def collapsed(monkeypatch: pytest.MonkeyPatch, *, code: int, text: int, more: bool = False) -> tuple[str, str]:
    """What is said with all topics and with the first few, where some of each kind collapse and all others lose."""
    d = np.full(400, -0.001)
    d[:code] = d[60 : 60 + text] = -0.3
    kinds = ["code" if i < 60 else "text" for i in range(400)]
    tags = {f"t{i:05d}": {"kind": kind} | ({"odd": str(i % 2)} if more else {}) for i, kind in enumerate(kinds)}
    whole, cut = whole_and_cut(monkeypatch, COLLAPSE, d=d, topics=Topics({}, tags))
    assert all(group.left_out for group in cut.explanation.groups)
    return paragraph(whole), paragraph(cut)


def test_collapsed_topics_of_a_group_are_counted_while_all_of_them_are_named(monkeypatch):
    whole, cut = collapsed(monkeypatch, code=8, text=2)
    assert "8 of these 10 are kind=code" in whole
    assert cut == whole


@pytest.mark.parametrize(("code", "text"), [(8, 2), (16, 4)], ids=["groups are cut", "losses are cut too"])
def test_no_number_of_collapsed_topics_is_given_that_misses_those_left_out(monkeypatch, code, text):
    whole, cut = collapsed(monkeypatch, code=code, text=text, more=True)
    assert f"{code} of these {code + text} are kind=code" in whole
    assert f"{code + text} of 400 queries lost more than 0.05" in cut
    assert "of these" not in cut


def test_a_group_counts_its_topics_that_are_left_out(monkeypatch):
    d = np.where(np.arange(400) < 60, -0.3, 0.001)
    tags = Topics({}, {f"t{i:05d}": {"kind": "code" if i < 60 else "text"} for i in range(400)})
    whole, cut = whole_and_cut(monkeypatch, d=d, topics=tags)
    assert "60 kind=code queries got worse" in paragraph(whole)
    assert paragraph(cut) == paragraph(whole)


def test_a_terminal_counts_the_topics_that_are_left_out(monkeypatch):
    whole, cut = whole_and_cut(monkeypatch)
    lost, flips = len(Shown(whole).losers), len(whole.estimates.flip_set)
    for detail in (Detail.BRIEF, Detail.STATISTICS):
        assert f" of {lost}, baseline -> candidate" in explain(cut, Screen(detail))
    assert f"would pass without {flips} topics" in explain(cut, Screen(Detail.STATISTICS))
    assert f" and {flips - 10} more" in explain(cut, Screen(Detail.STATISTICS))
    assert plain(cut) == plain(whole)
    assert strip(whole, Screen())
    assert strip(cut, Screen()) == []
    assert strip(replace(cut, exhibits=None), Screen()) == []


def test_topics_that_collapsed_and_the_largest_loss_are_listed_before_more_harmful_ones(monkeypatch):
    d = np.full(100, -0.04)
    d[40:50] = -0.06
    weights = {f"t{i:05d}": 0.1 if 40 <= i < 50 else 1.0 for i in range(100)}
    gate = gate_of("g", kind="no_topic_collapse", max_loss=0.05)
    monkeypatch.setattr(responsible, "MAX_LISTED", MOST)
    verdict = judge(gate, *pair(d), topics=Topics({}, {}, weights))
    collapsed = {row.topic for row in verdict.responsible_topics if row.exceeds}
    assert collapsed == {f"t{i:05d}" for i in range(40, 50)}
    assert len(verdict.responsible_topics) == MOST
    assert Shown(verdict).more_losers == 0
    weighted = judge(gate_of("g", alpha=1, weighted=True), *pair(d), topics=Topics({}, {}, weights))
    assert Shown(weighted).worst.topic in collapsed


def test_charts_have_the_lowest_and_the_highest_contributions_in_the_order_of_topics(monkeypatch):
    whole, cut = whole_and_cut(monkeypatch)
    columns, all_columns = cut.exhibits.topics, whole.exhibits.topics
    by_contribution = sorted(zip(all_columns.contributions, all_columns.topics, strict=True))
    ends = by_contribution[:MOST] + by_contribution[-MOST:]
    assert sorted(columns.contributions) == [contribution for contribution, _ in ends]
    assert list(columns.topics) == sorted(columns.topics)
    assert {row.topic for row in cut.responsible_topics} <= set(columns.topics)
    by_topic = dict(zip(all_columns.topics, all_columns.candidate, strict=True))
    assert columns.candidate == tuple(by_topic[topic] for topic in columns.topics)
    drawn = {chart.key: chart for chart in charts(cut)}
    said = "The 24 of 400 topics with the largest parts in the risk"
    assert said in drawn["topics"].caption
    assert said in drawn["topics"].description
    assert f"{len(whole.responsible_topics)} topics lost" in drawn["loss"].description
    assert not any(said in chart.caption for chart in charts(whole))


TAGS = Topics({}, {f"t{i:05d}": {"kind": "code" if i < 60 else "text", "size": "sml"[i % 3]} for i in range(400)})


def test_groups_and_slices_share_a_number_of_names_and_count_the_rest(monkeypatch):
    d = differences()
    d[:60:4] = -0.9
    d[1:60:4] = 0.9
    whole, cut = whole_and_cut(monkeypatch, d=d, topics=TAGS)
    groups_, cut_groups = whole.explanation.groups, cut.explanation.groups
    assert sum(len(group.topics) for group in cut_groups) <= 2 * MOST
    for group, shorter in zip(groups_, cut_groups, strict=True):
        assert shorter.topics == group.topics[: len(shorter.topics)]
        assert len(shorter.topics) >= min(len(group.topics), 2)
        assert (shorter.size, shorter.left_out) == (len(group.topics), len(group.topics) - len(shorter.topics))
        assert shorter == replace(group, topics=shorter.topics, left_out=shorter.left_out)
    parts = dict(zip(whole.exhibits.topics.topics, whole.exhibits.topics.standardised, strict=True))
    assert sum(len(part.flagged) for part in cut.explanation.slices) <= 2 * MOST
    for part, fewer in zip(whole.explanation.slices, cut.explanation.slices, strict=True):
        assert len(fewer.flagged) + fewer.left_out == len(part.flagged)
        assert (
            sorted(parts[topic] for topic in fewer.flagged)
            == sorted(map(parts.__getitem__, part.flagged))[: len(fewer.flagged)]
        )
        assert list(fewer.flagged) == [topic for topic in part.flagged if topic in fewer.flagged]
    assert any(part.left_out for part in cut.explanation.slices)
    of_whole, of_cut = (
        next(part for part in sections(verdict) if part.key == "slices").tables for verdict in (whole, cut)
    )
    for table, shorter_table, columns in zip(of_whole, of_cut, (-1, None), strict=True):  # not the names of a group
        assert [row[:columns] for row in table.rows] == [row[:columns] for row in shorter_table.rows]
    assert '"left_out"' not in json_report.dumps([whole])
    assert paragraph(cut) == paragraph(whole)


@pytest.mark.parametrize(
    ("lengths", "most", "expected"),
    [
        ([], 5, 0),
        ([3, 1], 5, 3),
        ([3, 2], 5, 3),
        ([9, 1], 5, 4),
        ([9, 9], 5, 2),
        ([9, 2, 8], 10, 4),
        ([1, 1, 1], 2, 0),
    ],
)
def test_long_lists_are_cut_to_the_same_length(lengths, most, expected):
    assert longest(lengths, most) == expected


def test_topics_without_an_answer_and_others_that_are_not_compared_are_counted(monkeypatch):
    candidate, baseline = pair(differences())
    missing, unknown = candidate.topics[100:150], tuple(f"u{i:02d}" for i in range(20))
    given = replace(candidate.without(missing), unknown=unknown)
    gate = replace(RISK, missing="zero")
    monkeypatch.setattr(text.named, "__kwdefaults__", {"most": 5})
    whole = judge(gate, given, baseline)
    whole.to_dict()
    monkeypatch.setattr(responsible, "MAX_LISTED", MOST)
    cut = worded(judge(gate, given, baseline))
    assert whole.topics.missing_in_candidate == missing
    assert cut.topics.missing_in_candidate == missing[:MOST]
    assert cut.topics.unknown_in_candidate == unknown[:MOST]
    assert cut.topics.left_out["missing_in_candidate"] == 50 - MOST
    assert cut.topics.left_out["unknown_in_candidate"] == 20 - MOST
    assert Shown(cut).unanswered == Shown(whole).unanswered == 50
    assert "returned nothing for 50 queries" in paragraph(cut)
    (message,) = [found.message for found in cut.warnings if found.code == "missing_topics"]
    assert message.endswith(
        "did not answer 50 topics (they score 0): t00100, t00101, t00102, t00103, t00104 and 45 more"
    )
    with pytest.raises(
        DataError, match=r"lacks 50 topics: t00100, t00101, t00102, t00103, t00104 and 45 more; score"
    ):
        align(RISK, given, baseline)


def test_the_json_of_a_cut_verdict_is_read_back(monkeypatch, tmp_path):
    _, cut = whole_and_cut(monkeypatch, topics=TAGS)
    path = tmp_path / "report.json"
    path.write_text(json_report.dumps([cut]), encoding="utf-8")
    (read,) = json_report.read(path).verdicts
    assert read.topics.left_out == cut.topics.left_out
    assert json_report.dumps([read]) == json_report.dumps([cut])
    assert explain(read, Screen(Detail.EVERYTHING)) == explain(cut, Screen(Detail.EVERYTHING))


def test_topics_with_the_same_tags_share_them_and_slices_are_the_same(tmp_path):
    path = tmp_path / "topics.tsv"
    rows = [f"t{i:05d}\tquery\t{'ab'[i % 2]}\t{1 + i % 3}\t{'xyz'[i % 3]}\n" for i in range(60)]
    path.write_text("topic\tquery\tkind\tweight\tpart\n" + "".join(rows), encoding="utf-8")
    shared = read_topics(path)
    assert len({id(tags) for tags in shared.tags.values()}) == 6
    assert shared.tags["t00003"] == {"kind": "b", "part": "x"}
    assert shared.weights["t00004"] == 2
    apart = {topic: dict(tags) for topic, tags in shared.tags.items()}
    candidate, _ = pair(differences(n=60))
    for asked in ("kind=a", "part=z"):
        tag, value = asked.split("=")
        expected = tuple(topic for topic in candidate.topics if apart[topic][tag] == value)
        for tags in (shared.tags, apart):
            part = slices.within(candidate, asked, tags)
            assert part.topics == expected
            assert part.values.tolist() == [candidate.values[int(topic[1:])] for topic in expected]
    judged = [judge(RISK, *pair(differences(n=60)), topics=Topics({}, tags)) for tags in (shared.tags, apart)]
    assert judged[0].explanation == judged[1].explanation
    assert slices.slices_of("part", candidate.topics, apart, smallest=20) == ("part=x", "part=y", "part=z")
