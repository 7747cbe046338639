"""Files of arrays with a JSON header and a checksum: what a reading of a run leaves, between processes or for later.

The first line names the format and the kind of content, the second is the SHA-256 of everything that follows, the
third is JSON. The arrays come after it, one behind the other, little-endian. Nothing in a file is ever executed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.evaluation.runs.identifiers import Identifiers, starts_of

#: Changes whenever older versions could not read, or would misread, what is written.
FORMAT = "riskguard-arrays/1"
#: Copying ids takes eight bytes of memory for each of theirs.
_IDS_AT_ONCE = 2**16
_TYPES = frozenset({"<i8", "<i4", "<f8", "|u1", "|b1"})

AnyArray = npt.NDArray[Any]


class ArrayFileError(Exception):
    """The content is not such a file, or a damaged one; the message says why, without naming the file."""


@dataclass(frozen=True, eq=False)
class ArrayFile:
    """What a file holds: ``header`` as it was given, and flat arrays by their names, which cannot be changed."""

    header: Mapping[str, Any]
    arrays: Mapping[str, AnyArray]

    def array(self, name: str, kind: str, length: int | None = None) -> AnyArray:
        """An array of this type (``<i8``) and, where it is given, of this length; ``ArrayFileError`` otherwise."""
        array = self.arrays.get(name)
        if array is None or array.dtype.str != kind or (length is not None and len(array) != length):
            found = "none" if array is None else f"{len(array)} of {array.dtype.str}"
            raise ArrayFileError(f"expected an array {name!r} of {kind}, found {found}")
        return array

    def identifiers(self, name: str, length: int | None = None) -> Identifiers:
        """The ids that ``identifier_arrays`` wrote."""
        text, lengths = self.array(f"{name}.text", "|u1"), self.array(f"{name}.lengths", "<i8", length)
        if not np.all((lengths >= 0) & (lengths <= len(text))) or lengths.sum() != len(text):
            raise ArrayFileError(f"expected ids {name!r} that fill their text, found others")
        return Identifiers(text, starts_of(lengths), lengths)

    def texts(self, name: str) -> tuple[str, ...]:
        """The same as texts."""
        try:
            return tuple(self.identifiers(name).strings())
        except UnicodeDecodeError:
            raise ArrayFileError(f"expected ids {name!r} in UTF-8") from None


def identifier_arrays(name: str, ids: Identifiers | Sequence[str]) -> dict[str, AnyArray]:
    """Ids as arrays of a file, without the text between them."""
    if not isinstance(ids, Identifiers):
        ids = Identifiers.of(ids)
    pieces = [_dense(ids.at(slice(place, place + _IDS_AT_ONCE))) for place in range(0, len(ids), _IDS_AT_ONCE)]
    text = np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.uint8)
    return {f"{name}.text": text, f"{name}.lengths": ids.lengths.astype(np.int64, copy=False)}


def _dense(ids: Identifiers) -> npt.NDArray[np.uint8]:
    starts = np.cumsum(ids.lengths) - ids.lengths
    text: npt.NDArray[np.uint8] = ids.text[
        np.arange(int(ids.lengths.sum())) + np.repeat(ids.starts - starts, ids.lengths)
    ]
    return text


def is_array_file(start: bytes, kind: str) -> bool:
    """Whether content that begins like this is a file of this kind, maybe of another version."""
    name, _, rest = start.partition(b"/")
    return name == FORMAT.partition("/")[0].encode() and rest.split(b"\n")[0].split(b" ")[1:] == [kind.encode()]


def encoded(kind: str, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> bytes:
    """The content of a file; the same arguments give the same bytes."""
    flat = {name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    for name, array in flat.items():
        if array.ndim != 1 or array.dtype.str not in _TYPES:
            raise ValueError(f"{name}: expected a flat array of {sorted(_TYPES)}, found {array.dtype.str}")
    columns = [[name, array.dtype.str, len(array)] for name, array in flat.items()]
    described = json.dumps({"header": dict(header), "arrays": columns}, sort_keys=True, allow_nan=False)
    pieces = [described.encode(), b"\n", *(array.tobytes() for array in flat.values())]
    checksum = hashlib.sha256()
    for piece in pieces:
        checksum.update(piece)
    return b"".join([f"{FORMAT} {kind}\n{checksum.hexdigest()}\n".encode(), *pieces])


def decoded(kind: str, content: bytes) -> ArrayFile:
    """What a file holds; ``ArrayFileError`` for content of another kind or version, or changed or cut off."""
    begins, _, rest = content[:200].partition(b"\n")
    if begins != f"{FORMAT} {kind}".encode():
        raise ArrayFileError(f"expected a file of {FORMAT} {kind}, found {begins[:60].decode(errors='replace')!r}")
    checksum, _, _ = rest.partition(b"\n")
    body = memoryview(content)[len(begins) + len(checksum) + 2 :]
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        raise ArrayFileError("expected the content that its checksum names, found another: it was changed or cut off")
    place = content.index(b"\n", len(content) - len(body)) + 1
    try:  # the checksum keeps mistakes out, not people
        described = json.loads(content[len(content) - len(body) : place])
        header = dict(described["header"])
        columns = [(str(name), str(dtype), int(length)) for name, dtype, length in described["arrays"]]
    except (ValueError, KeyError, TypeError) as problem:
        raise ArrayFileError(f"expected a description in the third line, found another ({problem})") from None
    arrays = {}
    for name, dtype, length in columns:
        if dtype not in _TYPES or not 0 <= length <= (len(content) - place) // np.dtype(dtype).itemsize:
            raise ArrayFileError(f"expected {length} values of {name!r} as {dtype}, found an end before")
        arrays[name] = np.frombuffer(content, dtype=dtype, count=length, offset=place)
        place += arrays[name].nbytes
    if place != len(content):
        raise ArrayFileError(f"expected the end after {place} bytes, found {len(content)}")
    return ArrayFile(header, arrays)
