"""The folder that the tutorial leaves, which other pages go on from."""

import pytest

from tests.docs.pages import DOCS, Player


@pytest.fixture(scope="session")
def tutorial(tmp_path_factory):
    """Played once; copy it before changing anything in it."""
    folder = tmp_path_factory.mktemp("tutorial")
    Player(folder, DOCS / "tutorial.md").play()
    return folder
