"""``candidate:`` of a riskguard.yaml: a path, a described run, scores, or a live system of any kind."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Discriminator, PlainValidator, Tag, model_validator

from pytest_riskguard.config.http_settings import HttpCandidate
from pytest_riskguard.config.setting_types import Described, Metadata, Model, Place, Queried, TiesSetting, checked
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.gates.option_types import Text, shown


def _target(name: str) -> str:
    module, colon, function = name.partition(":")
    parts = [*module.split("."), *function.split(".")]
    if not colon or not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        raise ValueError(f"expected package.module:function, found {shown(name)}")
    return name


class Retrieve(Queried):
    """``candidate`` as a function, ``package.module:function``, which is queried as ``config.asking.Asking`` says.

    Attributes
    ----------
    retrieve
        `package.module:function`, imported when the gate runs (the ini setting `pythonpath` adds
        folders), and called for each topic.
    """

    retrieve: Annotated[str, PlainValidator(Text("package.module:function", parse=_target))]


def _command(value: Any) -> tuple[str, ...]:
    """A program and its arguments; numbers are taken as they are written."""
    if isinstance(value, list) and value and all(isinstance(part, str | int | float) for part in value):
        parts = tuple(map(str, value))
        if parts[0].strip() and not any("\0" in part for part in parts):
            return parts
    example = "[./search, --size, '{depth}']"
    raise ValueError(f"expected a list of a program and its arguments, such as {example}, found {shown(value)}")


class CommandCandidate(Queried):
    """``candidate`` as a command: run for each query that one of its arguments takes, else asked line by line.

    Attributes
    ----------
    command
        The program and its arguments, in which `{query}`, `{topic}` (its id) and `{depth}` are replaced.
    """

    command: Annotated[tuple[str, ...], checked(_command, list[str])]

    @property
    def runs_for_each(self) -> bool:
        """Whether a process is started for each query."""
        return any("{query}" in part or "{topic}" in part for part in self.command[1:])

    @model_validator(mode="after")
    def _one_worker(self) -> CommandCandidate:
        if self.workers > 1 and not self.runs_for_each:
            raise ValueError("expected `workers: 1`: without {query} in an argument one process is asked everything")
        return self


class DescribedRun(Described):
    """``candidate`` as a run file, about which there may be something to say; the metadata are pairs, sorted by key.

    Attributes
    ----------
    run
        The run file; `FILE#PART` names one of several rankings in a file.
    format
        The name of a format, as for `qrels`.
    columns
        As for `qrels`: `{document: sku, score: points}`.
    ties
        The order of documents with equal scores: `as_returned`, or `docid`, as trec_eval does. Without
        it lists without scores keep their order.
    metadata
        What is known of the system, texts by key.
    """

    holds, named = "rankings", "run"
    run: Place
    ties: TiesSetting | None = None
    metadata: Metadata = ()

    @property
    def given(self) -> GivenFile:
        """The file and how it is read."""
        return replace(super().given, ties=self.ties)


class DescribedScores(Described):
    """``candidate`` as a file of per-topic scores; ``columns`` are pairs of a measure, or ``topic``, and a column.

    Attributes
    ----------
    scores
        The file, or `FILE#NAME`.
    format
        The name of a format of per-topic scores.
    columns
        For tables: the column of each measure to read, and of `topic`: `{topic: qid, nDCG@10: ndcg10}`.
    metadata
        What is known of the system, texts by key.
    """

    holds, named = "scores", "scores"
    scores: Place
    metadata: Metadata = ()


#: The key that says which form a mapping has, and its model; of several keys the first one counts.
FORMS: Mapping[str, type[Model]] = {
    "retrieve": Retrieve,
    "run": DescribedRun,
    "scores": DescribedScores,
    "http": HttpCandidate,
    "command": CommandCandidate,
}


def form_of(value: Any) -> str:
    """The key of ``FORMS`` that a mapping has; that of a function if it has none."""
    return next((key for key in FORMS if key in value), "retrieve")


def key_of(candidate: Model) -> str:
    """The key of ``FORMS`` that a candidate has."""
    return next(key for key, form in FORMS.items() if isinstance(candidate, form))


# The tags stand in the path of pydantic's errors: no key looks like them.
Candidate = Annotated[
    Annotated[Retrieve, Tag("<retrieve>")]
    | Annotated[DescribedRun, Tag("<run>")]
    | Annotated[DescribedScores, Tag("<scores>")]
    | Annotated[HttpCandidate, Tag("<http>")]
    | Annotated[CommandCandidate, Tag("<command>")],
    Discriminator(lambda value: f"<{form_of(value)}>"),
    BeforeValidator(lambda value: value if isinstance(value, dict) else {"run": value}, json_schema_input_type=str),
]


def file_of(candidate: Model | None) -> GivenFile | None:
    """The run or the scores that a candidate is, and how the file is read; None for a live system."""
    return candidate.given if isinstance(candidate, Described) else None
