"""One entry of the store: a baseline, an earlier run or a replicate, read and compared with its digests."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from pytest_riskguard.baselines import atomic_folder, queries
from pytest_riskguard.baselines.manifest import EarlierRun, Manifest, StoredReplicate
from pytest_riskguard.baselines.remote_stores import shown
from pytest_riskguard.data.formats import format_named
from pytest_riskguard.data.input_files import InputFile, blocks, read_limited
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.errors import BaselineError, FileError, ScoresFormatError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import MANIFEST_BYTES, RUN_BYTES, TABLE_BYTES
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from pytest_riskguard.serialization import JsonError
from pytest_riskguard.text import clean


@frozen
class TopicFall:
    """A topic whose score falls by more than rounding."""

    topic: str
    before: float
    after: float


@frozen
class ScoreChange:
    """One measure of what a baseline holds: its means before and after, and the topics that differ.

    ``topics`` is how many have scores on both sides, ``fallen`` which of these fall, worst first; ``gone`` and
    ``added`` have scores on one side only.
    """

    measure: str
    before: float
    after: float
    topics: int
    fallen: tuple[TopicFall, ...]
    gone: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @classmethod
    def between(cls, before: TopicScores, after: TopicScores) -> ScoreChange:
        """From one system's scores to another's, each mean over the topics that it is scored on."""
        old = dict(zip(before.topics, map(float, before.values), strict=True))
        new = dict(zip(after.topics, map(float, after.values), strict=True))
        both = [topic for topic in after.topics if topic in old]
        fallen = [TopicFall(t, old[t], new[t]) for t in both if not new[t] >= old[t] - ROUNDING_ERROR]
        return cls(
            measure=str(after.measure),
            before=before.mean,
            after=after.mean,
            topics=len(both),
            fallen=tuple(sorted(fallen, key=lambda fall: (fall.after - fall.before, fall.topic))),
            gone=tuple(topic for topic in before.topics if topic not in new),
            added=tuple(topic for topic in after.topics if topic not in old),
        )

    @property
    def falls(self) -> bool:
        """Whether the mean falls by more than rounding; NaN counts as a fall."""
        return not self.after >= self.before - ROUNDING_ERROR


def changes_between(before: Sequence[TopicScores], after: Sequence[TopicScores]) -> tuple[ScoreChange, ...]:
    """The change of each measure that both sides have, in the order of the latter."""
    old = {scores.measure: scores for scores in before}
    return tuple(ScoreChange.between(old[scores.measure], scores) for scores in after if scores.measure in old)


@frozen
class Replacement:
    """A baseline whose run was replaced, or would be: ``manifest`` is then None. ``run`` is its new digest.

    There is a change for each measure that the run before can still be scored with.
    """

    run: str
    manifest: Manifest | None
    changes: tuple[ScoreChange, ...]


@frozen
class Promotion:
    """What a baseline holds now; ``moved`` is false if it is ``best`` and stays because a mean falls.

    There is a change for each measure that the previous run can still be scored with.
    """

    manifest: Manifest
    moved: bool
    changes: tuple[ScoreChange, ...]


MANIFEST, SCORES, RUN, QUERIES = "manifest.json", "scores.tsv", "run.gz", "queries.tsv"
#: What the folder of a baseline may hold; the last is what file managers leave in a folder that somebody looks at.
CONTENTS = {MANIFEST, SCORES, RUN, QUERIES, "replicates", "history", ".DS_Store"}


@frozen
class StoredBaseline:
    """The folder of a baseline in the store ``root``, of one of its earlier runs, or of a replicate of either.

    All have the name of the baseline; ``earlier`` and ``replicate`` are the entries of the manifests that list them.
    """

    root: Path
    name: str
    folder: Path
    replicate: StoredReplicate | None = None
    earlier: EarlierRun | None = None

    @property
    def place(self) -> str:
        """Its place in the store, as errors and scores name it: ``prod``, ``prod/history/0001/replicates/2``."""
        return "/".join([self.name, *(entry.folder for entry in (self.earlier, self.replicate) if entry is not None)])

    def error(self, problem: str, *, reason: str = "bad_baseline") -> BaselineError:
        """The error to raise; reports show it without the path of the store."""
        where = shown(self.root / self.place)
        return BaselineError(problem, where=where, name=f"{self.root.name}/{self.place}", reason=reason)

    def stamp(self) -> tuple[Path, int, int] | None:
        """Something that changes when the baseline is replaced, and while it is; None if its folder is gone."""
        try:
            status = self.folder.stat()
        except OSError:
            return None
        return self.folder, status.st_ino, status.st_mtime_ns

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest, read once and checked against the one that lists this entry."""
        content = self._bytes(MANIFEST)
        try:
            manifest = Manifest.from_bytes(content)
        except JsonError as error:
            raise self.error(f"{MANIFEST}: {error}; {self.remedy}") from None
        if manifest.name != self.name:
            own = clean(str(manifest.name), limit=100)
            raise self.error(
                f"{MANIFEST} belongs to a baseline named {own!r}: the folder was renamed or copied, so this is not "
                f"what was stored as {self.name!r}; {self.remedy}"
            )
        listed = self.replicate or self.earlier
        if listed is not None and manifest.digests.run != listed.run:
            raise self.error(f"is not the run that {MANIFEST} of {self._owner} lists; {self.remedy}")
        return manifest

    def replicates(self) -> tuple[StoredBaseline, ...]:
        """The replicates that the manifest lists, by number, not read yet."""
        return self._all_listed("replicates", self.manifest.replicates)

    def history(self) -> tuple[StoredBaseline, ...]:
        """The earlier runs that the manifest lists, oldest first, not read yet."""
        return self._all_listed("history", self.manifest.history)

    def find(self, number: int) -> StoredReplicate:
        """One replicate as the manifest lists it; the ``BaselineError`` for an unknown number lists those it has."""
        by_number = {replicate.number: replicate for replicate in self.manifest.replicates}
        if number not in by_number:
            existing = ", ".join(map(str, by_number)) or "none"
            raise self.error(f"no replicate {number} (it has {existing})", reason="missing_input")
        return by_number[number]

    def listed(self, entry: StoredReplicate | EarlierRun) -> StoredBaseline:
        """One replicate or earlier run."""
        folder = self.folder / entry.folder
        if isinstance(entry, EarlierRun):
            return replace(self, folder=folder, earlier=entry)
        return replace(self, folder=folder, replicate=entry)

    def as_earlier(self, number: int) -> EarlierRun:
        """How a manifest lists this baseline once it is an earlier run."""
        means = {str(scores.measure): scores.mean for scores in self.table()}
        manifest = self.manifest
        return EarlierRun(number, manifest.digests.run, manifest.created, manifest.git, manifest.note, means)

    def table(self) -> tuple[TopicScores, ...]:
        """The stored scores of every measure, after checking that ``scores.tsv`` is what was stored."""
        content, expected = self._bytes(SCORES), self.manifest.digests.scores
        if atomic_folder.sha256(content) != expected:
            raise self.error(self._difference(SCORES, content, expected))
        file = InputFile(self.folder / SCORES, error=ScoresFormatError, content=content)
        read = format_named("scores", "scores").reader("scores")
        return tuple(replace(scores, name=self.place) for scores in read(file))

    def need_run(self) -> None:
        """``BaselineError`` (``missing_input``) where there is no run."""
        if not self.manifest.run_kept:
            why = "its run was not kept" if self.manifest.has_run else "was stored from scores, so there is no run"
            raise self.error(why, reason="missing_input")

    def check_run(self) -> None:
        """Check that ``run.gz``, if it was kept, holds the run that was stored."""
        if not self.manifest.run_kept:
            return
        digest, start, expected = hashlib.sha256(), b"", self.manifest.digests.run
        try:
            for block in blocks(self.file(RUN), RUN_BYTES):
                digest.update(block)
                start = start or block
        except FileError as error:
            raise self.error(f"{RUN} is damaged ({error.problem}); {self.remedy}") from None
        if f"sha256:{digest.hexdigest()}" != expected:
            raise self.error(self._difference(RUN, start, expected))

    def texts(self) -> Mapping[str, queries.Known]:
        """What the topics file said of each topic, checked against what was stored; empty if there was none."""
        expected = self.manifest.queries
        if expected is None:
            return {}
        content = self._bytes(QUERIES)
        if atomic_folder.sha256(content) != expected:
            raise self.error(self._difference(QUERIES, content, expected))
        return queries.from_bytes(content)

    @property
    def _owner(self) -> str:
        """The place of the baseline whose manifest lists this one."""
        return self.place.rpartition("/")[0].rpartition("/")[0]

    @property
    def remedy(self) -> str:
        """What to do about damage."""
        if self.earlier is not None:
            return (
                "restore it from version control, or drop the baseline with all its runs "
                f"(`riskguard baseline remove {self.name}`) and add the run again"
            )
        return f"restore it from version control, or store it again with {self.command}"

    @property
    def command(self) -> str:
        """The command that stores the run again."""
        if self.replicate is not None:
            return (
                f"`riskguard baseline remove {self.name} --replicate {self.replicate.number}` and "
                f"`riskguard baseline add {self.name} RUN --replicate`"
            )
        read: Manifest | None = vars(self).get("manifest")  # if it can be read, it has been
        what = "RUN" if read is None or read.has_run else "--scores FILE"
        return f"`riskguard baseline update {self.name} {what} --note WHY`"

    def _difference(self, file: str, content: bytes, expected: str) -> str:
        """What happened to ``file``, whose digest is not as expected."""
        if atomic_folder.sha256(content.replace(b"\r\n", b"\n")) == expected:
            return (
                f"{file}: its line endings were changed to CRLF (git does that with core.autocrlf); write the line "
                f"`* -text` into {self.root.name}/.gitattributes, delete the file and check it out again"
            )
        if content.startswith(b"version https://git-lfs"):
            return f"{file} is a Git LFS pointer, not the file itself (run `git lfs pull`); {self.remedy}"
        return f"{file} was changed after it was stored; {self.remedy}"

    def _all_listed(self, kind: str, entries: Sequence[StoredReplicate | EarlierRun]) -> tuple[StoredBaseline, ...]:
        """All replicates or earlier runs; there must be no folder of others."""
        folders = {f"{kind}/{path.parent.name}" for path in (self.folder / kind).glob(f"*/{MANIFEST}")}
        if unlisted := folders - {entry.folder for entry in entries}:
            raise self.error(
                f"{min(unlisted)} is not listed in {MANIFEST}; restore {MANIFEST} from "
                "version control, or delete that folder"
            )
        return tuple(map(self.listed, entries))

    def _bytes(self, file: str) -> bytes:
        try:
            return read_limited(self.file(file), MANIFEST_BYTES if file == MANIFEST else TABLE_BYTES)
        except FileError as error:
            raise self.error(f"{error.problem}; {self.remedy}") from None

    def file(self, file: str) -> Path:
        """The path of a file of the baseline, which must not be a link to outside the store."""
        path = self.folder / file
        if not resolved(path).is_relative_to(resolved(self.root)):
            raise self.error(f"{file} is a link to a file outside the store; store the file itself")
        if not path.is_file():
            raise self.error(f"{file} is missing; {self.remedy}")
        return path


def files_of(manifest: Manifest) -> tuple[str, ...]:
    """The files beside a manifest."""
    texts = () if manifest.queries is None else (QUERIES,)
    return (SCORES, *texts, *((RUN,) if manifest.run_kept else ()))


def resolved(path: Path) -> Path:
    """A path without links, as ``Path.resolve``, which raises ``RuntimeError`` for a link to itself."""
    return Path(os.path.realpath(path))
