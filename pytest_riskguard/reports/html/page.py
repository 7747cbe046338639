"""The page of verdicts: their comparisons, its title and its script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markupsafe import Markup

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.comparisons import KnownGate, answer, comparisons, missing, title
from pytest_riskguard.reports.html.comparison import STATIC_ROWS, ComparisonView, comparison_view
from pytest_riskguard.reports.html.whole_page import MAX_BYTES, anchors, asset, script_json, topic_anchor, whole_page
from pytest_riskguard.reports.parts import Table
from pytest_riskguard.reports.provenance import TIES
from pytest_riskguard.text import clean, counted, web_address

if TYPE_CHECKING:
    from pytest_riskguard.gates.origins import Origin
    from pytest_riskguard.reports.provenance import Provenance


#: Comparisons that are in the page as a whole, more of them if they fail; others are rendered when they are opened.
_MAX_FULL, _MAX_FULL_FAILED = 2, 4
#: Bytes that the charts of all gates may take together.
_CHART_BYTES = 2_000_000
_SCRIPTS = ("base.js", "tooltips.js", "rankings.js", "search.js", "topics.js", "navigation.js")


def document(
    verdicts: Sequence[Verdict],
    known: Sequence[KnownGate] = (),
    *,
    provenance: Provenance | None = None,
    policy_changes: Sequence[str] = (),
) -> str:
    """The page for these verdicts; it names the gates that were not judged."""
    views = _views(verdicts, known)
    share = MAX_BYTES // max(len(views), 1)
    data = {"comparisons": [view.data(share) for view in views], "shown": STATIC_ROWS}
    return whole_page(
        "page.html",
        title=_title(verdicts, views, known),
        style="print.css",
        script=_script(),
        comparisons=views,
        gates=sum(len(view.gates) for view in views),
        failed=sum(view.failed for view in views),
        unjudged=missing(known),
        provenance=provenance and _where_from(provenance),
        policy_changes=policy_changes,
        topic_anchor=topic_anchor,
        static_rows=STATIC_ROWS,
        data=Markup(script_json(data)),  # noqa: S704
    )


def _views(verdicts: Sequence[Verdict], known: Sequence[KnownGate]) -> list[ComparisonView]:
    """The comparisons, those that fail first."""
    owners = {place: gate for gate in known for place in gate.verdicts}
    ids = anchors([verdict.gate for verdict in verdicts])
    views, budget, complete = [], _CHART_BYTES, not missing(known)
    for place, comparison in enumerate(comparisons(verdicts), 1):
        full = place <= (_MAX_FULL_FAILED if comparison.failed else _MAX_FULL)
        view = comparison_view(
            comparison, place=place, anchors=ids, known=owners, full=full, run=verdicts, complete=complete
        )
        view, budget = view.with_charts(budget)
        views.append(view)
    return views


def _title(verdicts: Sequence[Verdict], views: Sequence[ComparisonView], known: Sequence[KnownGate]) -> str:
    """The answer of the run in a line, with the cause where there is only one comparison."""
    said = answer(verdicts, known)
    if len(views) == 1 and views[0].card.tone == said.tone:
        return "; ".join(filter(None, (f"{views[0].mark} {views[0].title}", title(known))))
    return f"{said.mark} {said.title}"


@cache
def _script() -> str:
    """The script: its parts in one function, so that no name is visible outside of it."""
    return '"use strict";\n(() => {\n' + "".join(map(asset, _SCRIPTS)) + "})();\n"


#: A baseline that is older, in days, is marked: what users search for has changed since.
MAX_AGE = 30
#: Characters of a commit that a line shows, and of any other text.
_COMMIT, _MAX_TEXT = 7, 120


@frozen
class Item:
    """A piece of a line; ``href`` makes it a link, ``old`` marks it."""

    text: str
    href: str | None = None
    old: bool = False


def _where_from(provenance: Provenance) -> dict[str, Any]:
    """The line at the top; at the end the facts, what differs between the systems, and the baselines."""
    columns = {"Name": "name", **dict.fromkeys(("Stored", "Age", "Commit", "Note", "Metadata"), "text")}
    changes = [(one.key, one.baseline or None, one.candidate or None) for one in provenance.differences]
    title, named = "What differs between the systems, according to their metadata", ("Key", "Baseline", "Candidate")
    return {
        "head": _head(provenance),
        "facts": _facts(provenance),
        "differences": Table(title, dict.fromkeys(named, "name"), changes, none="not given"),
        "baselines": Table("Baselines", columns, [_row(provenance, one) for one in provenance.baselines]).filled,
    }


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
            days = provenance.days(baseline)
            old = f", {counted(days, 'day')} old" if _is_old(days) and days else ""
            items.append(Item(f"baseline stored {baseline.stored[:10]}{old}", old=_is_old(days)))
    if not provenance.baselines and provenance.commit:
        items.append(Item(change))
    address = web_address(provenance.run_url) if provenance.run_url else None
    if address:
        items.append(Item("CI run", address))
    return items


def _facts(provenance: Provenance) -> list[tuple[str, Item]]:
    """Label and value of everything that is known."""
    address = web_address(provenance.run_url) if provenance.run_url else None
    candidate = provenance.candidate
    latency = None if candidate is None else candidate.latency
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
    facts.append(("Judges", Item(clean(provenance.judges or "", limit=400))))
    return [(label, item) for label, item in facts if item.text]


def _row(provenance: Provenance, baseline: Origin) -> tuple[str, ...]:
    """Cells of the table of baselines."""
    days = provenance.days(baseline)
    age = "" if days is None else counted(days, "day") + ": old" * _is_old(days)
    stored, metadata = (baseline.stored or "")[:10], _pairs(baseline.metadata)
    return _short(baseline.name), stored, age, _commit(baseline.commit), _short(baseline.note), metadata


def _is_old(days: int | None) -> bool:
    return days is not None and days > MAX_AGE


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
