"""Replicates are stored, read back and checked like the baseline that they belong to."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pytest_riskguard.baselines import atomic_folder
from pytest_riskguard.baselines.entry import MANIFEST, QUERIES, RUN, SCORES
from pytest_riskguard.baselines.lock import LOCK
from pytest_riskguard.baselines.manifest import Manifest
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.errors import BaselineError, DataError, RunFormatError, UsageError
from pytest_riskguard.evaluation.judgements.qrels import read_qrels
from pytest_riskguard.evaluation.scoring.run_scores import score_run
from tests.baselines.conftest import MEASURES
from tests.baselines.test_store import DAMAGE, assert_same_scores


@pytest.fixture
def qrels(collection):
    return read_qrels(collection.qrels)


def place(store, number, name="prod"):
    return store.root / name / "replicates" / str(number)


def content(folder):
    """Every file below a folder, with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("keep_run", [True, False])
def test_replicates_are_read_back_bit_for_bit_by_number(store, add, replicate, collection, qrels, keep_run):
    add()
    baseline = store.scores("prod", "AP", qrels=qrels).scores
    runs = [collection.noisy_run(seed) for seed in (1, 2, 3)]
    assert [replicate(run=run, keep_run=keep_run) for run in runs] == [1, 2, 3]
    for measure in MEASURES:
        read = store.replicates("prod", measure, qrels=qrels)
        assert len(read) == 3
        for number, (stored, run) in enumerate(zip(read, runs, strict=True), start=1):
            (scored,) = score_run(run, qrels, [measure], name=f"prod/replicates/{number}")
            assert_same_scores(stored.scores, scored)
            assert not stored.rescored
    assert len({stored.scores.values.tobytes() for stored in read}) == 3
    assert_same_scores(store.scores("prod", "AP", qrels=qrels).scores, baseline)
    assert place(store, 2).joinpath("run.gz").exists() == keep_run
    assert store.verify("prod") == []


def test_a_baseline_without_replicates_has_none(store, add, qrels):
    add()
    assert store.replicates("prod", "AP", qrels=qrels) == ()
    assert store.manifest("prod").replicates == ()
    assert store.replicate_numbers("prod") == ()


def test_the_order_is_that_of_the_numbers_not_of_their_text(store, add, replicate, collection, qrels):
    add()
    runs = [collection.noisy_run(seed) for seed in range(11)]
    for run in runs:
        replicate(run=run)
    names = [stored.scores.name for stored in store.replicates("prod", "AP", qrels=qrels)]
    assert names == [f"prod/replicates/{number}" for number in range(1, 12)]
    assert store.replicate_numbers("prod") == tuple(range(1, 12))


def test_a_replicate_changes_only_the_list_of_its_baseline(store, add, replicate):
    add()
    before = content(store.root / "prod")
    manifest = store.root / "prod" / "manifest.json"
    number = replicate()
    data = json.loads(manifest.read_bytes())
    digest = store.replicate_manifest("prod", number).digests.run
    assert data["replicates"] == [{"number": 1, "run": digest}]
    assert json.loads(place(store, 1).joinpath("manifest.json").read_bytes())["replicates"] == []
    after = content(store.root / "prod")
    assert {path for path in after if not path.startswith("replicates")} == set(before)
    assert all(after[path] == before[path] for path in before if path != "manifest.json")
    store.remove_replicate("prod", 1)
    assert content(store.root / "prod") == before
    assert not (store.root / "prod" / "replicates").exists()


def test_a_replicate_has_a_manifest_of_its_own(store, add, replicate, collection):
    add(note="release 7")
    replicate(note="Tuesday", keep_run=False)
    manifest = store.replicate_manifest("prod", 1)
    assert (manifest.note, manifest.run_kept, manifest.replicates) == ("Tuesday", False, ())
    assert [measure.name for measure in manifest.measures] == list(MEASURES)  # those of the baseline
    assert store.manifest("prod").note == "release 7"
    assert manifest == Manifest.from_bytes(place(store, 1).joinpath("manifest.json").read_bytes())


def test_a_replicate_may_have_measures_of_its_own(store, add, replicate, qrels):
    add()
    replicate(measures=["RR"], keep_run=False)
    assert len(store.replicates("prod", "RR", qrels=qrels)) == 1
    with pytest.raises(BaselineError, match=r"prod/replicates/1: it has scores of RR, not of AP") as caught:
        store.replicates("prod", "AP", qrels=qrels)
    assert caught.value.reason == "missing_input"


