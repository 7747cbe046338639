"""What reports say of documents and systems: titles, addresses, metadata. None of it may hide or change a verdict."""

from __future__ import annotations

from tests.sabotage.case import EVERY, SERIAL, Case, Sabotage
from tests.sabotage.sabotages import CONFIG, fifo, replace_text, write

FILE = "documents.jsonl"


def collection(settings: str) -> Sabotage:
    """riskguard.yaml with more about its collection."""
    return replace_text(CONFIG, "topics: topics.tsv}", f"topics: topics.tsv, {settings}}}")


def candidate(settings: str) -> Sabotage:
    """riskguard.yaml with a candidate that has metadata."""
    return replace_text(
        CONFIG, "candidate: runs/candidate.run", f"candidate: {{run: runs/candidate.run, {settings}}}"
    )


READ = collection(f"documents: {FILE}")

CASES = [
    Case("missing", READ, words=[f"{FILE}: no such file"], ways=EVERY),
    Case(
        "broken-json",
        (READ, write(FILE, '{"id": "d1"}\n{"id": "d2", "title"\n')),
        words=[f"{FILE}:2: expected one JSON value in each line"],
    ),
    Case("pipe", (READ, fifo(FILE)), words=["expected a regular file"], seconds=15),
    Case(
        "nothing-exists",
        (READ, write(FILE, '{"id": "elsewhere"}\n')),
        words=["stale_labels", f"{FILE} has no judged document at all"],
    ),
    Case(
        "grades-outside-the-scale",
        collection("grades: [5, 9]"),
        words=["expected grades from 5 to 9 (scale)"],
    ),
    Case(
        "unjudged-misspelt",
        collection("unjudged: ignored"),
        status=2,
        words=["riskguard.yaml:1: collection.unjudged: expected warn or ignore"],
    ),
    Case(
        "address-of-a-script",
        collection("documents: {url: 'javascript:alert({id})'}"),
        status=2,
        words=["riskguard.yaml:1: collection.documents.url: expected an address with http or https that has {id}"],
        ways=EVERY,
    ),
    Case(
        "address-without-an-id",
        collection("documents: {url: 'https://host/'}"),
        status=2,
        words=["collection.documents.url: expected an address with http or https that has {id}"],
    ),
    Case(
        "metadata-too-large",
        candidate(f"metadata: {{index: {'x' * 501}}}"),
        status=2,
        words=["riskguard.yaml:4: candidate.metadata: 'index': expected text of at most 500 characters, found 'x"],
        ways=SERIAL,
    ),
]
