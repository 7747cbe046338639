"""The pictures of the README are those of today's output."""

import runpy
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.docs.pages import DOCS

DRAW: dict[str, Any] = runpy.run_path(str(DOCS / "draw_pictures.py"))
PICTURES = DOCS / "pictures"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fresh():
    return DRAW["pictures"]()


@pytest.mark.parametrize("name", ["terminal.svg", "report.svg"])
def test_a_picture_is_fresh(fresh, name):
    committed = (PICTURES / name).read_text(encoding="utf-8")
    assert fresh[name] == committed, f"{name} is out of date: python docs/draw_pictures.py"


def test_the_terminal_is_as_wide_as_a_terminal(fresh):
    picture = ElementTree.fromstring(fresh["terminal.svg"])  # noqa: S314 - our own text
    lines = picture.find("{http://www.w3.org/2000/svg}desc").text.split("\n")
    assert lines[0] == f"$ {DRAW['COMMAND']}"
    assert max(map(len, lines)) == 80
