"""Replicates are stored, read back and checked like the baseline that they belong to."""

import json
import shutil

import pytest

from pytest_riskguard.baselines.entry import sha256
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import BaselineError, UsageError
from tests.baselines.conftest import content
from tests.baselines.test_store import assert_same_scores


def place(store, number, name="prod"):
    return store.root / name / "replicates" / str(number)


def test_a_replicate_changes_only_the_list_of_its_baseline(store, add, replicate):
    add()
    before = content(store.root / "prod")
    manifest = store.root / "prod" / "manifest.json"
    replicate()
    data = json.loads(manifest.read_bytes())
    assert data["replicates"] == {"1": sha256(place(store, 1).joinpath("manifest.json").read_bytes())}
    after = content(store.root / "prod")
    assert {path for path in after if not path.startswith("replicates")} == set(before)
    assert all(after[path] == before[path] for path in before if path != "manifest.json")


# Judgements


def test_changed_judgements_without_its_run_name_the_replicate(store, add, replicate, collection):
    add()
    replicate()
    replicate(run=collection.noisy_run(2), keep_run=False)
    message = (
        r"prod/replicates/2: qrels-new\.txt has changed .*`riskguard baseline remove prod` and "
        "`riskguard baseline add prod RUN`"
    )
    with pytest.raises(BaselineError, match=message) as caught:
        store.replicates("prod", "AP", qrels=read_qrels(collection.other_qrels()))
    assert caught.value.reason == "inputs_changed"
    assert caught.value.problem.startswith("baselines/prod/replicates/2: ")


@pytest.mark.parametrize(
    ("options", "reason"), [({"measures": ["RR"]}, "missing_input"), ({"qrels": "other"}, "inputs_changed")]
)
def test_a_replicate_that_the_baseline_cannot_be_compared_with_is_refused(
    store, add, replicate, collection, options, reason
):
    add(keep_run=False)
    before = content(store.root)
    if "qrels" in options:
        options = {"qrels": collection.other_qrels()}
    with pytest.raises(BaselineError, match=r"baselines/prod: .*update prod RUN") as caught:
        replicate(**options)
    assert caught.value.reason == reason
    assert content(store.root) == before


# What is no replicate


def test_a_copy_is_no_replicate(store, add, replicate, collection):
    add()
    replicate()
    before = content(store.root)
    for run, where in (
        (collection.run, r"prod"),
        (store.root / "prod" / "run.gz", r"prod"),
        (collection.noisy_run(1), r"prod/replicates/1"),
    ):
        with pytest.raises(UsageError, match=rf"baselines/{where}: already holds this run; a replicate is "):
            replicate(run=run)
    assert content(store.root) == before


# Removing and replacing


def test_a_replicate_becomes_the_baseline_and_leaves_no_copy_of_itself(store, add, replicate, update):
    add()
    replicate()
    digest = store.read("prod", lambda entry: entry.replicate(1).manifest).digests.run
    update(place(store, 1) / "run.gz")
    assert store.manifest("prod").digests.run == digest
    assert not store.manifest("prod").replicates
    assert store.verify("prod") == []


def test_an_update_with_the_same_run_changes_nothing(store, add, replicate, update, collection):
    add()
    replicate(note="Tuesday")
    before = content(store.root)
    assert update(collection.run, qrels=collection.other_qrels(), measures=["RR"]) is None
    assert content(store.root) == before
    changed = read_qrels(collection.other_qrels())
    (stored,) = store.replicates("prod", "AP", qrels=changed)
    (scored,) = score_run(collection.noisy_run(1), changed, ["AP"], name="prod/replicates/1")
    assert_same_scores(stored.scores, scored)
    assert store.rescore("prod", qrels=collection.other_qrels(), topics=None) == ()
    assert not store.replicates("prod", "AP", qrels=changed)[0].rescored


# Damage


def test_a_replicate_that_the_manifest_does_not_list_is_not_passed_over(store, add, replicate, collection, qrels):
    add()
    shutil.copy(store.root / "prod" / "manifest.json", collection.folder / "before.json")
    replicate()
    shutil.copy(collection.folder / "before.json", store.root / "prod" / "manifest.json")
    message = r"baselines/prod: replicates/1 is not listed in manifest\.json; restore manifest\.json"
    for use in (
        lambda: store.replicates("prod", "AP", qrels=qrels),
        lambda: replicate(run=collection.noisy_run(2)),
    ):
        with pytest.raises(BaselineError, match=message):
            use()
    assert len(store.verify("prod")) == 1
    shutil.rmtree(place(store, 1))
    assert replicate(run=collection.noisy_run(2)) == 1
