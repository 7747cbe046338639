"""Replicates are stored, read back and checked like the baseline that they belong to."""

import pytest

from pytest_riskguard.errors import UsageError
from tests.baselines.conftest import content


def test_a_copy_is_no_replicate(store, add, replicate, collection):
    add()
    replicate(measures=["RR"])
    assert store.read("prod", lambda entry: entry.replicate(1).manifest).measures == ("RR",)
    before = content(store.root)
    for run, where in (
        (collection.run, r"prod"),
        (store.root / "prod" / "run.gz", r"prod"),
        (collection.noisy_run(1), r"prod/replicates/1"),
    ):
        with pytest.raises(UsageError, match=rf"baselines/{where}: already holds this run; a replicate is "):
            replicate(run=run)
    assert content(store.root) == before


def test_an_update_with_the_same_run_changes_nothing(store, add, replicate, update, collection):
    add()
    replicate(note="Tuesday")
    before = content(store.root)
    assert update(collection.run, qrels=collection.other_qrels(), measures=["RR"]) is None
    assert content(store.root) == before
