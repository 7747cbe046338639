"""A live system as a stored baseline: what it answers is kept."""

import re
import sys

import pytest

SEARCH = """
def ask(query):
    print("asked")
    return [("bad2", 3.0), ("good", 2.0), ("bad1", 1.0)]
"""


@pytest.fixture(autouse=True)
def live(folder, monkeypatch):
    """A riskguard.yaml whose candidate is a function."""
    monkeypatch.delitem(sys.modules, "live_search", raising=False)
    (folder / "live_search.py").write_text(SEARCH)
    settings = folder / "riskguard.yaml"
    candidate = "candidate: {retrieve: 'live_search:ask'}"
    settings.write_text(settings.read_text().replace("candidate: candidate.run", candidate))
    return folder


def test_what_the_candidate_answers_is_stored(command, live):
    ended = command("baseline add now --note release")
    assert ended.status == 0, ended.err
    assert re.match(r"stored now: 30 topics; AP 0\.5000; .*; release\n", ended.out)
    assert command("baseline verify now").status == 0
    assert command("baseline rescore now").status == 0


def test_a_baseline_is_replaced_by_what_the_candidate_answers(command, live):
    assert "needs --note" in command("baseline update prod").err
    ended = command("baseline update prod --note 'new index'")
    assert (ended.status, ended.err.replace("asked\n", "")) == (0, "")
    assert re.match(r"replaced prod: .*; new index\n", ended.out)


def test_a_replicate_may_be_live(command):
    assert command("baseline add now").status == 0
    ended = command("baseline add now --replicate")
    assert (ended.status, "already holds this run" in ended.err) == (2, True)
    assert command("baseline add prod --replicate").status == 0


def test_a_file_is_no_system_to_query(command, live):
    settings = live / "riskguard.yaml"
    settings.write_text(re.sub("candidate: .*", "candidate: good.run", settings.read_text()))
    for text in (settings.read_text(), None):
        if text is None:
            settings.unlink()
        ended = command("baseline add now --qrels qrels.txt")
        assert ended.status == 2
        assert "name the RUN to store; without one, the answers" in " ".join(ended.err.split())
    assert "name the RUN to store" in command("baseline add now --scores").err


def test_a_system_that_fails_is_not_stored(command, live):
    (live / "live_search.py").write_text("def ask(query):\n    raise OSError('no server')\n")
    ended = command("baseline add now")
    assert ended.status == 3
    assert "OSError: no server" in " ".join(ended.err.split())
    assert "now" not in command("baseline list").out
