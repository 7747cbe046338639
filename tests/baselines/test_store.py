"""Baselines are read back as they were scored, or refused with what to do."""

import gzip
import json
from importlib.metadata import version

import pytest
from numpy.testing import assert_array_equal

from pytest_riskguard.baselines import git as version_control
from pytest_riskguard.baselines import manifest as manifests
from pytest_riskguard.baselines.manifest import GitState
from pytest_riskguard.data.input_files import blocks
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import BaselineError, DataError, MissingFileError, RunFormatError, UsageError
from tests.baselines.conftest import MEASURES, content


def assert_same_scores(read, scored):
    assert_array_equal(read.values, scored.values)
    for field in (
        *("name", "measure", "topics", "queries", "digest", "qrels_digest"),
        *("unanswered", "unknown", "without_relevant", "from_run"),
    ):
        assert getattr(read, field) == getattr(scored, field), field


@pytest.mark.parametrize("keep_run", [True, False])
def test_scores_are_read_back_bit_for_bit(store, add, replicate, update, collection, qrels, keep_run):
    """Of a baseline, of its earlier runs, oldest first, and of its replicates, by number."""
    runs = [collection.run, *map(collection.noisy_run, (1, 2, 3, 4))]
    add(keep_run=keep_run)
    for run in runs[1:3]:
        assert update(run, keep_run=keep_run)
    assert [replicate(run=run, keep_run=keep_run) for run in runs[3:]] == [1, 2]
    places = ("history/0001", "history/0002", "", "replicates/1", "replicates/2")
    for measure in MEASURES:
        read = [*store.lineage("prod", measure, qrels=qrels), *store.replicates("prod", measure, qrels=qrels)]
        for stored, run, place in zip(read, runs, places, strict=True):
            (scored,) = score_run(run, qrels, [measure], name="/".join(filter(None, ("prod", place))))
            assert_same_scores(stored.scores, scored)
            assert not stored.rescored
            assert (store.root / "prod" / place / "run.gz").exists() == keep_run
        assert len({stored.scores.values.tobytes() for stored in read}) == 5
        assert len(set(read[2].scores.values)) > 5  # the collection tells its topics apart
        assert_same_scores(store.scores("prod", measure, qrels=qrels).scores, read[2].scores)
    assert store.verify("prod") == []
    scored = read[0].scores
    assert (scored.unanswered, scored.unknown, scored.without_relevant) == (("t14",), ("t99",), ("t13",))
    assert scored.accepted == ()


def test_the_manifest_says_where_the_scores_come_from(store, add, collection, monkeypatch):
    with collection.qrels.open("a") as file:
        file.write("t15 0 d1 0\n")
    git = GitState("b" * 40, dirty=True)
    monkeypatch.setattr(version_control.Repository, "state", lambda *_: git)
    monkeypatch.setattr(version_control.Repository, "around", version_control.Repository)
    monkeypatch.setattr(manifests, "now", lambda: "2025-11-21T10:00:00Z")
    manifest = add(note="release 7")
    assert store.manifest("prod") == manifest
    assert manifest.created == "2025-11-21T10:00:00Z"
    assert (manifest.note, manifest.git, manifest.run_kept) == ("release 7", git, True)
    assert manifest.digests.qrels == read_qrels(collection.qrels).digest
    assert manifest.versions == {
        name: version(name) for name in ("ir-measures", "pytest-riskguard", "pytrec-eval-terrier")
    }
    assert manifest.measures == ("nDCG@10", "AP")
    topics = manifest.topics
    assert (topics.scored, topics.without_relevant, topics.unanswered, topics.unknown) == (
        13,
        2,
        ("t14",),
        ("t99",),
    )


def test_the_folder_holds_four_files_with_scores_fit_for_a_diff(store, add, tmp_path):
    add()
    assert (store.root / "prod/run.gz").read_bytes()[3:8] == bytes(5)  # neither a name nor a time: RFC 1952, 2.3
    for path in (store.root / "prod").iterdir():
        content = path.read_bytes()
        assert str(tmp_path).encode() not in (gzip.decompress(content) if path.suffix == ".gz" else content)
    assert sorted(path.name for path in (store.root / "prod").iterdir()) == [
        "manifest.json",
        "queries.tsv",
        "run.gz",
        "scores.tsv",
    ]
    lines = (store.root / "prod" / "scores.tsv").read_bytes().decode().split("\n")
    assert lines[0] == "topic\tnDCG@10\tAP"
    topics = [line.split("\t")[0] for line in lines[1:-1]]
    assert topics == sorted(topics)
    assert lines[-1] == ""


