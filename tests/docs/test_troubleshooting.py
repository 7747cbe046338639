"""The messages that docs/how-to/troubleshooting.md explains are those of the package."""

from __future__ import annotations

import ast
import re

import pytest

from tests.docs.pages import DOCS

PAGE = (DOCS / "how-to" / "troubleshooting.md").read_text(encoding="utf-8")
#: What stands between backticks in the first column.
MESSAGES = [
    words for cell in re.findall(r"^\| (.+?) \|", PAGE, re.MULTILINE) for words in re.findall(r"`([^`]+)`", cell)
]
#: Of pytest, not of the package.
FOREIGN = {"unrecognized arguments: --riskguard"}


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """The text of every string in the package."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (DOCS.parent / "pytest_riskguard").rglob("*.py")]
    constants = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_one_of_the_package(message: str, texts: list[str]):
    if message in FOREIGN:
        return
    parts = [part.strip() for part in message.split("...")]
    assert [part for part in parts if not any(part in text for text in texts)] == []


def test_every_table_has_messages():
    assert len(MESSAGES) > 20
    assert "ids_do_not_match" in MESSAGES
