"""The order of documents as written and as scored, and what rank columns say."""

from __future__ import annotations

import random

import pytest
from numpy.testing import assert_allclose

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.order import RankColumn, as_scored, as_written, has_ties, in_32_bits, untied
from pytest_riskguard.data.rankings import rankings_as_run
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import RunFormatError

IDS = ["b", "a", "c"]


@pytest.mark.parametrize(
    ("scores", "ranks", "ranking", "rank_column"),
    [
        ([3.0, 2.0, 1.0], [b"1", b"2", b"3"], "bac", RankColumn.AGREES),
        ([3.0, 2.0, 1.0], [b"0", b"1", b"2"], "bac", RankColumn.AGREES),
        ([3.0, 2.0, 1.0], [b"4", b"9", b"120"], "bac", RankColumn.AGREES),  # documents were filtered out
        ([1.0, 2.0, 3.0], [b"3", b"2", b"1"], "cab", RankColumn.AGREES),  # lines in another order
        ([3.0, 3.0, 1.0], [b"2", b"1", b"3"], "abc", RankColumn.AGREES),  # ties go by rank
        ([3.0, 3.0, 3.0], [b"3", b"1", b"2"], "acb", RankColumn.SILENT),  # equal scores contradict nothing
        ([3.0, 3.0, 1.0], [b"0", b"0", b"0"], "bac", RankColumn.NUMBERS_NOTHING),
        ([3.0, 3.0, 3.0], [b"0", b"0", b"0"], "bac", RankColumn.SILENT),
        ([1.0, 3.0, 2.0], [b"1", b"1", b"1"], "acb", RankColumn.NUMBERS_NOTHING),
        ([3.0, 2.0, 1.0], [b"1", b"2", b"2"], "bac", RankColumn.NUMBERS_NOTHING),
        ([3.0, 1.0, 2.0], [b"-", b"1.5", b"Q0"], "bca", RankColumn.NUMBERS_NOTHING),
        ([3.0, 1.0, 2.0], None, "bca", RankColumn.SILENT),
        ([3.0, 1.0, 2.0], [b"1", b"2", b"3"], "bca", RankColumn.CONTRADICTS),
        ([1.0, 2.0, 3.0], [b"1", b"2", b"3"], "cab", RankColumn.INVERTED),
        ([0.5, 0.5, 0.9], [b"5", b"6", b"7"], "cba", RankColumn.INVERTED),
        ([1.0, 2.0, 3.0], [b"0", b"0", b"0"], "cab", RankColumn.STANDS_FOR_SCORES),
        ([0.0, 1.0, 2.0], [b"x", b"x", b"x"], "cab", RankColumn.STANDS_FOR_SCORES),
        ([1699999999.0, 1699999998.0, 1699999997.0], [b"1", b"2", b"3"], "bac", RankColumn.AGREES),
    ],
)
def test_the_order_as_written_is_by_score_then_rank_then_line(scores, ranks, ranking, rank_column):
    written = as_written(IDS, scores, ranks)
    assert "".join(written.ranking) == ranking
    assert list(written.scores) == sorted(scores, reverse=True)
    assert written.rank_column is rank_column


def test_a_long_ranking_is_compared_with_its_ranks_too():
    count = 12_000  # more than are compared at once
    ids, ranks = [f"d{i}" for i in range(count)], [b"%d" % rank for rank in range(1, count + 1)]
    assert as_written(ids, [float(-i) for i in range(count)], ranks).rank_column is RankColumn.AGREES
    assert as_written(ids, [float(i) for i in range(count)], ranks).rank_column is RankColumn.INVERTED


def test_ties_are_those_of_32_bits():
    assert has_ties([1699999999.0, 1699999998.0])
    assert has_ties([1.0, 0.9999999999])
    assert not has_ties([0.3, 0.2999999])
    assert in_32_bits([16777217.0]) == [16777216.0]
    assert not has_ties(untied([str(i) for i in range(10_000)]).values())


@pytest.mark.parametrize(
    ("provider", "ranking"), [("pytrec_eval", "cba"), ("riskguard", "cba"), ("msmarco", "abc"), ("other", "bac")]
)
def test_providers_break_ties_in_their_own_ways(provider, ranking):
    assert "".join(as_scored(IDS, [2.0, 2.0, 2.0], provider)) == ranking


def test_only_trec_eval_compares_32_bits():
    scores = [1699999999.0, 1699999998.0, 1699999997.0]
    assert "".join(as_scored(IDS, scores, "pytrec_eval")) == "cba"
    assert "".join(as_scored(IDS, scores, "riskguard")) == "bac"


TOPICS = [f"{number:02d}" for number in range(20)]


@pytest.fixture
def qrels(write):
    return read_qrels(
        write("qrels.txt", "".join(f"{t} 0 d{doc} {int(doc == 0)}\n" for t in TOPICS for doc in range(9)))
    )


