"""Ids with white space in TREC's files: every TREC program still sees its columns, and ids read back exactly."""

from __future__ import annotations

import pytest

from pytest_riskguard.data.qrels import read_qrels, write_qrels
from pytest_riskguard.data.rankings import rankings_as_run, write_run
from pytest_riskguard.data.trec_files import fold_run

IDS = ["red shoes", "a%20b", "100% wool", "tab\there", "plain", "é ü"]


@pytest.mark.parametrize("topic", IDS)
@pytest.mark.parametrize("document", IDS)
def test_a_run_reads_back_with_the_ids_that_it_was_written_with(tmp_path, topic, document):
    run = rankings_as_run({topic: [(document, 2.0), ("other", 1.0)]})
    write_run(path := tmp_path / "a.run", run)
    assert all(len(line.split()) == 6 for line in path.read_text().splitlines())
    chunks, digest = fold_run(path, list)
    assert chunks == [{topic: {document: 2.0, "other": 1.0}}]
    assert digest == run.digest


@pytest.mark.parametrize("topic", IDS)
@pytest.mark.parametrize("document", IDS)
def test_judgements_read_back_with_the_ids_that_they_were_written_with(tmp_path, topic, document):
    (path := tmp_path / "qrels.txt").write_bytes(write_qrels({topic: {document: 1, "other": 0}}))
    assert all(len(line.split()) == 4 for line in path.read_text().splitlines())
    assert read_qrels(path).grades == {topic: {document: 1, "other": 0}}


def test_rows_of_other_programs_are_never_decoded(write):
    chunks, _ = fold_run(write("a.run", "1 Q0 http://a/b%20c 1 2.0 t\n"), list)
    assert chunks == [{"1": {"http://a/b%20c": 2.0}}]
    assert read_qrels(write("q", "1 0 http://a/b%20c 1\n")).grades == {"1": {"http://a/b%20c": 1}}
