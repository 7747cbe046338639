"""A piece of a run, scored, as a file that says what it was made of: parts can be made anywhere and put together.

The file is one of ``array_files``: JSON, arrays and a checksum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from pytest_riskguard.errors import DataError, RunFormatError
from pytest_riskguard.evaluation.array_files import (
    ArrayFile,
    ArrayFileError,
    decoded,
    encoded,
    identifier_arrays,
    is_array_file,
)
from pytest_riskguard.evaluation.examined_ids import Examined
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.runs.order import Order
from pytest_riskguard.evaluation.runs.rank_columns import KINDS
from pytest_riskguard.evaluation.runs.run_folders import PART
from pytest_riskguard.evaluation.scoring.judged_run_columns import columns_of, is_text, judged_run_of
from pytest_riskguard.evaluation.scoring.kept_topics import RunPart, judged_run
from pytest_riskguard.evaluation.shards.shard_plan import DIVISIONS, Division
from pytest_riskguard.formats.given_file import TIES, Ties
from pytest_riskguard.formats.input_files import ContentError, read_limited
from pytest_riskguard.formats.limits import Limit

#: Bytes that show what a file is.
_FIRST = 100
PART_BYTES = Limit(4_000_000_000, "bytes in a part of a run")


@dataclass(frozen=True)
class Origin:
    """What a part was made of.

    Attributes
    ----------
    name : str
        What verdicts call the run.
    number, count : int
        The piece, from 1, of how many.
    by : str
        How the run was divided, as ``shard_plan`` says.
    digest : str
        Of the whole run; empty for some files of a folder.
    files : mapping file name -> digest
        The files of a folder that are in the part.
    listing : str
        The digest of the names of all files of that folder; empty for a run in one file.
    qrels, measures
        The digest of the judgements, and the measures that were asked for.
    versions : mapping
        What else values depend on.
    ties : str
        Which order of equal scores counted.
    contradicted : tuple of str, or None
        As ``put_together`` takes it.
    """

    name: str
    number: int
    count: int
    by: Division
    digest: str
    files: Mapping[str, str]
    listing: str
    qrels: str
    measures: tuple[str, ...]
    versions: Mapping[str, str]
    ties: Ties = "docid"
    contradicted: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of a run, scored."""

    origin: Origin
    kept: RunPart


def content_of(part: Part, qrels: Qrels) -> bytes:
    """The content of a part's file; the same part is the same bytes."""
    kept = part.kept
    header, arrays = columns_of(judged_run(kept, qrels, ()))
    header["origin"] = {field.name: getattr(part.origin, field.name) for field in fields(Origin)}
    header["origin"] |= {"files": dict(part.origin.files), "versions": dict(part.origin.versions)}
    header["computed"] = list(kept.measures)
    arrays |= {
        "places": kept.places,
        "rank_columns": kept.rank_columns.astype(np.uint8),
        "as_judged": kept.as_judged,
        "values": kept.values.ravel(),
        "as_written": kept.as_written.ravel(),
        "examined.places": kept.examined.places,
        "examined.offsets": kept.examined.offsets,
        **identifier_arrays("examined", kept.examined.documents),
    }
    return encoded(PART, header, arrays)


def read_content(content: bytes, qrels: Qrels, *, source: str = "a part") -> Part:
    """The part in a file's content.

    ``DataError`` for content that is not a part, was changed, or was made with other judgements; ``source`` names it.
    """
    if not is_array_file(content[:_FIRST], PART):
        found = content[:_FIRST].partition(b"\n")[0][:60].decode(errors="replace")
        raise DataError(
            f"{source}: expected a part, which is a file that `riskguard score` wrote, found one that begins with "
            f"{found!r}",
            reason="bad_run",
        )
    try:
        file = decoded(PART, content)
        origin = _origin(file.header["origin"])
    except (ArrayFileError, AttributeError, KeyError, TypeError, ValueError) as problem:
        raise DataError(f"{source}: {problem}; make it again with `riskguard score`", reason="bad_run") from None
    if origin.qrels != qrels.digest:
        raise DataError(
            f"{source}: expected a part scored with {qrels.path_name} as it is now, found one scored with other "
            "judgements; make all parts again with the same judgements",
            reason="bad_run",
        )
    try:
        return Part(origin, _kept(file, qrels))
    except (ArrayFileError, AttributeError, KeyError, TypeError, ValueError) as problem:
        raise DataError(f"{source}: {problem}; make it again with `riskguard score`", reason="bad_run") from None


