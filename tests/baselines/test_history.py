"""What a baseline held is kept when another run is accepted in its place, and is checked like the baseline itself."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pytest_riskguard.baselines import environment
from pytest_riskguard.baselines.lock import LOCK
from pytest_riskguard.baselines.manifest import GitState, Manifest
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.errors import BaselineError, DataError, RiskguardError, UsageError
from pytest_riskguard.evaluation.judgements.qrels import read_qrels
from pytest_riskguard.evaluation.scoring.run_scores import score_run
from tests.baselines.conftest import MEASURES
from tests.baselines.test_store import DAMAGE, assert_same_scores


@pytest.fixture
def qrels(collection):
    return read_qrels(collection.qrels)


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


def content(folder):
    """Every file below a folder, with its bytes."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def edited(store, **changes):
    path = store.root / "prod" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


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


def test_a_baseline_for_which_nothing_was_accepted_is_a_chain_of_one(store, add, qrels):
    add()
    (only,) = store.lineage("prod", "AP", qrels=qrels)
    assert_same_scores(only.scores, store.scores("prod", "AP", qrels=qrels).scores)
    assert store.manifest("prod").history == ()


def test_the_manifest_lists_what_was_held(store, chain, qrels):
    manifest = store.manifest("prod")
    assert (manifest.kind, manifest.note) == ("previous", "change 2")
    assert [earlier.number for earlier in manifest.history] == [1, 2]
    assert [earlier.note for earlier in manifest.history] == ["the first", "change 1"]
    for earlier, run in zip(manifest.history, chain, strict=False):
        scores = score_run(run, qrels, MEASURES)
        assert earlier.run == scores[0].digest
        assert earlier.means == {s.measure: math.fsum(s.values) / len(s.values) for s in scores}


def test_an_earlier_run_keeps_the_commit_it_was_stored_at(store, add, promote, monkeypatch):
    commits = [GitState(digit * 40, dirty=digit == "a") for digit in "ab"]
    for state, store_run in zip(commits, (add, promote), strict=True):
        monkeypatch.setattr("pytest_riskguard.baselines.rewrite.git_state", lambda _, state=state: state)
        store_run(**({"kind": "previous"} if store_run is add else {}))
    manifest = store.manifest("prod")
    assert [manifest.history[0].git, manifest.git] == commits


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
    assert store.replicate_numbers("prod") == ()
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


def test_a_fixed_baseline_is_not_moved_until_one_says_so(store, add, promote):
    add()
    before = content(store.root)
    with pytest.raises(UsageError, match=r"prod: is fixed, .* --kind previous, .*`riskguard baseline update prod"):
        promote()
    with pytest.raises(UsageError, match="is fixed"):
        promote(kind="fixed")
    assert content(store.root) == before
    assert promote(kind="release").moved
    assert store.manifest("prod").kind == "release"
    assert len(store.manifest("prod").history) == 1


def test_an_unknown_kind_is_refused(add, promote):
    with pytest.raises(UsageError, match=r"'newest' is not a kind of baseline; expected one of fixed, previous"):
        add(kind="newest")
    add(kind="previous")
    with pytest.raises(UsageError, match="'newest' is not a kind"):
        promote(kind="newest")


def test_the_very_run_is_no_change(store, add, promote, collection):
    add(kind="previous")
    before = content(store.root)
    with pytest.raises(UsageError, match=r"already holds this run; .*`riskguard baseline rescore prod`"):
        promote(run=collection.run)
    assert content(store.root) == before


def test_a_run_may_come_back(store, chain, promote, collection, qrels):
    promote(run=collection.run)
    first, *_, last = store.lineage("prod", "AP", qrels=qrels)
    assert_array_equal(first.scores.values, last.scores.values)
    assert store.verify("prod") == []


def test_a_promoted_run_has_the_measures_of_the_baseline_and_those_asked_for(store, add, promote, collection):
    add(kind="previous")
    promote(measures=["RR", "MAP"])
    assert [measure.name for measure in store.manifest("prod").measures] == [*MEASURES, "RR"]


def test_means_before_and_after_are_told(add, promote, collection, qrels):
    add(kind="previous")
    done = promote()
    for change, old, new in zip(
        done.changes,
        score_run(collection.run, qrels, MEASURES),
        score_run(collection.other_run(), qrels, MEASURES),
        strict=True,
    ):
        assert change.measure == old.measure
        assert (change.before, change.after) == pytest.approx((old.values.mean(), new.values.mean()), rel=1e-14)