def test_the_manifest_of_the_baseline_is_another_file_once_replicates_come_and_go(store, add, replicate):
    # What a cache of scores is keyed by.
    def stamp():
        status = (store.root / "prod" / "manifest.json").stat()
        return status.st_ino, status.st_size, status.st_mtime_ns

    add()
    stamps = [stamp()]
    for change in (replicate, lambda: store.remove_replicate("prod", 1)):
        change()
        stamps.append(stamp())
    assert len(set(stamps)) == 3


# Judgements


def test_changed_judgements_are_scored_anew_and_said(store, add, replicate, collection):
    add()
    replicate()
    changed = read_qrels(collection.other_qrels())
    (stored,) = store.replicates("prod", "AP", qrels=changed)
    assert stored.rescored
    (scored,) = score_run(collection.noisy_run(1), changed, ["AP"], name="prod/replicates/1")
    assert_same_scores(stored.scores, scored)


def test_changed_judgements_without_its_run_name_the_replicate(store, add, replicate, collection):
    add()
    replicate()
    replicate(run=collection.noisy_run(2), keep_run=False)
    message = (
        r"prod/replicates/2: qrels-new\.txt has changed .*`riskguard baseline remove prod --replicate 2` and "
        "`riskguard baseline add prod RUN --replicate`"
    )
    with pytest.raises(BaselineError, match=message) as caught:
        store.replicates("prod", "AP", qrels=read_qrels(collection.other_qrels()))
    assert caught.value.reason == "inputs_changed"
    assert caught.value.problem.startswith("baselines/prod/replicates/2: ")


def test_a_replicate_may_have_newer_judgements_if_the_baseline_kept_its_run(store, add, replicate, collection):
    add()
    replicate(qrels=collection.other_qrels())
    changed = read_qrels(collection.other_qrels())
    assert not store.replicates("prod", "AP", qrels=changed)[0].rescored
    assert store.scores("prod", "AP", qrels=changed).rescored


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


def test_a_replicate_of_nothing_is_refused_with_what_there_is(store, add, replicate):
    with pytest.raises(BaselineError, match=r"no baseline 'prod' .*`riskguard baseline add prod RUN`"):
        replicate()
    assert not store.root.exists()
    add()
    with pytest.raises(BaselineError, match="did you mean 'prod'"):
        replicate("prdo")


@pytest.mark.parametrize("name", ["../prod", "prod/replicates/1", "", "nul"])
def test_a_name_cannot_lead_out_of_the_store(store, add, replicate, qrels, name):
    add()
    for use in (
        lambda: replicate(name),
        lambda: store.replicates(name, "AP", qrels=qrels),
        lambda: store.replicate_manifest(name, 1),
        lambda: store.replicate_numbers(name),
        lambda: store.remove_replicate(name, 1),
    ):
        with pytest.raises(UsageError, match="cannot name a baseline"):
            use()


def test_bad_runs_are_told_as_they_are_and_change_nothing(store, add, replicate, tmp_path):
    add()
    before = content(store.root)
    bad = tmp_path / "bad.run"
    bad.write_text("t1 Q0 d1\n")
    with pytest.raises(RunFormatError, match=r"bad\.run:1"):
        replicate(run=bad)
    bad.write_text("x1 Q0 d1 1 1.0 x\n")
    with pytest.raises(DataError) as caught:
        replicate(run=bad)
    assert caught.value.reason == "no_common_topic"
    with pytest.raises(UsageError, match=r"the note .* is not UTF-8 text"):
        replicate(note="\udcff")
    assert content(store.root) == before


# Removing and replacing


def test_the_others_keep_their_numbers_when_one_is_removed(store, add, replicate, collection, qrels):
    add()
    for seed in (1, 2, 3):
        replicate(run=collection.noisy_run(seed))
    kept = store.replicates("prod", "AP", qrels=qrels)[::2]
    store.remove_replicate("prod", 2)
    assert store.replicate_numbers("prod") == (1, 3)
    left = store.replicates("prod", "AP", qrels=qrels)
    for stored, before in zip(left, kept, strict=True):
        assert_same_scores(stored.scores, before.scores)
    assert replicate(run=collection.noisy_run(4)) == 4
    assert store.verify("prod") == []
    for use in (lambda: store.remove_replicate("prod", 2), lambda: store.replicate_manifest("prod", 2)):
        with pytest.raises(BaselineError, match=r"prod: no replicate 2 \(it has 1, 3, 4\)") as caught:
            use()
        assert caught.value.reason == "missing_input"


