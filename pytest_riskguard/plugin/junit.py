"""Verdicts as properties of the test that asked, for pytest's own JUnit report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

_COUNT = pytest.StashKey[int]()


def describe(item: pytest.Item, verdicts: Sequence[Verdict]) -> None:
    """Add the properties of verdicts that a test was given since this was last called."""
    from pytest_riskguard.reports.junit import properties

    for verdict in verdicts:
        number = item.stash[_COUNT] = item.stash.get(_COUNT, 0) + 1
        item.user_properties.extend(properties(verdict, number))
