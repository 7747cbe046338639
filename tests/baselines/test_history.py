"""What a baseline held is kept when another run is accepted in its place, and is checked like the baseline itself."""

import json
import math
import shutil

import pytest
from numpy.testing import assert_array_equal

from pytest_riskguard.baselines import environment
from pytest_riskguard.baselines.manifest import GitState
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import BaselineError, DataError
from tests.baselines.conftest import MEASURES, content
from tests.baselines.test_store import DAMAGE, assert_same_scores


@pytest.fixture
def promote(store, collection):
    """Accept a run."""

    def promote(name="prod", run=None, **options):
        options = {"qrels": collection.qrels, "topics": collection.topics} | options
        return store.promote(name, run or collection.other_run(), **options)

    return promote


@pytest.fixture
def chain(add, promote, collection):
    """A baseline with two earlier runs; the runs, oldest first."""
    runs = [collection.run, collection.noisy_run(1), collection.noisy_run(2)]
    add(kind="previous", note="the first")
    for number, run in enumerate(runs[1:], start=1):
        promote(run=run, note=f"change {number}")
    return runs


def place(store, number, name="prod"):
    return store.root / name / "history" / f"{number:04d}"


# Promoting


@pytest.mark.parametrize("keep_run", [True, False])
def test_the_chain_is_read_back_bit_for_bit_oldest_first(store, add, promote, collection, qrels, keep_run):
    runs = [collection.run, collection.noisy_run(1), collection.noisy_run(2)]
    add(kind="previous", keep_run=keep_run)
    for run in runs[1:]:
        assert promote(run=run, keep_run=keep_run).moved
    places = ["prod/history/0001", "prod/history/0002", "prod"]
    for measure in MEASURES:
        read = store.lineage("prod", measure, qrels=qrels)
        assert [stored.rescored for stored in read] == [False] * 3
        for stored, run, name in zip(read, runs, places, strict=True):
            (scored,) = score_run(run, qrels, [measure], name=name)
            assert_same_scores(stored.scores, scored)
    assert len({stored.scores.values.tobytes() for stored in read}) == 3
    assert place(store, 2).joinpath("run.gz").exists() == keep_run
    assert store.verify("prod") == []


def test_the_manifest_lists_what_was_held(store, chain, qrels):
    manifest = store.manifest("prod")
    assert (manifest.kind, manifest.note) == ("previous", "change 2")
    assert [earlier.number for earlier in manifest.history] == [1, 2]
    assert [earlier.note for earlier in manifest.history] == ["the first", "change 1"]
    for earlier, run in zip(manifest.history, chain, strict=False):
        scores = score_run(run, qrels, MEASURES)
        assert earlier.run == scores[0].digest
        assert earlier.means == {s.measure: math.fsum(s.values) / len(s.values) for s in scores}


def test_an_earlier_run_is_the_very_files_of_a_fixed_baseline_without_history(store, add, promote, collection):
    add("other")
    add(kind="previous")
    before, other = content(store.root / "prod"), content(store.root / "other")
    promote()
    promote(run=collection.noisy_run(1))
    after = content(place(store, 1))
    files = ("scores.tsv", "run.gz", "queries.tsv")
    assert {path: after[path] for path in files} == {path: before[path] for path in files}
    assert json.loads(after["manifest.json"]).keys() == json.loads(other["manifest.json"]).keys()
    assert json.loads(after["manifest.json"])["name"] == "prod"
    # Taken out, it is a baseline of the same name.
    elsewhere = Store(store.root.with_name("elsewhere"))
    shutil.copytree(place(store, 1), elsewhere.root / "prod")
    assert elsewhere.verify("prod") == []
    assert elsewhere.manifest("prod").kind == "fixed"


def test_replicates_stay_with_the_run_that_they_repeat(store, add, replicate, promote, collection):
    add(kind="previous")
    replicate(run=collection.noisy_run(7))
    before = content(store.root / "prod" / "replicates")
    promote()
    assert store.manifest("prod").replicates == ()
    assert content(place(store, 1) / "replicates") == before
    replicate(run=collection.noisy_run(8))  # writes the manifest anew
    assert len(store.manifest("prod").history) == 1
    store.remove_replicate("prod", 1)
    assert len(store.manifest("prod").history) == 1
    assert store.verify("prod") == []
    place(store, 1).joinpath("replicates/1/scores.tsv").write_text("x")
    (problem,) = store.verify("prod")
    assert problem.startswith("baselines/prod/history/0001/replicates/1: scores.tsv was changed")
    assert problem.endswith("(`riskguard baseline remove prod`) and add the run again")


def test_a_bad_run_changes_nothing(store, add, promote, tmp_path):
    add(kind="previous")
    before = content(store.root)
    tmp_path.joinpath("bad.run").write_text("t1 Q0 d1 1 x\n")
    for run in ("bad.run", "none.run"):
        with pytest.raises(DataError, match=run.replace(".", r"\.")):
            promote(run=tmp_path / run)
    assert content(store.root) == before


# The best


@pytest.fixture
def ideal(collection):
    """A run with the relevant documents first, and one that is as good on AP only."""
    path = collection.folder / "ideal.run"
    lines = []
    for t in range(1, 13):
        order = sorted(range(1, 8), key=lambda d: -((t + d) % 3))
        lines += [f"t{t} Q0 d{d} {rank} {10 - rank} x\n" for rank, d in enumerate(order, start=1)]
    path.write_text("".join(lines))
    binary = collection.folder / "binary.run"
    lines = []
    for t in range(1, 13):
        order = sorted(range(1, 8), key=lambda d: [2, 0, 1][(t + d) % 3])  # grade 1 before grade 2
        lines += [f"t{t} Q0 d{d} {rank} {10 - rank} x\n" for rank, d in enumerate(order, start=1)]
    binary.write_text("".join(lines))
    return path, binary


