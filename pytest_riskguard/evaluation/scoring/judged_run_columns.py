"""What one reading of a run kept, as the header and the arrays of a file, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_riskguard.evaluation.array_files import AnyArray, ArrayFile, ArrayFileError, identifier_arrays
from pytest_riskguard.evaluation.document_ids import Judged
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.runs.identifiers import Identifiers
from pytest_riskguard.evaluation.runs.order import Order
from pytest_riskguard.evaluation.scoring.judged_runs import JudgedRun, Ranks


def columns_of(run: JudgedRun) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """A run as ``judged_run_of`` takes it back; equal ranks are held once."""
    arrays: dict[str, AnyArray] = {
        "retrieved": run.retrieved,
        "offsets": run.offsets,
        "judgements": run.judgements.astype(np.int64),
        **identifier_arrays("unjudged", run.unjudged),
    }
    held: dict[str, Ranks] = {}
    name_of: dict[str, str] = {}
    for order, ranks in run.ranks.items():
        same = (name for name, other in held.items() if other is ranks or np.array_equal(other, ranks))
        name_of[order.name] = name = next(same, f"ranks.{order.name}")
        held.setdefault(name, ranks)
    header = {
        "digest": run.digest,
        "qrels_digest": run.qrels_digest,
        "depth": run.depth,
        "topics": list(run.topics),
        "judged": [run.judged.answered, run.judged.topics, run.judged.share],
        "unknown": list(run.unknown),
        "contradicted": list(run.contradicted),
        "ranks": name_of,
    }
    return header, arrays | held


def judged_run_of(file: ArrayFile, qrels: Qrels) -> JudgedRun:
    """The run; ``ArrayFileError`` unless it is one that these judgements could have been joined with."""
    header = file.header
    try:
        judgements = file.array("judgements", "<i8")
        if not np.array_equal(judgements.astype(np.int32), judgements):
            raise ArrayFileError("expected rows of judgements, found larger numbers")
        run = JudgedRun(
            digest=str(header["digest"]),
            qrels_digest=str(header["qrels_digest"]),
            depth=int(header["depth"]),
            topics=tuple(map(str, header["topics"])),
            retrieved=file.array("retrieved", "<i8", len(header["topics"])),
            offsets=file.array("offsets", "<i8", len(header["topics"]) + 1),
            judgements=judgements.astype(np.int32),
            unjudged=file.identifiers("unjudged", int(np.count_nonzero(judgements == -1))),
            ranks={Order[order]: file.array(name, "<i4", len(judgements)) for order, name in header["ranks"].items()},
            judged=_judged(header["judged"]),
            unknown=tuple(map(str, header["unknown"])),
            contradicted=tuple(map(str, header["contradicted"])),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise ArrayFileError(f"expected a run as it was kept, found something else ({problem})") from None
    if not (_is_whole(run) and is_text(run.unjudged) and _fits(run, qrels)):
        raise ArrayFileError("expected a run on these judgements, found one that does not fit them")
    return run


def _judged(figures: Any) -> Judged:
    answered, topics, share = figures
    return Judged(int(answered), int(topics), float(share))


def _is_whole(run: JudgedRun) -> bool:
    """Whether the rows are those of the topics, and each has a rank in every order."""
    kept = np.diff(run.offsets)
    if run.offsets[0] != 0 or run.offsets[-1] != len(run.judgements) or np.any(kept < 0):
        return False
    if np.any(kept > run.retrieved) or set(run.ranks) != set(Order):
        return False
    last = np.repeat(run.retrieved, kept)
    return all(bool(np.all((ranks >= 1) & (ranks <= last))) for ranks in run.ranks.values())


def is_text(ids: Identifiers) -> bool:
    """Whether the text is UTF-8 and no id begins in the middle of a character; the ids fill the text."""
    if not np.all(ids.lengths > 0):
        return False
    if np.all(ids.text < 0x80):
        return True
    try:
        ids.text.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return not np.any((ids.text[ids.starts] & 0xC0) == 0x80)


def _fits(run: JudgedRun, qrels: Qrels) -> bool:
    """Whether topics are scored ones, and each document's judgement is one of its topic."""
    judged = qrels.arrays
    if run.qrels_digest != qrels.digest or not set(run.topics) <= judged.places.keys():
        return False
    if list(run.topics) != sorted(set(run.topics)):
        return False
    places = judged.places_of(run.topics)
    kept = np.diff(run.offsets)
    first, last = (np.repeat(judged.offsets[places + step], kept) for step in (0, 1))
    rows = run.judgements
    return bool(np.all((rows == -1) | ((rows >= first) & (rows < last))))
