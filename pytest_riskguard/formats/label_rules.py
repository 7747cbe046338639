"""What a team says about its judgements as a whole; scores depend on it as they do on the judgements."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
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
    unjudged_relevance : float, optional
        The probability that an unjudged document is relevant. It changes no score.
    """

    scale: tuple[float, float] | None = None
    relevant_from: float | None = None
    separator: str | None = None
    is_complete: bool = False
    unjudged_relevance: float | None = None

    def is_relevant(self, grade: float) -> bool:
        """Whether a document with this grade counts as relevant."""
        return grade > 0 if self.relevant_from is None else grade >= self.relevant_from

    @property
    def ungraded(self) -> float | None:
        """The grade of a document without one, which is unknown unless the judgements are complete."""
        return 0 if self.is_complete else None

    def digest(self, of_file: str) -> str:
        """The digest of judgements under these rules: that of their file where the rules change no score."""
        changing = (self.scale, self.relevant_from, self.separator)
        if changing == (None, None, None):
            return of_file
        scale = None if self.scale is None else tuple(map(float, self.scale))
        relevant_from = None if self.relevant_from is None else float(self.relevant_from)
        return f"sha256:{hashlib.sha256(repr((of_file, scale, relevant_from, self.separator)).encode()).hexdigest()}"

    def document(self, name: str) -> str:
        """The document that an id names: what precedes the last separator, unless that is nothing."""
        if not self.separator:
            return name
        return name.rpartition(self.separator)[0] or name

    def by_document(self, judged: Mapping[str, float]) -> Mapping[str, float]:
        """Grades of documents: the highest of their passages."""
        if not self.separator:
            return judged
        grades: dict[str, float] = {}
        for name, grade in judged.items():
            document = self.document(name)
            grades[document] = max(grade, grades.get(document, grade))
        return grades


#: Judgements as they are: any grade above 0 is relevant.
AS_GIVEN = LabelRules()
