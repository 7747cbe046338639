"""Writes a scored run, or rewrites a baseline with a replicate or an earlier run added or removed, or rescored.

Each function writes into an empty temporary folder, which then takes the place of the baseline's, so that the
manifest changes together with the replicates and earlier runs that it lists. The caller holds the store's lock.
Damage raises a ``DataError``, unless a function says otherwise.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from pytest_riskguard import __version__
from pytest_riskguard.baselines import atomic_folder, environment, queries
from pytest_riskguard.baselines.entry import MANIFEST, QUERIES, RUN, SCORES, StoredBaseline, files_of
from pytest_riskguard.baselines.git import git_state
from pytest_riskguard.baselines.manifest import (
    FIXED,
    SCORES_ALONE,
    Digests,
    EarlierRun,
    Manifest,
    StoredJudged,
    StoredLatency,
    StoredMeasure,
    StoredReplicate,
    StoredTopics,
)
from pytest_riskguard.baselines.rescoring import problems
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.measures import measure_name, parse_measure, provider_of
from pytest_riskguard.data.metadata import checked_metadata
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.records import TopicKeys
from pytest_riskguard.data.remote import is_address, kept_copy
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.runs import Run, read_run
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import TopicScores, write_scores
from pytest_riskguard.data.topics import Topics, read_collection, read_topics
from pytest_riskguard.data.trec import with_text_digest, write_run
from pytest_riskguard.errors import BaselineError, DataError, FileError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import RUN_BYTES
from pytest_riskguard.text import counted, listed


@frozen
class NewEntry:
    """A run with its scores, one ``TopicScores`` for each measure, and the rest of its manifest.

    ``run`` and ``judgements`` are None where scores were given without a run.
    """

    name: str
    run: Path | Run | None
    scores: tuple[TopicScores, ...]
    judgements: Qrels | None
    topics: Topics | None
    note: str
    keep_run: bool
    metadata: Mapping[str, str] = field(default_factory=dict)
    latency: StoredLatency | None = None
    allow_unanswered: bool = False

    @classmethod
    def read(
        cls,
        run: Path | GivenFile | Run,
        *,
        name: str,
        qrels: Path | GivenFile | None,
        topics: Path | GivenFile | None,
        measures: Sequence[str] = (),
        note: str = "",
        keep_run: bool = True,
        metadata: Mapping[str, str] | None = None,
        scores: bool = False,
        allow_unanswered: bool = False,
    ) -> NewEntry:
        """Score a run, or with ``scores`` read them, without ``measures`` all of them; nothing is written.

        A ``Run`` is one that a live system has just given. ``DataError`` (``bad_run``) for one that leaves more
        than a small share of the topics unanswered, unless ``allow_unanswered`` says that these have no result.
        """
        try:
            note.encode()
        except UnicodeEncodeError:
            raise UsageError(f"the note {note!r} is not UTF-8 text") from None
        try:
            about = checked_metadata(metadata or {})
        except ValueError as error:
            raise UsageError(f"metadata: {error}") from None
        if scores and not isinstance(run, Run):
            table = read_scores(run, tuple(dict.fromkeys(measures)) or None, name=name)
            known = None if topics is None else read_topics(topics)
            return cls(name, None, table, None, known, note, False, about)
        names = tuple(dict.fromkeys(map(measure_name, measures)))
        if not names:
            raise UsageError("expected at least one measure to score the run with, such as nDCG@10; found none")
        if qrels is None:
            raise UsageError("a run needs qrels to be scored with: give --qrels, or a riskguard.yaml")
        judgements, texts = read_collection(qrels, topics)
        kept: Path | Run
        if isinstance(run, Run):
            opened = kept = with_text_digest(run)
        else:
            given = GivenFile.of(run)
            if is_address(given.path):
                given = replace(given, path=kept_copy(given.path, RUN_BYTES))
            opened = read_run(given, TopicKeys(None if texts is None else texts.queries))
            if opened.source.is_trec:
                kept = given.path
            else:
                opened = kept = with_text_digest(opened)
        table = score_run(opened, judgements, names, name=name)
        _refuse_unanswered(table[0], allow_unanswered=allow_unanswered)
        latency = run.source.latency if isinstance(run, Run) else None
        stored_latency = None if latency is None else StoredLatency(**vars(latency))
        return cls(name, kept, table, judgements, texts, note, keep_run, about, stored_latency, allow_unanswered)

    def likewise(self, run: Path, *, note: str) -> NewEntry:
        """Another run, scored in the same way; its run file is kept."""
        if self.judgements is None:
            raise ValueError(f"{self.name} has only scores: no run can be scored in the same way")
        scores = score_run(run, self.judgements, self.measures)
        return replace(self, run=run, scores=scores, note=note, keep_run=True, metadata={}, latency=None)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names as ir-measures prints them."""
        return tuple(str(scores.measure) for scores in self.scores)

    @property
    def digest(self) -> str:
        """``sha256:...`` of the run, or of the scores that were given, decompressed."""
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

        Time, commit, metadata and latency are taken from ``stored``, if given: the manifest of the same run as it
        was stored before.
        """
        if self.keep_run and not self._copied(folder / RUN):
            raise BaselineError(f"{self.run} changed while it was being stored; try again")
        write_scores(folder / SCORES, self.scores)
        first = self.scores[0]
        if self.topics is not None:
            (folder / QUERIES).write_bytes(queries.to_bytes(queries.known(self.topics, first.topics)))
        manifest = Manifest(
            name=self.name,
            created=environment.now() if stored is None else stored.created,
            digests=Digests(
                run=self.digest,
                qrels=None if self.judgements is None else self.judgements.digest,
                scores=atomic_folder.sha256((folder / SCORES).read_bytes()),
                topics=None if self.topics is None else self.topics.digest,
            ),
            queries=None if self.topics is None else atomic_folder.sha256((folder / QUERIES).read_bytes()),
            measures=tuple(map(_given_measure if self.run is None else _stored_measure, self.measures)),
            topics=StoredTopics(
                scored=len(first.topics),
                without_relevant=len(first.without_relevant),
                unanswered=first.unanswered,
                unknown=first.unknown,
            ),
            judged=None if first.judged is None else StoredJudged(first.judged.topics, first.judged.share),
            run_kept=self.keep_run,
            versions={
                "ir-measures": environment.distribution_version("ir-measures") or "unknown",
                "pytest-riskguard": __version__,
            },
            git=git_state(store) if stored is None else stored.git,
            note=self.note,
            replicates=replicates,
            kind=kind,
            history=history,
            metadata=self.metadata if stored is None else stored.metadata,
            source=SCORES_ALONE if self.run is None else "run",
            latency=self.latency if stored is None else stored.latency,
            allow_unanswered=self.allow_unanswered or (stored is not None and stored.allow_unanswered),
            predecessor=history[-1].run if history else None,
        )
        (folder / MANIFEST).write_bytes(manifest.to_bytes())
        return manifest

    def _copied(self, target: Path) -> bool:
        """Copy the run, or write its rankings as a TREC file; false if it is not the one that was scored."""
        if isinstance(self.run, Run):
            with atomic_folder.compressed(target) as packed:
                write_run(packed, self.run)
            return True
        if self.run is None:
            raise ValueError(f"{self.name} has only scores: there is no run to keep")
        try:
            return atomic_folder.copy_compressed(self.run, target) == self.digest
        except FileError:
            return False


def with_earlier(baseline: StoredBaseline, folder: Path) -> tuple[EarlierRun, ...]:
    """Write the history of a baseline with its present run added, replicates included; return the new list."""
    if damage := problems(baseline):
        raise BaselineError(damage[0])
    history = with_history(baseline, folder)
    earlier = baseline.as_earlier(_next_number(history))
    _copy(baseline, folder / earlier.folder)
    return (*history, earlier)


def with_history(baseline: StoredBaseline, folder: Path) -> tuple[EarlierRun, ...]:
    """Write the history of a baseline as it is, damaged parts included; return its list."""
    try:
        manifest = baseline.manifest
    except DataError as error:
        if not (baseline.folder / "history").exists():
            return ()
        raise baseline.error(
            f"{error.fault}. Its history would be lost: restore it from version control, "
            f"or drop all with `riskguard baseline remove {baseline.name}` and add the run again"
        ) from None
    if baseline.history():
        _copy_all(baseline.folder / "history", folder / "history")
    return manifest.history


def rescored(baseline: StoredBaseline, scored: NewEntry, folder: Path) -> list[str]:
    """Write a baseline with its history and all replicates, every kept run scored as ``scored`` was.

    Returns the places of entries that keep their old scores, because their runs were not kept.
    """
    baseline.table()
    baseline.check_run()
    not_rescored = []
    for replicate in baseline.replicates():
        not_rescored += rescored(replicate, scored, _made(folder / replicate.folder.relative_to(baseline.folder)))
    history = []
    for earlier, entry in zip(baseline.history(), baseline.manifest.history, strict=True):
        place = _made(folder / entry.folder)
        not_rescored += rescored(earlier, scored, place)
        history.append(StoredBaseline(baseline.root, baseline.name, place).as_earlier(entry.number))
    manifest = replace(baseline.manifest, history=tuple(history))
    if not manifest.run_kept:
        _copy_files(baseline, manifest, folder)
        return [baseline.place, *not_rescored]
    is_same_run = manifest.digests.run == scored.digest
    written = scored if is_same_run else scored.likewise(baseline.file(RUN), note=manifest.note)
    written.write(
        folder,
        store=baseline.root,
        replicates=manifest.replicates,
        kind=manifest.kind,
        history=manifest.history,
        stored=manifest,
    )
    return not_rescored


def with_replicate(baseline: StoredBaseline, scored: NewEntry, folder: Path) -> int:
    """Write the baseline with a run added to its replicates; return its number."""
    manifest = baseline.manifest
    for entry in (baseline, *baseline.replicates()):
        run = manifest.digests.run if entry.replicate is None else entry.replicate.run
        if run == scored.digest:  # a copy would make the system look less noisy than it is
            raise UsageError(
                f"{entry.root / entry.place}: already holds this run; a replicate is the output of another run "
                "of the same system"
            )
    added = StoredReplicate(_next_number(manifest.replicates), scored.digest)
    _copy_all(baseline.folder, folder)
    scored.write(_made(folder / added.folder), store=baseline.root)
    _write_list(folder, baseline.name, manifest, (*manifest.replicates, added))
    return added.number


def without_replicate(baseline: StoredBaseline, number: int, folder: Path) -> None:
    """Write the baseline without one replicate, which may be damaged."""
    removed = baseline.find(number)
    _copy_all(baseline.folder, folder)
    shutil.rmtree(folder / removed.folder, ignore_errors=True)
    left = tuple(replicate for replicate in baseline.manifest.replicates if replicate != removed)
    _write_list(folder, baseline.name, baseline.manifest, left)


def same_replicates(baseline: StoredBaseline, scored: NewEntry, folder: Path) -> tuple[StoredReplicate, ...]:
    """Write a baseline's replicates as they are; none if ``scored`` is another run, or it is damaged."""
    try:
        manifest, replicates = baseline.manifest, baseline.replicates()
    except DataError:
        return ()
    if manifest.digests.run != scored.digest:
        return ()
    for replicate in replicates:
        if replicate.folder.is_dir():
            _copy_all(replicate.folder, folder / replicate.folder.relative_to(baseline.folder))
    return manifest.replicates


