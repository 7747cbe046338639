"""What a baseline held is kept when another run takes its place, and is checked like the baseline itself."""

import gzip
import json
import shutil
from dataclasses import replace

import pytest
from numpy.testing import assert_array_equal

from pytest_riskguard.baselines import manifest as manifests
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.errors import BaselineError
from tests.baselines.conftest import content
from tests.baselines.test_store import assert_same_scores


@pytest.fixture
def chain(add, update, collection):
    """A baseline with two earlier runs; the runs, oldest first."""
    runs = [collection.run, collection.noisy_run(1), collection.noisy_run(2)]
    add(note="the first")
    for number, run in enumerate(runs[1:], start=1):
        update(run, note=f"change {number}")
    return runs


def place(store, number):
    return store.root / "prod" / "history" / f"{number:04d}"


def test_each_manifest_names_its_predecessor(store, chain):
    held = store.read("prod", lambda entry: [one.manifest for one in (*entry.history(), entry)])
    assert [one.number for one in held] == [1, 2, 3]
    assert [one.note for one in held] == ["the first", "change 1", "change 2"]
    assert held[0].predecessor is None
    assert not (place(store, 2) / "history").exists()
    for meant, number in (("oldest", 1), ("1", 1), ("0002", 2), ("3", 3)):
        assert store.manifest("prod", earlier=meant).number == number
    for meant in ("4", "change 1", ""):
        with pytest.raises(BaselineError, match=r"has no earlier run .* it has 0001, 0002") as caught:
            store.manifest("prod", earlier=meant)
        assert caught.value.reason == "missing_input"


def test_a_baseline_that_was_never_replaced_has_no_oldest_run(store, add):
    add()
    assert store.manifest("prod", earlier="1").number == 1
    with pytest.raises(BaselineError, match="it has none yet, update keeps the first"):
        store.manifest("prod", earlier="oldest")


def test_an_earlier_run_is_the_very_folder_that_the_baseline_had(store, add, replicate, update, collection):
    add()
    replicate(run=collection.noisy_run(7))
    before = content(store.root / "prod")
    update()
    assert content(place(store, 1)) == before
    assert not store.manifest("prod").replicates
    replicate(run=collection.noisy_run(8))  # writes the manifest anew
    assert store.manifest("prod").number == 2
    assert store.verify("prod") == []
    elsewhere = Store(store.root.with_name("elsewhere"))  # taken out, it is a baseline of the same name
    shutil.copytree(place(store, 1), elsewhere.root / "prod")
    assert elsewhere.verify("prod") == []


def test_without_judgements_the_scores_are_those_stored(store, chain, update, collection, qrels):
    read = store.lineage("prod", "MAP")
    for stored, known in zip(read, store.lineage("prod", "AP", qrels=qrels), strict=True):
        assert_array_equal(stored.scores.values, known.scores.values)
        assert stored.scores.topics == known.scores.topics
        assert stored.scores.qrels_digest == qrels.digest
        assert stored.scores.digest == known.scores.digest
    with pytest.raises(BaselineError, match=r"prod/history/0001: it has scores of nDCG@10, AP, not of RR"):
        store.lineage("prod", "RR")
    update(qrels=collection.other_qrels())
    with pytest.raises(BaselineError, match="different judgements; name the present ones") as caught:
        store.lineage("prod", "AP")
    assert caught.value.reason == "inputs_changed"


def test_rescoring_stores_what_would_be_scored_in_memory_and_leaves_the_history(
    store, chain, replicate, collection, monkeypatch
):
    replicate(run=collection.noisy_run(9))
    changed, earlier = read_qrels(collection.other_qrels()), content(store.root / "prod/history")
    expected, before = store.lineage("prod", "AP", qrels=changed), store.manifest("prod")
    monkeypatch.setattr(manifests, "now", lambda: "2031-01-01T00:00:00Z")
    store.rescore("prod", qrels=collection.other_qrels(), topics=None)
    assert not store.replicates("prod", "AP", qrels=changed)[0].rescored
    *_, newest = store.lineage("prod", "AP", qrels=changed)
    assert not newest.rescored
    assert_same_scores(newest.scores, expected[-1].scores)
    after = store.manifest("prod")
    assert replace(after, digests=before.digests, replicates=before.replicates) == before
    assert after.digests.run == before.digests.run
    assert after.digests.scores != before.digests.scores
    assert content(store.root / "prod/history") == earlier
    assert gzip.decompress((store.root / "prod/run.gz").read_bytes()) == chain[-1].read_bytes()
    assert store.verify("prod") == []


@pytest.mark.parametrize("kept", [False, True])
def test_a_run_that_was_not_kept_is_not_scored_again(store, add, replicate, collection, kept):
    add(keep_run=kept)
    replicate(keep_run=False)
    before = content(store.root)
    with pytest.raises(BaselineError, match="its run was not kept"):
        store.rescore("prod", qrels=collection.qrels, topics=None)
    assert content(store.root) == before


def swap(store):
    aside = store.root / "aside"
    place(store, 1).rename(aside)
    place(store, 2).rename(place(store, 1))
    aside.rename(place(store, 2))


def edit(store):
    path = place(store, 1) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"note": "another"}))


@pytest.mark.parametrize("change", [swap, edit, lambda store: shutil.rmtree(place(store, 1))])
def test_a_chain_that_is_not_the_one_that_was_written_is_found(store, chain, qrels, change):
    change(store)
    with pytest.raises(BaselineError, match=r"prod/history/000.: manifest\.json (was changed|is missing)"):
        store.lineage("prod", "AP", qrels=qrels)
    assert len(store.verify("prod")) == 1
