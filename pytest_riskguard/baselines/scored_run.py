"""A scored run, and how it is written: the files of a baseline or of a replicate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_riskguard._version import __version__
from pytest_riskguard.baselines import atomic_folder, provenance
from pytest_riskguard.baselines.entry import MANIFEST, RUN, SCORES
from pytest_riskguard.baselines.manifest import (
    FIXED,
    Digests,
    EarlierRun,
    Manifest,
    StoredMeasure,
    StoredReplicate,
    StoredTopics,
)
from pytest_riskguard.errors import BaselineError, UsageError
from pytest_riskguard.evaluation.measures import measure_name, parse_measure, provider_of
from pytest_riskguard.evaluation.qrels import Qrels, read_qrels
from pytest_riskguard.evaluation.score_files import write_scores
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring import score_run
from pytest_riskguard.evaluation.topics import read_topics


@dataclass(frozen=True)
class ScoredRun:
    """A run with its scores, one ``TopicScores`` for each measure, and the rest of its manifest."""

    run: Path
    scores: tuple[TopicScores, ...]
    judgements: Qrels
    topics_digest: str | None
    note: str
    keep_run: bool

    @classmethod
    def read(
        cls,
        run: Path,
        *,
        name: str,
        qrels: Path,
        topics: Path | None,
        measures: Sequence[str] = (),
        note: str = "",
        keep_run: bool = True,
    ) -> ScoredRun:
        """Score a run; nothing is written."""
        names = tuple(dict.fromkeys(map(measure_name, measures)))
        if not names:
            raise UsageError("expected at least one measure to score the run with, such as nDCG@10; found none")
        _check_note(note)
        judgements = read_qrels(qrels)
        topics_digest = None if topics is None else read_topics(topics).digest
        return cls(run, score_run(run, judgements, names, name=name), judgements, topics_digest, note, keep_run)

    def likewise(self, run: Path, *, note: str) -> ScoredRun:
        """Another run, scored in the same way; it is kept."""
        scores = score_run(run, self.judgements, self.measures)
        return replace(self, run=run, scores=scores, note=note, keep_run=True)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names as ir-measures prints them."""
        return tuple(str(scores.measure) for scores in self.scores)

    @property
    def digest(self) -> str:
        """``sha256:...`` of the run, decompressed."""
        return str(self.scores[0].digest)

    def write(
        self,
        folder: Path,
        *,
        store: Path,
        replicates: tuple[StoredReplicate, ...] = (),
        kind: str = FIXED,
        history: tuple[EarlierRun, ...] = (),
        stored: Manifest | None = None,
    ) -> Manifest:
        """Write the files into a folder of ``store`` that has none of them yet.

        Parameters
        ----------
        folder, store : Path
        replicates, kind, history
            For the manifest.
        stored : Manifest, optional
            Of the same run as it was stored before; its time and commit are taken over.
        """
        if self.keep_run and atomic_folder.copy_compressed(self.run, folder / RUN) != self.digest:
            raise BaselineError(f"{self.run} changed while it was being stored; try again")
        write_scores(folder / SCORES, self.scores)
        manifest = Manifest(
            created=provenance.now() if stored is None else stored.created,
            digests=Digests(
                run=self.digest,
                qrels=self.judgements.digest,
                scores=atomic_folder.sha256((folder / SCORES).read_bytes()),
                topics=self.topics_digest,
            ),
            measures=tuple(map(_stored_measure, self.measures)),
            topics=_stored_topics(self.scores[0]),
            run_kept=self.keep_run,
            versions={
                "ir-measures": provenance.distribution_version("ir-measures") or "unknown",
                "pytest-riskguard": __version__,
            },
            git=provenance.git_state(store) if stored is None else stored.git,
            note=self.note,
            replicates=replicates,
            kind=kind,
            history=history,
        )
        (folder / MANIFEST).write_bytes(manifest.to_bytes())
        return manifest


def _check_note(note: str) -> None:
    try:
        note.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the note {note!r} is not text in UTF-8") from None


def _stored_measure(name: str) -> StoredMeasure:
    provider = str(provider_of(parse_measure(name)).NAME)
    return StoredMeasure(name, provider, provenance.provider_version(provider))


def _stored_topics(scores: TopicScores) -> StoredTopics:
    return StoredTopics(
        scored=len(scores.topics),
        without_relevant=len(scores.without_relevant),
        unanswered=scores.unanswered,
        unknown=scores.unknown,
    )
