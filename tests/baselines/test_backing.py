"""What a stored baseline says of itself is compared with its run, and with its own name."""

from __future__ import annotations

import json
import shutil

import pytest

from pytest_riskguard.baselines import environment
from pytest_riskguard.baselines import scored as backing
from pytest_riskguard.baselines.atomic_folder import sha256
from pytest_riskguard.baselines.entry import mean_score
from pytest_riskguard.errors import BaselineError
from pytest_riskguard.evaluation.judgements.qrels import read_qrels
from pytest_riskguard.evaluation.score_files import read_scores
from pytest_riskguard.evaluation.scoring.run_scores import score_run, scored_run


@pytest.fixture
def qrels(collection):
    return read_qrels(collection.qrels)


@pytest.fixture(autouse=True)
def new_process(monkeypatch):
    monkeypatch.setattr(backing, "_backed", {})


@pytest.fixture
def passes(monkeypatch):
    """The measures of each pass over a stored run."""
    passes: list[tuple[str, ...]] = []

    def counting(run, qrels, measures, **options):
        passes.append(tuple(measures))
        return scored_run(run, qrels, measures, **options)

    monkeypatch.setattr(backing, "scored_run", counting)
    return passes


def test_lowered_scores_with_a_digest_that_agrees_are_found(store, add, qrels, lie):
    add()
    lie(store.root / "prod", "t5", 0.001)
    pattern = (
        r"baselines/prod: scores\.tsv does not hold the scores of run\.gz: nDCG@10 of topic 't5' is stored as "
        r"0\.001, the run scores 0\.\d+ \(the worst of 1 topic\); restore it from version control, or store it again"
    )
    for measure in ("nDCG@10", "AP"):
        with pytest.raises(BaselineError, match=pattern) as caught:
            store.scores("prod", measure, qrels=qrels)
        assert caught.value.reason == "bad_baseline"
    assert store.verify("prod") == []  # without judgements only digests can be compared
    assert store.verify("prod", qrels=qrels) == [caught.value.problem]


def test_stored_scores_come_with_the_order_and_the_judged_share_of_their_run(store, add, collection, qrels):
    rows = [line.split() for line in collection.run.read_text().splitlines()]
    collection.run.write_text("".join(f"{' '.join(row[:4])} 1699999999 {row[5]}\n" for row in rows))
    add()
    (of_run,) = score_run(collection.run, qrels, ["nDCG@10"])
    assert of_run.as_written
    for _ in range(2):  # compared with the run, and known to equal it
        stored = store.scores("prod", "nDCG@10", qrels=qrels).scores
        assert (dict(stored.as_written), stored.judged) == (dict(of_run.as_written), of_run.judged)


def test_stored_scores_name_the_topics_whose_scores_rise_with_the_rank(store, add, collection, qrels):
    rows = [line.split() for line in collection.run.read_text().splitlines()]
    first, second = (row for row in rows if row[0] == "t3" and row[3] in ("1", "2"))
    first[4], second[4] = second[4], first[4]
    collection.run.write_text("".join(f"{' '.join(row)}\n" for row in rows))
    add()
    for _ in range(2):  # compared with the run, and known to equal it
        assert store.scores("prod", "nDCG@10", qrels=qrels).scores.contradicted == ("t3",)


