"""Age of a baseline, and what its store has accepted since."""

from dataclasses import replace

import pytest

from pytest_riskguard.baselines import environment
from pytest_riskguard.baselines.manifest import EarlierRun, Staleness, staleness
from pytest_riskguard.errors import BaselineError
from tests.baselines.test_manifest import MANIFEST


def digest(letter):
    return "sha256:" + letter * 64


def earlier(number, day, letter):
    return EarlierRun(number, digest(letter), f"2025-01-{day:02d}T00:00:00Z", None, "", {})


def stored(day, letter, *history, kind="previous"):
    return replace(
        MANIFEST,
        created=f"2025-01-{day:02d}T00:00:00Z",
        digests=replace(MANIFEST.digests, run=digest(letter)),
        kind=kind,
        history=history,
    )


def test_days_are_whole_and_a_clock_that_is_behind_makes_none():
    manifests = {"a": stored(10, "a")}
    for now, days in {
        "2025-01-10T00:00:00Z": 0,
        "2025-01-10T23:59:59Z": 0,
        "2025-01-11T00:00:00Z": 1,
        "2026-02-26T12:00:00Z": 412,
        "2025-01-11T01:00:00+02:00": 0,
        "2024-12-31T00:00:00Z": 0,
        "2025-01-12T00:00:00": 2,  # UTC
    }.items():
        assert staleness("a", manifests, now=now) == Staleness(days, 0)


def test_changes_accepted_later_by_others_count_once_each():
    chain = stored(20, "d", earlier(1, 1, "a"), earlier(2, 5, "b"), earlier(3, 10, "c"))
    manifests = {
        "previous": chain,
        "best": stored(20, "d", earlier(1, 1, "a"), kind="best"),  # the same run, accepted by both
        "release": stored(5, "b", earlier(1, 1, "a"), kind="release"),
        "bm25": stored(2, "e", kind="fixed"),
        "new": stored(19, "f", kind="fixed"),
    }
    found = {name: staleness(name, manifests, now="2025-02-01T00:00:00Z").accepted_since for name in manifests}
    assert found == {"previous": 0, "best": 0, "release": 2, "bm25": 3, "new": 1}


def test_the_store_reads_the_clock(store, add, collection, monkeypatch):
    monkeypatch.setattr(environment, "now", lambda: "2025-01-01T00:00:00Z")
    add("bm25")
    add("prod", kind="previous")
    monkeypatch.setattr(environment, "now", lambda: "2025-01-31T00:00:00Z")
    store.promote("prod", collection.other_run(), qrels=collection.qrels, topics=None)
    assert store.staleness("bm25") == Staleness(30, 1)
    assert store.staleness("prod") == Staleness(0, 0)
    store.root.joinpath("prod/manifest.json").write_text("{")
    assert store.staleness("bm25") == Staleness(30, 0)
    with pytest.raises(BaselineError, match="not JSON"):
        store.staleness("prod")


def test_what_was_accepted_in_the_same_second_is_not_later():
    manifests = {"bm25": stored(5, "e", kind="fixed"), "previous": stored(5, "b", earlier(1, 1, "a"))}
    assert staleness("bm25", manifests, now="2025-02-01T00:00:00Z").accepted_since == 0
