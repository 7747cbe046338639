"""The looks that gates have taken at one collection, and what the next one may spend of the error allowed.

``inference.many_looks`` has the method and its proof.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from annotated_types import Ge, Gt, Le, MinLen


@dataclass(frozen=True)
class Look:
    """One look of gates that are judged together, at one collection.

    ``collection`` is the digest of judgements and topics, ``inputs`` that of the questions and of what they compare.
    ``number`` is 1 more than the number of earlier looks without a failure, ``share`` the part of the error allowed
    to all looks that this one may spend.
    """

    collection: str
    gates: Annotated[tuple[str, ...], MinLen(1)]
    inputs: str
    number: Annotated[int, Ge(1)]
    share: Annotated[float, Gt(0), Le(1)]


@dataclass(frozen=True)
class RecordedLook:
    """A look that counts; ``failed`` if all gates that were judged together failed: such a look costs nothing."""

    collection: str
    gates: tuple[str, ...]
    inputs: str
    number: int
    failed: bool

    @property
    def key(self) -> tuple[str, tuple[str, ...], str]:
        """What makes two records the same look."""
        return self.collection, self.gates, self.inputs

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=True)


class Looks:
    """All recorded looks, in no particular order; of records of the same look the first counts."""

    def __init__(self, recorded: Iterable[RecordedLook] = ()) -> None:
        self._by_key: dict[tuple[str, tuple[str, ...], str], RecordedLook] = {}
        for look in recorded:
            self._by_key.setdefault(look.key, look)

    def __len__(self) -> int:
        return len(self._by_key)

    def __contains__(self, look: RecordedLook) -> bool:
        return look.key in self._by_key

    def of(self, collection: str, gates: tuple[str, ...]) -> tuple[RecordedLook, ...]:
        """The looks of these gates at this collection, by number."""
        known = (look for look in self._by_key.values() if (look.collection, look.gates) == (collection, gates))
        return tuple(sorted(known, key=lambda look: (look.number, look.inputs)))

    def at(self, collection: str) -> tuple[tuple[str, ...], ...]:
        """The gates with a look at this collection, each group of gates that are judged together once."""
        return tuple(sorted({look.gates for look in self._by_key.values() if look.collection == collection}))

    def next(self, collection: str, gates: tuple[str, ...], inputs: str, *, looks: int) -> Look:
        """The look at these inputs: the one that is recorded, or the next of about so many ``looks``."""
        from pytest_riskguard.inference import share_of_next_look  # loads numpy, which a kept verdict does without

        known = self._by_key.get((collection, gates, inputs))
        earlier = self.of(collection, gates)
        number = 1 + sum(not look.failed for look in earlier) if known is None else known.number
        return Look(collection, gates, inputs, number, share_of_next_look(number - 1, looks=looks))

    def spent(self, collection: str, gates: tuple[str, ...], *, looks: int) -> float:
        """The part of the error allowed that the looks of these gates have used up."""
        from pytest_riskguard.inference import share_of_next_look

        passed = sum(not look.failed for look in self.of(collection, gates))
        return math.fsum(share_of_next_look(k, looks=looks) for k in range(passed))


def digest_of(parts: Sequence[Any]) -> str:
    """``sha256:...`` of plain values."""
    return f"sha256:{hashlib.sha256(json.dumps(list(parts), sort_keys=True).encode()).hexdigest()}"
