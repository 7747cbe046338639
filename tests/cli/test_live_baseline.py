"""A live system as a stored baseline: what it answers is kept."""

import re
import sys

import pytest

from tests.plugin import world

SEARCH = """
def ask(query):
    print("asked")
    return [("bad2", 3.0), ("good", 2.0), ("bad1", 1.0)]
def tagged(topic):
    return [("bad2", 1.0), (topic.tags["kind"], 1.0)]
def alone():
    pass
number = 7
"""
CANDIDATE = "candidate: {retrieve: 'live_search:ask'}"


@pytest.fixture(autouse=True)
def live(folder, monkeypatch):
    """A riskguard.yaml whose candidate is a function."""
    monkeypatch.delitem(sys.modules, "live_search", raising=False)
    (folder / "live_search.py").write_text(SEARCH)
    (folder / "few.tsv").write_text((folder / "topics.tsv").read_text()[: 10 * len("t01\tquery number 01\n")])
    world.edit(folder / "riskguard.yaml", "candidate: candidate.run", CANDIDATE)
    return folder


def test_what_the_candidate_answers_is_stored(command, live):
    ended = command("baseline add now --note release")
    assert ended.status == 0, ended.err
    assert re.match(r"stored now: 30 topics; AP 0\.5000; .*; release\n", ended.out)
    assert command("baseline verify now").status == 0
    assert command("baseline rescore now").status == 0
    assert "name the RUN to store" in command("baseline add more --scores").err


def test_a_baseline_is_replaced_by_what_the_candidate_answers(command, live):
    assert "needs --note" in command("baseline update prod").err
    ended = command("baseline update prod --note 'new index'")
    assert (ended.status, ended.err.replace("asked\n", "")) == (0, "")
    assert re.match(r"replaced prod: .*; new index\n", ended.out)


def test_a_search_gets_the_tags_of_a_topic(command, live):
    rows = [f"{topic}\t{topic}\tgood\n" for topic in world.TOPICS]
    (live / "topics.tsv").write_text("topic\tquery\tkind\n" + "".join(rows))
    world.edit(live / "riskguard.yaml", ":ask'", ":tagged', ties: docid")
    assert command("baseline add now").out.startswith("stored now: 30 topics; AP 1.0000; ")


def test_a_replicate_may_be_live(command, refused):
    assert command("baseline add now").status == 0
    refused("baseline add now --replicate", "already holds this run")
    assert command("baseline add prod --replicate").status == 0


def test_a_file_is_no_system_to_query(command, refused, live):
    settings = live / "riskguard.yaml"
    settings.write_text(re.sub("candidate: .*", "candidate: good.run", settings.read_text()))
    for text in (settings.read_text(), None):
        if text is None:
            settings.unlink()
        refused("baseline add now --qrels qrels.txt", "name the RUN to store; without one, the answers")
    assert "name the RUN to store" in command("baseline add now --scores").err


OF_FILE = "candidate:\n  depth: 5\n  retrieve: live_search:{}"


@pytest.mark.parametrize("line", ["baseline add now", "check"])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (CANDIDATE, OF_FILE.format("alone"), "riskguard.yaml:6: candidate.retrieve: a search takes (query), (query"),
        (
            CANDIDATE,
            "candidate:\n  http:\n    url: http://localhost\n    hits: found",
            "riskguard.yaml:5: candidate.http: expected {query} in `url:`; this request would be the same",
        ),
        (CANDIDATE, OF_FILE.format("number"), "'live_search:number' is not a function"),
        (
            CANDIDATE,
            OF_FILE.format("nothing"),
            "cannot import 'live_search:nothing': AttributeError: module 'live_search' has no attribute 'nothing'",
        ),
        ("topics.tsv", "few.tsv", "no query text for 20 judged topics (t11, t12, t13, t14, t15): name a topics file"),
    ],
)
def test_what_cannot_be_asked_is_said(command, live, line, old, new, said):
    world.edit(live / "riskguard.yaml", old, new)
    ended = command(line)
    assert ended.status == (2 if "yaml:" in said else 3)
    assert said in " ".join((ended.out + ended.err).split())


def test_a_candidate_of_a_gate_is_said_at_its_line(command, live):
    own = "candidate: {depth: 5,\n    retrieve: 'live_search:alone'}, on_churn"
    world.edit(live / "riskguard.yaml", "on_churn", own)
    assert "riskguard.yaml:7: candidate.retrieve: a search takes" in command("check").err
