"""Many ids as slices of one text: what a column of a run is once it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Identifiers:
    """Ids in UTF-8, whose order by bytes is that of their text.

    Attributes
    ----------
    text : array of uint8
        Holds every id, and maybe more.
    starts, lengths : array of int64, shape (n,)
        Where each id begins, and its bytes.
    """

    text: npt.NDArray[np.uint8]
    starts: IntArray
    lengths: IntArray

    @classmethod
    def of(cls, ids: Sequence[str]) -> Identifiers:
        """Texts as identifiers."""
        encoded = [name.encode() for name in ids]
        lengths = np.array([len(name) for name in encoded], dtype=np.int64)
        text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return cls(text, np.cumsum(lengths) - lengths, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, places: npt.NDArray[np.int64] | npt.NDArray[np.bool_] | slice) -> Identifiers:
        """Some of the ids; they share the text."""
        return Identifiers(self.text, self.starts[places], self.lengths[places])

    def strings(self) -> list[str]:
        """All ids as text."""
        text = self.text.tobytes()
        pairs = zip(self.starts.tolist(), self.lengths.tolist(), strict=True)
        return [text[start : start + length].decode() for start, length in pairs]
