"""ranx: CBOR in two frames of LZ4."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.formats.world import Case


def _packed(value: Mapping[str, object]) -> bytes:
    cbor2, frame = pytest.importorskip("cbor2"), pytest.importorskip("lz4.frame")
    packed: bytes = frame.compress(frame.compress(cbor2.dumps(dict(value)), compression_level=16))
    return packed


_NEEDS = ("lz4", "cbor2")
CASES = (
    Case("ranx-lz4", "judgements", "qrels.lz4", lambda world: _packed(world.grades), needs=_NEEDS),
    Case("ranx-lz4", "rankings", "candidate.lz4", lambda world: _packed(world.scored), needs=_NEEDS),
)
