"""``riskguard study trend``: reports or folders of them, as a table, JSON and a page; nothing is skipped silently."""

import json
import re
from pathlib import Path

import pytest


@pytest.fixture
def reports(command):
    """Three runs in a folder, one of them deeper down."""
    folder = Path("reports")
    (folder / "deep").mkdir(parents=True)
    for name, path in (("good", "1.json"), ("loss", "2.json"), ("loss", "deep/3.json")):
        command(f"compare {name}.run --baseline prod --measure AP -o reports/{path}")
    return folder


def test_a_folder_is_shown_run_by_run(command, reports):
    ended = command("study trend reports")
    assert (ended.status, ended.err) == (0, "")
    assert "against prod: AP failed in 2 of 3 runs" in " ".join(ended.out.split())
    assert "Topics that lose again and again" in ended.out
    assert command("study trend reports/1.json reports/2.json reports").out == ended.out  # each file once


def test_what_cannot_be_read_is_said_and_ends_with_3(command, reports):
    (reports / "bad.json").write_text("[]")
    ended = command("study trend reports")
    assert ended.status == 3
    assert ended.err == "Error: 1 of 4 reports cannot be compared\n"
    assert "reports/bad.json: expected a JSON report of riskguard" in ended.out
    assert "failed in 2 of 3 runs" in ended.out


def test_a_gate_that_could_not_be_judged_did_not_fail(command, reports):
    pytest.importorskip("jinja2")
    command("compare nowhere.run --baseline prod --measure AP -o reports/deep/4.json")
    ended = command("study trend reports -o trend.html")
    assert ended.status == 3  # the newest report has nothing to compare
    assert "against prod: AP failed in 2 of 4 runs, incomparable in 1; the newest is" in " ".join(ended.out.split())
    assert "1 of 1 gate did not pass in the newest run" in Path("trend.html").read_text(encoding="utf-8")
    only = command("study trend reports/deep/4.json")
    assert "AP incomparable in 1 of 1 run; the newest is incomparable" in " ".join(only.out.split())


def test_a_folder_without_reports_is_an_error(command):
    Path("empty").mkdir()
    ended = command("study trend empty")
    assert (ended.status, ended.out) == (3, "")
    assert "expected JSON reports (*.json) in this folder, found none" in ended.err


def test_a_trend_does_not_replace_a_report(command, reports):
    ended = command("study trend reports -o reports/1.json")
    assert ended.status == 2
    assert "would overwrite the file that this command reads" in ended.err
    assert "verdicts" in json.loads((reports / "1.json").read_text(encoding="utf-8"))


def test_the_page_is_one_file_without_scripts_or_addresses(command, reports):
    pytest.importorskip("jinja2")
    assert command("study trend reports -o trend.html").status == 0
    page = Path("trend.html").read_text(encoding="utf-8")
    assert "script-src 'none'" in page
    assert "<script" not in page
    (glossary,) = re.findall(r"(?:href|src)=\"(?!#|data:,)([^\"]*)", page)
    assert glossary.endswith("glossary.md")
    assert page.count('<svg viewBox="0 0 900') == 1
    assert "failed in 2 of 3 runs" in page.lower()
    command("study trend reports -o again.html")
    assert Path("again.html").read_text(encoding="utf-8") == page
