"""Which file is meant, and which of its parts; systems are called after their files, whatever format these have."""

from pathlib import Path

import pytest

from pytest_riskguard.data.formats import system_name
from pytest_riskguard.data.given_file import GivenFile, names_collection
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.errors import RunFormatError


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("bm25.run.gz", "bm25"),
        ("scores.csv", "scores"),
        ("a.run.txt", "a.run"),
        ("plain", "plain"),
        ("a.docx", "a.docx"),
        (".gz", ".gz"),
        (".run", ".run"),
        ("predictions.json#en/test", "predictions#en/test"),
    ],
)
def test_a_system_is_named_by_its_file(name, system):
    path, _, part = name.partition("#")
    assert system_name(GivenFile(Path("folder.run") / path, part=part or None)) == system


def test_a_part_of_a_file_may_have_a_slash_in_its_name(write, monkeypatch):
    path = write("predictions.json", "{}")
    assert GivenFile.of(f"{path}#en/test") == GivenFile(path, part="en/test")
    assert GivenFile.of(path) == GivenFile(path)
    assert GivenFile.of(path.with_name("gone.json#en")).part is None
    other = write("predictions.json#en", "{}")
    assert GivenFile.of(other) == GivenFile(other)
    assert GivenFile.of(f"{other}#a") == GivenFile(other, part="a")
    monkeypatch.chdir(write("irds:a", "{}").parent)
    assert [names_collection(Path(name)) for name in ("irds:a", "irds:b", "b")] == [False, True, False]


@pytest.mark.parametrize("content", ["qid,docno,score\nq1,d1,1\n", "q1 Q0 d1 1 1 x\n", '{"q1": {"d1": 1}}'])
def test_a_part_of_a_file_without_parts_is_refused(write, content):
    with pytest.raises(
        RunFormatError, match=r"run: expected a file with several rankings, found one .*leave out #june"
    ):
        read_run(f"{write('run', content)}#june")