def test_changed_judgements_without_the_run_leave_no_means_to_tell(add, promote, collection):
    add(kind="previous", keep_run=False)
    done = promote(qrels=collection.other_qrels())
    assert done.moved
    assert done.changes == ()


def test_nothing_is_promoted_where_there_is_nothing(promote):
    with pytest.raises(BaselineError, match="no baseline 'prod'") as caught:
        promote()
    assert caught.value.reason == "missing_input"


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


def test_the_best_stays_where_one_measure_falls(store, add, promote, ideal):
    best, binary = ideal
    add(run=best, kind="best")
    done = promote(run=binary)
    assert [change.measure for change in done.changes if change.falls] == ["nDCG@10"]
    assert not done.moved
    add("ap", run=best, kind="best", measures=["AP"])
    assert promote("ap", run=binary).moved  # means that are the same do not fall


def test_the_best_is_not_guessed(add, promote, collection):
    add(kind="best", keep_run=False)
    with pytest.raises(BaselineError, match="has changed since it was scored, and its run was not kept"):
        promote(qrels=collection.other_qrels())


# Replacing and removing


def test_an_update_keeps_the_history_and_does_not_add_to_it(store, chain, add, collection, qrels):
    before, listed = content(store.root / "prod" / "history"), store.manifest("prod").history
    add(run=collection.other_run(), replace=True)
    assert store.manifest("prod").history == listed
    assert store.manifest("prod").kind == "previous"
    assert content(store.root / "prod" / "history") == before
    assert store.verify("prod") == []
    assert len(store.lineage("prod", "AP", qrels=qrels)) == 3


def test_an_update_that_says_nothing_of_the_history_keeps_it(store, chain, collection):
    listed = store.manifest("prod").history
    scoring = {"qrels": collection.qrels, "topics": collection.topics, "measures": MEASURES}
    store.update("prod", collection.other_run(), **scoring)
    assert store.manifest("prod").history == listed != ()


def test_an_update_says_what_the_baseline_stands_for_from_now_on(store, add):
    add(kind="best")
    add(kind="fixed", replace=True)
    assert store.manifest("prod").kind == "fixed"


def test_an_update_of_a_damaged_manifest_does_not_lose_the_history(store, chain, add):
    store.root.joinpath("prod/manifest.json").write_text("{")
    before = content(store.root)
    with pytest.raises(
        BaselineError, match=r"line 1: not JSON.*history would be lost: .*`riskguard baseline remove prod`"
    ):
        add(replace=True)
    assert content(store.root) == before
    store.remove("prod")
    add()
    assert store.verify("prod") == []
    assert store.manifest("prod").kind == "fixed"


def test_a_damaged_earlier_run_is_still_damaged_after_an_update(store, chain, add, collection):
    place(store, 1).joinpath("scores.tsv").write_text("x")
    (problem,) = store.verify("prod")
    add(run=collection.other_run(), replace=True)
    assert store.verify("prod") == [problem]


def test_a_lost_history_is_still_missed_after_an_update(store, chain, add, collection):
    shutil.rmtree(store.root / "prod" / "history")
    problems = store.verify("prod")
    add(run=collection.other_run(), replace=True)
    assert store.verify("prod") == problems != []


def test_an_empty_folder_of_earlier_runs_is_left_out(store, add, collection):
    add()
    (store.root / "prod" / "history").mkdir()
    add(run=collection.other_run(), replace=True)
    assert not (store.root / "prod" / "history").exists()


def test_an_update_to_an_unknown_kind_is_refused(store, add, collection):
    add()
    with pytest.raises(UsageError, match="newest"):
        store.update("prod", collection.other_run(), kind="newest", qrels=collection.qrels, topics=None)


def test_a_removed_baseline_takes_its_history_along(store, chain):
    store.remove("prod")
    assert [path.name for path in store.root.iterdir()] == [LOCK]


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


def test_changed_judgements_without_its_run_name_the_earlier_run(store, add, promote, collection):
    add(kind="previous", keep_run=False)
    promote()
    with pytest.raises(BaselineError, match=r"prod/history/0001: qrels-new\.txt has changed") as caught:
        store.lineage("prod", "AP", qrels=read_qrels(collection.other_qrels()))
    assert caught.value.reason == "inputs_changed"
    assert "`riskguard baseline remove prod`" in str(caught.value)


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


