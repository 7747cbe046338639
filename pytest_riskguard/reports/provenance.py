"""Where a report comes from: commit, CI run, date and the systems. It decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.verdict import JudgedFile, Origin, Verdict
from pytest_riskguard.reports.parts import Section, Table
from pytest_riskguard.serialization import unless_empty
from pytest_riskguard.text import clean, counted, web_address

if TYPE_CHECKING:
    from pytest_riskguard.build import Build
    from pytest_riskguard.reports.comparisons import Report

#: The order of documents whose scores are equal, in words.
TIES = {"as_returned": "in the order returned", "docid": "by document id, as trec_eval ranks them"}
#: How many baselines a line names; days after which a baseline is called old.
MAX_NAMED, MAX_AGE = 3, 30
_RUN = "CI run"


@frozen
class Provenance:
    """Where a report comes from; None for what is not known.

    ``date`` is UTC, ISO 8601; ``candidate`` the first one that was judged, if there are several; ``files`` say where
    each of them is.
    """

    date: str
    commit: str | None
    branch: str | None
    pull_request: str | None
    repository: str | None
    run_url: str | None
    candidate: Origin | None
    baselines: tuple[Origin, ...]
    files: tuple[JudgedFile, ...] = unless_empty(())

    def __post_init__(self) -> None:
        if self.run_url is not None and web_address(self.run_url) != self.run_url:
            expected = "an address with http or https"
            raise ValueError(f"provenance.run_url: expected {expected}, found {self.run_url!r:.60}")


def days(baseline: Origin, date: str) -> int | None:
    """How many days before a date a baseline was stored; None if it was not, or nobody knows when."""
    try:
        later, earlier = (datetime.fromisoformat(time[:19]) for time in (date, baseline.stored or ""))  # all are UTC
    except ValueError:
        return None
    return max((later - earlier).days, 0)


def age(baseline: Origin, date: str) -> str:
    """How long before a date a baseline was stored, in days and commits: ``stored 34 days, 12 commits ago``."""
    since = days(baseline, date)
    if since is None:
        return ""
    parts = [counted(since, "day")] if since else []
    parts += [counted(baseline.commits, "commit")] if baseline.commits else []
    return f"stored {', '.join(parts)} ago" if parts else "stored today"


def ages(baselines: Sequence[Origin], date: str) -> str:
    """How old baselines are, as far as they were not stored on the day itself."""
    found = [f"{_short(one.name)}: {age(one, date)}" for one in baselines if days(one, date) or one.commits]
    return "; ".join(found[:MAX_NAMED])


def dated(report: Report, folder: Path) -> Report:
    """The report with where it comes from: the commit of the checkout around a folder, and the date."""
    from pytest_riskguard.build import report_date, this_build

    return report._replace(provenance=provenance_of(report.shown.verdicts, this_build(folder), report_date()))


def provenance_of(verdicts: Sequence[Verdict], build: Build, date: str) -> Provenance:
    """Where the report on these verdicts comes from; verdicts on plain scores have only names."""
    known = [verdict.origins for verdict in verdicts if verdict.origins is not None]
    candidates = [origins.candidate for origins in known] + [Origin(verdict.candidate) for verdict in verdicts]
    baselines = dict[tuple[str, str], Origin]()
    for verdict in sorted(verdicts, key=lambda one: one.origins is None):
        stored = map(Origin, verdict.baselines) if verdict.origins is None else verdict.origins.baselines
        for baseline in stored:
            baselines.setdefault((verdict.service, baseline.name), baseline)
    return Provenance(
        date,
        build.commit,
        build.branch,
        build.pull_request,
        build.repository,
        build.run_url,
        candidates[0] if candidates else None,
        tuple(replace(one, name=": ".join(filter(None, key))) for key, one in baselines.items()),
        tuple({origins.file: None for origins in known if origins.file is not None}),
    )


def line(provenance: Provenance) -> str:
    """In one line of plain text: which change, when, and how old its baselines are."""
    return "; ".join(text for text, _ in head(provenance) if text != _RUN)


def head(provenance: Provenance) -> list[tuple[str, str | None]]:
    """The change, when it was judged, and against which baselines: each piece as text, perhaps with its address."""
    repository = web_address(provenance.repository or "")
    name = urlsplit(repository).path.strip("/").removesuffix(".git") if repository else ""
    found = [
        (_short(name or provenance.repository), repository),
        (f"pull request {_short(provenance.pull_request)}" if provenance.pull_request else "", None),
        (f"branch {_short(provenance.branch)}" if provenance.branch else "", None),
        (f"commit {_commit(provenance.commit)}" if provenance.commit else "", None),
        (f"{clean(provenance.date[:16]).replace('T', ' ')} UTC", None),
        *((_stored(provenance, baseline), None) for baseline in provenance.baselines[:MAX_NAMED]),
        (_RUN if provenance.run_url else "", provenance.run_url),
    ]
    return [(text, address) for text, address in found if text]


def section(provenance: Provenance) -> Section:
    """What is known of the systems."""
    systems = [*filter(None, [provenance.candidate]), *provenance.baselines]
    columns = dict.fromkeys(("System", "Stored", "Commit", "Note", "Equal scores"), "text")
    rows = [
        (
            _short(one.name),
            (one.stored or "")[:10],
            _commit(one.commit),
            _short(one.note),
            TIES[one.ties] if one.ties else "",
        )
        for one in systems
    ]
    table = Table("", columns, rows)
    return Section("Where this report comes from", [], [table.filled] if rows else [])


def _stored(provenance: Provenance, baseline: Origin) -> str:
    if (since := days(baseline, provenance.date)) is None:
        return ""
    commit = f" from commit {_commit(baseline.commit)}" if baseline.commit else ""
    old = " (old: what users search for has changed since)" if since > MAX_AGE else ""
    return f"baseline {_short(baseline.name)} {age(baseline, provenance.date)}{commit}{old}"


def _commit(commit: str | None) -> str:
    return clean(commit or "", limit=64)[:10]


def _short(text: str | None) -> str:
    return clean(text or "", limit=60)
