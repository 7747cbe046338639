"""Where a report comes from: commit, CI run, date, the systems and what differs between them. It decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pytest_riskguard.formats.records import Agreement
from pytest_riskguard.gates.origins import BaselineOrigin, CandidateOrigin, Latency
from pytest_riskguard.text import clean, counted, web_address

if TYPE_CHECKING:
    from pytest_riskguard.baselines.build import Build
    from pytest_riskguard.gates.verdict import Verdict

#: The order of documents whose scores are equal, in words.
TIES = {"as_returned": "in the order returned", "docid": "by document id, as trec_eval ranks them"}
#: How many baselines, and how many differences, a line names.
MAX_NAMED = 3


@dataclass(frozen=True)
class Difference:
    """A key of the metadata whose value differs between candidate and baseline ``system``; None where not given."""

    key: str
    baseline: str | None
    candidate: str | None
    system: str


@dataclass(frozen=True)
class Provenance:
    """Where a report comes from; None for what is not known.

    ``date`` is UTC, ISO 8601; ``candidate`` the first one that was judged, if there are several; ``latency`` its own,
    if it is a live system; ``judges`` how far the judges of the documents agree, if there are several.
    """

    date: str
    commit: str | None
    branch: str | None
    pull_request: str | None
    repository: str | None
    run_url: str | None
    candidate: CandidateOrigin | None
    baselines: tuple[BaselineOrigin, ...]
    differences: tuple[Difference, ...]
    latency: Latency | None
    judges: Agreement | None = None

    def __post_init__(self) -> None:
        if self.run_url is not None and web_address(self.run_url) != self.run_url:
            expected = "an address with http or https"
            raise ValueError(f"provenance.run_url: expected {expected}, found {self.run_url!r:.60}")


def provenance_of(verdicts: Sequence[Verdict], build: Build, date: str) -> Provenance:
    """Where the report on these verdicts comes from; verdicts on plain scores have only names."""
    known = [verdict.origins for verdict in verdicts if verdict.origins is not None]
    candidate = next((origins.candidate for origins in known), None)
    if candidate is None and verdicts:
        candidate = CandidateOrigin(verdicts[0].candidate, {})
    baselines = {baseline.name: baseline for origins in known for baseline in origins.baselines}
    for name in (name for verdict in verdicts if verdict.origins is None for name in verdict.baselines):
        baselines.setdefault(name, BaselineOrigin(name, None, "", None, None, {}))
    aged = tuple(replace(baseline, age_days=_days(baseline.stored, date)) for baseline in baselines.values())
    return Provenance(
        date=date,
        commit=build.commit,
        branch=build.branch,
        pull_request=build.pull_request,
        repository=build.repository,
        run_url=build.run_url,
        candidate=candidate,
        baselines=aged,
        differences=tuple(one for baseline in aged if candidate for one in differences(candidate, baseline)),
        latency=next((origins.latency for origins in known if origins.candidate == candidate), None),
        judges=next((origins.judges for origins in known if origins.judges is not None), None),
    )


def _days(stored: str | None, date: str) -> float | None:
    """Days from one time to another, at least 0."""
    if stored is None:
        return None
    earlier, later = (_time(text) for text in (stored, date))
    return round(max((later - earlier).total_seconds(), 0) / 86400, 1)


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def differences(candidate: CandidateOrigin, baseline: BaselineOrigin) -> tuple[Difference, ...]:
    """What differs between the metadata of two systems, by key; nothing if one of them has none."""
    before, now = baseline.metadata, candidate.metadata
    if not (before and now):
        return ()
    keys = sorted(before.keys() | now.keys())
    changed = [key for key in keys if before.get(key) != now.get(key)]
    return tuple(Difference(key, before.get(key), now.get(key), baseline.name) for key in changed)


def line(provenance: Provenance) -> str:
    """In one line of plain text: which change, when, how old its baselines are, and what differs from them."""
    commit = f"commit {clean(provenance.commit, limit=64)[:10]}" if provenance.commit else ""
    branch = f"branch {clean(provenance.branch, limit=80)}" if provenance.branch else ""
    request = f"pull request {clean(provenance.pull_request, limit=20)}" if provenance.pull_request else ""
    date = f"{clean(provenance.date[:16]).replace('T', ' ')} UTC"
    ties = provenance.candidate.ties if provenance.candidate else None
    parts = [commit, branch, request, date, *map(_stored, provenance.baselines[:MAX_NAMED])]
    parts.append(f"equal scores {TIES[ties]}" if ties else "")
    parts.append(f"latency {provenance.latency}" if provenance.latency else "")
    changes = list(dict.fromkeys(map(_changed, provenance.differences)))
    parts += changes[:MAX_NAMED]
    parts.append(f"{len(changes) - MAX_NAMED} more differences" if len(changes) > MAX_NAMED else "")
    return "; ".join(filter(None, parts))


def _changed(difference: Difference) -> str:
    before, now = (
        "none" if value is None else clean(value, limit=60) for value in (difference.baseline, difference.candidate)
    )
    return f"{clean(difference.key, limit=60)} {before} -> {now}"


def _stored(baseline: BaselineOrigin) -> str:
    if baseline.age_days is None:
        return ""
    days = int(baseline.age_days)
    commit = f" from commit {clean(baseline.commit, limit=64)[:10]}" if baseline.commit else ""
    when = f"{counted(days, 'day')} ago" if days else "today"
    speed = f", latency then {baseline.latency}" if baseline.latency else ""
    return f"baseline {clean(baseline.name, limit=60)} stored {when}{commit}{speed}"