def test_a_table_is_kept_as_a_run_of_trec(store, add, tmp_path):
    (tmp_path / "run.csv").write_text("query_id,docid,score\n" + "".join(f"t{t},d1,2\n" for t in range(1, 15)))
    add(run=tmp_path / "run.csv")
    assert gzip.decompress((store.root / "prod/run.gz").read_bytes()).startswith(b"t1 Q0 d1 ")


def test_names_are_sorted_and_nothing_else_in_the_store_is_one(store, add):
    assert store.names() == ()
    for name in ("web", "a", "b" * 100):
        add(name)
    (store.root / "README.md").touch()
    (store.root / ".git").mkdir()
    (store.root / "with space").mkdir()
    assert store.names() == ("a", "b" * 100, "web")


@pytest.mark.parametrize("name", ["a\\b", "C:", "a..b", "a.", ".hidden", "-x", "a b", "a\n", "é", "²", "x" * 101])
def test_anything_else_does_not(name):
    assert manifests.name_problem(name) is not None


@pytest.mark.parametrize("name", ["../prod", "/prod", "prod/replicates/1", "", "..", "a\0b"])
def test_a_name_cannot_lead_out_of_the_store(store, add, replicate, qrels, name):
    for use in (
        lambda: add(name),
        lambda: store.manifest(name),
        lambda: store.scores(name, "AP", qrels=qrels),
        lambda: store.verify(name),
        lambda: store.remove(name),
        lambda: replicate(name),
        lambda: store.replicates(name, "AP", qrels=qrels),
    ):
        with pytest.raises(UsageError, match="cannot name a baseline"):
            use()


# What cannot be stored leaves nothing behind.


def test_bad_files_are_told_as_they_are_and_change_nothing(store, add, replicate, update, tmp_path):
    bad = tmp_path / "bad.run"
    bad.write_text("t1 Q0 d1\n")
    with pytest.raises(RunFormatError, match=r"bad\.run:1"):
        add(run=bad)
    for missing in ("run", "qrels", "topics"):
        with pytest.raises(MissingFileError, match=r"gone\.txt"):
            add(**{missing: tmp_path / "gone.txt"})
    assert not store.root.exists()
    add()
    before = content(store.root)
    for write in (replicate, update):
        with pytest.raises(RunFormatError, match=r"bad\.run:1"):
            write(run=bad)
    bad.write_text("x1 Q0 d1 1 1.0 x\n")
    with pytest.raises(DataError) as caught:
        replicate(run=bad)
    assert caught.value.reason == "no_common_topic"
    assert content(store.root) == before


def test_a_run_that_changes_while_it_is_stored_is_not_stored(store, add, collection, monkeypatch):
    def another(_, limit):
        return blocks(collection.other_run(), limit)

    monkeypatch.setattr("pytest_riskguard.baselines.new_entry.blocks", another)
    with pytest.raises(BaselineError, match="changed while it was being stored"):
        add()
    assert store.names() == ()
    assert [path.name for path in store.root.iterdir()] == [".lock"]


# Damage: each is found by verify, and stops the scores from being used.


def cut(path, n=20):
    path.write_bytes(path.read_bytes()[:-n])


def swap(path, old, new):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


DAMAGE = {
    "a changed score": (lambda f: swap(f / "scores.tsv", b"t2\t0", b"t2\t1"), r"scores\.tsv was changed after"),
    "no scores": (lambda f: (f / "scores.tsv").unlink(), r"scores\.tsv is missing"),
    "CRLF": (lambda f: swap(f / "scores.tsv", b"\n", b"\r\n"), r"changed after it was stored, by hand or by git"),
    "a run in LFS": (
        lambda f: (f / "run.gz").write_text("version https://git-lfs.github.com/spec/v1\n"),
        r"run\.gz: .*Git LFS|run\.gz was changed after .*Git LFS",
    ),
    "another run": (
        lambda f: (f / "run.gz").write_bytes(gzip.compress(b"t1 Q0 d1 1 1.0 x\n")),
        r"run\.gz was changed after it was stored",
    ),
    "a cut run": (lambda f: cut(f / "run.gz"), r"run\.gz: .* damaged one \(.*ended before"),
    "no run": (lambda f: (f / "run.gz").unlink(), r"run\.gz is missing"),
    "a cut manifest": (lambda f: cut(f / "manifest.json"), r"manifest\.json: line \d+: not JSON"),
    "no manifest": (lambda f: (f / "manifest.json").unlink(), r"manifest\.json is missing"),
}