def test_a_removed_baseline_takes_its_replicates_along(store, add, replicate):
    add()
    replicate()
    store.remove("prod")
    assert [path.name for path in store.root.iterdir()] == [LOCK]


def test_another_run_of_the_baseline_has_no_replicates_yet(store, add, replicate, collection, qrels):
    add()
    replicate()
    replaced = add(run=collection.other_run(), replace=True)
    assert replaced.replicates == ()
    assert store.replicates("prod", "AP", qrels=qrels) == ()
    assert not (store.root / "prod" / "replicates").exists()


def test_a_replicate_becomes_the_baseline_and_leaves_no_copy_of_itself(store, add, replicate, collection):
    add()
    replicate()
    digest = store.replicate_manifest("prod", 1).digests.run
    add(run=place(store, 1) / "run.gz", replace=True)
    assert store.manifest("prod").digests.run == digest
    assert store.replicate_numbers("prod") == ()
    assert store.verify("prod") == []


def test_the_same_run_stored_again_keeps_its_replicates_with_the_judgements_of_today(
    store, add, replicate, collection, qrels
):
    add()
    replicate(note="Tuesday")
    replicate(run=collection.noisy_run(2), keep_run=False)
    listed = store.manifest("prod").replicates
    lost = content(place(store, 2))
    changed = read_qrels(collection.other_qrels())
    add(qrels=collection.other_qrels(), measures=["AP"], replace=True)
    assert store.manifest("prod").replicates == listed
    manifest = store.replicate_manifest("prod", 1)
    assert (manifest.note, manifest.digests.qrels) == ("Tuesday", changed.digest)
    assert [measure.name for measure in manifest.measures] == ["AP"]
    assert content(place(store, 2)) == lost  # it has no run to be scored again
    store.remove_replicate("prod", 2)
    (stored,) = store.replicates("prod", "AP", qrels=changed)
    assert not stored.rescored
    (scored,) = score_run(collection.noisy_run(1), changed, ["AP"], name="prod/replicates/1")
    assert_same_scores(stored.scores, scored)
    assert store.verify("prod") == []


@pytest.mark.parametrize("damage", ["a run that is no gzip", "another run", "a lost topic", "a cut manifest"])
def test_a_damaged_replicate_is_still_damaged_when_its_baseline_is_stored_again(store, add, replicate, damage):
    add()
    replicate(keep_run=damage != "a lost topic")  # from its run the scores would be made anew
    DAMAGE[damage][0](place(store, 1))
    before = store.verify("prod")
    assert before[0].startswith("baselines/prod/replicates/1: ")
    add(replace=True)
    assert store.verify("prod") == before


def test_a_replicate_that_is_lost_is_still_missed_when_its_baseline_is_stored_again(store, add, replicate):
    add()
    replicate()
    shutil.rmtree(place(store, 1))
    add(replace=True)
    (problem,) = store.verify("prod")
    assert problem.startswith("baselines/prod/replicates/1: manifest.json is missing")


def test_a_replicate_that_changes_while_its_baseline_is_stored_again_changes_nothing(
    store, add, replicate, monkeypatch
):
    add()
    replicate()
    before = content(store.root)
    copy = atomic_folder.copy_compressed

    def copy_another(source, target):
        return copy(store.root / "prod" / "run.gz", target)

    monkeypatch.setattr(atomic_folder, "copy_compressed", copy_another)
    with pytest.raises(BaselineError, match="changed while it was being stored"):
        add(replace=True)
    assert content(store.root) == before


