"""A question about a candidate and its answer: scores in, a ``Verdict`` out; no files, no pytest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: What ``print`` and a notebook show of a verdict; ``reports``, which gates do not import, puts its functions here.
SHOWN: dict[Literal["text", "html"], Callable[[Verdict], str]] = {}
