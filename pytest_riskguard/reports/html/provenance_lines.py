"""Where a report comes from, as the page shows it: a line at its top, and a part at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_riskguard.reports.provenance import TIES
from pytest_riskguard.text import clean, counted, web_address

if TYPE_CHECKING:
    from pytest_riskguard.gates.origins import BaselineOrigin
    from pytest_riskguard.reports.provenance import Difference, Provenance

#: A baseline that is older, in days, is marked: what users search for has changed since.
MAX_AGE = 30
#: Characters of a commit that a line shows, and of any other text.
_COMMIT, _MAX_TEXT = 7, 120


@dataclass(frozen=True)
class Item:
    """A piece of a line; ``href`` makes it a link, ``old`` marks it."""

    text: str
    href: str | None = None
    old: bool = False


@dataclass(frozen=True)
class BaselineRow:
    """A baseline in the table of them."""

    name: str
    commit: str
    stored: str
    age: str
    old: bool
    note: str
    metadata: str


@dataclass(frozen=True)
class ProvenanceView:
    """The line at the top, and the tables at the end."""

    head: tuple[Item, ...]
    facts: tuple[tuple[str, Item], ...]
    baselines: tuple[BaselineRow, ...]
    differences: tuple[Difference, ...]

    @property
    def known_baselines(self) -> bool:
        """Whether more than the names of baselines is known: a run file has neither date nor commit."""
        return any(row.stored or row.commit or row.note or row.metadata for row in self.baselines)

    @classmethod
    def of(cls, provenance: Provenance | None) -> ProvenanceView | None:
        """Ready to be shown; None if nothing is known."""
        if provenance is None:
            return None
        return cls(
            tuple(_head(provenance)),
            tuple(_facts(provenance)),
            tuple(map(_row, provenance.baselines)),
            provenance.differences,
        )


def _head(provenance: Provenance) -> list[Item]:
    """Repository, pull request, both commits, the baseline's age, and the run."""
    items = [_repository(provenance.repository)] if provenance.repository else []
    if provenance.pull_request:
        items.append(Item(_request(provenance.pull_request)))
    elif provenance.branch:
        items.append(Item(_short(provenance.branch)))
    change = _commit(provenance.commit) or "this change"
    for baseline in provenance.baselines[:1]:
        items.append(Item(f"{change} against {_short(baseline.name)} {_commit(baseline.commit)}".rstrip()))
        if baseline.stored:
            items.append(Item(f"baseline stored {baseline.stored[:10]}{_old_words(baseline)}", old=_is_old(baseline)))
    if not provenance.baselines and provenance.commit:
        items.append(Item(change))
    address = web_address(provenance.run_url) if provenance.run_url else None
    if address:
        items.append(Item("CI run", address))
    return items


def _facts(provenance: Provenance) -> list[tuple[str, Item]]:
    """Label and value of everything that is known."""
    address = web_address(provenance.run_url) if provenance.run_url else None
    latency, candidate = provenance.latency, provenance.candidate
    facts = [
        ("Date", Item(provenance.date)),
        ("Repository", _repository(provenance.repository or "")),
        ("Commit", Item(_short(provenance.commit))),
        ("Branch", Item(_short(provenance.branch))),
        ("Pull request", Item(_request(provenance.pull_request) if provenance.pull_request else "")),
        ("CI run", Item(address or "", address)),
        ("Candidate", Item(_short(candidate.name) if candidate else "")),
        ("Candidate's metadata", Item(_pairs(candidate.metadata) if candidate else "")),
    ]
    if candidate is not None and candidate.ties is not None:
        facts.append(("Equal scores", Item(TIES[candidate.ties])))
    if latency is not None:
        facts.append(("Latency", Item(f"{latency} ({counted(latency.queries, 'query', 'queries')})")))
        before = [(baseline.name, baseline.latency) for baseline in provenance.baselines if baseline.latency]
        facts += [(f"Latency of {_short(name)} when stored", Item(str(stored))) for name, stored in before]
    facts.append(("Judges", Item("" if provenance.judges is None else str(provenance.judges))))
    return [(label, item) for label, item in facts if item.text]


def _row(baseline: BaselineOrigin) -> BaselineRow:
    age = "" if baseline.age_days is None else counted(int(baseline.age_days), "day")
    return BaselineRow(
        name=_short(baseline.name),
        commit=_commit(baseline.commit),
        stored=(baseline.stored or "")[:10],
        age=age + (": old" if _is_old(baseline) else ""),
        old=_is_old(baseline),
        note=_short(baseline.note),
        metadata=_pairs(baseline.metadata),
    )


def _is_old(baseline: BaselineOrigin) -> bool:
    return baseline.age_days is not None and baseline.age_days > MAX_AGE


def _old_words(baseline: BaselineOrigin) -> str:
    return f", {counted(int(baseline.age_days or 0), 'day')} old" if _is_old(baseline) else ""


def _repository(text: str) -> Item:
    """The repository by its name, with a link if it is known by its address."""
    address = web_address(text)
    name = urlsplit(address).path.strip("/").removesuffix(".git") if address else ""
    return Item(_short(name or text), address)


def _request(number: str) -> str:
    return f"PR #{_short(number)}" if number.isdecimal() else _short(number)


def _commit(commit: str | None) -> str:
    return clean(commit or "", limit=_MAX_TEXT)[:_COMMIT]


def _short(text: str | None) -> str:
    return clean(text or "", limit=_MAX_TEXT)


def _pairs(metadata: Mapping[str, str]) -> str:
    return ", ".join(f"{_short(key)}={_short(value)}" for key, value in metadata.items())
