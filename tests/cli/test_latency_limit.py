"""``max_latency_p95_ms``: only a gate that asks for it judges how fast a live candidate answers."""

from __future__ import annotations

import json
import sys

import pytest

from pytest_riskguard.assertions import check

SEARCH = """
import time

def ask(query):
    time.sleep(0.03 if query.endswith(("1", "2")) else 0)
    return ANSWERS
"""


WINNING = [("good", 3.0), ("bad2", 2.0), ("bad1", 1.0)]
LOSING = [("bad1", 3.0), ("bad2", 2.0), ("bad3", 1.5), ("good", 1.0)]


@pytest.fixture
def judged(folder, command, monkeypatch):
    """The verdict of a gate with these options on a live candidate, or another one."""

    def verdict(options, candidate="{retrieve: 'slow_search:ask'}", answers=WINNING):
        monkeypatch.delitem(sys.modules, "slow_search", raising=False)
        (folder / "slow_search.py").write_text(SEARCH.replace("ANSWERS", repr(answers)))
        settings = folder / "riskguard.yaml"
        text = settings.read_text().replace("candidate: candidate.run", f"candidate: {candidate}")
        settings.write_text(text.replace("alpha: 1", f"alpha: 1{options}"))
        ended = command("check --json report.json")
        (verdict,) = json.loads((folder / "report.json").read_text())["verdicts"]
        return ended, verdict

    return verdict


def test_a_candidate_that_is_too_slow_fails_and_says_so(judged):
    ended, verdict = judged(", max_latency_p95_ms: 20")
    assert (ended.status, verdict["outcome"], verdict["reason"]) == (1, "fail", "too_slow")
    said = " ".join(ended.out.split())
    assert "too slow" in said
    assert "The candidate is too slow: 5% of the queries took " in said
    assert "ms or longer; max_latency_p95_ms allows 20 ms. " in verdict["explanation"]["summary"]
    assert "too_slow" in [warning["code"] for warning in verdict["warnings"]]


@pytest.mark.parametrize("options", ["", ", max_latency_p95_ms: 60000"])
def test_otherwise_latency_is_no_part_of_the_verdict(judged, options):
    ended, verdict = judged(options)
    assert (ended.status, verdict["outcome"]) == (0, "pass")
    assert "too_slow" not in [warning["code"] for warning in verdict["warnings"]]


def test_a_loss_stays_a_loss(judged):
    _, verdict = judged(", max_latency_p95_ms: 20", answers=LOSING)
    assert (verdict["outcome"], verdict["reason"]) == ("fail", "loss")
    assert "too_slow" in [warning["code"] for warning in verdict["warnings"]]


def test_a_run_was_not_timed(judged):
    ended, verdict = judged(", max_latency_p95_ms: 20", candidate="good.run")
    assert (ended.status, verdict["reason"]) == (3, "missing_input")
    assert "max_latency_p95_ms: expected a live candidate" in verdict["problem"]


def test_plain_scores_have_no_latency():
    with pytest.raises(
        TypeError, match="max_latency_p95_ms: it needs a live candidate, which plain scores do not have"
    ):
        check("not_significantly_risky", {"t": 1.0}, {"t": 1.0}, max_latency_p95_ms=20)
