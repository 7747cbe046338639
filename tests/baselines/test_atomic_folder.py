"""Looks at a store that changes meanwhile; whole writes are in ``test_writing``."""

from pathlib import Path

from pytest_riskguard.baselines.atomic_folder import held_names, newest


def test_a_folder_that_is_back_in_its_place_while_it_is_looked_for_is_found(tmp_path, monkeypatch):
    old = tmp_path / ".tmp-old-prod"
    old.mkdir()
    assert held_names(tmp_path) == {"prod"}
    is_folder = type(tmp_path).is_dir

    def look_and_put_back(path: Path) -> bool:
        found = is_folder(path)
        if path.name == "prod" and old.exists():
            old.rename(tmp_path / "prod")
        return found

    monkeypatch.setattr(type(tmp_path), "is_dir", look_and_put_back)
    assert newest(tmp_path, "prod") == tmp_path / "prod"


def test_a_folder_that_gets_another_name_while_the_store_is_listed_is_found(tmp_path, monkeypatch):
    (tmp_path / "prod").mkdir()
    listings = [[], [tmp_path / "prod"]]
    monkeypatch.setattr(type(tmp_path), "iterdir", lambda _: iter(listings.pop(0)))
    assert held_names(tmp_path) == {"prod"}
