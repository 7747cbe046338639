"""A file as somebody names it, and what they say about how to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pytest_riskguard.formats.label_rules import AS_GIVEN, LabelRules

#: Which order counts where scores are equal: the one in which documents were returned, or that of trec_eval.
Ties = Literal["as_returned", "docid"]
TIES: tuple[Ties, ...] = ("as_returned", "docid")
#: How several judges' grades of one document become one.
JudgeRule = Literal["median", "mean", "max", "min"]
JUDGE_RULES: tuple[JudgeRule, ...] = ("median", "mean", "max", "min")


#: What the name of a collection of ir_datasets begins with.
IRDS = "irds:"


@dataclass(frozen=True)
class GivenFile:
    """A path with the settings that say how it is read; None is what its content and its format say.

    Attributes
    ----------
    path : Path
    format : str, optional
        A name of ``formats.known``.
    part : str, optional
        Which of the rankings that the file holds.
    ties : 'as_returned' or 'docid', optional
        For rankings.
    judges : str
        For judgements by several judges.
    labels : LabelRules
        For judgements: what is said about them as a whole.
    columns : mapping
        For tables: what a column holds -> its name; for per-topic scores: measure -> column.
    download : bool
        For collections of ir_datasets: whether what is not on this machine may be downloaded.
    strata : pairs of str and float
        For topics: the strata that they were drawn from, and how much of all queries each is.
    """

    path: Path
    format: str | None = None
    part: str | None = None
    ties: Ties | None = None
    judges: JudgeRule = "median"
    labels: LabelRules = AS_GIVEN
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    download: bool = False
    strata: tuple[tuple[str, float], ...] = ()

    def __reduce__(self) -> tuple[object, ...]:  # other processes read it too, and views of mappings cannot be sent
        return GivenFile, tuple(dict(value) if name == "columns" else value for name, value in vars(self).items())

    @classmethod
    def of(cls, given: Path | str | GivenFile) -> GivenFile:
        """A path alone, or what is one already. ``FILE#PART`` names a part where there is a FILE and no such path."""
        if isinstance(given, GivenFile):
            return given
        path, text = Path(given), Path(given).as_posix()
        if not _exists(path):
            for place in (place for place in reversed(range(1, len(text) - 1)) if text[place] == "#"):
                if _exists(Path(text[:place])):  # a part may have a slash in its name
                    return cls(Path(text[:place]), part=text[place + 1 :])
        return cls(path)


def names_collection(path: Path) -> bool:
    """Whether a path is ``irds:NAME``, and no file of that name."""
    return path.as_posix().startswith(IRDS) and not _exists(path)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that is too long, or has a NUL
        return False
