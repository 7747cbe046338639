"""What the judged commit itself changed about how it is judged: gates, their options, baselines, the ledger of looks.

It decides nothing. Whoever reads an outcome sees beside it that the commit has moved its own bar.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pytest_riskguard.frozen import frozen
from pytest_riskguard.serialization import Words
from pytest_riskguard.text import clean, counted, listed

#: What can have changed, the most important first, and how a line says it.
CHANGES = {
    "gate_removed": "gate {names} removed",
    "option": "{setting} of {names} {values}",
    "setting": "{setting} {values}",
    "baseline_replaced": "baseline {names} replaced",
    "baseline_rescored": "baseline {names} scored again",
    "baseline_removed": "baseline {names} removed",
    "baseline_setting": "{setting} of baseline {names} {values}",
    "looks_removed": "{values} removed from the ledger",
    "looks_added": "{values} added to the ledger",
    "gate_added": "gate {names} added",
    "baseline_added": "baseline {names} added",
    "file_added": "{names} added",
}
#: Changes that a line says, and that a report holds; the others are counted.
_MOST_SAID, MOST_KEPT = 6, 200
#: Names of gates or baselines that one change lists, and characters of a name or a value.
_MOST_NAMES, _MOST_CHARACTERS = 3, 60


@frozen
class Change:
    """One change. ``names`` are the gates or the baselines that it is about.

    ``file`` is the riskguard.yaml, from the root of the repository. ``before`` and ``after`` are values as the file
    writes them, None where they have no short form; of looks, their number is ``after``.
    """

    what: Annotated[str, Words(tuple(CHANGES), open=True)]
    file: str
    names: tuple[str, ...] = ()
    setting: str | None = None
    before: str | None = None
    after: str | None = None

    def __str__(self) -> str:
        values = "changed"
        if self.what.startswith("looks_"):
            values = f"{_short(self.after)} look{'s' * (self.after != '1')}"
        elif self.before is not None or self.after is not None:
            values = f"{_short(self.before)} -> {_short(self.after)}"
        names = listed(tuple(map(_short, self.names)), most=_MOST_NAMES)
        said = CHANGES.get(self.what, "{setting} {names} {values}")  # of a later version
        return said.format(names=names, setting=_short(self.setting), values=values)


@frozen
class PolicyChanges:
    """What changed between the commit ``base`` and the files that were judged; ``more`` changes are only counted.

    ``base`` is what a pull request is to be merged into, or else the commit before. ``unknown`` says why nothing, or
    not everything, is known.
    """

    base: str | None
    pull_request: bool
    changes: tuple[Change, ...] = ()
    more: int = 0
    unknown: str | None = None

    def __str__(self) -> str:
        return "; ".join(map(str, self.lines))

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
    said = [f"{_short(change.file)}: {change}" if several else str(change) for change in chosen[:_MOST_SAID]]
    rest = len(chosen) - len(said) + (policy.more if file is None else 0)
    said += [f"{counted(rest, 'more change')}"] if rest else []
    return f"changed by this {whose}: {'; '.join(said)}"


def ordered(changes: Sequence[Change]) -> tuple[Change, ...]:
    """The most important first; that another candidate is judged is the point of most commits."""
    rank = {what: place for place, what in enumerate(CHANGES)}
    return tuple(sorted(changes, key=lambda one: (rank.get(one.what, len(rank)), one.setting == "candidate")))


def _short(text: str | None) -> str:
    return "none" if text is None else clean(text, limit=_MOST_CHARACTERS)
