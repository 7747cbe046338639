"""The compressed files of ranx: JSON's shape as CBOR, in two frames of LZ4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_riskguard.formats.columns import whole
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.extras import imported
from pytest_riskguard.formats.files.libraries.ranx import misfit_of
from pytest_riskguard.formats.limits import RATIO
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records

_MAGIC = b"\x04\x22\x4d\x18"
_WHAT = "a file of ranx with the ending .lz4"
#: Bytes above which the ratio of compression counts.
_FREE_BYTES = 4 * 2**20


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file begins as LZ4 does."""
    return None if file.start.startswith(_MAGIC) else Misfit("it is not compressed with LZ4")


def judgements(file: InputFile) -> Records[Judgement]:
    """The grades of each topic."""
    return Records(
        Judgement(topic, document, float(grade))
        for topic, graded in _topics(file)
        for document, grade in graded.items()
    )


def rankings(file: InputFile) -> Records[Ranking]:
    """The scores of each topic; their order in the file means nothing."""
    return Records(Ranking(topic, list(scores), [*map(float, scores.values())]) for topic, scores in _topics(file))


def _topics(file: InputFile) -> Iterator[tuple[str, dict[str, Any]]]:
    cbor2 = imported("cbor2", extra="ranx", what=_WHAT)
    content = _unpacked(file, _unpacked(file, file.content))
    try:
        value = cbor2.loads(content)
    except (cbor2.CBORDecodeError, ValueError, TypeError, RecursionError, OverflowError) as problem:
        raise file.refuse(None, f"expected CBOR as ranx writes it: {problem}") from None
    if (misfit := misfit_of(value)) is not None:
        raise file.refuse(None, f"expected topics, documents and numbers: {misfit.reason}")
    yield from value.items()


def _unpacked(file: InputFile, content: bytes) -> bytes:
    frame = imported("lz4.frame", extra="ranx", what=_WHAT)
    most = min(file.limit.value, max(_FREE_BYTES, RATIO.value * len(content)))
    decompressor = frame.LZ4FrameDecompressor()
    try:
        unpacked: bytes = decompressor.decompress(content, max_length=most)
    except (RuntimeError, ValueError) as problem:
        raise file.refuse(None, f"expected two whole frames of LZ4, one in the other: {problem}") from None
    if not decompressor.eof:
        limit = RATIO if most < file.limit.value else file.limit
        is_cut = len(unpacked) < most
        found = "a file that ends too early" if is_cut else limit.problem(most + 1, limit=most)
        raise file.refuse(None, f"expected two whole frames of LZ4, one in the other, found {found}")
    return unpacked


def write_judgements(grades: Mapping[str, Mapping[str, float]], _texts: Mapping[str, str]) -> bytes:
    """The grades of each topic; whole ones as whole numbers."""
    return _packed({topic: {d: whole(grade) for d, grade in graded.items()} for topic, graded in grades.items()})


def write_rankings(by_topic: Mapping[str, Sequence[tuple[str, float]]], _texts: Mapping[str, str]) -> bytes:
    """The scores of each topic."""
    return _packed({topic: dict(documents) for topic, documents in by_topic.items()})


def _packed(value: Mapping[str, Mapping[str, float]]) -> bytes:
    cbor2 = imported("cbor2", extra="ranx", what=_WHAT)
    frame = imported("lz4.frame", extra="ranx", what=_WHAT)
    packed: bytes = frame.compress(frame.compress(cbor2.dumps(value)))
    return packed
