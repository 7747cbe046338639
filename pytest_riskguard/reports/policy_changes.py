"""What the judged commit itself changed about how it is judged: gates, their options, baselines, the ledger of looks.

It decides nothing. Whoever reads an outcome sees beside it that the commit has moved its own bar.
"""

from __future__ import annotations

from pytest_riskguard.frozen import frozen
from pytest_riskguard.text import clean, counted

#: Changes that a line says; the others are counted.
_MOST_SAID = 6


@frozen
class Change:
    """One change, in words, of a riskguard.yaml (from the root of the repository) or of what it names."""

    file: str
    text: str


@frozen
class PolicyChanges:
    """What a ``pull_request``, or else a commit, changed.

    ``unknown`` says why nothing, or not everything, is known.
    """

    pull_request: bool
    changes: tuple[Change, ...] = ()
    unknown: str | None = None

    def __str__(self) -> str:
        return "; ".join(self.lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """What is said beside an outcome, in one or two lines of plain text."""
        said = [words(self)] if self.changes else []
        return tuple([*said, clean(self.unknown, limit=400)] if self.unknown else said)


def words(policy: PolicyChanges, file: str | None = None) -> str:
    """The changes in a line, or those of one file alone."""
    whose = "pull request" if policy.pull_request else "commit"
    chosen = [change for change in policy.changes if file in (None, change.file)]
    several = file is None and len({change.file for change in chosen}) > 1
    said = [clean(f"{one.file}: {one.text}" if several else one.text) for one in chosen[:_MOST_SAID]]
    if rest := len(chosen) - len(said):
        said.append(counted(rest, "more change"))
    return f"changed by this {whose}: {'; '.join(said)}"