def test_rescoring_with_the_same_judgements_changes_no_byte(store, chain, replicate, collection):
    replicate(run=collection.noisy_run(9))
    before = content(store.root)
    store.rescore("prod", qrels=collection.qrels, topics=collection.topics)
    assert content(store.root) == before


def test_rescoring_may_bring_other_measures(store, chain, collection):
    store.rescore("prod", qrels=collection.qrels, topics=None, measures=["RR"])
    assert [measure.name for measure in store.manifest("prod").measures] == ["RR"]
    assert len(store.lineage("prod", "RR")) == 3


def test_runs_that_were_not_kept_are_named_and_keep_their_scores(store, add, promote, collection):
    add(kind="previous", keep_run=False)
    promote()
    before = content(place(store, 1))
    assert store.rescore("prod", qrels=collection.other_qrels(), topics=None) == ("prod/history/0001",)
    assert content(place(store, 1)) == before
    assert store.verify("prod") == []


def test_every_run_that_was_not_kept_is_named(store, add, promote, collection, replicate):
    add(kind="previous", keep_run=False)
    promote()
    promote(run=collection.noisy_run(3))
    for number in (1, 2):
        replicate(run=collection.noisy_run(10 + number), keep_run=False)
    # the second run was not kept either
    place(store, 2).joinpath("run.gz").unlink()
    manifest = place(store, 2) / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"run_kept": False}))
    assert set(store.rescore("prod", qrels=collection.other_qrels(), topics=None)) == {
        "prod/history/0001",
        "prod/history/0002",
        "prod/replicates/1",
        "prod/replicates/2",
    }


def test_a_baseline_whose_run_was_not_kept_cannot_be_rescored(store, add, collection):
    add(keep_run=False)
    with pytest.raises(BaselineError, match="baselines/prod: its run was not kept") as caught:
        store.rescore("prod", qrels=collection.qrels, topics=None)
    assert caught.value.reason == "missing_input"


def test_damage_is_not_scored_over(store, chain, collection):
    place(store, 1).joinpath("scores.tsv").write_text("x")
    before = content(store.root)
    with pytest.raises(BaselineError, match=r"history/0001: scores\.tsv was changed"):
        store.rescore("prod", qrels=collection.qrels, topics=None)
    assert content(store.root) == before


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
    if damage not in ("a newer format", "CRLF"):
        assert caught.value.problem.endswith("(`riskguard baseline remove prod`) and add the run again")
    with pytest.raises(BaselineError, match=message):
        promote()
    # The baseline itself is whole, and every question about it alone can be answered.
    assert store.scores("prod", "AP", qrels=qrels).scores.name == "prod"
    store.remove("prod")
    add()
    assert store.verify("prod") == []


def test_a_lost_earlier_run_is_missed(store, chain, qrels):
    shutil.rmtree(place(store, 1))
    with pytest.raises(BaselineError, match=r"history/0001: manifest\.json is missing"):
        store.lineage("prod", "AP", qrels=qrels)
    assert len(store.verify("prod")) == 1


def test_a_lost_history_is_missed(store, chain):
    shutil.rmtree(store.root / "prod" / "history")
    assert len(store.verify("prod")) == 2


def test_an_earlier_run_that_is_not_listed_is_not_passed_over(store, chain, qrels, promote):
    shutil.copytree(place(store, 1), place(store, 3))
    for work in (lambda: store.lineage("prod", "AP", qrels=qrels), promote):
        with pytest.raises(BaselineError, match=r"history/0003 is not listed in manifest\.json"):
            work()
    assert len(store.verify("prod")) == 1


def test_what_is_no_run_does_no_harm(store, chain, qrels):
    store.root.joinpath("prod/history/README").write_text("x")
    store.root.joinpath("prod/history/empty").mkdir()
    assert store.verify("prod") == []
    assert len(store.lineage("prod", "AP", qrels=qrels)) == 3


def test_earlier_runs_that_changed_places_are_found(store, chain, qrels):
    aside = store.root / "aside"
    place(store, 1).rename(aside)
    place(store, 2).rename(place(store, 1))
    aside.rename(place(store, 2))
    with pytest.raises(BaselineError, match=r"history/0001: is not the run that manifest\.json of prod lists"):
        store.lineage("prod", "AP", qrels=qrels)
    assert len(store.verify("prod")) == 2


