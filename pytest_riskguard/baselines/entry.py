"""One entry of the store: a baseline, an earlier run or a replicate, read and compared with its digests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from pytest_riskguard.baselines import atomic_folder, provenance
from pytest_riskguard.baselines.manifest import (
    FIXED,
    EarlierRun,
    Manifest,
    NewerFormatError,
    StoredMeasure,
    StoredReplicate,
)
from pytest_riskguard.errors import BaselineError, DataError, MissingFileError, ScoresFormatError
from pytest_riskguard.evaluation.qrels import Qrels
from pytest_riskguard.evaluation.scores import TopicScores, read_scores
from pytest_riskguard.evaluation.scoring import score_run
from pytest_riskguard.formats.input_files import (
    MANIFEST_BYTES,
    TABLE_BYTES,
    ContentError,
    LimitError,
    open_regular,
    read_limited,
)
from pytest_riskguard.formats.serialization import JsonError

MANIFEST, SCORES, RUN = "manifest.json", "scores.tsv", "run.gz"
_LFS = b"version https://git-lfs"
_POINTER = "is a Git LFS pointer, not the file itself (run `git lfs pull`)"


@dataclass(frozen=True)
class Scored:
    """Scores of a system; ``rescored`` says that they differ from those that a baseline was stored with."""

    scores: TopicScores
    rescored: bool = False


@dataclass(frozen=True)
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
        return BaselineError(
            f"{self.root / self.place}: {problem}", reason=reason, problem=f"{self.root.name}/{self.place}: {problem}"
        )

    def stamp(self) -> tuple[Path, int, int, bytes] | None:
        """Something that changes when the baseline is replaced or moved aside; None if its folder is gone."""
        try:
            status = self.folder.stat()
        except OSError:
            return None
        manifest = b""
        with suppress(DataError, LimitError):
            manifest = read_limited(self.folder / MANIFEST, MANIFEST_BYTES)
        return self.folder, status.st_ino, status.st_mtime_ns, manifest

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest, read once and checked against the one that lists this entry."""
        content = self._bytes(MANIFEST)
        try:
            manifest = Manifest.from_bytes(content)
        except NewerFormatError as error:
            raise self.error(f"{MANIFEST}: {error}") from None
        except JsonError as error:
            raise self.error(f"{MANIFEST}: {error}; {self._remedy}") from None
        listed = self.replicate or self.earlier
        if listed is not None:
            if manifest.digests.run != listed.run:
                raise self.error(f"is not the run that {MANIFEST} of {self._owner} lists; {self._remedy}")
            if self.replicate is not None and manifest.replicates:
                raise self.error(f"{MANIFEST} lists replicates of a replicate; {self._remedy}")
            if manifest.history or manifest.kind != FIXED:
                what = "a replicate" if self.replicate is not None else "an earlier run"
                raise self.error(f"{MANIFEST} gives {what} a kind or a history; {self._remedy}")
        return manifest

    def replicates(self) -> tuple[StoredBaseline, ...]:
        """The replicates that the manifest lists, by number, not read yet."""
        return self._all_listed("replicates", self.manifest.replicates)

    def history(self) -> tuple[StoredBaseline, ...]:
        """The earlier runs that the manifest lists, oldest first, not read yet."""
        return self._all_listed("history", self.manifest.history)

    def holds_history(self) -> bool:
        """Whether there are folders of earlier runs, listed or not."""
        return bool(self._folders("history"))

    def numbers(self) -> tuple[int, ...]:
        """Numbers of the replicates in the manifest, or if that is damaged, of those that have a folder."""
        try:
            return tuple(replicate.number for replicate in self.manifest.replicates)
        except DataError:
            names = (folder.removeprefix("replicates/") for folder in self._folders("replicates"))
            return tuple(sorted(int(name) for name in names if name.isascii() and name.isdigit()))

    def find(self, number: int) -> StoredReplicate:
        """One replicate as the manifest lists it; the ``BaselineError`` for an unknown number lists those it has."""
        by_number = {replicate.number: replicate for replicate in self.manifest.replicates}
        if number not in by_number:
            existing = ", ".join(map(str, by_number)) or "none"
            raise self.error(f"no replicate {number} (it has {existing})", reason="missing_input")
        return by_number[number]

    def listed(self, entry: StoredReplicate | EarlierRun) -> StoredBaseline:
        """One replicate or earlier run, which must be a folder and not a link."""
        baseline = replace(self, folder=self.folder / entry.folder)
        if isinstance(entry, EarlierRun):
            baseline = replace(baseline, earlier=entry)
        else:
            baseline = replace(baseline, replicate=entry)
        # Compared after resolving, which also finds the other kinds of links that Windows has.
        if baseline.folder.resolve() != self.folder.resolve() / entry.folder:
            raise baseline.error("is a link; store the run itself")
        return baseline

    def as_earlier(self, number: int) -> EarlierRun:
        """How a manifest lists this baseline once it is an earlier run."""
        return _as_earlier(number, self.manifest, self.table())

    def problems(self) -> list[str]:
        """Every problem, replicates and earlier runs included, as text."""
        try:
            manifest = self.manifest
        except DataError as error:
            return [error.problem]
        problems = []
        for check in (self.table, self.check_run, self.replicates, self.history):
            try:
                check()
            except DataError as error:
                problems.append(error.problem)
        entries: tuple[StoredReplicate | EarlierRun, ...] = (*manifest.replicates, *manifest.history)
        for entry in entries:
            try:
                problems += self.listed(entry).problems()
            except DataError as error:
                problems.append(error.problem)
        return list(dict.fromkeys(problems))  # a link is reported twice

    def table(self) -> tuple[TopicScores, ...]:
        """The stored scores of every measure, after checking that ``scores.tsv`` is what was stored."""
        manifest, content = self.manifest, self._bytes(SCORES)
        if atomic_folder.sha256(content) != manifest.digests.scores:
            raise self.error(self._difference(content, manifest.digests.scores))
        try:
            table = read_scores(self.folder / SCORES, name=self.place, content=content)
        except ScoresFormatError as error:
            raise self.error(f"{error.problem}; {self._remedy}") from None
        names, topics = tuple(scores.measure for scores in table), table[0].topics
        if not (
            names == manifest.measure_names
            and len(topics) == manifest.topics.scored
            and set(manifest.topics.unanswered) <= set(topics)
        ):
            raise self.error(f"{MANIFEST} and {SCORES} do not belong together; {self._remedy}")
        listed = self.earlier if self.replicate is None else None
        if listed is not None and listed != _as_earlier(listed.number, manifest, table):
            raise self.error(f"is not as {MANIFEST} of {self._owner} lists it; {self._remedy}")
        return table

    def check_run(self) -> None:
        """Check that ``run.gz``, if it was kept, holds the run that was stored."""
        if not self.manifest.run_kept:
            return
        path = self.file(RUN)
        try:
            digest = atomic_folder.gzip_digest(path)
        except LimitError as error:
            raise self.error(f"{RUN}: {error}") from None
        except (ContentError, MissingFileError) as error:
            problem = f"is damaged ({error.problem if isinstance(error, MissingFileError) else error})"
            with suppress(DataError), open_regular(path) as file:
                problem = _POINTER if file.read(len(_LFS)) == _LFS else problem
            raise self.error(f"{RUN} {problem}; {self._remedy}") from None
        if digest != self.manifest.digests.run:
            raise self.error(f"{RUN} does not hold the run that was stored; {self._remedy}")

    def scores(self, measure: str, qrels: Qrels) -> Scored:
        """What ``Store.scores`` returns; ``measure`` is spelled as ir-measures prints it."""
        manifest, table = self.manifest, self.table()
        self.check_run()
        same_qrels = manifest.digests.qrels == qrels.digest
        if same_qrels and measure in manifest.measure_names:
            index = manifest.measure_names.index(measure)
            if table[index].topics != qrels.topics:
                raise self.error(f"{SCORES} does not hold the topics of {qrels.path_name}; {self._remedy}")
            stored = replace(self._completed(table[index]), without_relevant=qrels.without_relevant)
            if not manifest.run_kept or _same_libraries(manifest, manifest.measures[index]):
                return Scored(stored)
            rescored = self._rescored(measure, qrels)
            return Scored(rescored, rescored=not np.array_equal(rescored.values, stored.values))
        if manifest.run_kept:
            return Scored(self._rescored(measure, qrels), rescored=not same_qrels)
        if same_qrels:
            problem, reason = self._without(measure), "missing_input"
        else:
            problem, reason = f"{qrels.path_name} has changed since it was scored", "inputs_changed"
        remedy = f"store it again with {self._command}" if self.earlier is None else self._remedy
        raise self.error(f"{problem}, and its run was not kept; {remedy}", reason=reason)

    def as_stored(self, measure: str) -> TopicScores:
        """The stored scores of a measure, on the judgements that they were computed with."""
        self.check_run()
        for scores in self.table():
            if scores.measure == measure:
                return self._completed(scores)
        raise self.error(self._without(measure), reason="missing_input")

    @property
    def _owner(self) -> str:
        """The place of the baseline whose manifest lists this one."""
        return self.place.rpartition("/")[0].rpartition("/")[0]

    @property
    def _remedy(self) -> str:
        if self.earlier is not None:
            return (
                "restore it from version control, or drop what the baseline held earlier with "
                f"`riskguard baseline update {self.name} RUN --forget-history`"
            )
        return f"restore it from version control, or store it again with {self._command}"

    @property
    def _command(self) -> str:
        if self.replicate is not None:
            return (
                f"`riskguard baseline remove {self.name} --replicate {self.replicate.number}` and "
                f"`riskguard baseline add {self.name} RUN --replicate`"
            )
        return f"`riskguard baseline update {self.name} RUN`"

    def _difference(self, content: bytes, expected: str) -> str:
        """What happened to ``scores.tsv``, whose digest is not as expected."""
        if atomic_folder.sha256(content.replace(b"\r\n", b"\n")) == expected:
            return (
                f"{SCORES}: its line endings were changed to CRLF (git does that with core.autocrlf); add the line "
                f"`{self.root.name}/** -text` to .gitattributes, delete the file and check it out again"
            )
        if content.startswith(_LFS):
            return f"{SCORES} {_POINTER}; {self._remedy}"
        if content.startswith(b"<<<<<<<") or b"\n<<<<<<<" in content:
            return f"{SCORES} holds a merge conflict; {self._remedy}"
        return f"{SCORES} was changed after it was stored; {self._remedy}"

    def _completed(self, scores: TopicScores) -> TopicScores:
        """Scores of the table with what the manifest says about their run and judgements."""
        digests, topics = self.manifest.digests, self.manifest.topics
        return replace(
            scores,
            digest=digests.run,
            qrels_digest=digests.qrels,
            unanswered=topics.unanswered,
            unknown=topics.unknown,
            from_run=True,
        )

    def _without(self, measure: str) -> str:
        return f"it has scores of {', '.join(self.manifest.measure_names)}, not of {measure}"

    def _rescored(self, measure: str, qrels: Qrels) -> TopicScores:
        (scores,) = score_run(self.folder / RUN, qrels, [measure], name=self.place)
        if scores.digest != self.manifest.digests.run:
            raise self.error(f"{RUN} changed while it was being read; try again")
        return scores

    def _all_listed(self, kind: str, entries: Sequence[StoredReplicate | EarlierRun]) -> tuple[StoredBaseline, ...]:
        """All replicates or earlier runs; their common folder must not be a link, and must hold no others."""
        if (self.folder / kind).resolve() != self.folder.resolve() / kind:
            raise self.error(f"{kind} is a link; store the runs themselves")
        if unlisted := self._folders(kind) - {entry.folder for entry in entries}:
            raise self.error(
                f"{min(unlisted)} is not listed in {MANIFEST}; restore {MANIFEST} from "
                "version control, or delete that folder"
            )
        return tuple(map(self.listed, entries))

    def _folders(self, kind: str) -> set[str]:
        """The folders of replicates or of earlier runs that have a manifest."""
        try:
            paths = list((self.folder / kind).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return set()
        return {f"{kind}/{path.name}" for path in paths if (path / MANIFEST).exists()}

    def _bytes(self, file: str) -> bytes:
        try:
            return read_limited(self.file(file), MANIFEST_BYTES if file == MANIFEST else TABLE_BYTES)
        except LimitError as error:
            raise self.error(f"{file}: {error}") from None
        except MissingFileError as error:
            raise self.error(f"{error.problem}; {self._remedy}") from None

    def file(self, file: str) -> Path:
        """The path of a file of the baseline, which must not be a link to outside the store."""
        path = self.folder / file
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise self.error(f"{file} is a link to a file outside the store; store the file itself")
        if not path.is_file():
            raise self.error(f"{file} is missing; {self._remedy}")
        return path


def mean_score(scores: TopicScores) -> float:
    """The mean over topics; their order never changes it."""
    return math.fsum(scores.values) / len(scores.topics)


def _as_earlier(number: int, manifest: Manifest, table: Sequence[TopicScores]) -> EarlierRun:
    means = {str(scores.measure): mean_score(scores) for scores in table}
    return EarlierRun(number, manifest.digests.run, manifest.created, manifest.git, manifest.note, means)


def _same_libraries(manifest: Manifest, measure: StoredMeasure) -> bool:
    """Whether the libraries that scored a baseline are installed here in the same versions."""
    return manifest.versions.get("ir-measures") == provenance.distribution_version(
        "ir-measures"
    ) and measure.version == provenance.provider_version(measure.provider)
