"""Only what riskguard made is ever deleted, moved or read, not files that others keep or plant in a store."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from pytest_riskguard.baselines import atomic_folder
from pytest_riskguard.baselines.entry import StoredBaseline
from pytest_riskguard.baselines.foreign_files import carried, check_removable
from pytest_riskguard.baselines.lock import LOCK, locked
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.errors import BaselineError

WORK = ".tmp-" + "0123456789abcdef" * 2


@pytest.fixture
def chain(store, add, replicate, collection):
    """Baseline ``prod`` with a replicate, an earlier run and that one's replicate."""
    add(kind="previous")
    replicate()
    store.promote("prod", collection.other_run(), qrels=collection.qrels, topics=None)
    replicate(run=collection.noisy_run(2))
    return store.root / "prod"


@pytest.fixture
def writes(store, add, replicate, collection):
    """The operations that replace or delete baseline ``prod``, by name."""
    scoring = {"qrels": collection.qrels, "topics": None}
    run = collection.noisy_run(7)
    return {
        "update": lambda: add(run=run, replace=True),
        "promote": lambda: store.promote("prod", run, **scoring),
        "rescore": lambda: store.rescore("prod", **scoring),
        "replicate": lambda: replicate(run=run),
        "remove replicate": lambda: store.remove_replicate("prod", 1),
        "remove": lambda: store.remove("prod"),
    }


WRITES = ("update", "promote", "rescore", "replicate", "remove replicate", "remove")


