"""``riskguard badge``: from a report to a picture, and no green badge without a report."""

from __future__ import annotations

from pathlib import Path

COMPARE = "compare {0}.run --baseline prod --measure AP --json r.json"


def test_it_draws_the_report(command):
    command(COMPARE.format("loss"))
    ended = command("badge r.json --label ranking")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("<svg ")
    assert 'aria-label="ranking: 1 gate failed"' in ended.out
    assert command("badge r.json --label ranking -o badge.svg").out == ""
    assert Path("badge.svg").read_text(encoding="utf-8") == ended.out
    command(COMPARE.format("good"))
    assert 'aria-label="riskguard: 1 gate passed"' in command("badge r.json").out


def test_without_a_report_it_is_grey_and_the_status_says_so(command):
    Path("bad.json").write_text("{}")
    for name in ("nowhere.json", "bad.json"):
        ended = command(f"badge {name}")
        assert ended.status == 3
        assert 'aria-label="riskguard: no verdict"' in ended.out
        assert ended.err.startswith(f"Error: {name}: ")


def test_a_badge_does_not_replace_the_report(command):
    command(COMPARE.format("good"))
    ended = command("badge r.json -o ./r.json")
    assert ended.status == 2
    assert "--output r.json would overwrite the file that this command reads" in ended.err
    assert Path("r.json").read_text(encoding="utf-8").startswith("{")


def test_a_badge_that_cannot_be_written_is_said(command):
    command(COMPARE.format("good"))
    ended = command("badge r.json -o nowhere/badge.svg")
    assert ended.status == 2
    assert "--output nowhere/badge.svg: cannot write" in ended.err