# Damage


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found_named_and_cleared_by_removing(store, add, replicate, collection, qrels, damage):
    add()
    replicate()
    replicate(run=collection.noisy_run(2))
    do, message = DAMAGE[damage]
    do(place(store, 2))
    with pytest.raises(BaselineError, match=message) as caught:
        store.replicates("prod", "nDCG@10", qrels=qrels)
    assert caught.value.reason == "bad_baseline"
    assert str(caught.value).startswith(f"{place(store, 2)}: ")
    assert store.verify("prod") == [caught.value.problem]
    assert caught.value.problem.startswith("baselines/prod/replicates/2: ")
    if damage not in ("a newer format", "CRLF"):
        assert "`riskguard baseline remove prod --replicate 2`" in caught.value.problem
    store.scores("prod", "nDCG@10", qrels=qrels)  # the baseline itself is whole
    store.remove_replicate("prod", 2)
    assert store.verify("prod") == []
    assert len(store.replicates("prod", "nDCG@10", qrels=qrels)) == 1


def test_a_lost_replicate_is_missed(store, add, replicate, collection, qrels):
    add()
    replicate()
    replicate(run=collection.noisy_run(2))
    shutil.rmtree(place(store, 1))
    with pytest.raises(BaselineError, match=r"prod/replicates/1: manifest\.json is missing"):
        store.replicates("prod", "AP", qrels=qrels)
    store.remove_replicate("prod", 1)
    assert store.verify("prod") == []


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


def test_what_is_no_replicate_does_no_harm(store, add, replicate, collection, qrels):
    add()
    replicate()
    place(store, 1).with_name(".DS_Store").touch()
    place(store, 2).mkdir()  # as git leaves the folder of a file that it does not know
    place(store, 2).joinpath(".DS_Store").touch()
    assert len(store.replicates("prod", "AP", qrels=qrels)) == 1
    assert replicate(run=collection.noisy_run(2)) == 2
    assert sorted(path.name for path in place(store, 2).iterdir()) == sorted([MANIFEST, QUERIES, RUN, SCORES])
    assert store.verify("prod") == []


def test_replicates_that_changed_places_are_found(store, add, replicate, collection, qrels):
    add()
    replicate()
    replicate(run=collection.noisy_run(2))
    place(store, 1).rename(place(store, 3))
    place(store, 2).rename(place(store, 1))
    place(store, 3).rename(place(store, 2))
    with pytest.raises(BaselineError, match=r"replicates/1: is not the run that manifest\.json of prod lists"):
        store.replicates("prod", "AP", qrels=qrels)
    assert len(store.verify("prod")) == 2


def test_a_baseline_as_a_replicate_has_no_replicates(store, add, replicate, collection, qrels):
    add()
    replicate()
    other = Store(store.root.with_name("elsewhere"))
    run = place(store, 1) / "run.gz"
    other.add("prod", run, qrels=collection.qrels, topics=collection.topics, measures=MEASURES)
    replicate(run=store.root / "prod" / "run.gz", store=other)
    shutil.rmtree(place(store, 1))
    shutil.copytree(other.root / "prod", place(store, 1))
    with pytest.raises(BaselineError, match=r"replicates/1: manifest\.json lists replicates of a replicate"):
        store.replicates("prod", "AP", qrels=qrels)


def test_a_damaged_baseline_says_so_whatever_is_asked_of_its_replicates(store, add, replicate, collection, qrels):
    add()
    replicate()
    store.root.joinpath("prod", "manifest.json").write_text("{")
    for use in (
        lambda: store.replicates("prod", "AP", qrels=qrels),
        lambda: store.replicate_manifest("prod", 1),
        lambda: store.remove_replicate("prod", 1),
        lambda: replicate(run=collection.noisy_run(2)),
    ):
        with pytest.raises(BaselineError, match=r"prod: manifest\.json: line 1: not JSON"):
            use()
    assert store.replicate_numbers("prod") == (1,)
    assert place(store, 1).is_dir()


def test_a_damaged_baseline_takes_no_replicate(store, add, replicate):
    add()
    with store.root.joinpath("prod", "scores.tsv").open("a") as file:
        file.write("t99\t1\t1\n")
    with pytest.raises(BaselineError, match=r"baselines/prod: scores\.tsv was changed"):
        replicate()
    assert not place(store, 1).exists()


# Links


def test_a_replicate_is_no_link(store, add, replicate, tmp_path, qrels, link):
    add()
    replicate()
    for target in (tmp_path / "elsewhere", store.root / "prod" / "elsewhere"):
        place(store, 1).rename(target)
        link(place(store, 1), target)
        with pytest.raises(BaselineError, match=r"replicates/1: is a link; store the run itself"):
            store.replicates("prod", "AP", qrels=qrels)
        assert store.verify("prod") == ["baselines/prod/replicates/1: is a link; store the run itself"]
        place(store, 1).unlink()
        target.rename(place(store, 1))
    assert store.verify("prod") == []


