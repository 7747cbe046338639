"""One entry of the store: a baseline, an earlier run or a replicate, read and compared with its digests."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from pytest_riskguard.baselines import queries
from pytest_riskguard.baselines.manifest import Manifest
from pytest_riskguard.data.formats import format_named
from pytest_riskguard.data.input_files import InputFile, blocks, read_limited
from pytest_riskguard.data.runs import Run, read_run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.errors import BaselineError, DataError, FileError, Remedy, ScoresFormatError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import MANIFEST_BYTES, RUN_BYTES, TABLE_BYTES, Limit
from pytest_riskguard.serialization import JsonError
from pytest_riskguard.text import clean, listed

MANIFEST, SCORES, RUN, QUERIES = "manifest.json", "scores.tsv", "run.gz", "queries.tsv"
REPLICATES, HISTORY = "replicates", "history"
#: The word for the first run that a baseline held.
OLDEST = "oldest"
#: What the folder of a baseline may hold; the last is what file managers leave in a folder that somebody looks at.
CONTENTS = {MANIFEST, SCORES, RUN, QUERIES, REPLICATES, HISTORY, ".DS_Store"}


def sha256(content: bytes) -> str:
    """``sha256:...`` of some bytes."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@frozen
class Entry:
    """The folder of a baseline, of one of its earlier runs, or of a replicate of either.

    ``place`` is where it is in the store: ``prod``, ``prod/history/0001``, ``prod/replicates/2``. ``digest`` is that
    of its manifest, if another manifest has it.
    """

    store: Path
    place: str
    folder: Path
    digest: str | None = None

    @property
    def name(self) -> str:
        """The name of the baseline."""
        return self.place.partition("/")[0]

    def error(
        self, problem: str, remedy: Remedy | str | None = None, *, reason: str = "bad_baseline"
    ) -> BaselineError:
        """The error to raise; reports show it without the path of the store."""
        where, name = self.store / self.place, f"{self.store.name}/{self.place}"
        return BaselineError(problem, where=where, name=name, reason=reason, remedy=remedy)

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest, read once."""
        content = self._bytes(MANIFEST, self.digest, MANIFEST_BYTES)
        try:
            manifest = Manifest.from_bytes(content)
        except JsonError as error:
            raise self.error(f"{MANIFEST}: {error}", self.remedy) from None
        if manifest.name != self.name:
            raise self.error(
                f"{MANIFEST} belongs to a baseline named {clean(manifest.name, limit=100)!r}: the folder was renamed "
                f"or copied, so this is not what was stored as {self.name!r}",
                self.remedy,
            )
        return manifest

    def replicates(self) -> tuple[Entry, ...]:
        """The replicates that the manifest lists, by number, not read yet."""
        return tuple(self.replicate(number) for number in sorted(map(int, self.manifest.replicates)))

    def replicate(self, number: int) -> Entry:
        """One of the replicates that the manifest lists."""
        return self._inside(REPLICATES, str(number), self.manifest.replicates[str(number)])

    def history(self) -> tuple[Entry, ...]:
        """The earlier runs of a baseline, oldest first, each as the manifest of the next one knows it."""
        numbers = range(1, self.manifest.number if self.place == self.name else 1)
        earlier, digest = list[Entry](), self.manifest.predecessor
        for number in reversed(numbers):
            earlier.insert(0, self._inside(HISTORY, f"{number:04d}", digest))
            digest = earlier[0].manifest.predecessor
        return tuple(earlier)

    def held(self, run: str | None) -> Entry:
        """The run that a number or ``oldest`` means; for None the present one."""
        if run is None:
            return self
        chain = [*self.history(), self]
        number = "1" if run == OLDEST and len(chain) > 1 else run.lstrip("0")
        for one in chain:
            if number == str(one.manifest.number):
                return one
        known = ", ".join(f"{one.manifest.number:04d}" for one in chain[:-1]) or "none yet, update keeps the first"
        raise self.error(
            f"has no earlier run {run!r}; expected the number of an earlier run, or {OLDEST}: it has {known}",
            reason="missing_input",
        )

    def _inside(self, kind: str, name: str, digest: str | None) -> Entry:
        return Entry(self.store, f"{self.place}/{kind}/{name}", self.folder / kind / name, digest)

    @cached_property
    def table(self) -> tuple[TopicScores, ...]:
        """The stored scores of every measure, on the judgements that they were computed with; none without any."""
        digests, topics = self.manifest.digests, self.manifest.topics
        if not self.manifest.is_judged:
            return ()
        content = self._bytes(SCORES, digests.scores, TABLE_BYTES)
        file = InputFile(self.folder / SCORES, error=ScoresFormatError, content=content)
        return tuple(
            replace(
                scores,
                name=self.place,
                digest=digests.run,
                qrels_digest=digests.qrels,
                unanswered=topics.unanswered,
                unknown=topics.unknown,
                from_run=self.manifest.has_run,
            )
            for scores in format_named("scores", "scores").reader("scores")(file)
        )

    def stored(self, measure: str) -> TopicScores:
        """The stored scores of a measure; ``missing_input`` without any."""
        self.check_run()
        for scores in self.table:
            if scores.measure == measure:
                return scores
        raise self.error(self.lack_of(measure), reason="missing_input")

    def refuse_unjudged(self) -> None:
        """``missing_input`` if it was stored without judgements."""
        if not self.manifest.is_judged:
            raise self.error(
                "was stored without judgements, so it has no scores",
                Remedy("score its run with {}", f"rescore {self.name}"),
                reason="missing_input",
            )

    def lack_of(self, measure: str) -> str:
        """That it was not stored with a measure."""
        return f"it has scores of {', '.join(self.manifest.measures)}, not of {measure}"

    @property
    def kept_run(self) -> Path:
        """The file of the run; ``missing_input`` where there is none."""
        if not self.manifest.run_kept:
            remedy = Remedy("store it again and keep its run, with {} and {}", *self.remedy.commands)
            raise self.error("its run was not kept, or it was stored from scores", remedy, reason="missing_input")
        return self.folder / RUN

    def read_run(self) -> Run:
        """The rankings of the run, which must be the one that was stored."""
        self.check_run()
        return read_run(self.kept_run)

    def check_run(self) -> None:
        """Check that ``run.gz``, if it was kept, holds the run that was stored."""
        if not self.manifest.run_kept:
            return
        digest = hashlib.sha256()
        try:
            for block in blocks(self.folder / RUN, RUN_BYTES):
                digest.update(block)
        except FileError as error:
            raise self._unreadable(RUN, error) from None
        if f"sha256:{digest.hexdigest()}" != self.manifest.digests.run:
            raise self._changed(RUN)

    def topics(self) -> queries.Rows:
        """What the topics file said of each topic; empty if there was none."""
        expected = self.manifest.digests.queries
        return {} if expected is None else queries.from_bytes(self._bytes(QUERIES, expected, TABLE_BYTES))

    def problems(self) -> list[str]:
        """Everything in which it, its replicates or its earlier runs are not what was stored, as text."""
        found, inside = list[str](), list[Entry]()
        for check in (
            lambda: self.manifest,
            lambda: self.table,
            self.check_run,
            self.topics,
            lambda: inside.extend(self.replicates()),
            lambda: inside.extend(self.history()),
        ):
            try:
                check()
            except DataError as error:
                found.append(error.problem)
        for one in inside:
            found += one.problems()
        return list(dict.fromkeys(found))

    def _bytes(self, file: str, expected: str | None, limit: Limit) -> bytes:
        """The content of a file, which must have the digest, if one is expected."""
        try:
            content = read_limited(self.folder / file, limit)
        except FileError as error:
            raise self._unreadable(file, error) from None
        if expected is not None and sha256(content) != expected:
            raise self._changed(file)
        return content

    def _unreadable(self, file: str, error: FileError) -> BaselineError:
        if not (self.folder / file).is_file():
            return self.error(f"{file} is missing", self.remedy)
        return self.error(error.in_report(None), self.remedy)

    def _changed(self, file: str) -> BaselineError:
        """The error for a file whose digest is not the expected one."""
        return self.error(
            f"{file} was changed after it was stored, by hand or by git (line endings, Git LFS)", self.remedy
        )

    @property
    def remedy(self) -> Remedy:
        """What to do about damage."""
        commands = f"remove {self.name}", f"add {self.name} RUN"
        return Remedy("restore it from version control, or store it again with {} and {}", *commands)

    def refuse_foreign(self) -> None:
        """Refuse a folder with files of somebody else, which would be lost with it."""
        names = {path.name for path in self.folder.iterdir()} - CONTENTS if self.folder.is_dir() else set()
        if names:
            raise self.error(
                f"holds files that riskguard did not write ({listed(sorted(names), most=5)}) and that would "
                "be lost; move them somewhere else and try again"
            )

    @property
    def renewal(self) -> str:
        """The command that stores another run, or scores, in its place; see ``Remedy``."""
        what = "RUN" if self.manifest.has_run else "--scores FILE"
        return f"update {self.name} {what} --note WHY"
