"""A file or data in memory that is to be read, and what a team says about it: format, columns, ties, grades."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import Limit


@frozen
class LabelRules:
    """Settings that go with a file of judgements.

    Attributes
    ----------
    scale : pair of float, optional
        The lowest and the highest grade: others are refused, and the highest is the one that ERR expects.
    relevant_from : float, optional
        The lowest grade of a relevant document. By default any above 0 is relevant, which for whole grades is 1.
    separator : str, optional
        Document ids name passages, ``document`` ``separator`` ``passage``: a document counts with its best one.
    is_complete : bool
        A document without a judgement is not relevant, and nothing is said of it.
    """

    scale: tuple[float, float] | None = None
    relevant_from: float | None = None
    separator: str | None = None
    is_complete: bool = False

    def is_relevant(self, grade: Any) -> Any:
        """Whether a document with this grade counts as relevant; of an array, for each."""
        return grade > 0 if self.relevant_from is None else grade >= self.relevant_from

    @property
    def ungraded(self) -> float | None:
        """The grade of a document without one, which is unknown unless the judgements are complete."""
        return 0 if self.is_complete else None

    def digest(self, of_file: str) -> str:
        """The digest of judgements under these rules: that of their file where the rules change no score."""
        if self == LabelRules(is_complete=self.is_complete):
            return of_file
        scale = self.scale and tuple(map(float, self.scale))
        relevant_from = None if self.relevant_from is None else float(self.relevant_from)
        return f"sha256:{hashlib.sha256(repr((of_file, scale, relevant_from, self.separator)).encode()).hexdigest()}"

    def document(self, name: str) -> str:
        """The document that an id names: what precedes the last separator, unless that is nothing."""
        if not self.separator:
            return name
        return name.rpartition(self.separator)[0] or name


#: Topic -> its query text.
Queries = Mapping[str, str]
#: Judgements as they are: any grade above 0 is relevant.
AS_GIVEN = LabelRules()


#: Which order counts where scores are equal: the one in which documents were returned, or that of trec_eval.
Ties = Literal["as_returned", "docid"]
TIES: tuple[Ties, ...] = ("as_returned", "docid")


#: What the name of a collection of ir_datasets begins with.
IRDS = "irds:"


@frozen
class GivenFile:
    """A path with the settings that say how it is read; None is what its content and its format say.

    Attributes
    ----------
    path : Path
    format : str, optional
        A name of ``data.formats``.
    part : str, optional
        Which of the rankings that the file holds.
    ties : 'as_returned' or 'docid', optional
        For rankings.
    labels : LabelRules
        For judgements: what is said about them as a whole.
    columns : mapping
        For tables: what a column holds -> its name; for per-topic scores: measure -> column.
    """

    path: Path
    format: str | None = None
    part: str | None = None
    ties: Ties | None = None
    labels: LabelRules = AS_GIVEN
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, given: Path | str | GivenFile) -> GivenFile:
        """A path alone, or what is one already. ``FILE#PART`` names a part where there is a FILE and no such path."""
        if isinstance(given, GivenFile):
            return given
        path = Path(given)
        file, _, part = path.as_posix().rpartition("#")  # a part may have a slash in its name
        if file and part and not _exists(path) and _exists(Path(file)):
            return cls(Path(file), part=part)
        return cls(path)


def json_digest(value: Any) -> str:
    """``sha256:...`` of a value as JSON; the order of keys does not count."""
    return f"sha256:{hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()}"


def names_collection(path: Path) -> bool:
    """Whether a path is ``irds:NAME``, and no file of that name."""
    return path.as_posix().startswith(IRDS) and not _exists(path)


def _exists(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - it raises nothing


class InputData:
    """Where columns come from, an object in memory or a file: its name, and the error to raise for a row.

    ``queries`` has the texts of topics, for data that know these by them, ``labels`` says what the settings of a
    collection say of its judgements, ``ties`` which order of documents counts, where that is said; ``is_part`` that
    there is more than these columns, so that nothing is said about the whole. ``columns`` names columns, by what they
    hold; of scores, only ``measures`` are read. ``reason`` is that of the ``DataError`` to raise.
    """

    def __init__(self, name: str, *, reason: str) -> None:
        self.name, self._reason = name, reason
        self.queries: Queries | None = None
        self.labels = AS_GIVEN
        self.ties: Ties | None = None
        self.is_part = False
        self.columns: Mapping[str, str] = {}
        self.measures: Sequence[str] | None = None

    @property
    def digest(self) -> str | None:
        """That of a file which has been read, ``sha256:...``; None means that of the columns."""
        return None

    def at_most(self, limit: Limit, found: int) -> None:
        """Refuse more than a limit allows."""
        if found > limit.value:
            raise self.refuse(None, limit.problem(found))

    def refuse(self, line: int | str | None, problem: str, remedy: str | None = None) -> DataError:
        """The error to raise; ``line`` is the number of a row, from 1, or a place in words."""
        place = {int: f", row {line}", str: f", {line}"}.get(type(line), "")
        return DataError(f"{self.name}{place}: {problem}", reason=self._reason, remedy=remedy)