def _copy(baseline: StoredBaseline, target: Path) -> None:
    """Copy a baseline as an earlier run: its files and replicates, without kind and history."""
    manifest = replace(baseline.manifest, kind=FIXED, history=(), predecessor=None)
    _copy_files(baseline, manifest, _made(target))
    for replicate in baseline.replicates():
        _copy(replicate, target / replicate.folder.relative_to(baseline.folder))


def _copy_files(baseline: StoredBaseline, manifest: Manifest, target: Path) -> None:
    for file in files_of(manifest):
        shutil.copyfile(baseline.file(file), target / file)
    (target / MANIFEST).write_bytes(replace(manifest, name=baseline.name).to_bytes())


def _refuse_unanswered(scores: TopicScores, *, allow_unanswered: bool) -> None:
    lacking = scores.unanswered
    if not allow_unanswered and len(lacking) > scores.a_few:
        raise DataError(
            f"the run for {scores.name} leaves {len(lacking)} of {counted(len(scores.topics), 'judged topic')} "
            f"unanswered ({listed(lacking, most=5)}): a candidate would win each that it answers. Store a whole run, "
            "or, if the search finds nothing for these queries, pass --allow-unanswered",
            reason="bad_run",
        )


def _copy_all(source: Path, target: Path) -> None:
    """Copy the contents of a folder, files without their modes."""
    shutil.copytree(source, target, copy_function=shutil.copyfile, dirs_exist_ok=True)


def _next_number(entries: Sequence[StoredReplicate | EarlierRun]) -> int:
    return 1 + max((entry.number for entry in entries), default=0)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _write_list(folder: Path, name: str, manifest: Manifest, replicates: tuple[StoredReplicate, ...]) -> None:
    (folder / MANIFEST).write_bytes(replace(manifest, name=name, replicates=replicates).to_bytes())


def _stored_measure(name: str) -> StoredMeasure:
    provider = str(provider_of(parse_measure(name)).NAME)
    return StoredMeasure(name, provider, environment.provider_version(provider))


def _given_measure(name: str) -> StoredMeasure:
    """A measure whose scores were given: who computed them is not known."""
    return StoredMeasure(name, "given", None)