def test_removing_a_linked_replicate_spares_what_it_leads_to(store, add, replicate, tmp_path, link):
    add()
    replicate()
    place(store, 1).rename(tmp_path / "elsewhere")
    link(place(store, 1), tmp_path / "elsewhere")
    store.remove_replicate("prod", 1)
    assert sorted(content(tmp_path / "elsewhere")) == sorted([MANIFEST, QUERIES, RUN, SCORES])
    assert store.verify("prod") == []


def test_nothing_is_written_through_a_link(store, add, replicate, tmp_path, link):
    add()
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "1").mkdir(parents=True)
    (elsewhere / "1" / "precious").touch()
    link(store.root / "prod" / "replicates", elsewhere)
    with pytest.raises(BaselineError, match=r"prod: replicates is a link; store the runs themselves"):
        replicate()
    assert (elsewhere / "1" / "precious").exists()


def test_a_link_in_the_way_of_a_replicate_is_removed_not_followed(store, add, replicate, tmp_path, link):
    add()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "precious").touch()
    place(store, 1).parent.mkdir()
    link(place(store, 1), tmp_path / "elsewhere")
    assert replicate() == 1
    assert not place(store, 1).is_symlink()
    assert store.verify("prod") == []
    assert list(content(tmp_path / "elsewhere")) == ["precious"]


def test_a_manifest_behind_a_link_is_replaced_not_written_to(store, add, replicate, link):
    add()
    manifest, aside = store.root / "prod" / "manifest.json", store.root / "prod" / "aside.json"
    manifest.rename(aside)
    before = aside.read_bytes()
    link(manifest, aside)
    replicate()
    assert (store.root / "prod" / "aside.json").read_bytes() == before
    assert not manifest.is_symlink()
    assert store.replicate_numbers("prod") == (1,)


def test_a_linked_file_of_a_replicate_cannot_lie_outside_the_store(store, add, replicate, tmp_path, qrels, link):
    add()
    replicate()
    scores = place(store, 1) / "scores.tsv"
    scores.rename(tmp_path / "scores.tsv")
    link(scores, tmp_path / "scores.tsv")
    with pytest.raises(BaselineError, match=r"replicates/1: scores\.tsv is a link to a file outside the store"):
        store.replicates("prod", "AP", qrels=qrels)


def test_a_store_may_itself_be_behind_a_link(store, add, replicate, tmp_path, qrels, link):
    add()
    link(tmp_path / "link", store.root)
    linked = Store(tmp_path / "link")
    replicate(store=linked)
    assert_array_equal(
        linked.replicates("prod", "AP", qrels=qrels)[0].scores.values,
        store.replicates("prod", "AP", qrels=qrels)[0].scores.values,
    )


def test_real_runs_are_replicates_too(store, shared):
    data = shared / "data" / "cranfield_runs"
    qrels, runs = read_qrels(data / "qrels.txt"), data / "runs"
    options = {"qrels": data / "qrels.txt", "topics": data / "queries.tsv"}
    store.add("lsa", runs / "lsa200_dense.run.gz", measures=["nDCG@10"], **options)
    store.add_replicate("lsa", runs / "fts5_and.run.gz", allow_unanswered=True, **options)
    (stored,) = store.replicates("lsa", "nDCG@10", qrels=qrels)
    (scored,) = score_run(runs / "fts5_and.run.gz", qrels, ["nDCG@10"], name="lsa/replicates/1")
    assert_same_scores(stored.scores, scored)
    assert not np.array_equal(stored.scores.values, store.scores("lsa", "nDCG@10", qrels=qrels).scores.values)


def test_replicates_keep_their_runs_where_the_baseline_does_not_keep_its_own(store, add, replicate, collection):
    add()
    replicate()
    files = {"qrels": collection.qrels, "topics": collection.topics, "measures": ("nDCG@10",), "note": "smaller"}
    store.update("prod", collection.run, keep_run=False, **files)
    assert not (store.root / "prod/run.gz").exists()
    assert (store.root / "prod/replicates/1/run.gz").exists()