def read_part_file(path: Path, qrels: Qrels, *, source: str | None = None) -> Part:
    """The part in a file, which errors call ``source``, else by its name.

    Errors as ``read_content``, and ``MissingFileError`` if the file cannot be read.
    """
    try:
        content = read_limited(path, PART_BYTES)
    except ContentError as problem:
        raise RunFormatError(path, None, str(problem)) from None
    return read_content(content, qrels, source=source or path.name)


def _origin(given: Any) -> Origin:
    origin = Origin(
        name=str(given["name"]),
        number=int(given["number"]),
        count=int(given["count"]),
        by=given["by"],
        digest=str(given["digest"]),
        files={str(name): str(digest) for name, digest in given["files"].items()},
        listing=str(given["listing"]),
        qrels=str(given["qrels"]),
        measures=tuple(map(str, given["measures"])),
        versions={str(name): str(version) for name, version in given["versions"].items()},
        ties=given["ties"],
        contradicted=None if given["contradicted"] is None else tuple(map(str, given["contradicted"])),
    )
    if origin.by not in DIVISIONS or origin.ties not in TIES or not 1 <= origin.number <= origin.count:
        raise ArrayFileError("expected a piece of a run, found one that no run has")
    return origin


def _kept(file: ArrayFile, qrels: Qrels) -> RunPart:
    run = judged_run_of(file, qrels)
    topics, measures = len(run.topics), tuple(map(str, file.header["computed"]))
    places = qrels.arrays.places_of(run.topics)
    if not np.array_equal(places, file.array("places", "<i8", topics)):
        raise ArrayFileError("expected topics at their places in the judgements, found others")
    kinds = file.array("rank_columns", "|u1", topics)
    if np.any(kinds >= len(KINDS)):
        raise ArrayFileError("expected known kinds of rank columns, found others")
    shape = (len(measures), topics)
    return RunPart(
        digest=run.digest,
        qrels_digest=run.qrels_digest,
        depth=run.depth,
        measures=measures,
        places=places,
        retrieved=run.retrieved,
        offsets=run.offsets,
        judgements=run.judgements,
        unjudged=run.unjudged,
        ranks={order: run.ranks[order] for order in Order},
        rank_columns=kinds.astype(np.int8),
        as_judged=file.array("as_judged", "|b1", topics),
        values=file.array("values", "<f8", len(measures) * topics).reshape(shape),
        as_written=file.array("as_written", "<f8", len(measures) * topics).reshape(shape),
        examined=_examined(file, qrels),
        unknown=run.unknown,
    )


def _examined(file: ArrayFile, qrels: Qrels) -> Examined:
    places, offsets = file.array("examined.places", "<i8"), file.array("examined.offsets", "<i8")
    documents = file.identifiers("examined", int(offsets[-1]) if len(offsets) else 0)
    if len(offsets) != len(places) + 1 or offsets[0] != 0 or np.any(np.diff(offsets) < 0):
        raise ArrayFileError("expected the documents of each examined topic, found others")
    if np.any((places < 0) | (places >= len(qrels.topics))):
        raise ArrayFileError("expected examined topics of the judgements, found others")
    if not is_text(documents):
        raise ArrayFileError("expected ids 'examined' in UTF-8")
    return Examined(places, offsets, documents)
