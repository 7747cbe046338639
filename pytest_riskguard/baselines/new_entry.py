"""A run or per-topic scores to be stored: read, scored, and written into an empty folder of the store."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

from pytest_riskguard.baselines import manifest as manifests
from pytest_riskguard.baselines import queries
from pytest_riskguard.baselines.entry import MANIFEST, QUERIES, RUN, SCORES, sha256
from pytest_riskguard.baselines.git import Repository
from pytest_riskguard.baselines.manifest import Digests, Manifest, StoredTopics, versions
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import blocks, is_address, kept_copy
from pytest_riskguard.data.measures import measure_name, parse_measure, provider_of
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.runs import Run, read_run
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import TopicScores, write_scores
from pytest_riskguard.data.topics import Topics, read_topics
from pytest_riskguard.data.trec import with_text_digest, write_run
from pytest_riskguard.errors import BaselineError, DataError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import RUN_BYTES
from pytest_riskguard.text import counted, listed


@frozen
class NewEntry:
    """What is to be stored, with its scores, one ``TopicScores`` for each measure.

    ``run`` and ``judgements`` are None where scores were given without a run; a ``Run`` is written in TREC's format.
    A run without judgements has no scores; ``opened`` is what was read of it.
    """

    run: Path | Run | None
    scores: tuple[TopicScores, ...]
    judgements: Qrels | None
    topics: Topics | None
    opened: Run | None = None
    note: str = ""
    keep_run: bool = True
    allow_unanswered: bool = False

    @classmethod
    def read(
        cls,
        name: str,
        run: Path | GivenFile | Run,
        *,
        qrels: Path | GivenFile | None,
        topics: Path | GivenFile | None,
        measures: Sequence[str] = (),
        scores: bool = False,
        **about: Any,
    ) -> NewEntry:
        """Score a run with ``measures``; nothing is written.

        With ``scores``, ``run`` is a table of per-topic scores: its columns ``measures``, or all.

        ``about`` is what else there is to know of it. ``DataError`` (``bad_run``) for a run that leaves more than a
        small share of the topics unanswered, unless ``allow_unanswered`` says that these have no result.
        """
        try:
            about.get("note", "").encode()  # refuses half of a character, which no file can hold
        except ValueError as error:
            raise UsageError(f"the note is text: {error}") from None
        if scores and not isinstance(run, Run):
            table = read_scores(run, tuple(dict.fromkeys(measures)) or None, name=name)
            known = None if topics is None else read_topics(topics)
            return cls(None, table, None, known, **{**about, "keep_run": False})
        names = tuple(dict.fromkeys(map(measure_name, measures)))
        if qrels is not None and not names:
            raise UsageError("expected at least one measure to score the run with, such as nDCG@10; found none")
        texts = None if topics is None else read_topics(topics)
        judgements = None if qrels is None else read_qrels(qrels, None if texts is None else texts.queries)
        if judgements is None and not about.get("keep_run", True):
            raise UsageError("--no-run: without judgements there are no scores, so the run is all that is stored")
        kept = None
        if isinstance(run, Run):
            opened = run
        else:
            given = GivenFile.of(run)
            if is_address(given.path):
                given = replace(given, path=kept_copy(given.path, RUN_BYTES))
            queries = texts.queries if texts is not None else None if judgements is None else judgements.texts
            opened = read_run(given, queries)
            if opened.source.is_trec:
                kept = given.path
        if kept is None:  # text is made of the run, and the digest becomes that of the text
            opened = with_text_digest(opened)
        if judgements is None:
            return cls(kept or opened, (), None, texts, opened, **about)
        table = score_run(opened, judgements, names, name=name)
        lacking = table[0].unanswered
        if not about.get("allow_unanswered") and len(lacking) > table[0].a_few:
            raise DataError(
                f"the run for {name} leaves {len(lacking)} of {counted(len(table[0].topics), 'judged topic')} "
                f"unanswered ({listed(lacking, most=5)}): a candidate would win each that it answers. Store a whole "
                "run, or, if the search finds nothing for these queries, pass --allow-unanswered",
                reason="bad_run",
            )
        return cls(kept or opened, table, judgements, texts, **about)

    @property
    def digest(self) -> str:
        """``sha256:...`` of the run, or of the scores that were given, decompressed."""
        return str(self.scores[0].digest if self.opened is None else self.opened.source.digest)

    def write(self, folder: Path, *, name: str, store: Path, like: Manifest | None = None, **more: Any) -> Manifest:
        """Write the files into a folder of ``store`` that has none of them yet; ``more`` are parts of the manifest.

        What does not depend on judgements and measures is that of ``like``, if given.
        """
        folder.mkdir(parents=True, exist_ok=True)
        if self.keep_run:
            self._write_run(folder / RUN)
        if self.scores:
            write_scores(folder / SCORES, self.scores)
        topics, query_bytes = self._topics(), None
        if self.topics is not None:
            about = self.scores[0].topics if self.scores else topics.unknown
            query_bytes = queries.to_bytes(queries.rows_of(self.topics, about))
            (folder / QUERIES).write_bytes(query_bytes)
        measures = tuple(str(scores.measure) for scores in self.scores)
        fresh: dict[str, Any] = {
            "digests": Digests(
                run=self.digest,
                qrels=None if self.judgements is None else self.judgements.digest,
                scores=sha256((folder / SCORES).read_bytes()) if self.scores else None,
                topics=None if self.topics is None else self.topics.digest,
                queries=None if query_bytes is None else sha256(query_bytes),
            ),
            "measures": measures,
            "topics": topics,
            "run_kept": self.keep_run,
            "versions": versions(
                () if self.run is None else {str(provider_of(parse_measure(measure)).NAME) for measure in measures}
            ),
        }
        if like is not None:
            manifest = replace(like, **fresh, **more)
        else:
            repository = Repository.around(store)
            manifest = Manifest(
                name=name,
                created=manifests.now(),
                git=None if repository is None else repository.state(store),
                note=self.note,
                allow_unanswered=self.allow_unanswered,
                **fresh,
                **more,
            )
        (folder / MANIFEST).write_bytes(manifest.to_bytes())
        return manifest

    def _topics(self) -> StoredTopics:
        """What the manifest says of topics: without judgements each of the run is unknown."""
        if self.opened is not None:
            return StoredTopics(0, 0, (), self.opened.topics, None)
        first = self.scores[0]
        return StoredTopics(
            scored=len(first.topics),
            without_relevant=len(first.without_relevant),
            unanswered=first.unanswered,
            unknown=first.unknown,
            judged=None if first.judged is None else first.judged.share,
        )

    def _write_run(self, target: Path) -> None:
        """Copy the run, or write its rankings; the same bytes each time."""
        with target.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            if isinstance(self.run, Run):
                write_run(cast("IO[bytes]", packed), self.run)
                return
            assert self.run is not None
            digest = hashlib.sha256()
            for block in blocks(self.run, RUN_BYTES):
                digest.update(block)
                packed.write(block)
        if f"sha256:{digest.hexdigest()}" != self.digest:
            raise BaselineError(f"{self.run} changed while it was being stored; try again")
