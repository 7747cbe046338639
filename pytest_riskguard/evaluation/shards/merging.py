"""All pieces of a run put together, to what one process would have found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.runs.run_folders import digest_of
from pytest_riskguard.evaluation.scoring.array_scores import has_kernel
from pytest_riskguard.evaluation.scoring.kept_topics import joined, upside_down
from pytest_riskguard.evaluation.scoring.run_parts import (
    ScoredRun,
    checked_measures,
    put_together,
)
from pytest_riskguard.evaluation.shards.part_files import Origin, Part
from pytest_riskguard.evaluation.shards.shard_reading import interleaved, repeated, topics_of
from pytest_riskguard.text import listed


def merged(parts: Sequence[Part], qrels: Qrels, *, names: Sequence[str] = ()) -> Part:
    """All pieces of a run as one part.

    ``names`` are those of the parts in messages, by default their numbers. ``DataError`` if a piece is missing or
    given twice, pieces are of different runs or were scored differently, or a topic is in two of them.
    """
    names = names or [f"part {part.origin.number}" for part in parts]
    first = parts[0].origin
    _refuse_whole_runs(parts, names)
    for part, name in zip(parts[1:], names[1:], strict=True):
        if differing := _differing(first, part.origin):
            what, one, other = differing
            raise DataError(
                f"{name}: expected {what} of {names[0]}, {one}, found {other}; make all parts of a run with the same "
                "files, options and versions",
                reason="inputs_changed",
            )
    _refuse_incomplete(parts, names)
    _refuse_repeated(parts, names, qrels)
    files = {name: digest for part in parts for name, digest in part.origin.files.items()}
    digest = digest_of(list(files.values())) if first.by == "files" else first.digest
    contradicted = [part.origin.contradicted for part in parts if part.origin.contradicted is not None]
    origin = replace(
        first,
        number=1,
        count=1,
        digest=digest,
        files=files,
        contradicted=tuple(sorted({topic for topics in contradicted for topic in topics})) if contradicted else None,
    )
    return Part(origin, joined([part.kept for part in parts], digest=digest))


def _refuse_repeated(parts: Sequence[Part], names: Sequence[str], qrels: Qrels) -> None:
    """``DataError`` for a topic in two parts."""
    places = np.sort(np.concatenate([part.kept.places for part in parts]))
    unknown = [topic for part in parts for topic in part.kept.unknown]
    if np.all(places[1:] > places[:-1]) and len(set(unknown)) == len(unknown):
        return
    first, found = parts[0].origin, dict[str, str]()
    for part, name in zip(parts, names, strict=True):
        for topic in topics_of(part.kept, qrels):
            if topic in found:
                if first.by == "bytes":
                    raise interleaved(first.name)
                raise repeated(first.name, topic, found[topic], name)
            found[topic] = name


#: What all parts of a run share, as messages call it.
_SHARED = {
    "name": "the run",
    "count": "the number of pieces",
    "by": "the division",
    "digest": "the digest of the run",
    "listing": "the files of the folder",
    "qrels": "the judgements",
    "measures": "the measures",
    "versions": "the versions",
    "ties": "the order of equal scores",
}


def _differing(one: Origin, other: Origin) -> tuple[str, str, str] | None:
    """What two parts of one run should share and do not, and what each has."""
    for field_name, what in _SHARED.items():
        values = getattr(one, field_name), getattr(other, field_name)
        if values[0] != values[1]:
            return what, *_shown(*values)
    return None


def _shown(one: Any, other: Any) -> tuple[str, str]:
    """Two values in messages; of two mappings only what differs."""
    if isinstance(one, tuple):
        return ", ".join(one), ", ".join(other)
    if isinstance(one, Mapping):
        names = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
        versions = (", ".join(f"{name} {each.get(name, 'missing')}" for name in names) for each in (one, other))
        return next(versions), next(versions)
    return str(one), str(other)


def _refuse_whole_runs(parts: Sequence[Part], names: Sequence[str]) -> None:
    """``DataError`` for a whole run among pieces, such as what an earlier merge wrote."""
    whole = [name for part, name in zip(parts, names, strict=True) if part.origin.count == 1]
    if whole and len(whole) < len(parts):
        raise DataError(f"{whole[0]}: expected a piece of the run, found a whole run; leave it out", reason="bad_run")


def _refuse_incomplete(parts: Sequence[Part], names: Sequence[str]) -> None:
    by_number: dict[int, str] = {}
    for part, name in zip(parts, names, strict=True):
        number = part.origin.number
        if number in by_number:
            other = by_number[number]
            where = "twice" if other == name else f"here and in {other}"
            raise DataError(
                f"{name}: expected each piece once, found piece {number}/{part.origin.count} {where}; leave one of "
                "them out",
                reason="bad_run",
            )
        by_number[number] = name
    count = parts[0].origin.count
    missing = tuple(f"{number}/{count}" for number in range(1, count + 1) if number not in by_number)
    if missing:
        raise DataError(
            f"{parts[0].origin.name}: expected all {count} pieces of the run, found {len(parts)} (without "
            f"{listed(missing, most=5)}); make the missing ones with `riskguard score --shard`",
            reason="missing_input",
        )


def scored_part(
    whole: Part,
    qrels: Qrels,
    measures: Sequence[str],
    *,
    source: str | None = None,
    name: str | None = None,
    queries: Mapping[str, str] | None = None,
) -> ScoredRun:
    """The scores of a run from what ``merged`` returned, with the measures that it was scored with, or others.

    ``source`` is what errors call the run. ``DataError`` as ``score_run`` for what the whole run shows, for a piece
    of a run, and for a measure that can only be computed while a run is read.
    """
    origin = whole.origin
    source = source or origin.name
    if origin.count > 1:
        raise DataError(
            f"{source}: expected a whole run, found piece {origin.number}/{origin.count} of it; put all pieces "
            "together with `riskguard merge`",
            reason="missing_input",
        )
    for measure in checked_measures(measures, qrels):
        if not has_kernel(measure) and str(measure) not in whole.kept.measures:
            raise DataError(
                f"{source}: it was scored with {listed(origin.measures, most=5)}, and {measure} needs the run "
                f"itself; score the run again with `--measure '{measure}'`",
                reason="missing_input",
            )
    if origin.contradicted is None and len(upside_down(whole.kept)):
        raise DataError(
            f"{source}: expected scores that fall as ranks rise, since documents are ranked by score alone, "
            "found scores that rise with the rank in most topics: every ranking is upside down; write scores that "
            "are higher for better documents (distances and ranks with a minus sign)",
            reason="bad_run",
        )
    scored = put_together(
        [whole.kept],
        qrels,
        measures,
        source=source,
        name=name or origin.name,
        digest=origin.digest,
        queries=queries,
        contradicted=origin.contradicted,
    )
    return replace(scored, ties=origin.ties)
