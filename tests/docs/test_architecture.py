"""docs/architecture.md is true: it names modules that exist, and imports point one way as it says."""

from __future__ import annotations

import re
import runpy
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.docs.pages import DOCS

PACKAGE = DOCS.parent / "pytest_riskguard"
#: The script that draws the imports, which this test reads them with.
DRAW: dict[str, Any] = runpy.run_path(str(DOCS / "draw_imports.py"))
#: What the site lists from the code.
GENERATED: dict[str, Any] = runpy.run_path(str(DOCS / "generated.py"))
TEXT = (DOCS / "architecture.md").read_text(encoding="utf-8")


def order() -> list[str]:
    """The parts as the page lists them."""
    listed = TEXT.split("imports for type checking do not count:")[1].split("```")[0]
    return re.findall(r"`(\w+)`", listed)


def test_imports_for_type_checking_alone_do_not_count(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(
        "from typing import TYPE_CHECKING\n"
        "import numpy\n"
        "import pytest_riskguard.risk.tradeoff\n"
        "if TYPE_CHECKING:\n    from pytest_riskguard.gates import kinds\n"
        "else:\n    from pytest_riskguard import errors\n"
        "def late():\n    from pytest_riskguard.inference.intervals import interval\n"
    )
    assert DRAW["imported_parts"](module) == {"risk", "errors", "inference"}


def test_the_picture_has_every_part_and_no_arrow_that_a_longer_way_replaces():
    graph = {"cli": {"gates", "risk"}, "gates": {"risk"}, "plugin": {"cli"}, "risk": set()}
    picture = ElementTree.fromstring(DRAW["svg"](graph))  # noqa: S314 - our own text
    name = "{http://www.w3.org/2000/svg}"
    assert [text.text for text in picture.iter(f"{name}text")] == ["cli", "gates", "plugin", "risk"]
    assert DRAW["reduced"](graph) == {"cli": {"gates"}, "gates": {"risk"}, "plugin": {"cli"}, "risk": set()}
    assert len(picture.findall(f"{name}path")) == 3
    with pytest.raises(ValueError, match="imports in a circle among a, b"):
        DRAW["svg"]({"a": {"b"}, "b": {"a"}})


@pytest.mark.slow
def test_imports_point_one_way():
    imports, parts = DRAW["imports"](), order()
    assert sorted(parts) == sorted(imports)
    for place, part in enumerate(parts):
        assert imports[part] <= {*parts[:place]}, part


@pytest.mark.slow
def test_the_site_lists_every_module_with_the_line_that_says_what_it_is():
    assert "\n```{modules}\n```\n" in TEXT
    listed = GENERATED["modules"]()
    paths = {
        f"{folder}/{name or '__init__'}.py" for folder, lines_of_folder in listed.items() for name in lines_of_folder
    }
    assert paths == {path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*.py")}
    lines = [
        (f"{folder}/{name}", line)
        for folder, lines_of_folder in listed.items()
        for name, line in lines_of_folder.items()
    ]
    # A sentence that goes on in the next line would be cut off.
    assert [module for module, line in lines if not line.endswith((".", "?"))] == []


def test_no_module_is_named_that_is_not_there():
    paths = [path for path in re.findall(r"`([a-z_/]+\.py)`", TEXT) if not path.startswith("tests/")]
    assert len(paths) > 5
    assert [path for path in paths if not (PACKAGE / path).is_file()] == []


def test_the_functions_that_data_flow_through_exist():
    way = TEXT[TEXT.index("## How data flow") : TEXT.index("## Imports point one way")]
    named = set(re.findall(r"`([a-z_]+(?:\.[A-Za-z_]+)+)`", way))
    assert len(named) >= 20
    for name in named - {"riskguard.yaml"}:
        module, _, attribute = f"pytest_riskguard.{name}".rpartition(".")
        assert hasattr(import_module(module), attribute) or find_spec(f"{module}.{attribute}"), name
