"""Scores of runs, from the cache where it has them; otherwise the run is read, and what that gave is kept.

Of several processes that need the same scores, one computes them and the others wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder, cache_folder
from pytest_riskguard.evaluation.cache.known_files import KnownFile, KnownText
from pytest_riskguard.evaluation.cache.score_entries import KeptScores, RunEntries
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring.judged_runs import JudgedRun
from pytest_riskguard.formats.given_file import GivenFile, Ties


@dataclass(frozen=True, eq=False)
class Reading:
    """What reading a run gave; ``as_trec`` says that it is a TREC run that its scores rank."""

    scores: tuple[TopicScores, ...]
    run: JudgedRun
    ties: Ties
    as_trec: bool


Known = KnownFile | KnownText
#: Reads a run and scores it with these measures.
Read = Callable[[Sequence[str]], Reading]


@dataclass(frozen=True)
class Wanted:
    """What is asked of a run: scores with ``measures``, each as ir-measures prints it, under a name and with texts.

    ``depth`` is how many ranks of the run are kept whole.
    """

    qrels: Qrels
    measures: Sequence[str]
    depth: int
    name: str
    queries: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class RunScores:
    """The scores of a run, read or kept.

    ``fetch`` gives what the reading kept: from memory, from the cache, or by reading again; the run may be another by
    then, which its digest says. ``was_read`` says that this reading was just now, so that ``fetch`` costs nothing.
    """

    scores: tuple[TopicScores, ...]
    ties: Ties
    fetch: Callable[[], JudgedRun]
    was_read: bool

    @classmethod
    def of(cls, reading: Reading) -> RunScores:
        """What was read just now."""
        return cls(reading.scores, reading.ties, lambda: reading.run, was_read=True)


def file_scores(given: GivenFile, wanted: Wanted, read: Read, *, texts: Mapping[str, str]) -> RunScores:
    """The scores of a run file; runs at addresses are read each time.

    ``texts`` are the query texts by which formats without ids know topics.
    """
    folder = cache_folder()
    known = None if folder is None else KnownFile.of(folder, given, texts)
    return _scores(folder, known, wanted, read)


def text_scores(digest: str, wanted: Wanted, read: Read) -> RunScores:
    """The scores of a TREC run whose text, decompressed, is known to have this digest."""
    return _scores(cache_folder(), KnownText(digest), wanted, read)


def _scores(folder: CacheFolder | None, known: Known | None, wanted: Wanted, read: Read) -> RunScores:
    if folder is None or known is None:
        return RunScores.of(read(wanted.measures))
    return _CachedRun(folder, known, wanted, read).scores()


class _CachedRun:
    """One run, as far as the cache has it; the rest is read."""

    def __init__(self, folder: CacheFolder, known: Known, wanted: Wanted, read: Read) -> None:
        self._folder, self._known, self._wanted, self._read = folder, known, wanted, read

    def scores(self) -> RunScores:
        """Scores with all measures that are wanted."""
        kept = self._kept()
        if len(kept) < len(self._wanted.measures):
            with self._folder.alone(self._known.lock):
                kept = self._kept()  # another process may have been faster
                missing = [measure for measure in self._wanted.measures if measure not in kept]
                if missing:
                    return self._with_read(kept, missing)
        return self._of(kept)

    def _kept(self) -> dict[str, KeptScores]:
        entries, wanted, kept = self._entries(), self._wanted, dict[str, KeptScores]()
        for measure in wanted.measures:
            found = entries.scores(measure, name=wanted.name, queries=wanted.queries)
            if found is not None:
                kept[measure] = found
        return kept if len({found.scores.digest for found in kept.values()}) == 1 else {}

    def _with_read(self, kept: dict[str, KeptScores], missing: Sequence[str]) -> RunScores:
        reading = self._read_and_keep(missing)
        if any(found.scores.digest != reading.run.digest for found in kept.values()):  # it has just been replaced
            reading = self._read_and_keep(self._wanted.measures)
        read = {str(scores.measure): KeptScores(scores, reading.ties) for scores in reading.scores}
        return self._of(kept | read, reading.run)

    def _read_and_keep(self, measures: Sequence[str]) -> Reading:
        reading = self._read(measures)
        if self._known.was_read(reading.run.digest, as_trec=reading.as_trec):
            entries = self._entries()
            for scores in reading.scores:
                entries.keep_scores(KeptScores(scores, reading.ties))
            entries.keep_run(reading.run)
            self._folder.trim()
        return reading

    def _run(self) -> JudgedRun:
        run = self._entries().run(self._wanted.depth)
        return self._read_and_keep(self._wanted.measures[:1]).run if run is None else run

    def _entries(self) -> RunEntries:
        return RunEntries(self._folder, self._known.run, self._wanted.qrels)

    def _of(self, kept: Mapping[str, KeptScores], run: JudgedRun | None = None) -> RunScores:
        found = [kept[measure] for measure in self._wanted.measures]
        fetch = self._run if run is None else lambda: run
        return RunScores(tuple(each.scores for each in found), found[0].ties, fetch, was_read=run is not None)
