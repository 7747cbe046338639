"""What commands write besides the verdicts: rankings with titles, and where the systems come from."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.world import edit, read_report
from tests.repositories import commit

COMPARE = "compare loss.run --baseline prod --measure AP --gate not_significantly_risky -o r.json"


@pytest.fixture(autouse=True)
def date(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "2000000000")


def report() -> dict[str, Any]:
    return read_report(Path("r.json"))


def documents(content: str = '{"id": "good", "title": "The good one", "url": "https://own/good"}\n') -> None:
    Path("documents.jsonl").write_text(content)


def named(keys: str) -> None:
    """Let riskguard.yaml name documents."""
    edit(Path("riskguard.yaml"), "topics: topics.tsv", f"topics: topics.tsv, {keys}")


def test_rankings_have_titles_and_addresses_and_the_verdict_is_the_same_without(command):
    command(COMPARE)
    plain = report()
    documents()
    named("documents: {path: documents.jsonl, url: 'https://host/{id}'}")
    ended = command(COMPARE)
    assert (ended.status, ended.err) == (1, "")
    found, bare = report()["verdicts"][0], plain["verdicts"][0]
    entry = found.pop("documents")
    assert entry["titles"] == {"good": "The good one"}
    urls, worst = entry["urls"], entry["topics"][0]["documents"]
    assert urls.pop("good") == "https://own/good"
    assert urls == {document: f"https://host/{document}" for document in urls}
    assert len(worst) == 11
    (good,) = (row for row in worst if row["document"] == "good")
    assert good == {"document": "good", "grade": 1, "baseline_rank": 2, "candidate_rank": 20, "effect": -0.45}
    assert bare.pop("documents") == entry | {"titles": {}, "urls": {}}
    assert found == bare


def test_where_both_systems_come_from_is_in_the_report(command):
    command(COMPARE)
    provenance = report()["provenance"]
    assert provenance["date"] == "2033-05-18T03:33:20Z"
    assert provenance["candidate"] == {"name": "loss", "ties": "docid"}
    (baseline,) = provenance["baselines"]
    assert baseline["name"] == "prod"
    assert baseline["stored"]


def test_a_card_says_how_old_the_baseline_is_on_the_day_of_the_report(command, folder, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    commit(folder)
    command("baseline add old prod.run")
    commit(folder)
    commit(folder)
    ended = command("compare old loss.run --measure AP")
    assert ended.out.count("  old: stored 2 commits ago\n") == 1
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(time.time()) + 34 * 86_400))
    ended = command("compare old loss.run --measure AP -o r.md")
    assert ended.out.count("  old: stored 34 days, 2 commits ago\n") == 1
    assert "baseline old stored 34 days, 2 commits ago from commit " in (folder / "r.md").read_text()
    assert "  prod: stored 34 days ago\n" in command("compare prod loss.run --measure AP").out


def test_a_documents_file_that_cannot_be_read_is_named_and_nothing_is_compared(command):
    documents("{")
    named("documents: documents.jsonl")
    ended = command(f"{COMPARE} --alpha 1 --alpha 5")
    assert ended.status == 3
    assert "documents.jsonl:1: expected one JSON value in each line" in " ".join(ended.out.split())
    assert [verdict["outcome"] for verdict in report()["verdicts"]] == ["incomparable", "incomparable"]
    Path("documents.jsonl").unlink()
    assert command(COMPARE).status == 3
    assert command(f"{COMPARE} --qrels qrels.txt").status == 1  # the documents belong to the qrels of the file