def run_of(scores: list[str], *, ranks: list[str] | None = None, rows: list[str] | None = None) -> str:
    """Documents d0, d1, ... of every topic, the relevant one first."""
    ranks = ranks or [str(rank) for rank in range(1, len(scores) + 1)]
    lines = [f"d{i} {rank} {score}" for i, (rank, score) in enumerate(zip(ranks, scores, strict=True))]
    return "".join(f"{topic} Q0 {line} t\n" for topic in TOPICS for line in rows or lines)


@pytest.mark.parametrize(
    "scores",
    [
        [str(1699999999 - i) for i in range(9)],
        [f"{1 - 1e-10 * i:.10f}" for i in range(9)],
        ["1.0"] * 9,
    ],
    ids=["large", "close", "equal"],
)
def test_scores_equal_in_32_bits_are_scored_in_both_orders(write, qrels, scores):
    path = write("a.run", run_of(scores))
    recip, at_2, graded = score_run(path, qrels, ["RR", "P@2", "ERR@20"])
    assert_allclose(recip.values, 1 / 9)  # d0 is last of the ids, as trec_eval ranks them
    assert_allclose(recip.in_written_order().values, 1.0)
    assert at_2.mean == 0.0
    assert at_2.as_written == dict.fromkeys(TOPICS, 0.5)
    assert recip.reordered == at_2.reordered == tuple(TOPICS)
    assert bool(graded.reordered) == (scores[0] == scores[-1])  # ERR compares 64 bits
    assert recip.in_written_order().reordered == ()


def test_ties_below_the_cutoff_or_among_equal_grades_change_nothing(write, qrels):
    scores = [str(9 - min(i, 5)) for i in range(9)]
    at_2, at_9, recip = score_run(write("a.run", run_of(scores)), qrels, ["nDCG@2", "nDCG@9", "RR"])
    assert at_2.as_written == at_9.as_written == recip.as_written == {}


def test_a_tie_across_the_cutoff_counts(write, qrels):
    rows = ["d3 1 9", "d0 2 5", "d8 3 5"]
    at_1, at_2 = score_run(write("a.run", run_of([], rows=rows)), qrels, ["P@1", "P@2"])
    assert (at_1.as_written, at_2.as_written) == ({}, dict.fromkeys(TOPICS, 0.5))
    assert at_2.mean == 0.0


def test_ties_go_by_the_rank_column_unless_it_says_nothing(write, qrels):
    rows = ["d3 2 5", "d0 1 5"]
    assert score_run(write("a.run", run_of([], rows=rows)), qrels, ["P@1"])[0].as_written == dict.fromkeys(
        TOPICS, 1.0
    )
    rows = ["d3 0 5", "d0 0 5"]
    assert score_run(write("a.run", run_of([], rows=rows)), qrels, ["P@1"])[0].as_written == {}


def test_an_interleaved_file_has_the_same_orders(write, qrels):
    lines = run_of(["1.0"] * 9).splitlines(keepends=True)
    by_rank = sorted(lines, key=lambda line: int(line.split()[3]))
    together, apart = (
        score_run(write(name, "".join(rows)), qrels, ["RR"])[0]
        for name, rows in (("a.run", lines), ("b.run", by_rank))
    )
    assert together.as_written == apart.as_written == dict.fromkeys(TOPICS, 1.0)


@pytest.mark.parametrize(
    ("scores", "ranks"),
    [
        ([str(rank) for rank in range(1, 10)], None),
        ([f"0.{rank}" for rank in range(1, 10)], None),  # distances
        ([str(rank) for rank in range(9)], ["0"] * 9),
    ],
)
def test_a_run_whose_scores_are_its_ranks_is_refused(write, qrels, scores, ranks):
    path = write("a.run", "\n" + run_of(scores, ranks=ranks))
    with pytest.raises(
        RunFormatError, match=r"a\.run:3: expected scores .* every ranking is upside down; .*'00 Q0 d1 "
    ) as e:
        score_run(path, qrels, ["RR"])
    assert e.value.reason == "bad_run"


@pytest.mark.parametrize("mark", ["Q0", "%"])
def test_an_upside_down_run_that_leaves_topics_out_is_shown_by_one_that_it_answers(write, mark):
    names = [f"a topic {place:02}" if mark == "%" else f"topic-{place:02}" for place in range(20)]
    judged = read_qrels({name: {"d0": 1, "d1": 0} for name in names})
    rows = [
        f"{name.replace(' ', '%20')} {mark} d{rank} {rank} {rank}.5 t\n" for name in names[5:] for rank in (1, 2, 3)
    ]
    with pytest.raises(
        RunFormatError, match=rf"a\.run:2: .* upside down; .*'{names[5].replace(' ', '%20')} {mark} d2"
    ):
        score_run(write("a.run", "".join(rows)), judged, ["RR"])