def content(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, and every folder, except the lock."""
    paths = (path for path in folder.rglob("*") if path.name != LOCK)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in sorted(paths)
    }


@pytest.mark.parametrize("what", ["update", "remove"])
def test_a_folder_that_is_no_baseline_is_not_touched(store, writes, what):
    folder = store.root / "prod"
    for held in ([], ["thesis.tex"], ["scores.tsv"], ["manifest.json"], ["run.gz", "scores.tsv", "thesis.tex"]):
        folder.mkdir(parents=True)
        for name in held:
            (folder / name).write_text("{}")
        before = content(store.root)
        named = "thesis.tex" if "thesis.tex" in held else "does not look like a baseline"
        with pytest.raises(BaselineError, match=rf"prod: .*{named}") as caught:
            writes[what]()
        assert caught.value.reason == "bad_baseline"
        assert content(store.root) == before
        shutil.rmtree(folder)


def test_a_file_in_the_place_of_a_baseline_is_not_touched(store, add):
    store.root.mkdir()
    (store.root / "prod").write_text("precious")
    for replace in (False, True):
        with pytest.raises(BaselineError, match="prod: is not a folder, so it is not touched"):
            add(replace=replace)
    with pytest.raises(BaselineError, match="prod: is not a folder, so it is not touched"):
        store.remove("prod")
    assert (store.root / "prod").read_text() == "precious"


@pytest.mark.parametrize("what", WRITES)
def test_a_link_in_the_place_of_a_baseline_is_not_touched(store, chain, writes, link, what):
    chain.rename(store.root / "other")
    link(chain, store.root / "other")
    before = content(store.root)
    with pytest.raises(BaselineError, match="prod: is a link, so it is not touched; delete it yourself"):
        writes[what]()
    assert chain.is_symlink()
    assert content(store.root) == before


@pytest.mark.parametrize("what", WRITES[:-1])
def test_foreign_files_beside_those_of_a_baseline_are_kept(store, chain, writes, what, link):
    (chain / "README.md").write_text("ask Ann")
    (chain / "plots" / "old").mkdir(parents=True)
    (chain / "plots" / "old" / "risk.svg").write_text("<svg/>")
    link(chain / "latest", Path("plots"))
    writes[what]()
    assert (chain / "README.md").read_text() == "ask Ann"
    assert (chain / "plots" / "old" / "risk.svg").read_text() == "<svg/>"
    assert (chain / "latest").readlink() == Path("plots")
    assert store.verify("prod") == []


@pytest.mark.parametrize("what", WRITES)
def test_foreign_files_among_the_runs_of_a_baseline_are_named_and_not_lost(store, chain, writes, what):
    runs = ("history", "history/0001", "history/0001/replicates", "history/0001/replicates/1", "replicates/1")
    for place in (f"{folder}/notes.txt" for folder in runs):
        (chain / place).write_text("ask Ann")
        before = content(store.root)
        with pytest.raises(
            BaselineError, match=rf"prod: holds 1 file or folder that .*{place}.* move them somewhere"
        ):
            writes[what]()
        assert content(store.root) == before
        (chain / place).unlink()
    (chain / ".DS_Store").touch()
    writes[what]()


def test_a_baseline_with_foreign_files_is_not_removed(store, chain):
    (chain / "README.md").write_text("ask Ann")
    with pytest.raises(BaselineError, match=r"prod: holds 1 file or folder that riskguard did not write .README\.md"):
        store.remove("prod")
    assert (chain / "README.md").exists()
    (chain / "README.md").unlink()
    store.remove("prod")
    assert [path.name for path in store.root.iterdir()] == [LOCK]


@pytest.mark.parametrize("missing", ["manifest.json", "scores.tsv", "run.gz"])
@pytest.mark.parametrize("what", ["update", "remove"])
def test_what_is_left_of_a_baseline_can_be_replaced_and_removed(store, add, writes, what, missing):
    add()
    (store.root / "prod" / missing).unlink()
    writes[what]()
    assert store.names() == (("prod",) if what == "update" else ())


PLANTED_MARKERS = {
    "none": None,
    "empty": "",
    "no JSON": "{",
    "a list": "[]",
    "nested": "[" * 900,
    "another maker": json.dumps({"made_by": "me", "folder": 1, "replaces": "prod"}),
    "a guessed number": json.dumps({"made_by": "pytest-riskguard", "folder": 1, "replaces": "prod"}),
    "no number": json.dumps({"made_by": "pytest-riskguard", "replaces": "prod"}),
    "too long": json.dumps({"made_by": "pytest-riskguard", "folder": 1, "replaces": "prod", "more": "x" * 2000}),
}


@pytest.mark.parametrize("marker", PLANTED_MARKERS)
def test_a_planted_work_folder_is_neither_read_nor_touched(store, add, marker):
    add()
    work = store.root / WORK
    for name in ("new", "old"):
        shutil.copytree(store.root / "prod", work / name)
    if PLANTED_MARKERS[marker] is not None:
        (work / "riskguard.json").write_text(PLANTED_MARKERS[marker])
    store.remove("prod")
    assert store.names() == ()
    with pytest.raises(BaselineError, match="no baseline 'prod'"):
        store.manifest("prod")
    before = content(work)
    add("other")
    assert content(work) == before


@pytest.mark.parametrize("name", [".tmp-1", ".tmp-", ".previous-prod", ".previous-other", WORK.upper(), f"{WORK}0"])
def test_other_folders_of_such_names_are_neither_read_nor_touched(store, add, name):
    add()
    shutil.copytree(store.root / "prod", store.root / name)
    before = content(store.root / name)
    store.remove("prod")
    add("other")
    assert store.names() == ("other",)
    assert content(store.root / name) == before


def test_a_removed_baseline_does_not_come_back_from_previous(store, add):
    # where an older version left the old folder when it was killed in mid-replacement
    add()
    (store.root / "prod").rename(store.root / ".previous-prod")
    assert store.names() == ()
    with pytest.raises(BaselineError, match=r"no baseline 'prod'.*"):
        store.manifest("prod")
    add()
    assert (store.root / ".previous-prod" / "manifest.json").exists()


def interrupted(store: Store, name: str) -> Path:
    """Leave what a replacement killed between its renames leaves behind; returns its work folder."""
    work = atomic_folder._made_work_folder(store.root, replaces=name)
    shutil.copytree(store.root / name, work / "new")
    (store.root / name).rename(work / "old")
    return work


def test_a_baseline_that_was_being_replaced_is_read_and_put_back(store, add):
    manifest = add()
    work = interrupted(store, "prod")
    assert store.names() == ("prod",)
    assert store.manifest("prod") == manifest
    assert store.verify("prod") == []
    add("other")
    assert not work.exists()
    assert (store.root / "prod" / "manifest.json").exists()


def test_removing_a_baseline_that_was_being_replaced_leaves_nothing_of_it(store, add):
    add()
    interrupted(store, "prod")
    store.remove("prod")
    assert [path.name for path in store.root.iterdir()] == [LOCK]


@pytest.mark.parametrize("lost", ["new", "old", "riskguard.json"])
def test_half_of_an_interrupted_replacement_is_no_baseline(store, add, lost):
    add()
    work = interrupted(store, "prod")
    place = work / lost
    place.unlink() if place.is_file() else shutil.rmtree(place)
    assert store.names() == ()


def test_a_copy_of_an_interrupted_replacement_is_no_baseline(store, add, tmp_path):
    # as in a checkout where somebody has committed it: its folder has another number
    add()
    interrupted(store, "prod")
    copy = Store(tmp_path / "copy")
    shutil.copytree(store.root, copy.root)
    assert store.names() == ("prod",)
    assert copy.names() == ()


def test_a_marker_that_leads_out_of_the_store_moves_nothing(store, add, tmp_path):
    add()
    work = atomic_folder._made_work_folder(store.root, replaces="../outside")
    for name in ("new", "old"):
        (work / name).mkdir()
    add("other")
    assert not (tmp_path / "outside").exists()


def test_links_in_a_work_folder_are_not_followed(store, add, tmp_path, link):
    add()
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.tex").touch()
    work = atomic_folder._made_work_folder(store.root, replaces="other")
    link(work / "old", precious)
    link(store.root / WORK, precious)
    add("third")
    assert not work.exists()
    assert (precious / "thesis.tex").exists()
    assert (store.root / WORK).is_symlink()


@pytest.mark.parametrize("marker", [None, "", '{"made_by"'])
def test_a_work_folder_of_a_process_killed_as_it_began_is_deleted(store, add, marker):
    store.root.mkdir()
    (store.root / WORK).mkdir()
    if marker is not None:
        (store.root / WORK / "riskguard.json").write_text(marker)
    add()
    assert sorted(path.name for path in store.root.iterdir()) == [LOCK, "prod"]


def test_a_lock_that_is_a_link_empties_no_file(store, add, tmp_path, link):
    precious = tmp_path / "precious"
    precious.write_text("all of it")
    store.root.mkdir()
    for target in (precious, tmp_path / "none"):
        link(store.root / LOCK, target)
        with pytest.raises(BaselineError, match=r"\.lock: expected the empty file that writers lock, found a link"):
            add()
        (store.root / LOCK).unlink()
    assert precious.read_text() == "all of it"
    assert not (tmp_path / "none").exists()


def test_a_lock_that_is_not_empty_or_no_file_is_refused(store, add):
    store.root.mkdir()
    (store.root / LOCK).write_text("precious")
    with pytest.raises(BaselineError, match=r"\.lock: expected the empty file .*, found something else"):
        add()
    assert (store.root / LOCK).read_text() == "precious"
    (store.root / LOCK).unlink()
    (store.root / LOCK).mkdir()
    with pytest.raises(BaselineError, match=r"\.lock: expected the empty file .*, found something else"):
        add()
    if hasattr(os, "mkfifo"):
        (store.root / LOCK).rmdir()
        os.mkfifo(store.root / LOCK)
        with pytest.raises(BaselineError, match=r"\.lock: expected the empty file"):
            add()


def test_what_cannot_be_deleted_now_is_deleted_by_a_later_writer(store, add, collection, monkeypatch):
    # Windows does not delete a file that is being read.
    add()
    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", lambda _, **__: None)
        add(run=collection.other_run(), replace=True)
    (work,) = (path for path in store.root.iterdir() if path.name.startswith(".tmp-"))
    assert (work / "old" / "manifest.json").exists()
    shutil.rmtree(store.root / "prod")
    assert store.names() == ()  # the old one was replaced, so it does not come back
    add("other")
    assert sorted(path.name for path in store.root.iterdir()) == [LOCK, "other"]


def test_the_lock_itself_follows_no_link(store, add, tmp_path, link, monkeypatch):
    # one that was put there after the check
    monkeypatch.setattr("pytest_riskguard.baselines.lock._check", lambda _: None)
    precious = tmp_path / "precious"
    precious.write_text("all of it")
    store.root.mkdir()
    link(store.root / LOCK, precious)
    with pytest.raises(BaselineError, match="the store cannot be written"):
        add()
    assert precious.read_text() == "all of it"


SIX = ("a", "b", "c", "d", "e", "f")


@pytest.mark.parametrize(
    ("held", "problem"),
    [
        (
            ("notes.txt",),
            "holds 1 file or folder that riskguard did not write (notes.txt) and that would be lost; "
            "move them somewhere else and try again",
        ),
        (
            SIX,
            "holds 6 files or folders that riskguard did not write (a, b, c, d, e and 1 more) and that would be "
            "lost; move them somewhere else and try again",
        ),
        (
            ("replicates/notes.txt", "history/0001/history/x", "history/\N{SUPERSCRIPT TWO}/x"),
            "holds 3 files or folders that riskguard did not write (history/0001/history, "
            "history/\N{SUPERSCRIPT TWO}, replicates/notes.txt) and that would be lost; "
            "move them somewhere else and try again",
        ),
        (
            ("run.gz/x",),
            "holds 1 file or folder that riskguard did not write (run.gz/x) and that would be lost; "
            "move them somewhere else and try again",
        ),
        (
            (),
            "does not look like a baseline (manifest.json is missing), so it is not touched; delete the folder "
            "yourself, or use another name",
        ),
        (
            ("manifest.json",),
            "does not look like a baseline (manifest.json: line 1: empty (Expecting value)), so it is not touched; "
            "delete the folder yourself, or use another name",
        ),
        (None, "is not a folder, so it is not touched; delete it yourself, or use another name"),
    ],
)
def test_what_is_not_touched_is_named(tmp_path, held, problem):
    baseline = StoredBaseline(tmp_path, "prod", tmp_path / "prod")
    if held is None:
        (tmp_path / "prod").touch()
    else:
        (tmp_path / "prod").mkdir()
    for place in held or ():
        (tmp_path / "prod" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "prod" / place).touch()
    with pytest.raises(BaselineError) as caught:
        check_removable(baseline)
    assert caught.value.problem == f"{tmp_path.name}/prod: {problem}"
    assert caught.value.reason == "bad_baseline"


def test_two_files_of_a_baseline_and_litter_may_be_removed(tmp_path):
    baseline = StoredBaseline(tmp_path, "prod", tmp_path / "prod")
    assert carried(baseline) == []  # there is no folder
    for place in ("scores.tsv", "run.gz", "Thumbs.db", "replicates/.DS_Store", "history/0001/desktop.ini"):
        (tmp_path / "prod" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "prod" / place).touch()
    check_removable(baseline)
    assert carried(baseline) == []


def test_links_with_names_of_a_baseline_count_as_its_own_and_are_not_followed(tmp_path, link):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.tex").touch()
    folder = tmp_path / "store/prod"
    (folder / "replicates").mkdir(parents=True)
    for place in ("run.gz", "scores.tsv", "history", "replicates/2"):
        link(folder / place, precious)
    check_removable(StoredBaseline(tmp_path / "store", "prod", folder))
    link(folder / "plots", precious)
    link(folder / "replicates/x", precious)
    with pytest.raises(BaselineError, match=r"holds 2 files or folders .*\(plots, replicates/x\)"):
        check_removable(StoredBaseline(tmp_path / "store", "prod", folder))


def test_the_lock_says_what_is_in_its_place(tmp_path, link):
    expected = f"{tmp_path / LOCK}: expected the empty file that writers lock, found"
    link(tmp_path / LOCK, tmp_path)
    with pytest.raises(BaselineError) as caught, locked(tmp_path):
        raise AssertionError("not reached")
    assert str(caught.value) == f"{expected} a link; delete it"
    (tmp_path / LOCK).unlink()
    (tmp_path / LOCK).mkdir()
    with pytest.raises(BaselineError) as caught, locked(tmp_path):
        raise AssertionError("not reached")
    assert str(caught.value) == f"{expected} something else; delete it"


@pytest.mark.parametrize("content", ["made_by", "folder", "replaces", None])
def test_a_marker_counts_only_as_it_was_written(tmp_path, content):
    work = atomic_folder._made_work_folder(tmp_path, replaces="prod")
    (work / "new").mkdir()
    marker = json.loads((work / "riskguard.json").read_text())
    assert marker == {"made_by": "pytest-riskguard", "folder": work.stat().st_ino, "replaces": "prod"}
    assert (work / "riskguard.json").read_text().endswith("}\n")
    assert atomic_folder.unfinished_names(tmp_path) == {"prod"}
    for value in ("Prod", 7, None):
        (work / "riskguard.json").write_text(json.dumps(marker | ({} if content is None else {content: value})))
        names = {"prod"} if content is None else {"Prod"} if (content, value) == ("replaces", "Prod") else set()
        assert atomic_folder.unfinished_names(tmp_path) == names


def test_a_copied_folder_leaves_out_what_is_there_and_one_path_at_any_depth(tmp_path, link):
    source, target = tmp_path / "source", tmp_path / "target"
    for place in ("a/keep", "a/b/drop", "a/b/keep", "c"):
        (source / place).parent.mkdir(parents=True, exist_ok=True)
        (source / place).write_text(place)
    link(source / "link", Path("a"))
    target.mkdir()
    (target / "c").write_text("already there")
    atomic_folder.copy_folder(source, target, without=source / "a/b/drop")
    assert content(target) == {
        **{"a": None, "a/b": None, "a/b/keep": b"a/b/keep", "a/keep": b"a/keep", "c": b"already there"},
        **{"link": None},
    }
    assert (target / "link").readlink() == Path("a")


def test_deleting_what_is_not_there_does_no_harm(tmp_path):
    atomic_folder.delete(tmp_path / "none")
    assert atomic_folder.held_names(tmp_path / "none") == set()
    assert atomic_folder.newest(tmp_path / "none", "prod") is None