@pytest.mark.parametrize(
    ("key", "value"),
    [("note", "better"), ("created", "2020-01-01T00:00:00Z"), ("means", {"nDCG@10": 0.9, "AP": 0.9})],
)
def test_a_list_that_says_other_things_than_the_run_is_found(store, chain, qrels, key, value):
    history = json.loads(store.root.joinpath("prod/manifest.json").read_text())["history"]
    history[0][key] = value
    edited(store, history=history)
    with pytest.raises(BaselineError, match=r"history/0001: differs from its entry in manifest\.json of prod"):
        store.lineage("prod", "AP", qrels=qrels)
    assert len(store.verify("prod")) == 1


def test_an_earlier_run_has_neither_kind_nor_history(store, chain, add, promote, collection, qrels):
    other = Store(store.root.with_name("elsewhere"))
    other.add("prod", collection.run, qrels=collection.qrels, topics=None, measures=MEASURES, kind="previous")
    shutil.rmtree(place(store, 1))
    shutil.copytree(other.root / "prod", place(store, 1))
    with pytest.raises(BaselineError, match=r"manifest\.json gives an earlier run a kind or a history"):
        store.lineage("prod", "AP", qrels=qrels)


def test_a_history_is_no_link(store, chain, tmp_path, qrels, promote, link):
    store.root.joinpath("prod/history").rename(tmp_path / "elsewhere")
    link(store.root / "prod" / "history", tmp_path / "elsewhere")
    for work in (lambda: store.lineage("prod", "AP", qrels=qrels), promote):
        with pytest.raises(BaselineError, match="history is a link"):
            work()
    assert store.verify("prod") != []


def test_an_earlier_run_is_no_link(store, chain, tmp_path, qrels, link):
    place(store, 1).rename(tmp_path / "elsewhere")
    link(place(store, 1), tmp_path / "elsewhere")
    with pytest.raises(BaselineError, match=r"history/0001: is a link"):
        store.lineage("prod", "AP", qrels=qrels)


def test_a_file_behind_a_link_is_kept_as_a_file(store, add, promote, link, qrels):
    add("other")
    add(kind="previous")
    scores = store.root / "prod" / "scores.tsv"
    scores.unlink()
    link(scores, Path("../other/scores.tsv"))
    assert store.verify("prod") == []
    promote()
    assert not place(store, 1).joinpath("scores.tsv").is_symlink()
    assert store.verify("prod") == []


# Meanwhile


def test_a_baseline_that_is_replaced_while_the_run_is_scored_is_not_promoted(
    store, add, promote, collection, monkeypatch
):
    add(kind="previous")
    score = score_run

    def slow(*arguments, **options):
        monkeypatch.setattr("pytest_riskguard.baselines.rewrite.score_run", score)
        add(run=collection.noisy_run(1), replace=True)
        return score(*arguments, **options)

    monkeypatch.setattr("pytest_riskguard.baselines.rewrite.score_run", slow)
    with pytest.raises(RiskguardError, match=r": was replaced while the run was being scored; try again$"):
        promote()
    assert store.manifest("prod").history == ()


def test_a_run_that_is_stored_can_be_promoted_elsewhere(store, add, promote, collection):
    add()
    add("release", run=collection.other_run(), kind="release")
    assert promote("release", run=store.run("prod")).moved
    assert store.manifest("release").digests.run == store.manifest("prod").digests.run
    add("bare", keep_run=False)
    with pytest.raises(BaselineError, match="baselines/bare: its run was not kept"):
        store.run("bare")
    store.root.joinpath("prod/run.gz").write_text("x")
    with pytest.raises(BaselineError, match=r"run\.gz is damaged"):
        store.run("prod")


def test_real_runs_form_a_chain(store, shared):
    data = shared / "data" / "cranfield_runs"
    runs = [data / "runs" / f"{name}.run.gz" for name in ("lsa200_dense", "fts5_and", "bm25s_lucene")]
    qrels = data / "qrels.txt"
    options = {"qrels": qrels, "topics": None}
    store.add("prod", runs[0], measures=["AP"], kind="previous", **options)
    for run in runs[1:]:
        store.promote("prod", run, allow_unanswered=True, **options)  # one finds nothing unless every word is there
    read = store.lineage("prod", "AP", qrels=read_qrels(qrels))
    for stored, run in zip(read, runs, strict=True):
        (scored,) = score_run(run, read_qrels(qrels), ["AP"])
        assert np.array_equal(stored.scores.values, scored.values)
    assert Manifest.from_bytes(store.root.joinpath("prod/manifest.json").read_bytes()) == store.manifest("prod")
