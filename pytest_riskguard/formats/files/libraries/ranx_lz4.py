"""The compressed files of ranx, which it reads itself where it is installed."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

from pytest_riskguard.errors import FileError
from pytest_riskguard.formats.content import InputFile, Misfit, imported
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records

_MAGIC = b"\x04\x22\x4d\x18"
_WHAT = "a file of ranx with the ending .lz4"


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file begins as LZ4 does."""
    return None if file.start.startswith(_MAGIC) else Misfit("it is not compressed with LZ4")


def judgements(file: InputFile) -> Records[Judgement]:
    """The grades of each topic."""
    return Records(
        Judgement(topic, document, grade) for topic, row in _topics(file) for document, grade in row.items()
    )


def rankings(file: InputFile) -> Records[Ranking]:
    """The scores of each topic; their order in the file means nothing."""
    return Records(Ranking(topic, list(row), list(row.values())) for topic, row in _topics(file))


def _topics(file: InputFile) -> Iterator[tuple[str, Mapping[str, float]]]:
    ranx, frame = (imported(name, what=_WHAT) for name in ("ranx", "lz4.frame"))
    try:
        size = 0
        with frame.open(frame.open(io.BytesIO(file.content))) as unpacked:  # packed twice, and ranx unpacks all
            while block := unpacked.read(2**20):
                size += len(block)
                if size > file.limit.value:
                    raise file.refuse(None, file.limit.problem(size))
        found: Mapping[str, Mapping[str, float]] = ranx.Run.from_file(str(file.path), kind="lz4").to_dict()
    except FileError:
        raise
    except Exception as problem:  # of LZ4, CBOR or numba
        reason = str(problem).partition("\n")[0]
        text = f"expected a file of ranx, found another: {type(problem).__name__}: {reason:.200}"
        raise file.refuse(None, text) from None
    yield from found.items()
