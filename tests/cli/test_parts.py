"""Two rankings in one file are two systems, which can be compared with each other."""

import pytest

from tests.data.world import WORLD
from tests.data.written import judging_tools

FILE = next(case for case in judging_tools.CASES if case.known == "workbench" and case.kind == "rankings")
ASKED = "compare {} --baseline {} --qrels qrels.txt --topics topics.tsv"


@pytest.fixture(autouse=True)
def experiment(folder):
    (folder / "pair.json").write_bytes(FILE.content(WORLD))
    (folder / "qrels.txt").write_bytes(WORLD.qrels)
    (folder / "topics.tsv").write_bytes(WORLD.topics)
    (folder / "new.run").write_bytes(WORLD.run)
    (folder / "old.run").write_bytes(WORLD.baseline_run)


def test_both_sides_may_be_in_one_file(command):
    parts = command(ASKED.format("pair.json#conf-2", "pair.json#conf-1") + " -o -").verdicts[0]
    files = command(ASKED.format("new.run", "old.run") + " -o -").verdicts[0]
    assert parts["estimates"] == files["estimates"]
    assert (parts["candidate"], parts["baselines"]) == ("pair#conf-2", ["pair#conf-1"])
    assert (files["candidate"], files["baselines"]) == ("new", ["old"])


def test_one_part_is_not_compared_with_itself(refused):
    refused(
        ASKED.format("pair.json#conf-1", "again=pair.json#conf-1"),
        "pair.json is both the candidate and the baseline again",
    )


def test_a_part_must_be_named_and_be_there(command):
    for name, problem in (("pair.json", "expected one search configuration, found 2"), ("pair.json#x", "named 'x'")):
        ended = command(ASKED.format(name, "old.run"))
        assert ended.status == 3
        assert problem in " ".join(ended.out.split())
