"""``riskguard comment``: nothing good is said without a report."""

import re
from pathlib import Path

import pytest

COMPARE = "compare {0}.run --baseline prod --measure AP -o r.json"


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_comment_goes_from_pending_to_a_verdict(command):
    pending = command(f"comment --commit {COMMIT} --run-url https://ci.example/1")
    assert (pending.status, pending.err) == (0, "")
    assert "Judging <code>0123456</code>" in pending.out
    command(COMPARE.format("loss"))
    judged = command(f"comment r.json --commit {COMMIT} --ended failure --report-url https://ci.example/1/2 -o c.md")
    assert (judged.status, judged.out, judged.err) == (0, "", "")
    text = Path("c.md").read_text(encoding="utf-8")
    assert text.startswith("<!-- riskguard -->\n### ❌ Don't ship <code>0123456</code>: ")
    assert "[full report](<https://ci.example/1/2>)" in text


def test_a_comment_without_a_report_says_no_verdict(command):
    Path("bad.json").write_text("@octocat")
    for name, why in (("nowhere.json", "no such file"), ("bad.json", "is no report")):
        ended = command(f"comment {name} --commit {COMMIT} --ended cancelled")
        assert why in ended.out
        assert "octocat" not in ended.out
        assert ended.status == 3
        assert "No verdict for <code>0123456</code>" in ended.out
        assert "The run ended with <code>cancelled</code>" in ended.out
        assert ended.err.startswith(f"Error: {name}: ")


@pytest.mark.parametrize(
    ("judged", "said"),
    [
        (COMMIT, "Ship <code>0123456</code>: "),
        (COMMIT[:7].upper(), "Ship <code>0123456</code>: "),
        ("fedcba9876543210fedcba9876543210fedcba98", "No verdict for <code>0123456</code>\n"),
        (None, "Ship <code>0123456</code>: "),
    ],
)
def test_a_report_on_another_commit_is_no_verdict_for_this_one(command, monkeypatch, judged, said):
    for variable in ("GITHUB_EVENT_PATH", "GITHUB_SHA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    if judged is not None:
        monkeypatch.setenv("GITHUB_SHA", judged)
    command(f"{COMPARE.format('good')}")
    ended = command(f"comment r.json --commit {COMMIT}")
    assert said in ended.out
    is_other = said.startswith("No verdict")
    assert ended.status == (3 if is_other else 0)
    assert (f"r.json: expected a report on commit {COMMIT}, found one on {judged}" in ended.err) == is_other
    assert ("⚠️ The report does not say which commit it is about" in ended.out) == (judged is None)


def test_addresses_that_ci_does_not_know_are_left_out(command):
    text = command(f"comment --commit {COMMIT} --run-url '' --report-url '' --ended ''").out
    assert not re.search(r"\[(full report|run)\]", text)
