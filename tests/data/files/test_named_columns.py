"""Tables with named columns: which column holds what, and what is refused."""

from __future__ import annotations

import pytest

from pytest_riskguard.data.collection import read_topics
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.errors import QrelsFormatError, RunFormatError, TopicsFormatError, UsageError


def ranked(path: object, **how: object) -> dict[str, list[str]]:
    run = read_run(GivenFile(path, **how))  # type: ignore[arg-type]
    return {topic: list(documents) for topic, documents in run.by_topic().items()}


@pytest.mark.parametrize(
    "table",
    [
        "query_id,doc_id,relevance\nq1,d1,2\nq1,d2,0\n",
        "qid;docno;label\r\nq1;d1;2.0\r\nq1;d2;0\r\n",
        '\ufeff"QID"\t"docno"\t"label"\n"q1"\t"d1"\t2\n"q1"\t"d2"\t0\n',
        ",qid,docid,docno,label\n0,q1,17,d1,2\n1,q1,18,d2,0\n",  # a frame with its index and inner ids
        "query-id,corpus-id,score\nq1,d1,2\nq1,d2,0",
        "qid;docno;label;one, two, three, four, or five\nq1;d1;2;\nq1;d2;0;\n",
        'qid,docno,label,note\nq1,d1,2,"red, or 19"" wide\nin two lines"\nq1,d2,0,\nq1,d3,,not judged yet\n',
    ],
)
def test_judgements_are_found_by_the_names_of_columns(write, table):
    assert read_qrels(write("qrels.csv", table)).grades == {"q1": {"d1": 2, "d2": 0}}


def test_query_texts_name_topics_where_there_are_no_ids(write):
    qrels = read_qrels(write("qrels.csv", "id,query,docid,rating\n1,red shoes,d1,2\n2,red  shoes,d2,1\n"))
    assert qrels.grades == {"red shoes": {"d1": 2, "d2": 1}}


def test_two_query_texts_of_one_topic_are_refused(write):
    path = write("qrels.csv", "qid,query,docid,rating\nq1,red shoes,d1,2\nq1,blue shoes,d2,1\n")
    with pytest.raises(QrelsFormatError, match=r":3: expected one query text for each topic, found 'red shoes' and"):
        read_qrels(path)


def test_columns_that_are_named_in_another_way_are_given(write):
    path = write("qrels.csv", "session;sku;stars\nq1;d1;2\n")
    columns = {"topic": "session", "document": "SKU", "grade": "stars"}
    assert read_qrels(GivenFile(path, columns=columns)).grades == {"q1": {"d1": 2}}
    with pytest.raises(QrelsFormatError, match=r"it has no column 'session_id', only 'session', 'sku', 'stars'"):
        read_qrels(GivenFile(path, columns=columns | {"topic": "session_id"}))
    with pytest.raises(UsageError, match=r"columns: 'docment' is not one of document, .*did you mean 'document'"):
        read_qrels(GivenFile(path, columns={"docment": "sku"}))


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("qid,docno,label\nq1,d1,1_0\n", r":2: expected a number as the grade, found '1_0'"),
        ("qid,docno,label\nq1,d1,two\n", r":2: expected a number as the grade, found 'two'"),
        ("qid,docno,label\nq1,d1,nan\n", r":2: expected a number as the grade"),
        ("qid,docno,label\nq1,d1\n", r":2: expected 3 columns as in the first line, found 2"),
        ("qid,docno,label\nq1,,1\n", r":2: expected a document in column 'docno', found nothing"),
        ('qid,docno,label\nq1,"d1,1\n', r":2: expected quotes around whole cells only"),
        ("qid,docno,label,label\nq1,d1,1,2\n", r"expected one column 'label', found 2"),
        (
            "qid,docno\nq1,d1\n",
            r"the nearest is csv, but its first line is not a header that fits: it names no column for",
        ),
        ("qid,docno,label\nq1,d1,1\nq1,d1,1\n", r":3: expected each document once per topic"),
        ("qid,docno,label\n", r"expected judgements, found none"),
    ],
)
def test_bad_tables_are_refused_with_the_line(write, table, problem):
    with pytest.raises(QrelsFormatError, match=problem):
        read_qrels(write("qrels.csv", table))


def test_scores_rank_documents_and_equal_ones_fall_by_id(write):
    path = write("run.csv", "qid,docno,rank,score\nq1,a,0,2\nq1,b,1,1\nq1,c,2,1\n")
    assert ranked(path) == {"q1": ["a", "c", "b"]}
    assert ranked(path, ties="as_returned") == {"q1": ["a", "b", "c"]}


@pytest.mark.parametrize("score", ["", ",score"])
def test_without_scores_the_ranks_count(write, score):
    cell = "," if score else ""
    path = write("run.csv", f"qid,docno,rank{score}\nq1,a,2{cell}\nq1,b,1{cell}\nq2,c,1{cell}\n")
    assert ranked(path) == {"q1": ["b", "a"], "q2": ["c"]}


def test_a_rank_twice_in_a_topic_is_refused_without_scores(write):
    path = write("run.csv", "qid,docno,rank\nq1,a,0\nq1,b,0\n")
    with pytest.raises(
        RunFormatError, match=r":3: expected each rank once in topic 'q1', found 0 for both 'a' and 'b'"
    ):
        read_run(path)