def test_the_best_moves_up_and_never_down(store, add, promote, collection, ideal):
    add(kind="best")
    assert promote(run=ideal[0]).moved
    before = content(store.root)
    done = promote(run=collection.noisy_run(1))
    assert not done.moved
    assert all(change.falls for change in done.changes)
    assert done.manifest == store.manifest("prod")
    assert content(store.root) == before


# Replacing and removing


def test_an_update_keeps_the_history_and_does_not_add_to_it(store, chain, add, collection, qrels):
    before, listed = content(store.root / "prod" / "history"), store.manifest("prod").history
    add(run=collection.other_run(), replace=True)
    assert store.manifest("prod").history == listed
    assert store.manifest("prod").kind == "previous"
    assert content(store.root / "prod" / "history") == before
    assert store.verify("prod") == []
    assert len(store.lineage("prod", "AP", qrels=qrels)) == 3


# Judgements


def test_changed_judgements_score_the_whole_chain_anew(store, chain, collection):
    changed = read_qrels(collection.other_qrels())
    read = store.lineage("prod", "AP", qrels=changed)
    assert [stored.rescored for stored in read] == [True] * 3
    for stored, run in zip(read, chain, strict=True):
        (scored,) = score_run(run, changed, ["AP"], name=stored.scores.name)
        assert_same_scores(stored.scores, scored)


def test_without_judgements_the_scores_are_those_stored(store, chain, add, collection, qrels):
    read = store.lineage("prod", "MAP")
    for stored, known in zip(read, store.lineage("prod", "AP", qrels=qrels), strict=True):
        assert_array_equal(stored.scores.values, known.scores.values)
        assert stored.scores.topics == known.scores.topics
        assert stored.scores.qrels_digest == qrels.digest
        assert stored.scores.digest == known.scores.digest
    with pytest.raises(BaselineError, match=r"prod/history/0001: it has scores of nDCG@10, AP, not of RR"):
        store.lineage("prod", "RR")
    add(run=collection.other_run(), replace=True, qrels=collection.other_qrels())
    with pytest.raises(BaselineError, match=r"different judgements; .*`riskguard baseline rescore prod`") as caught:
        store.lineage("prod", "AP")
    assert caught.value.reason == "inputs_changed"


# Scoring again


def test_rescoring_stores_what_would_be_scored_in_memory(store, chain, replicate, collection, monkeypatch):
    replicate(run=collection.noisy_run(9))
    changed = read_qrels(collection.other_qrels())
    expected = store.lineage("prod", "AP", qrels=changed)
    before = store.manifest("prod")
    monkeypatch.setattr(environment, "now", lambda: "2031-01-01T00:00:00Z")
    monkeypatch.setattr("pytest_riskguard.baselines.rewrite.git_state", lambda _: GitState("c" * 40, dirty=True))
    assert store.rescore("prod", qrels=collection.other_qrels(), topics=None) == ()
    read = store.lineage("prod", "AP", qrels=changed)
    assert not any(stored.rescored for stored in read)
    for stored, known in zip(read, expected, strict=True):
        assert_same_scores(stored.scores, known.scores)
    assert not store.replicates("prod", "AP", qrels=changed)[0].rescored
    after = store.manifest("prod")
    assert (after.created, after.git, after.note, after.kind, after.replicates) == (
        before.created,
        before.git,
        before.note,
        before.kind,
        before.replicates,
    )
    assert [e.run for e in after.history] == [e.run for e in before.history]
    assert [e.created for e in after.history] == [e.created for e in before.history]
    assert after.history[0].means != before.history[0].means
    assert store.verify("prod") == []


# Damage


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found_and_named_and_stops_what_needs_the_run(store, chain, qrels, promote, add, damage):
    do, message = DAMAGE[damage]
    do(place(store, 1))
    with pytest.raises(BaselineError, match=message) as caught:
        store.lineage("prod", "AP", qrels=qrels)
    assert caught.value.reason == "bad_baseline"
    assert str(caught.value).startswith(f"{place(store, 1)}: ")
    assert store.verify("prod") == [caught.value.problem]
    if damage != "CRLF":
        assert caught.value.problem.endswith("(`riskguard baseline remove prod`) and add the run again")
    with pytest.raises(BaselineError, match=message):
        promote()
    # The baseline itself is whole, and every question about it alone can be answered.
    assert store.scores("prod", "AP", qrels=qrels).scores.name == "prod"
    store.remove("prod")
    add()
    assert store.verify("prod") == []


def test_an_earlier_run_that_is_not_listed_is_not_passed_over(store, chain, qrels, promote):
    shutil.copytree(place(store, 1), place(store, 3))
    for work in (lambda: store.lineage("prod", "AP", qrels=qrels), promote):
        with pytest.raises(BaselineError, match=r"history/0003 is not listed in manifest\.json"):
            work()
    assert len(store.verify("prod")) == 1


def test_earlier_runs_that_changed_places_are_found(store, chain, qrels):
    aside = store.root / "aside"
    place(store, 1).rename(aside)
    place(store, 2).rename(place(store, 1))
    aside.rename(place(store, 2))
    with pytest.raises(BaselineError, match=r"history/0001: is not the run that manifest\.json of prod lists"):
        store.lineage("prod", "AP", qrels=qrels)
    assert len(store.verify("prod")) == 2
