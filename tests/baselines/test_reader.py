"""What is not there, or cannot be read, is named exactly, with its reason and what to do."""

import pytest

from pytest_riskguard.baselines.entry import Entry
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.errors import BaselineError

ADD = "store it with `riskguard baseline add"


@pytest.mark.parametrize(
    ("folders", "name", "problem"),
    [
        (None, "prod", f"no baseline 'prod' (no such folder); {ADD} prod RUN`"),
        ((), "prod", f"no baseline 'prod' (the store holds none); {ADD} prod RUN`"),
        (("b", "a"), "prod", f"no baseline 'prod' (the store holds a, b); {ADD} prod RUN`"),
        (
            ("bm25", "release-7"),
            "relase-7",
            "no baseline 'relase-7' (the store holds bm25, release-7); did you mean 'release-7'?; "
            f"{ADD} relase-7 RUN`",
        ),
    ],
)
def test_an_unknown_name_is_told_with_what_the_store_holds(tmp_path, folders, name, problem):
    root = tmp_path / "baselines"
    for folder in folders or ():
        (root / folder).mkdir(parents=True)
    if folders == ():
        root.mkdir()
    with pytest.raises(BaselineError) as caught:
        Store(root).manifest(name)
    assert str(caught.value) == f"{root}: {problem}"
    assert caught.value.problem == f"baselines: {problem}"
    assert caught.value.reason == "missing_input"


def test_a_baseline_that_is_found_under_its_old_name_only_is_read_again(store, add, monkeypatch):
    """Between the two renames of a replacement the path is empty, and the old folder, unchanged, has another name."""
    add()
    expected, place, moved = store.manifest("prod"), store.root / "prod", store.root / ".tmp-old-prod"
    read = Entry._bytes

    def read_amid_a_replacement(*arguments):
        if place.exists():
            place.rename(moved)
        return read(*arguments)

    monkeypatch.setattr(Entry, "_bytes", read_amid_a_replacement)
    assert store.manifest("prod") == expected
