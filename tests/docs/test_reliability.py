"""Each promise of docs/reliability.md names a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = (CHECKOUT / "docs" / "reliability.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)))
PROMISES = re.findall(r"^\| (\d+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("path", "name"), NAMED, ids=["::".join(named) for named in NAMED])
def test_each_test_that_is_named_exists(path: str, name: str) -> None:
    tree = ast.parse((CHECKOUT / "tests" / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_each_promise_has_a_test() -> None:
    assert [int(number) for number, *_ in PROMISES] == list(range(1, 30))
    assert all(".py::" in tests or "sabotage" in tests for *_, tests in PROMISES)
