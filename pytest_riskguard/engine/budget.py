"""The ledger of looks beside a riskguard.yaml, and the look that some questions are.

The ledger is JSON Lines, one look each. Judging only reads it: the same ledger and the same inputs give the same
verdict. Its lines are a set, so that two versions of it are merged by keeping the lines of both.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.data.input_files import read_limited
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.topics import Topics, read_collection
from pytest_riskguard.engine.question import Computed, Question
from pytest_riskguard.errors import FileError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.looks import Look, Looks, RecordedLook, digest_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.limits import REPORT_BYTES
from pytest_riskguard.serialization import JsonError, decoded, parsed

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.engine.sources import ScoreCache


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
        compared: Sequence[Comparison | None],
        collection: ScoreCache,
    ) -> Look:
        """The look that these questions are about what they compare, None where it cannot be compared.

        Everything that the answers depend on is part of it: options, runs, their scores.
        ``UsageError`` where nothing tells one collection from another, or one candidate from another.
        """
        compared_systems = [
            () if one is None else (one.aligned.candidate, one.aligned.baseline, *one.aligned.replicates)
            for one in compared
        ]
        if any(systems and systems[0].qrels_digest is None for systems in compared_systems):
            raise UsageError(
                "budget: needs candidates and baselines that are scored with judgements, which it is for"
            )
        about = []
        for question, systems in zip(questions, compared_systems, strict=True):
            options = {name: str(value) for name, value in sorted(vars(question.gate).items()) if name != "name"}
            baseline = question.baseline
            computed = [baseline.kind, baseline.candidate_inside] if isinstance(baseline, Computed) else None
            # ten decimals are the same on all machines
            runs = [[one.digest, one.topics, (one.values.round(10) + 0.0).tolist()] for one in systems]
            about.append([question.gate.name, question.measure, options, computed, runs])
        topics = collection.topics
        inputs = digest_of([about])
        collected = _digest(collection.qrels, topics)
        return self.recorded.next(collected, self.gates, inputs, looks=self.looks, before=self.before)


def collection_of(settings: Config) -> str:
    """The digest of the judgements and topics that a riskguard.yaml names; ``DataError`` if they cannot be read."""
    given = settings.collection.given_qrels
    if given is None:
        raise UsageError(f"{settings.path}: a budget needs judgements: these tell collections apart")
    return _digest(*read_collection(given, settings.collection.given_topics))


def _digest(qrels: Qrels, topics: Topics | None) -> str:
    """The same whatever the order of the rows: sorting a file must not begin a new budget."""
    known = None if topics is None else [topics.queries, topics.tags, topics.weights]
    return digest_of(
        [qrels.rules.digest(digest_of([{topic: dict(grades) for topic, grades in qrels.grades.items()}])), known]
    )


def read_ledger(path: Path) -> Looks:
    """The looks of a ledger; none where there is no file. ``UsageError`` says which line is wrong."""
    if not path.exists():
        return Looks()
    try:
        lines = read_limited(path, REPORT_BYTES).decode("utf-8").splitlines()
    except (FileError, UnicodeDecodeError) as error:
        raise UsageError(f"the ledger of looks cannot be read: {error}", where=path) from None
    recorded = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                recorded.append(decoded(RecordedLook, parsed(line.encode())))
        except JsonError as error:
            fault = f"expected a look that budget --record wrote: {error.problem}"
            raise UsageError(fault, where=path, line=number) from None
    return Looks(recorded)


def looks_of(verdicts: Sequence[Verdict]) -> tuple[RecordedLook, ...]:
    """The looks that verdicts are, each once; a look has failed if all its gates were judged, and failed."""
    of_look: dict[Look, list[Verdict]] = {}
    sizes: dict[Look, int] = {}
    for verdict in verdicts:
        family = verdict.family
        if family is not None and family.look is not None and not verdict.identical_to:
            of_look.setdefault(family.look, []).append(verdict)
            sizes[family.look] = family.size
    return tuple(
        RecordedLook(**vars(look), failed=len(judged) >= sizes[look] and all(one.outcome == "fail" for one in judged))
        for look, judged in of_look.items()
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
