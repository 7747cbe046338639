"""What the cache keeps of one run on some judgements: its scores with each measure, and what its reading kept.

An entry names everything that it depends on, and is used only if that is what is asked for. What it holds is checked
against the judgements: an entry that does not fit them is as good as none.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from pytest_riskguard.errors import ScoringError
from pytest_riskguard.evaluation.array_files import AnyArray, ArrayFile, ArrayFileError, decoded, encoded
from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder
from pytest_riskguard.evaluation.cache.environment_digest import environment_digest
from pytest_riskguard.evaluation.cache.known_measures import is_known
from pytest_riskguard.evaluation.id_checks.document_ids import Judged
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.runs.identifiers import IntArray
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring.judged_run_columns import columns_of, judged_run_of
from pytest_riskguard.evaluation.scoring.judged_runs import JudgedRun
from pytest_riskguard.formats.given_file import TIES, Ties
from pytest_riskguard.formats.input_files import (
    DOCUMENTS,
    JSON_VALUES,
    LINE_BYTES,
    LINES,
    RATIO,
    ROW_BYTES,
    RUN_BYTES,
    TOPICS,
)

#: A run within these limits may be beyond lower ones, and is refused then.
_LIMITS = (RUN_BYTES, LINES, LINE_BYTES, ROW_BYTES, TOPICS, DOCUMENTS, RATIO, JSON_VALUES)
_KERNELS = "RISKGUARD_KERNELS"

#: Values of JSON that say what an entry depends on.
Key = dict[str, Any]


def entry_name(key: Key) -> str:
    """The name of the entry with this key: 64 digits."""
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class KeptScores:
    """Scores with one measure, and the order of ties by which the run was read."""

    scores: TopicScores
    ties: Ties


class RunEntries:
    """The entries of one run on some judgements; ``run`` identifies what was read and how."""

    def __init__(self, folder: CacheFolder, run: str, qrels: Qrels) -> None:
        self._folder, self._qrels = folder, qrels
        self._key: Key = {
            "run": run,
            "qrels": qrels.digest,
            "rules": repr(qrels.rules),
            "environment": environment_digest(),
            "kernels": os.environ.get(_KERNELS, ""),
            "limits": [limit.value for limit in _LIMITS],
        }

    def scores(self, measure: str, *, name: str, queries: Mapping[str, str]) -> KeptScores | None:
        """The scores with a measure, given as ir-measures prints it; None if they are not kept."""
        key = self._key | {"measure": measure}
        file = self._read("scores", key) if is_known(measure) else None
        if file is None:
            return None
        try:
            return _scores_of(file, self._qrels, measure=measure, name=name, queries=queries)
        except (ArrayFileError, ScoringError, KeyError, TypeError, ValueError):
            return None

    def keep_scores(self, kept: KeptScores) -> None:
        """Keep the scores of a run, as ``scores`` gives them back; not with a measure of the project's own."""
        if not is_known(str(kept.scores.measure)):
            return
        key = self._key | {"measure": kept.scores.measure}
        self._write("scores", key, *_columns_of(kept))

    def run(self, depth: int) -> JudgedRun | None:
        """What a reading of the run kept to this depth; None if that is not here."""
        file = self._read("runs", self._key | {"depth": depth})
        if file is None:
            return None
        try:
            run = judged_run_of(file, self._qrels)
        except ArrayFileError:
            return None
        return run if run.depth == depth else None

    def keep_run(self, run: JudgedRun) -> None:
        """Keep what a reading kept, as ``run`` gives it back."""
        self._write("runs", self._key | {"depth": run.depth}, *columns_of(run))

    def _read(self, kind: str, key: Key) -> ArrayFile | None:
        content = self._folder.read(kind, entry_name(key))
        try:
            file = None if content is None else decoded(kind, content)
        except ArrayFileError:
            return None
        return file if file is not None and file.header.get("key") == key else None

    def _write(self, kind: str, key: Key, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        self._folder.write(kind, entry_name(key), encoded(kind, {**header, "key": key}, arrays))


def _columns_of(kept: KeptScores) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    scores = kept.scores
    place_of = {topic: place for place, topic in enumerate(scores.topics)}
    judged = scores.judged
    header = {
        "digest": scores.digest,
        "ties": kept.ties,
        "judged": None if judged is None else [judged.answered, judged.topics, judged.share],
        "unknown": list(scores.unknown),
        "contradicted": list(scores.contradicted),
    }
    arrays: dict[str, AnyArray] = {
        "values": scores.values,
        "unanswered": np.array([place_of[topic] for topic in scores.unanswered], dtype=np.int64),
        "written_places": np.array([place_of[topic] for topic in scores.as_written], dtype=np.int64),
        "written_values": np.array(list(scores.as_written.values()), dtype=np.float64),
    }
    return header, arrays


def _scores_of(file: ArrayFile, qrels: Qrels, *, measure: str, name: str, queries: Mapping[str, str]) -> KeptScores:
    header, topics = file.header, qrels.topics
    if header["ties"] not in TIES or not isinstance(header["digest"], str):
        raise ArrayFileError("expected a digest and an order of ties, found something else")
    places = _places(file, "written_places", topics)
    written = file.array("written_values", "<f8", len(places))
    if not np.all(np.isfinite(written)):
        raise ArrayFileError("expected finite scores, found others")
    answered, with_judged, share = header["judged"]
    scores = TopicScores(
        name=name,
        measure=measure,
        topics=topics,
        values=file.array("values", "<f8", len(topics)),
        queries=MappingProxyType(dict(queries)),
        digest=header["digest"],
        qrels_digest=qrels.digest,
        unanswered=tuple(topics[place] for place in _places(file, "unanswered", topics)),
        unknown=tuple(map(str, header["unknown"])),
        without_relevant=qrels.without_relevant,
        from_run=True,
        judged=Judged(int(answered), int(with_judged), float(share)),
        as_written=MappingProxyType(
            {topics[place]: value for place, value in zip(places, written.tolist(), strict=True)}
        ),
        contradicted=tuple(map(str, header["contradicted"])),
    )
    return KeptScores(scores, cast(Ties, header["ties"]))


def _places(file: ArrayFile, name: str, topics: tuple[str, ...]) -> list[int]:
    places: IntArray = file.array(name, "<i8")
    if np.any((places < 0) | (places >= len(topics))) or len(np.unique(places)) != len(places):
        raise ArrayFileError(f"expected places of {len(topics)} topics ({name}), found others")
    listed: list[int] = places.tolist()
    return listed