def test_false_scores_of_replicates_and_earlier_runs_are_found_too(store, add, replicate, collection, qrels, lie):
    add(kind="previous")
    store.promote("prod", collection.other_run(), qrels=collection.qrels, topics=None)
    replicate()
    lie(store.root / "prod/replicates/1", "t7", 0.0)
    with pytest.raises(BaselineError, match=r"prod/replicates/1: scores\.tsv does not hold the scores of run\.gz"):
        store.replicates("prod", "AP", qrels=qrels)
    store.scores("prod", "AP", qrels=qrels)  # the baseline itself is true
    lie(store.root / "prod/history/0001", "t7", 0.0)
    manifest = json.loads(store.root.joinpath("prod/manifest.json").read_text())
    (earlier,) = manifest["history"]
    table = read_scores(store.root / "prod/history/0001/scores.tsv")
    earlier["means"] = {scores.measure: mean_score(scores) for scores in table}
    store.root.joinpath("prod/manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BaselineError, match=r"prod/history/0001: scores\.tsv does not hold the scores of run\.gz"):
        store.lineage("prod", "AP", qrels=qrels)
    assert len(store.verify("prod", qrels=qrels)) == 2


def test_topics_called_unanswered_that_the_run_answers_are_found(store, add, qrels):
    add()
    path = store.root / "prod/manifest.json"
    manifest = json.loads(path.read_text())
    manifest["topics"]["unanswered"] = ["t14", "t5"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(BaselineError, match=r"manifest\.json names other unanswered or unknown topics than run\.gz"):
        store.scores("prod", "AP", qrels=qrels)


def test_a_baseline_that_was_replaced_is_compared_anew(store, add, collection, qrels, passes, lie):
    add()
    store.scores("prod", "AP", qrels=qrels)
    add(run=collection.other_run(), replace=True)
    store.scores("prod", "AP", qrels=qrels)
    assert len(passes) == 2
    lie(store.root / "prod", "t5", 0.001)
    with pytest.raises(BaselineError, match="does not hold the scores"):
        store.scores("prod", "AP", qrels=qrels)


def test_different_rounding_by_the_same_libraries_is_accepted(store, add, qrels, lie):
    add()
    value = dict(zip(qrels.topics, store.scores("prod", "AP", qrels=qrels).scores.values, strict=True))["t5"]
    folder = store.root / "prod"
    text = folder.joinpath("scores.tsv").read_text()
    folder.joinpath("scores.tsv").write_text(text.replace(repr(float(value)), repr(float(value + 1e-12))))
    manifest = json.loads(folder.joinpath("manifest.json").read_text())
    manifest["digests"]["scores"] = sha256(folder.joinpath("scores.tsv").read_bytes())
    folder.joinpath("manifest.json").write_text(json.dumps(manifest))
    assert store.verify("prod", qrels=qrels) == []


def test_a_manifest_with_false_judgements_or_libraries_causes_rescoring(store, add, collection, qrels, lie):
    add()
    true = store.scores("prod", "AP", qrels=qrels).scores.values
    lie(store.root / "prod", "t5", 0.001)
    path = store.root / "prod/manifest.json"
    written = json.loads(path.read_text())
    for change in (
        {"digests": written["digests"] | {"qrels": "sha256:" + "0" * 64}},
        {"versions": written["versions"] | {"ir-measures": "0.0.1"}},
    ):
        path.write_text(json.dumps(written | change))
        assert list(store.scores("prod", "AP", qrels=qrels).scores.values) == list(true)


def test_scores_of_a_library_that_is_not_installed_are_not_compared(store, add, qrels, monkeypatch):
    add()
    monkeypatch.setattr(environment, "distribution_version", lambda _: "99")
    assert store.verify("prod", qrels=qrels) == []


def test_scores_without_their_run_cannot_be_checked(store, add, qrels):
    add(keep_run=False)
    assert not store.scores("prod", "AP", qrels=qrels).backed
    assert store.verify("prod", qrels=qrels) == []


@pytest.mark.parametrize("how", ["renamed", "copied"])
def test_a_baseline_under_another_name_is_refused(store, add, collection, qrels, how):
    add("weak", collection.other_run())
    add("prod")
    shutil.rmtree(store.root / "prod")
    (shutil.move if how == "renamed" else shutil.copytree)(store.root / "weak", store.root / "prod")
    with pytest.raises(
        BaselineError, match=r"prod: manifest\.json belongs to a baseline named 'weak'.*renamed"
    ) as caught:
        store.scores("prod", "AP", qrels=qrels)
    assert caught.value.reason == "bad_baseline"
    assert store.verify("prod") == [caught.value.problem]
    add("prod", replace=True)
    assert store.verify("prod", qrels=qrels) == []
