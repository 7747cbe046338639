"""Judgements by several judges, whose disagreement is said."""

import json

import pytest

from tests.plugin import world
from tests.strict import STRICT_LINE

ASKED = f"loss.run --baseline ./prod.run --measure AP --topics topics.tsv {STRICT_LINE}"
SAID = "2 judges disagree on 5 of 30 documents that several graded (17%); the median of their grades counts"


@pytest.fixture(autouse=True)
def book(folder):
    """As qrels.txt, but Bob has graded one document of each topic too, and that of five topics higher."""
    rows = [
        f"{world.QUERIES[topic]},{document},{judge},{rating}\n"
        for place, topic in enumerate(world.TOPICS)
        for document, judge, rating in (
            ("good", "Ann", 1),
            ("good", "Bob", 3 if place < 5 else 1),
            ("bad1", "Ann", 0),
        )
    ]
    (folder / "book.csv").write_text("query,docid,judge,rating\n" + "".join(rows), encoding="utf-8")


def test_compare_says_how_far_they_agree_without_changing_the_verdict(command):
    (plain,) = json.loads(command(f"compare {ASKED} --qrels qrels.txt -o -").out)["verdicts"]
    ended = command(f"compare {ASKED} --qrels book.csv -o -")
    report = json.loads(ended.out)
    assert report["provenance"]["judges"] == SAID
    assert SAID in " ".join(ended.err.split())
    (verdict,) = report["verdicts"]
    assert verdict["estimates"] == plain["estimates"]
    assert "judges" not in verdict
    assert SAID not in " ".join(command(f"compare {ASKED} --qrels book.csv --quiet").out.split())


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_reports_say_it_once(command, folder, suffix):
    command(f"compare {ASKED} --qrels book.csv -o report.{suffix}")
    text = " ".join((folder / f"report.{suffix}").read_text(encoding="utf-8").split())
    assert text.count("2 judges disagree on 5 of 30 documents") == 1
    command(f"compare {ASKED} --qrels qrels.txt -o plain.{suffix}")
    assert "judges disagree" not in (folder / f"plain.{suffix}").read_text(encoding="utf-8")
