"""A candidate that is a file of the store is recognised under any name."""

import os
import shutil

import pytest

from pytest_riskguard.baselines.stored_files import stored_file


@pytest.fixture
def root(tmp_path):
    """A store with two baselines, one of them with an earlier run."""
    for place in ("prod/run.gz", "prod/history/0001/run.gz", "bm25/run.gz"):
        path = tmp_path / "store" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(place)
    return tmp_path / "store"


@pytest.mark.parametrize("place", ["prod/run.gz", "prod/history/0001/run.gz", "bm25/run.gz"])
def test_a_stored_file_has_its_place_in_the_store(root, place):
    assert stored_file(root / place, root, of=["prod", "bm25"]) == place


def test_symbolic_and_hard_links_lead_to_the_file_itself(root, tmp_path, link):
    link(tmp_path / "link.gz", root / "prod/run.gz")
    assert stored_file(tmp_path / "link.gz", root, of=["prod"]) == "prod/run.gz"
    link(tmp_path / "behind", root)
    assert stored_file(tmp_path / "behind/prod/run.gz", root, of=["prod"]) == "prod/run.gz"
    assert stored_file(root / "prod/run.gz", tmp_path / "behind", of=["prod"]) == "prod/run.gz"
    os.link(root / "bm25/run.gz", tmp_path / "hard.gz")
    assert stored_file(tmp_path / "hard.gz", root, of=["prod", "bm25"]) == "bm25/run.gz"


def test_other_files_are_none_of_the_store(root, tmp_path):
    shutil.copyfile(root / "prod/run.gz", tmp_path / "copy.gz")
    (root / "notes.txt").touch()
    for path in (tmp_path / "copy.gz", tmp_path / "gone.gz", root / "notes.txt", root / "bm25/run.gz"):
        assert stored_file(path, root, of=["prod"]) is None
