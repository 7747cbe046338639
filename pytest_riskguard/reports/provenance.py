"""Where a report comes from: commit, CI run, date, the systems and what differs between them. It decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.origins import Origin
from pytest_riskguard.text import clean, counted, web_address

if TYPE_CHECKING:
    from pytest_riskguard.build import Build
    from pytest_riskguard.gates.verdict import Verdict

#: The order of documents whose scores are equal, in words.
TIES = {"as_returned": "in the order returned", "docid": "by document id, as trec_eval ranks them"}
#: How many baselines, and how many differences, a line names.
MAX_NAMED = 3


@frozen
class Difference:
    """A key of the metadata whose value differs between candidate and baseline ``system``; None where not given."""

    key: str
    baseline: str | None
    candidate: str | None
    system: str


@frozen
class Provenance:
    """Where a report comes from; None for what is not known.

    ``date`` is UTC, ISO 8601; ``candidate`` the first one that was judged, if there are several; ``judges`` says how
    far the judges of the documents agree, if there are several.
    """

    date: str
    commit: str | None
    branch: str | None
    pull_request: str | None
    repository: str | None
    run_url: str | None
    candidate: Origin | None
    baselines: tuple[Origin, ...]
    judges: str | None = None

    def __post_init__(self) -> None:
        if self.run_url is not None and web_address(self.run_url) != self.run_url:
            expected = "an address with http or https"
            raise ValueError(f"provenance.run_url: expected {expected}, found {self.run_url!r:.60}")

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What differs between the metadata of the candidate and each baseline."""
        if self.candidate is None:
            return ()
        return tuple(one for baseline in self.baselines for one in differences(self.candidate, baseline))

    def days(self, baseline: Origin) -> int | None:
        """How many days before the report a baseline was stored; None if it was not, or nobody knows when."""
        if baseline.stored is None:
            return None
        try:
            earlier, later = _time(baseline.stored), _time(self.date)
        except ValueError:
            return None
        return max((later - earlier).days, 0)


def provenance_of(verdicts: Sequence[Verdict], build: Build, date: str) -> Provenance:
    """Where the report on these verdicts comes from; verdicts on plain scores have only names."""
    known = [verdict.origins for verdict in verdicts if verdict.origins is not None]
    candidate = next((origins.candidate for origins in known), None)
    if candidate is None and verdicts:
        candidate = Origin(verdicts[0].candidate, {})
    baselines = {baseline.name: baseline for origins in known for baseline in origins.baselines}
    for name in (name for verdict in verdicts if verdict.origins is None for name in verdict.baselines):
        baselines.setdefault(name, Origin(name, {}))
    return Provenance(
        date=date,
        commit=build.commit,
        branch=build.branch,
        pull_request=build.pull_request,
        repository=build.repository,
        run_url=build.run_url,
        candidate=candidate,
        baselines=tuple(baselines.values()),
        judges=next((str(origins.judges) for origins in known if origins.judges is not None), None),
    )


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def differences(candidate: Origin, baseline: Origin) -> tuple[Difference, ...]:
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
    candidate = provenance.candidate or Origin("", {})
    parts = [
        commit,
        branch,
        request,
        date,
        *(_stored(provenance, baseline) for baseline in provenance.baselines[:MAX_NAMED]),
    ]
    parts.append(f"equal scores {TIES[candidate.ties]}" if candidate.ties else "")
    parts.append(f"latency {candidate.latency}" if candidate.latency else "")
    changes = list(dict.fromkeys(map(_changed, provenance.differences)))
    parts += changes[:MAX_NAMED]
    parts.append(f"{len(changes) - MAX_NAMED} more differences" if len(changes) > MAX_NAMED else "")
    return "; ".join(filter(None, parts))


def _changed(difference: Difference) -> str:
    before, now = (
        "none" if value is None else clean(value, limit=60) for value in (difference.baseline, difference.candidate)
    )
    return f"{clean(difference.key, limit=60)} {before} -> {now}"


def _stored(provenance: Provenance, baseline: Origin) -> str:
    if (days := provenance.days(baseline)) is None:
        return ""
    commit = f" from commit {clean(baseline.commit, limit=64)[:10]}" if baseline.commit else ""
    when = f"{counted(days, 'day')} ago" if days else "today"
    speed = f", latency then {baseline.latency}" if baseline.latency else ""
    return f"baseline {clean(baseline.name, limit=60)} stored {when}{commit}{speed}"
