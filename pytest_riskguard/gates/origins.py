"""Where the systems of a verdict come from: what a store knows of them."""

from __future__ import annotations

from dataclasses import field

from pytest_riskguard.data.given_file import Ties
from pytest_riskguard.frozen import frozen
from pytest_riskguard.serialization import UNLESS_EMPTY

__all__ = ["Origin", "Origins"]


@frozen
class Origin:
    """A system; of a stored baseline what the store knows.

    ``stored`` is when (ISO 8601, UTC), from ``commit``. ``ties`` says which order counts where scores are equal; None
    where no rankings were read.
    """

    name: str
    commit: str | None = field(default=None, metadata=UNLESS_EMPTY)
    note: str = field(default="", metadata=UNLESS_EMPTY)
    stored: str | None = field(default=None, metadata=UNLESS_EMPTY)
    ties: Ties | None = field(default=None, metadata=UNLESS_EMPTY)


@frozen
class Origins:
    """Where the systems of one verdict come from."""

    candidate: Origin
    baselines: tuple[Origin, ...]
