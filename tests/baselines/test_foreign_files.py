"""Only what riskguard made is ever deleted, moved or read, not files that others keep or plant in a store."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_riskguard.baselines import atomic_folder
from pytest_riskguard.baselines.atomic_folder import LOCK
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


def test_a_baseline_with_foreign_files_is_not_removed(store, chain):
    (chain / "README.md").write_text("ask Ann")
    with pytest.raises(BaselineError, match=r"prod: holds 1 file or folder that riskguard did not write .README\.md"):
        store.remove("prod")
    assert (chain / "README.md").exists()
    (chain / "README.md").unlink()
    store.remove("prod")
    assert [path.name for path in store.root.iterdir()] == [LOCK]


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
