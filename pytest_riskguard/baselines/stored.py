"""One stored baseline, or one of its replicates, read and compared with digests; nothing here writes or locks."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pytest_riskguard.baselines import files, surroundings
from pytest_riskguard.baselines.manifest import (
    Manifest,
    ManifestError,
    NewerFormatError,
    StoredMeasure,
    StoredReplicate,
)
from pytest_riskguard.errors import BaselineError, DataError, ScoresFormatError
from pytest_riskguard.evaluation.qrels import Qrels
from pytest_riskguard.evaluation.score_files import read_scores
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring import score_run

MANIFEST, SCORES, RUN = "manifest.json", "scores.tsv", "run.gz"
REPLICATES = "replicates"

_LFS = b"version https://git-lfs"
_POINTER = "is a Git LFS pointer, not the file itself (run `git lfs pull`)"


@dataclass(frozen=True)
class StoredScores:
    """Scores of a baseline; ``rescored`` says that they are not those it had when it was stored."""

    scores: TopicScores
    rescored: bool = False


@dataclass(frozen=True)
class StoredBaseline:
    """The folder of one baseline; ``root`` is the store it belongs to.

    A replicate is one too, with the name of its baseline, and ``replicate`` as the baseline's manifest lists it.
    """

    root: Path
    name: str
    folder: Path
    replicate: StoredReplicate | None = None

    @property
    def place(self) -> str:
        """Where it is in the store, as errors and scores name it: ``prod``, ``prod/replicates/2``."""
        return self.name if self.replicate is None else f"{self.name}/{REPLICATES}/{self.replicate.number}"

    def error(self, problem: str, *, reason: str = "bad_baseline") -> BaselineError:
        """The error to raise; it begins with the baseline's place, in reports without the folder above."""
        return BaselineError(
            f"{self.root / self.place}: {problem}",
            reason=reason,
            problem=f"{self.root.name}/{self.place}: {problem}",
        )

    def stamp(self) -> tuple[int, int, bytes] | None:
        """Something that differs once the baseline was replaced; None where there is none."""
        try:
            status = self.folder.stat()
            return status.st_ino, status.st_mtime_ns, (self.folder / MANIFEST).read_bytes()
        except OSError:
            return None

    def manifest(self) -> Manifest:
        """The manifest, by itself."""
        content = self._bytes(MANIFEST)
        try:
            manifest = Manifest.from_bytes(content)
        except NewerFormatError as error:
            raise self.error(f"{MANIFEST}: {error}") from None
        except ManifestError as error:
            raise self.error(f"{MANIFEST}: {error}; {self._remedy}") from None
        if self.replicate is not None:
            if manifest.digests.run != self.replicate.run:
                raise self.error(f"is not the run that {MANIFEST} of {self.name} lists; {self._remedy}")
            if manifest.replicates:
                raise self.error(f"{MANIFEST} lists replicates of a replicate; {self._remedy}")
        return manifest

    def replicates(self, manifest: Manifest) -> tuple[StoredBaseline, ...]:
        """The replicates that the manifest lists, by number, not read yet.

        Raises
        ------
        BaselineError
            ``bad_baseline``: a folder is a link, or one that is not listed holds a replicate too.
        """
        if (self.folder / REPLICATES).resolve() != self.folder.resolve() / REPLICATES:
            raise self.error(f"{REPLICATES} is a link; store the runs themselves")
        if unlisted := self._folders() - {str(replicate.number) for replicate in manifest.replicates}:
            raise self.error(
                f"{REPLICATES}/{min(unlisted)} is there, and {MANIFEST} does not list it; restore {MANIFEST} from "
                "version control, or delete that folder"
            )
        return tuple(map(self.listed, manifest.replicates))

    def numbers(self) -> tuple[int, ...]:
        """Numbers of the replicates that the manifest lists, or where it is damaged, that have a folder."""
        try:
            return tuple(replicate.number for replicate in self.manifest().replicates)
        except DataError:
            return tuple(sorted(int(name) for name in self._folders() if name.isascii() and name.isdigit()))

    def find(self, manifest: Manifest, number: int) -> StoredReplicate:
        """The entry of one replicate, or the error that says which there are."""
        for replicate in manifest.replicates:
            if replicate.number == number:
                return replicate
        numbers = ", ".join(str(replicate.number) for replicate in manifest.replicates)
        raise self.error(f"no replicate {number} (it has {numbers or 'none'})", reason="missing_input")

    def listed(self, replicate: StoredReplicate) -> StoredBaseline:
        """One replicate, which must be a folder here, not a link."""
        way = Path(REPLICATES, str(replicate.number))
        found = StoredBaseline(self.root, self.name, self.folder / way, replicate)
        # Compared after resolving, which also finds what Windows has beside symbolic links.
        if found.folder.resolve() != self.folder.resolve() / way:
            raise found.error("is a link; store the run itself")
        return found

    def problems(self) -> list[str]:
        """All that is wrong, replicates included, as text."""
        try:
            manifest = self.manifest()
        except DataError as error:
            return [error.problem]
        found = []
        for check in (self.table, self.check_run, self.replicates):
            try:
                check(manifest)
            except DataError as error:
                found.append(error.problem)
        for replicate in manifest.replicates:
            try:
                found += self.listed(replicate).problems()
            except DataError as error:
                found.append(error.problem)
        return list(dict.fromkeys(found))  # a link is found twice

    def table(self, manifest: Manifest) -> tuple[TopicScores, ...]:
        """The stored scores of every measure, once ``scores.tsv`` is known to be what was stored."""
        content = self._bytes(SCORES)
        if files.sha256(content) != manifest.digests.scores:
            raise self.error(self._difference(content, manifest.digests.scores))
        try:
            table = read_scores(self.folder / SCORES, name=self.place)
        except ScoresFormatError as error:
            raise self.error(f"{error.problem}; {self._remedy}") from None
        names, topics = [scores.measure for scores in table], table[0].topics
        if not (
            names == [measure.name for measure in manifest.measures]
            and len(topics) == manifest.topics.scored
            and set(manifest.topics.unanswered) <= set(topics)
        ):
            raise self.error(f"{MANIFEST} and {SCORES} do not belong together; {self._remedy}")
        return table

    def check_run(self, manifest: Manifest) -> None:
        """See that ``run.gz``, where it was kept, holds the run that was stored."""
        if not manifest.run_kept:
            return
        path = self._file(RUN)
        try:
            digest = files.gzip_digest(path)
        except (EOFError, zlib.error, OSError) as error:
            problem = _POINTER if _is_pointer(path) else f"is damaged ({error})"
            raise self.error(f"{RUN} {problem}; {self._remedy}") from None
        if digest != manifest.digests.run:
            raise self.error(f"{RUN} does not hold the run that was stored; {self._remedy}")

    def scores(self, measure: str, qrels: Qrels, queries: Mapping[str, str]) -> StoredScores:
        """What ``Store.scores`` returns; ``measure`` is spelled as ir-measures prints it."""
        manifest = self.manifest()
        table = self.table(manifest)
        self.check_run(manifest)
        same_qrels = manifest.digests.qrels == qrels.digest
        index = next((i for i, stored in enumerate(manifest.measures) if stored.name == measure), None)
        if same_qrels and index is not None:
            read = self._completed(table[index], manifest, qrels, queries)
            if not manifest.run_kept or _same_libraries(manifest, manifest.measures[index]):
                return StoredScores(read)
            anew = self._anew(manifest, measure, qrels, queries)
            return StoredScores(anew, rescored=not np.array_equal(anew.values, read.values))
        if manifest.run_kept:
            return StoredScores(self._anew(manifest, measure, qrels, queries), rescored=not same_qrels)
        if same_qrels:
            has = ", ".join(stored.name for stored in manifest.measures)
            problem, reason = f"it has scores of {has}, not of {measure}", "missing_input"
        else:
            problem, reason = f"{qrels.path_name} has changed since it was scored", "inputs_changed"
        raise self.error(
            f"{problem}, and its run was not kept; store it again with {self._command}",
            reason=reason,
        )

    @property
    def _remedy(self) -> str:
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
        """What happened to ``scores.tsv``, whose digest is not the expected one."""
        if files.sha256(content.replace(b"\r\n", b"\n")) == expected:
            return (
                f"{SCORES}: its line ends were turned into CRLF (git does, with core.autocrlf); add the line "
                f"`{self.root.name}/** -text` to .gitattributes, delete the file and check it out again"
            )
        if content.startswith(_LFS):
            return f"{SCORES} {_POINTER}; {self._remedy}"
        if content.startswith(b"<<<<<<<") or b"\n<<<<<<<" in content:
            return f"{SCORES} holds a merge conflict; {self._remedy}"
        return f"{SCORES} was changed after it was stored; {self._remedy}"

    def _completed(
        self, scores: TopicScores, manifest: Manifest, qrels: Qrels, queries: Mapping[str, str]
    ) -> TopicScores:
        if scores.topics != qrels.topics:
            raise self.error(f"{SCORES} does not hold the topics of {qrels.path_name}; {self._remedy}")
        return replace(
            scores,
            digest=manifest.digests.run,
            qrels_digest=qrels.digest,
            queries=queries,
            unanswered=manifest.topics.unanswered,
            unknown=manifest.topics.unknown,
            without_relevant=qrels.without_relevant,
            from_run=True,
        )

    def _anew(self, manifest: Manifest, measure: str, qrels: Qrels, queries: Mapping[str, str]) -> TopicScores:
        (scores,) = score_run(self.folder / RUN, qrels, [measure], name=self.place, queries=queries)
        if scores.digest != manifest.digests.run:
            raise self.error(f"{RUN} changed while it was being read; try again")
        return scores

    def _folders(self) -> set[str]:
        """Names of the folders that look like replicates."""
        try:
            paths = list((self.folder / REPLICATES).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return set()
        return {path.name for path in paths if (path / MANIFEST).exists()}

    def _bytes(self, file: str) -> bytes:
        try:
            return self._file(file).read_bytes()
        except OSError as error:
            raise self.error(f"{file} cannot be read ({error.strerror or error}); {self._remedy}") from None

    def _file(self, file: str) -> Path:
        """A file of the baseline, which no symbolic link may put outside the store."""
        path = self.folder / file
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise self.error(f"{file} is a link to a file outside the store; store the file itself")
        if not path.is_file():
            raise self.error(f"{file} is missing; {self._remedy}")
        return path


def _is_pointer(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_LFS)) == _LFS
    return False


def _same_libraries(manifest: Manifest, measure: StoredMeasure) -> bool:
    """Whether what scored a baseline is installed here in the same versions."""
    return manifest.versions.get("ir-measures") == surroundings.distribution_version(
        "ir-measures"
    ) and measure.version == surroundings.provider_version(measure.provider)
