"""The ledger of looks beside a riskguard.yaml, and the look that some questions are.

The ledger is JSON Lines, one look each. Judging only reads it: the same ledger and the same inputs give the same
verdict. Its lines are a set, so that two versions of it are merged by keeping the lines of both.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.data.input_files import read_limited
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics, read_collection, write_topics
from pytest_riskguard.engine.sources import Computed, Question
from pytest_riskguard.errors import FileError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.chain.looks import Look, Looks, RecordedLook, digest_of
from pytest_riskguard.gates.verdict import Verdict, digests
from pytest_riskguard.limits import REPORT_BYTES
from pytest_riskguard.serialization import JsonError, decoded, parsed

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config


@frozen
class Budget:
    """The budget of gates that are judged together: their ids, the looks so far, and how many are expected.

    ``before``: how many other looks the same file takes before theirs.
    """

    gates: tuple[str, ...]
    recorded: Looks
    looks: int
    before: int = 0

    def look(
        self,
        questions: Sequence[Question],
        compared: Sequence[Sequence[TopicScores] | None],
        collection: Callable[[], tuple[Qrels, Topics | None]],
    ) -> Look:
        """The look that these questions are about what they compare, None where it cannot be compared.

        Everything that the answers depend on is part of it: options, runs, their scores, the shares of strata.
        ``UsageError`` where nothing tells one collection from another, or one candidate from another.
        """
        inputs = [None if systems is None else digests(systems[0], systems[1:]) for systems in compared]
        judgements = {None if given is None else given.qrels for given in inputs} - {None}
        if len(judgements) != 1:
            raise UsageError(
                "budget: needs candidates and baselines that are scored with judgements, which it is for"
            )
        about = []
        for question, systems, given in zip(questions, compared, inputs, strict=True):
            options = {name: str(value) for name, value in sorted(vars(question.gate).items()) if name != "name"}
            files = None if given is None else [given.candidate, list(given.baselines.values())]
            scores = None if systems is None else [_digest_of_scores(system) for system in systems]
            computed = (
                [question.baseline.kind, question.baseline.candidate_inside]
                if isinstance(question.baseline, Computed)
                else None
            )
            about.append([question.gate.name, question.measure, options, computed, files, scores])
        qrels, topics = collection()
        shares = {} if topics is None else dict(topics.shares)
        return self.recorded.next(
            _digest_of_content(qrels, topics),
            self.gates,
            digest_of([about, shares]),
            looks=self.looks,
            before=self.before,
        )


def collection_of(settings: Config) -> str:
    """The digest of the judgements and topics that a riskguard.yaml names; ``DataError`` if they cannot be read."""
    given = settings.collection.given_qrels
    if given is None:
        raise UsageError(f"{settings.path}: a budget needs judgements: these tell collections apart")
    qrels, topics = read_collection(given, settings.collection.given_topics)
    return _digest_of_content(qrels, topics)


def _digest_of_content(qrels: Qrels, topics: Topics | None) -> str:
    """The same whatever the order of the rows: sorting a file must not begin a new budget."""
    judged = hashlib.sha256()
    for topic, grades in sorted(qrels.grades.items()):
        judged.update(json.dumps([topic, sorted(grades.items())]).encode())
    if topics is None:
        return digest_of([qrels.rules.digest(judged.hexdigest()), None])
    table = write_topics(Topics.of(dict(sorted(topics.queries.items())), topics.tags, topics.weights))
    return digest_of([qrels.rules.digest(judged.hexdigest()), hashlib.sha256(table).hexdigest()])


def _digest_of_scores(system: TopicScores) -> str:
    """Of ten decimals, which are the same on all machines."""
    values = system.values.round(10) + 0.0
    return digest_of([system.topics, hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()])


def read_ledger(path: Path) -> Looks:
    """The looks of a ledger; none where there is no file. ``UsageError`` says which line is wrong."""
    if not path.exists():
        return Looks()
    try:
        lines = read_limited(path, REPORT_BYTES).decode("utf-8").splitlines()
    except (FileError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{path}: the ledger of looks cannot be read: {error}") from None
    recorded = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                recorded.append(decoded(RecordedLook, parsed(line.encode())))
        except JsonError as error:
            raise UsageError(
                f"{path}:{number}: expected a look that budget --record wrote: {error.problem}"
            ) from None
    return Looks(recorded)


def looks_of(verdicts: Sequence[Verdict]) -> tuple[RecordedLook, ...]:
    """The looks that verdicts are, each once; a look has failed if all its gates were judged, and failed."""
    rejections: dict[Look, list[bool]] = {}
    sizes: dict[Look, int] = {}
    for verdict in verdicts:
        family = verdict.family
        if family is None or family.look is None or verdict.identical_to:
            continue
        rejections.setdefault(family.look, []).append(verdict.outcome == "fail")
        sizes[family.look] = family.size
    return tuple(
        RecordedLook(
            look.collection,
            look.gates,
            look.inputs,
            look.number,
            all(failed) and len(failed) >= sizes[look],
            look.share,
            look.looks,
        )
        for look, failed in rejections.items()
    )


def append(path: Path, looks: Sequence[RecordedLook]) -> int:
    """Add the looks that the ledger does not have; returns how many. ``OSError`` if it cannot be written."""
    known = read_ledger(path)
    new = [look for look in looks if look not in known]
    if new:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(f"{look.to_json()}\n" for look in new).encode("ascii")
        with path.open("a+b") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                lines = lines if file.read(1) == b"\n" else b"\n" + lines  # somebody edited the last line
            file.write(lines)  # one write, so that lines of two processes do not mix
    return len(new)
