"""The looks that gates have taken at one collection, and what the next one may spend of the error allowed.

``inference.many_looks`` has the method and its proof.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from pytest_riskguard.frozen import frozen
from pytest_riskguard.serialization import Bounds, rounded

#: Up to so many looks, a false alarm is about as likely as that of one gate; beyond, their mean number is known.
BOUNDED_LOOKS = 50
#: The mean number of false alarms in so many harmless looks at level 95%: the most in docs/data/calibration/year.csv.
FALSE_ALARMS = {50: 0.0255, 100: 0.031, 200: 0.043, 1000: 0.093}


@frozen
class Look:
    """One look of gates that are judged together, at one collection.

    ``collection`` is the digest of judgements and topics, ``inputs`` that of the questions and of what they compare.
    ``number`` is 1 more than the number of earlier looks without a failure, by any gates, ``share`` the part of the
    error allowed to all looks that this one may spend. ``looks``: how many were expected.
    """

    collection: str
    gates: Annotated[tuple[str, ...], Bounds(min_length=1)]
    inputs: str
    number: Annotated[int, Bounds(ge=1)]
    share: Annotated[float, Bounds(gt=0, le=1)]
    looks: Annotated[int, Bounds(ge=1)]


@frozen
class RecordedLook(Look):
    """A look that counts, with what it was allowed to spend and how many were expected then.

    ``failed`` if all gates that were judged together failed: such a look costs nothing.
    """

    failed: bool

    @property
    def key(self) -> tuple[str, tuple[str, ...], str]:
        """What makes two records the same look."""
        return self.collection, self.gates, self.inputs

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=True)


class Looks:
    """All recorded looks, in no particular order; of records of the same look the one that spent most counts."""

    def __init__(self, recorded: Iterable[RecordedLook] = ()) -> None:
        self._by_key: dict[tuple[str, tuple[str, ...], str], RecordedLook] = {}
        for look in recorded:
            self._by_key[look.key] = max(look, self._by_key.get(look.key, look), key=_cost)

    def __len__(self) -> int:
        return len(self._by_key)

    def __contains__(self, look: RecordedLook) -> bool:
        return look.key in self._by_key

    def at(self, collection: str) -> tuple[RecordedLook, ...]:
        """The looks at this collection, by number."""
        known = (look for look in self._by_key.values() if look.collection == collection)
        return tuple(sorted(known, key=lambda look: (look.number, look.gates, look.inputs)))

    def next(self, collection: str, gates: tuple[str, ...], inputs: str, *, looks: int, before: int = 0) -> Look:
        """The look at these inputs: the one that is recorded, or the next of about so many ``looks``.

        ``before``: how many others are taken in the same run and come first; they count as if they had passed.
        """
        from pytest_riskguard.inference.many_looks import share_of_next_look  # loads numpy

        known = self._by_key.get((collection, gates, inputs))
        if known is not None:
            return Look(collection, gates, inputs, known.number, known.share, known.looks)
        passed = self._passed(collection)
        number = 1 + passed.total() + before
        share = share_of_next_look(passed.pop(looks, 0) + before, looks=looks, others=passed)
        return Look(collection, gates, inputs, number, rounded(share) or 0.0, looks)  # as the ledger will have it

    def spent(self, collection: str) -> float:
        """The part of the error allowed that the looks at a collection have used up."""
        from pytest_riskguard.inference.many_looks import share_left

        return 1 - share_left(self._passed(collection))

    def _passed(self, collection: str) -> Counter[int]:
        """How many looks did not fail, for each number of looks that was expected then."""
        return Counter(look.looks for look in self.at(collection) if not look.failed)


def expected_false_alarms(looks: int) -> float:
    """The most false alarms that so many harmless looks raise on average: those of the next larger number simulated.

    Beyond, as many as the largest number raises for each look, and a look raises fewer the more of them are expected.
    """
    known = min((number for number in FALSE_ALARMS if number >= looks), default=max(FALSE_ALARMS))
    return FALSE_ALARMS[known] * max(looks / known, 1.0)


def _cost(look: RecordedLook) -> tuple[Any, ...]:
    """What a record says that its look has spent; the rest makes the choice independent of the order of records."""
    return not look.failed, look.number, look.share, look.looks


def digest_of(parts: Sequence[Any]) -> str:
    """``sha256:...`` of plain values."""
    return f"sha256:{hashlib.sha256(json.dumps(list(parts), sort_keys=True).encode()).hexdigest()}"