@pytest.mark.parametrize("place", ["prod", "prod/replicates/2", "prod/history/0001"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found_and_its_scores_are_not_used(store, add, replicate, update, collection, qrels, damage, place):
    add()
    readers = {"prod": store.scores, "prod/replicates/2": store.replicates, "prod/history/0001": store.lineage}
    if "replicates" in place:
        replicate()
        replicate(run=collection.noisy_run(2))
    if "history" in place:
        update()
    do, message = DAMAGE[damage]
    do(store.root / place)
    if place != "prod" and "JSON" in message:  # another manifest has its digest
        message = r"manifest\.json was changed"
    for judgements in (None, qrels):
        with pytest.raises(BaselineError, match=message) as caught:
            readers[place]("prod", "nDCG@10", qrels=judgements)
    problem = caught.value.problem
    assert caught.value.reason == "bad_baseline"
    assert str(caught.value).startswith(f"{store.root / place}: ")
    assert problem.startswith(f"baselines/{place}: ")
    assert problem in store.verify("prod")
    commands = "`riskguard baseline remove prod` and `riskguard baseline add prod RUN`"
    assert f"store it again with {commands}" in problem
    if place != "prod":
        store.scores("prod", "nDCG@10", qrels=qrels)  # the baseline itself is whole
    if "history" in place:
        with pytest.raises(BaselineError, match=message):
            update(collection.noisy_run(2))
    if "replicates" in place and "score" not in damage and damage != "CRLF":  # which are computed anew
        with pytest.raises(BaselineError, match=message):
            store.rescore("prod", qrels=collection.qrels, topics=None)


def test_what_is_refused_says_why_and_what_to_do(store, add, collection):
    add()
    prod, scoring = store.root / "prod", {"qrels": collection.qrels, "topics": None}
    for refused, message in (
        (
            add,
            f"{prod}: a baseline of that name already exists; replace it with `riskguard baseline update prod "
            f"{collection.run} --note WHY`, or choose another name",
        ),
        (
            lambda: add("other", measures=()),
            "expected at least one measure to score the run with, such as nDCG@10; found none",
        ),
        (
            lambda: add("other", note="\udcff"),
            "the note is text: 'utf-8' codec can't encode character '\\udcff' in position 0: surrogates not allowed",
        ),
        (
            lambda: add("other", measures=["nDGC@10"]),
            "'nDGC@10': ir-measures knows no measure 'nDGC'; did you mean 'nDCG@10'?",
        ),
        (
            lambda: store.add_replicate("prod", collection.run, **scoring),
            f"{prod}: already holds this run; a replicate is the output of another run of the same system",
        ),
    ):
        with pytest.raises(UsageError) as caught:
            refused()
        assert str(caught.value) == message
    assert store.names() == ("prod",)


@pytest.mark.parametrize(("limit", "file"), [("MANIFEST", "manifest.json"), ("TABLE", "scores.tsv")])
def test_each_stored_file_has_its_own_limit(store, add, collection, set_limit, limit, file):
    add()
    qrels = read_qrels(collection.qrels)
    set_limit(f"{limit}_BYTES", 100)
    with pytest.raises(BaselineError, match=f"prod: {file}: "):
        store.scores("prod", "AP", qrels=qrels)


def test_a_folder_with_files_of_others_is_neither_replaced_nor_deleted(store, add, collection):
    add()
    readme, *others = (store.root / "prod" / name for name in ("README.md", "a", "b", "c"))
    for path in (readme, *others):
        path.write_text("ask Ann")
    scoring = {"qrels": collection.qrels, "topics": None}
    for write in (
        lambda: store.update("prod", collection.other_run(), measures=MEASURES, **scoring),
        lambda: store.rescore("prod", **scoring),
        lambda: store.remove("prod"),
    ):
        with pytest.raises(
            BaselineError, match=r"prod: holds files that riskguard did not write \(README\.md, a, b, c\)"
        ):
            write()
    assert readme.read_text() == "ask Ann"
    (store.root / "prod/manifest.json").unlink()
    with pytest.raises(BaselineError, match=r"missing; restore it .* `riskguard"):
        store.update("prod", collection.other_run(), measures=MEASURES, **scoring)
    for path in (readme, *others):
        path.unlink()
    store.remove("prod")
    assert [path.name for path in store.root.iterdir()] == [".lock"]
