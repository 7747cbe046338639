"""The pictures of the README are those of today's output."""

from __future__ import annotations

import re
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


@pytest.mark.parametrize("name", ["terminal.svg", "report.svg"])
def test_a_picture_needs_nothing_else(name):
    text = (PICTURES / name).read_text(encoding="utf-8")
    assert re.findall(r"https?:[^\s\"']+", text) == ["http://www.w3.org/2000/svg"]
    assert "@font-face" not in text
    assert "<script" not in text
    picture = ElementTree.fromstring(text)  # noqa: S314 - our own text
    assert picture.get("aria-label")


def test_the_terminal_is_as_wide_as_a_terminal(fresh):
    picture = ElementTree.fromstring(fresh["terminal.svg"])  # noqa: S314 - our own text
    lines = picture.find("{http://www.w3.org/2000/svg}desc").text.split("\n")
    assert lines[0] == f"$ {DRAW['COMMAND']}"
    assert max(map(len, lines)) == 80


def test_nothing_stands_outside_the_page(fresh):
    picture = ElementTree.fromstring(fresh["report.svg"])  # noqa: S314 - our own text
    width, height = float(picture.get("width")), float(picture.get("height"))
    texts = list(picture.iter("{http://www.w3.org/2000/svg}text"))
    assert len(texts) > 30
    assert all(0 < float(text.get("x")) < width and 0 < float(text.get("y")) < height for text in texts)
