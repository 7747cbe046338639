"""JSON Lines with named keys: many lines are read at once, and say the same as one by one."""

import json

import pytest

from pytest_riskguard.data import named_columns
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.errors import QrelsFormatError

GOOD = '{"qid": "q1", "docno": "d1", "label": 2}'
OTHER = '{"qid": "q1", "docno": "d2", "label": 0}'


@pytest.mark.parametrize(
    "text",
    [
        f"{GOOD}\n{OTHER}\n",
        f"\ufeff{GOOD}\r\n{OTHER}",
        f"\n{GOOD}\n\n{OTHER}\n\n",
        f"[{GOOD}, {OTHER}]",
        f'{GOOD}\n{{"docno": "d2", "note": {{"by": "ann"}}, "qid": "q1", "label": 0.0}}\n',
        f'{GOOD}\n{{"qid" : " q1", "docno":"d2", "label": "0", "note": "\\" : a"}}\n',
        f'{GOOD}\n{OTHER}\n{{"qid": "q1", "docno": "d3", "label": null}}\n{{"qid": "q1", "docno": "d4"}}\n',
        f'{GOOD}\n{{"qid": "q1", "docno": "d\\u0032", "label": 0, "note": "\\ud83d\\ude00"}}\n',
    ],
)
def test_judgements_are_found_by_the_names_of_keys(write, text):
    assert read_qrels(write("qrels.jsonl", text)).grades == {"q1": {"d1": 2, "d2": 0}}


def test_whole_numbers_are_ids_as_text_is(write):
    names = (1, 2.0, "3", 4, 2.0**53 - 1)  # larger ones are not exact
    rows = [{"qid": 7, "docno": name, "label": 1} for name in names]
    grades = read_qrels(write("a.jsonl", "\n".join(map(json.dumps, rows)))).grades
    assert grades == {"7": dict.fromkeys(["1", "2", "3", "4", "9007199254740991"], 1)}


def test_blocks_of_lines_may_differ(write, monkeypatch):
    monkeypatch.setattr(named_columns, "ROWS_AT_ONCE", 150)
    first = [{"qid": "q1", "docno": number, "label": 1, "note": "x" * 50} for number in range(200)]
    later = [{"label": 0.5, "docno": f"d{number}", "qid": "q2", "judge": "ann"} for number in range(200)]
    grades = read_qrels(write("a.jsonl", "\n".join(map(json.dumps, [*first, *later])))).grades
    assert grades["q1"] == {str(number): 1 for number in range(200)}
    assert grades["q2"] == {f"d{number}": 0.5 for number in range(200)}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"qid": "q1", "docno": "d2", "docno": "d3", "label": 1}', "expected one JSON value in each line: .*docno"),
        ('{"qid": "q1", "docno": "d2", "label": NaN}', "expected one JSON value in each line: .*NaN"),
        (
            '{"qid": "q1", "docno": "\\ud83d", "label": 1}',
            "expected text as the document, found half of a character",
        ),
        (f"{OTHER} {OTHER}", "expected one JSON value in each line"),
        (
            '{"qid": "q1", "docno": ["d2"], "label": 1}',
            r"expected text or a whole number as the document, found \['d2'\]",
        ),
        ('{"qid": "q1", "label": 1}', "expected a docid on one line, without spaces around it, found ''"),
        ('{"qid": 9007199254740992.0, "docno": "d2", "label": 1}', "expected text or a whole number as the topic"),
        ("[" * 2_000, "expected one JSON value in each line"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(write, line, problem):
    with pytest.raises(QrelsFormatError, match=f"a.jsonl:2: {problem}"):
        read_qrels(write("a.jsonl", f"{GOOD}\n{line}\n{OTHER}\n"))
