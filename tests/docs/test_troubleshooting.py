"""The messages that docs/how-to/troubleshooting.md explains are those of the package."""

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


@pytest.mark.slow
def test_every_message_is_one_of_the_package():
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (DOCS.parent / "pytest_riskguard").rglob("*.py")]
    constants = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    texts = [value for value in constants if isinstance(value, str)]
    parts = {part.strip() for message in MESSAGES if message not in FOREIGN for part in message.split("...")}
    assert len(parts) >= 8
    assert [part for part in sorted(parts) if not any(part in text for text in texts)] == []