@pytest.mark.parametrize(
    ("scores", "count", "is_refused"), [("123", 10, False), ("123", 11, True), ("12", 20, False)]
)
def test_a_few_scores_may_number_the_lines_by_chance(write, qrels, scores, count, is_refused):
    """Counts of matching words, in lines of any order, with 0 as every rank: in two lines that says nothing."""
    lines = [
        f"{topic} Q0 d{i} 0 {score} t"
        for place, topic in enumerate(TOPICS)
        for i, score in enumerate(scores if place < count else scores[::-1])
    ]
    path = write("a.run", "\n".join(lines))
    if is_refused:
        with pytest.raises(RunFormatError, match="upside down"):
            score_run(path, qrels, ["RR"])
    else:
        assert score_run(path, qrels, ["RR"])[0].contradicted == (tuple(TOPICS[:count]) if scores == "123" else ())


@pytest.mark.parametrize(("count", "is_refused"), [(10, False), (11, True)])
def test_a_run_with_some_topics_upside_down_is_warned_of(write, qrels, count, is_refused):
    rising, falling = run_of(["1", "2", "3"]).splitlines(), run_of(["3", "2", "1"]).splitlines()
    path = write("a.run", "\n".join([*rising[: 3 * count], *falling[3 * count :]]))
    if is_refused:
        with pytest.raises(RunFormatError, match="upside down"):
            score_run(path, qrels, ["RR"])
    else:
        assert score_run(path, qrels, ["RR"])[0].contradicted == tuple(TOPICS[:count])


@pytest.mark.parametrize("ranks", [["0"] * 9, ["1"] * 9, ["-"] * 9, [str(i) for i in range(9)]])
def test_rank_columns_that_number_nothing_or_from_0_are_common(write, qrels, ranks):
    scores = [str(9 - i) for i in range(9)]
    (scored,) = score_run(write("a.run", run_of(scores, ranks=ranks)), qrels, ["RR"])
    assert (scored.contradicted, scored.as_written, scored.mean) == ((), {}, 1.0)


def test_answers_of_a_live_search_are_ranked_as_returned(qrels):
    pairs = [("d0", 1.0), ("d5", 1.0), ("d3", 0.5)]
    run = rankings_as_run(dict.fromkeys(TOPICS, pairs), as_returned=True)
    assert run.by_topic["00"] == (("d0", 3.0), ("d5", 2.0), ("d3", 1.0))
    (scored,) = score_run(run, qrels, ["RR"])
    assert (scored.mean, scored.as_written, scored.contradicted) == (1.0, {}, ())
    assert score_run(rankings_as_run(dict.fromkeys(TOPICS, pairs)), qrels, ["RR"])[0].mean == 0.5


def test_a_live_search_that_contradicts_its_scores_is_ranked_as_returned_and_warned_of(qrels):
    distances = [("d0", 0.1), ("d5", 0.2), ("d3", 0.7)]
    run = rankings_as_run(
        {**dict.fromkeys(TOPICS[1:], distances), "00": [("d0", 0.3), ("d5", 0.2)]}, as_returned=True
    )
    assert run.by_topic["00"] == (("d0", 0.3), ("d5", 0.2))
    (scored,) = score_run(run, qrels, ["RR"])
    assert (scored.mean, scored.contradicted) == (1.0, tuple(TOPICS[1:]))


def test_random_runs_score_as_written_what_untied_scores_would(write, qrels):
    rng = random.Random(3)
    lines, untied_lines = [], []
    for topic in TOPICS:
        ids = [f"d{i}" for i in rng.sample(range(12), 9)]
        scores = sorted((rng.choice([1.0, 1.0 + 1e-9, 0.5, 2.0]) for _ in ids), reverse=True)
        rows = [f"{topic} Q0 {docid} {rank} " for rank, docid in enumerate(ids, 1)]
        untied_lines += [f"{row}{20 - rank} t" for rank, row in enumerate(rows)]
        lines += rng.sample([f"{row}{score!r} t" for row, score in zip(rows, scores, strict=True)], 9)
    measures = ["nDCG@3", "AP", "RR@5", "ERR@5", "Bpref", "Judged@2"]
    tied = score_run(write("a.run", "\n".join(lines)), qrels, measures)
    plain = score_run(write("b.run", "\n".join(untied_lines)), qrels, measures)
    for scored, expected in zip(tied, plain, strict=True):
        assert_allclose(scored.in_written_order().values, expected.values, atol=1e-12)
    assert any(scored.as_written for scored in tied)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "qrels_name", "warned"),
    [
        # scores of bm25s_atire cut to whole numbers
        ("cranfield_runs", "qrels.txt", {"ties_bm25s_int"}),
        ("web2012_runs", "qrels.adhoc.txt.gz", set()),
    ],
)
def test_real_runs_are_rarely_warned_of(shared, folder, qrels_name, warned):
    qrels = read_qrels(shared / "data" / folder / qrels_name)
    runs = sorted((shared / "data" / folder / "runs").glob("*.run.gz"))
    for run in runs:
        scored = score_run(run, qrels, ["nDCG@10", "AP", "P@10"])
        assert scored[0].contradicted == ()
        assert any(scores.is_reordered for scores in scored) == (scored[0].name in warned), run.name
