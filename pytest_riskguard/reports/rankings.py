"""What changed between two systems' rankings, as text, page and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from statistics import fmean
from typing import Any

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.rankings import DEPTH, Change, Difference
from pytest_riskguard.gates.slices import groups
from pytest_riskguard.reports.json import document
from pytest_riskguard.reports.numbers import plain
from pytest_riskguard.reports.parts import Section, Table
from pytest_riskguard.reports.words import HAPPENED
from pytest_riskguard.text import clean, counted, sentence

#: Queries whose rankings a terminal and a page show, and that their tables list.
ON_SCREEN, ON_PAGE, LISTED, MOST_LISTED = 2, 50, 10, 1_000
_LEGEND = (
    f"Overlap: the share of the first {DEPTH} results that both have. RBO@{DEPTH}: the same with most weight on the "
    "first ranks (rank-biased overlap, p 0.9); 1 for equal lists. A list that is shorter than the other counts as "
    "changed."
)


def dumps(difference: Difference) -> str:
    """All of it as JSON text."""
    content = {
        "baseline": difference.before.name,
        "candidate": difference.after.name,
        "depth": DEPTH,
        **_figures(difference.changes),
        "changed": len(difference.changed),
        "cause": difference.cause or None,
        "texts": difference.queries,
        "changes": difference.changes,
        "to_judge": difference.to_judge,
    }
    return document("riskguard-diff/1", content)


def section(difference: Difference, topics: Topics | None, step: str, *, page: bool) -> Section:
    """The report, whole for a ``page``; ``step`` says what to do next."""
    changed, queries, of = difference.changed, difference.queries, _figures(difference.changes)
    every = counted(len(difference.changes), "query", "queries")
    names = f"{clean(difference.after.name)} against {clean(difference.before.name)}"
    title = f"This measures change, not harm: {names}, {every}, no judgements"
    if not changed:
        return Section(title, [f"No query has another result in the first {DEPTH}."])
    means = f"mean overlap {plain(of['mean_overlap'], 2)}, mean RBO {plain(of['mean_rbo'], 2)}"
    said = [
        difference.cause,
        f"{len(changed)} of {every} changed in the first {DEPTH} results; {means}",
        ", ".join(f"{of['counts'][word] or 'none'} {text}" for word, text in HAPPENED.items()),
    ]
    listed = changed[: MOST_LISTED if page else LISTED]
    rows = [(one.topic, queries.get(one.topic), one.overlap, one.rbo, ", ".join(one.what)) for one in listed]
    more = f"{len(changed) - len(rows)} more are in -o diff.{'json' if page else 'html'}" * (listed != changed)
    columns = {"topic": "name", "query": "name", "overlap": ".2f", f"RBO@{DEPTH}": ".2f", "": "text"}
    tables = _by_tag(difference.changes, topics), Table("Queries that moved most", columns, rows, more)
    moved = [table for table in tables if table.rows]
    rankings = [_rankings(one, queries.get(one.topic, "")) for one in changed[: ON_PAGE if page else ON_SCREEN]]
    next_ = [Section("To judge first", [step])] if step else []
    parts: list[Table | Section]
    parts = [*moved, *next_, *rankings] if page else [*moved, *rankings, *next_]  # nobody reads the end of a page
    return Section(title, [sentence(one) for one in said if one], parts, notes=[_LEGEND])


def _figures(changes: Sequence[Change]) -> dict[str, Any]:
    """The figures of some queries."""
    found = Counter(word for one in changes for word in one.what)
    return {
        "queries": len(changes),
        "mean_overlap": fmean(one.overlap for one in changes),
        "mean_rbo": fmean(one.rbo for one in changes),
        "counts": {word: found[word] for word in HAPPENED},
    }


def _by_tag(changes: Sequence[Change], topics: Topics | None) -> Table:
    """The figures of each value of a tag, those that moved most first."""
    rows = []
    for tag, value, places in groups([one.topic for one in changes], {} if topics is None else topics.tags):
        of = _figures([changes[place] for place in places.tolist()])
        rows.append((f"{tag}={value}", of["queries"], of["mean_overlap"], of["mean_rbo"], *of["counts"].values()))
    columns = {"tag": "name", "queries": "d", "overlap": ".2f", "RBO": ".2f", **dict.fromkeys(HAPPENED, "d")}
    return Table("By tag", columns, sorted(rows, key=lambda row: row[3]))


def _rankings(one: Change, query: str) -> Table:
    """Both rankings of a query, side by side."""
    rows = []
    for rank, (old, new) in enumerate(zip_longest(one.before, one.after), 1):
        was = one.before.index(new) + 1 if new in one.before else None
        left = old and old + " (gone)" * (old not in one.after)
        right = new if new is None or was == rank else f"{new} ({f'was {was}' if was else 'new'})"
        rows.append((str(rank), left, right))
    columns = {"rank": "text", "before": "name", "after": "name"}
    return Table(": ".join(filter(None, (clean(one.topic), clean(query)))), columns, rows, none="-")
