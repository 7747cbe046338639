"""Judgements read as columns are those read line by line, in every order, type and error."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.errors import QrelsFormatError
from pytest_riskguard.evaluation import read_qrels
from pytest_riskguard.evaluation.judgements import qrels as module
from pytest_riskguard.evaluation.judgements.judged_topics import JudgedTopics
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.runs.trec_columns import RefusedError
from pytest_riskguard.formats.given_file import AS_GIVEN, LabelRules


def by_line(path: Path, rules: LabelRules = AS_GIVEN) -> Qrels:
    def refuse(_path):
        raise RefusedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "read_columns", refuse)
        qrels = read_qrels(path, labels=rules)
    assert not isinstance(qrels.grades, JudgedTopics)
    return qrels


def facts(qrels: Qrels) -> list[object]:
    """Everything that can be told from judgements; ``repr`` tells 1 from 1.0."""
    arrays = qrels.arrays
    judged = [(topic, list(grades.items())) for topic, grades in qrels.grades.items()]
    return [
        *(qrels.path_name, qrels.digest, repr(judged), qrels.topics, qrels.without_relevant, qrels.is_real),
        *(arrays.topics, arrays.offsets.tolist(), arrays.documents.strings(), arrays.grades.tolist()),
    ]


def outcome(read, path: Path, rules: LabelRules = AS_GIVEN) -> object:
    try:
        return facts(read(path, rules))
    except QrelsFormatError as problem:
        return str(problem)


def as_columns(path: Path, rules: LabelRules = AS_GIVEN) -> Qrels:
    return read_qrels(path, labels=rules)


def test_usual_files_are_read_as_columns(write):
    for text in (
        "1 0 a 1\n2 0 b 0\n",
        "1\t0\ta\t1\n2\t0\tb\t0",
        "\ufeff1 0 a 1\n1 0 é 0.5\n",
        "1 0 a 1\n2 0 b 0\n1 0 c 2\n",
    ):
        for name in ("a.txt", "a.txt.gz"):
            assert isinstance(read_qrels(write(name, text)).grades, JudgedTopics)


FIELDS = st.sampled_from(["1", "2", "10", "é", "%20", "a"])
IDS = st.sampled_from(["a", "b", "doc-1", "a-much-longer-id-of-a-document", "é", "a%20b"])
GRADES = st.sampled_from(["0", "1", "2", "-2", "0.5", "3.0", "1e1", "-0", "+1", "1_0", "nan", "x", "1001", "-1000"])
LINES = st.one_of(
    st.tuples(FIELDS, st.just("0"), IDS, GRADES),
    st.tuples(FIELDS, st.just("0"), IDS, st.sampled_from(["0", "1", "2", "3"])),
    st.tuples(FIELDS, st.just("%"), IDS, st.just("1")),
    st.lists(FIELDS, max_size=5).map(tuple),
)
USUAL = st.tuples(FIELDS, st.just("0"), st.integers(0, 99).map("d{}".format), st.sampled_from(["0", "1", "2", "0.5"]))
RULES = st.sampled_from(
    [
        AS_GIVEN,
        LabelRules(scale=(0, 3)),
        LabelRules(relevant_from=2),
        LabelRules(separator="-"),
        LabelRules((-2, 1), 0.5),
    ]
)


@given(
    rows=st.one_of(st.lists(LINES, max_size=6), st.lists(USUAL, max_size=30)),
    between=st.sampled_from([" ", "\t", " ", " ", "  "]),
    ending=st.sampled_from(["\n", "\n", "\r\n"]),
    is_closed=st.booleans(),
    rules=RULES,
)
def test_any_text_gives_the_same_judgements_or_the_same_error(
    tmp_path_factory, rows, between, ending, is_closed, rules
):
    text = ending.join(between.join(fields) for fields in rows) + (ending if is_closed else "")
    path = tmp_path_factory.mktemp("judgements") / "q.txt"
    path.write_bytes(text.encode())
    assert outcome(as_columns, path, rules) == outcome(by_line, path, rules)


def test_files_of_several_blocks_are_read_alike(tmp_path):
    rng = np.random.default_rng(7)
    lines = [f"{topic} 0 document-{number:07} {rng.integers(-1, 3)}" for topic in range(400) for number in range(200)]
    grouped, mixed = "\n".join(lines), "\n".join(np.array(lines)[rng.permutation(len(lines))].tolist())
    for text in (grouped, mixed):
        path = tmp_path / "q.txt.gz"
        path.write_bytes(gzip.compress(text.encode(), 1))
        read = as_columns(path)
        assert isinstance(read.grades, JudgedTopics)
        assert facts(read) == facts(by_line(path))


@pytest.mark.parametrize(
    ("limit", "found"),
    [("JUDGEMENTS", "3 judgements"), ("TOPICS", "2 topics"), ("DOCUMENTS", "2 documents"), ("ROW_BYTES", "12 bytes")],
)
def test_limits_are_those_of_lines(write, set_limit, limit, found):
    path = write("q.txt", "1 0 a 1\n1 0 b 1\n1 0 cccccc 1\n2 0 a 1\n")
    assert len(read_qrels(path).grades) == 2
    set_limit(limit, {"JUDGEMENTS": 2, "TOPICS": 1, "DOCUMENTS": 1}.get(limit, 11))
    assert outcome(as_columns, path) == outcome(by_line, path)
    assert "expected at most" in str(outcome(as_columns, path))


def test_documents_with_the_same_hash_are_told_apart(write, monkeypatch):
    path = write("q.txt", "1 0 a 1\n1 0 b 2\n2 0 a 1\n")
    monkeypatch.setattr(
        "pytest_riskguard.evaluation.runs.identifiers.Identifiers.hashes",
        property(lambda ids: np.zeros(len(ids), dtype=np.uint64)),
    )
    read = read_qrels(path)
    assert isinstance(read.grades, JudgedTopics)
    assert read.grades == {"1": {"a": 1, "b": 2}, "2": {"a": 1}}


def test_judgements_are_a_mapping(write):
    grades = read_qrels(write("q.txt", "2 0 a 1\n1 0 b 0\n2 0 c 0.5\n")).grades
    assert list(grades) == ["2", "1"]
    assert len(grades) == 2
    assert "1" in grades
    assert "3" not in grades
    assert grades.get("3") is None
    assert list(grades["2"].items()) == [("a", 1), ("c", 0.5)]
    with pytest.raises(KeyError):
        grades["3"]


def test_real_judgements_are_read_as_columns(shared):
    for name in ("cranfield_runs/qrels.txt", "web2012_runs/qrels.adhoc.txt.gz"):
        read = as_columns(shared / "data" / name)
        assert isinstance(read.grades, JudgedTopics)
        assert facts(read) == facts(by_line(shared / "data" / name))