def test_a_score_that_is_missing_among_others_is_refused(write):
    path = write("run.csv", "qid,docno,rank,score\nq1,a,1,2\nq1,b,2,\n")
    with pytest.raises(RunFormatError, match=r":3: expected a number as the score of 'b', found nothing"):
        read_run(path)


def test_rankings_that_are_upside_down_are_refused(write):
    path = write(
        "run.csv", "qid,docno,rank,score\nq1,a,1,0.1\nq1,b,2,0.7\nq2,a,1,0.2\nq2,b,2,0.3\nq3,a,1,2\nq3,b,2,1\n"
    )
    with pytest.raises(RunFormatError, match=r"run.csv:2: .*every ranking is upside down.*ties: as_returned"):
        read_run(path)
    assert ranked(path, ties="as_returned")["q1"] == ["a", "b"]


def test_a_few_contradictions_of_ranks_and_scores_are_named(write):
    rows = "".join(f"q{number},a,1,2\nq{number},b,2,1\n" for number in range(5))
    run = read_run(write("run.csv", f"qid,docno,rank,score\n{rows}q9,a,1,1\nq9,b,2,2\nq8,a,0,2\nq8,b,0,1\n"))
    assert run.source.contradicted == ("q9",)


def test_ranks_that_are_not_those_of_all_documents_say_nothing(write):
    run = read_run(write("run.csv", "qid,docno,rank,score\nq1,a,,1\nq1,b,2,2\n"))
    assert run.source.contradicted == ()
    twice = write("run.csv", "qid,docno,rank,score\nq1,a,2,3\nq1,b,1,2\nq1,c,1,1\n")
    assert ranked(twice, ties="as_returned") == {"q1": ["a", "b", "c"]}


def test_rankings_are_upside_down_only_if_most_are(write):
    rows = "q1,a,1,1\nq1,b,2,2\nq2,a,1,1\nq2,b,2,2\nq3,a,1,2\nq3,b,2,1\nq4,a,1,3\nq4,b,2,1\nq4,c,3,2\n"
    run = read_run(write("run.csv", f"qid,docno,rank,score\n{rows}"))
    assert run.source.contradicted == ("q1", "q2", "q4")


def test_a_column_that_is_given_as_one_thing_is_not_another(write):
    path = write("run.csv", "qid,docno,rank\nq1,a,3\nq1,b,7\n")
    assert ranked(path, columns={"score": "rank"}) == {"q1": ["b", "a"]}


def test_judgements_are_no_rankings(write):
    path = write("run.csv", "query_id,doc_id,relevance\nq1,d1,2\n")
    with pytest.raises(RunFormatError, match=r"names no column for score"):
        read_run(path)


def test_topics_have_tags_and_their_columns_any_order(write):
    path = write("topics.tsv", "lang\tquery\tqid\nen\tred shoes\tq1\n")
    topics = read_topics(path)
    assert (topics.queries, topics.tags) == ({"q1": "red shoes"}, {"q1": {"lang": "en"}})
    unnamed = read_topics(write("topics.csv", ",qid,query\n0,q1,red shoes\n"))
    assert (unnamed.queries, unnamed.tags) == ({"q1": "red shoes"}, {"q1": {}})


def test_topics_between_tabs_may_be_quoted(write):
    path = write("topics.tsv", 'qid\tquery\n"q1"\t"19"" monitor"\n"q2"\t"shoes"\n')
    assert read_topics(path).queries == {"q1": '19" monitor', "q2": "shoes"}


def test_the_only_doubled_quote_may_stand_in_the_last_line(write):
    path = write("topics.tsv", 'qid\tquery\n"q1"\t"red shoes"\n"q2"\t"19"" monitor"\n')
    assert read_topics(path).queries == {"q1": "red shoes", "q2": '19" monitor'}


def test_cells_are_quoted_though_the_bytes_looked_at_end_within_one(write):
    rows = "".join(f'"q{number}"\t"{number}"" monitor"\n' for number in range(5_000))
    path = write("topics.tsv", "qid\tquery\n" + rows)
    assert path.stat().st_size > 2**16
    assert path.read_bytes()[: 2**16].splitlines()[-1].count(b'"') % 2
    assert read_topics(path).queries["q7"] == '7" monitor'


def test_a_weight_is_above_zero(write):
    path = write("topics.csv", "qid,query,weight\nq1,red shoes,0\n")
    with pytest.raises(TopicsFormatError, match=r":2: expected a weight above 0, found '0'"):
        read_topics(path)


def test_topics_may_be_query_texts_alone(write):
    assert read_topics(write("topics.csv", "query\nred shoes\n")).queries == {"red shoes": "red shoes"}


def test_a_header_with_other_names_is_no_topic(write):
    assert read_topics(write("topics.tsv", "query-id\ttext\nq1\tred shoes\n")).queries == {"q1": "red shoes"}


def test_rankings_are_no_judgements(write):
    table = "qid,docno,rank,score\nq1,a,1,2\n"
    with pytest.raises(QrelsFormatError, match=r"its scores stand beside ranks: it holds rankings"):
        read_qrels(write("run.csv", table))
    given = GivenFile(write("run.csv", table), columns={"grade": "score"})
    assert read_qrels(given).grades == {"q1": {"a": 2}}
    joined = "qid,docno,rank,score,label\nq1,a,1,7.5,2\n"  # results with their labels, as PyTerrier joins them
    assert read_qrels(write("joined.csv", joined)).grades == {"q1": {"a": 2}}
