"""What changed between two systems' rankings, as text, page and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import Any

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.rankings import DEPTH, EMPTY, NEW, OTHER_FIRST, SHORTER, Change, Rankings, cause, to_judge
from pytest_riskguard.gates.slices import groups
from pytest_riskguard.reports.json import document
from pytest_riskguard.reports.numbers import plain
from pytest_riskguard.reports.parts import Section, Table
from pytest_riskguard.text import clean, counted, sentence

SCHEMA = "riskguard-diff/1"
#: Queries whose rankings a terminal and a page show, and that their tables list.
ON_SCREEN, ON_PAGE, LISTED, MOST_LISTED = 2, 50, 10, 1_000
#: So many equal parts of overlaps are counted, and those that are 1.
_PARTS = 5
_WHAT = {
    OTHER_FIRST: "another first result",
    EMPTY: "no result any more",
    SHORTER: "fewer results",
    NEW: "results where there were none",
}
_LEGEND = (
    f"Overlap: the share of the first {DEPTH} results that both have. RBO@{DEPTH}: the same with most weight on the "
    "first ranks (rank-biased overlap, p 0.9); 1 for equal lists. A list that is shorter than the other counts as "
    "changed."
)


@frozen
class Difference:
    """What changed from ``before`` to ``after``: ``changes`` with those that moved most first, and tags of topics."""

    before: Rankings
    after: Rankings
    changes: Sequence[Change]
    tags: Mapping[str, Mapping[str, str]]

    @cached_property
    def changed(self) -> list[Change]:
        """Those with any change."""
        return [one for one in self.changes if one.is_changed]

    @cached_property
    def cause(self) -> str:
        """What is likely wrong where all changed alike."""
        return cause(self.before.lists, self.after.lists)

    @cached_property
    def queries(self) -> Mapping[str, str]:
        """Query texts, where they are not the topic's id."""
        queries = {**self.before.queries, **self.after.queries}
        return {
            one.topic: queries[one.topic] for one in self.changes if queries.get(one.topic, one.topic) != one.topic
        }

    @cached_property
    def to_judge(self) -> list[tuple[str, str]]:
        """Pairs of topic and document to judge first."""
        return to_judge(self.changed)


def dumps(difference: Difference) -> str:
    """All of it as JSON text."""
    content = {
        "baseline": difference.before.name,
        "candidate": difference.after.name,
        "depth": DEPTH,
        **_figures(difference.changes),
        "cause": difference.cause or None,
        "texts": difference.queries,
        "changes": difference.changes,
        "to_judge": difference.to_judge,
    }
    return document(SCHEMA, content)


def section(difference: Difference, *, steps: Sequence[str], page: bool = False) -> Section:
    """The report, whole for a ``page``; ``steps`` say what to do next."""
    changes, changed, queries = difference.changes, difference.changed, difference.queries
    names, of = f"{clean(difference.after.name)} against {clean(difference.before.name)}", _figures(changes)
    every = counted(len(changes), "query", "queries")
    title = f"This measures change, not harm: {names}, {every}, no judgements"
    if not changed:
        return Section(title, [f"No query has another result in the first {DEPTH}."])
    means = f"mean overlap {plain(of['mean_overlap'], 2)}, mean RBO {plain(of['mean_rbo'], 2)}"
    what = ", ".join(f"{of['counts'][word] or 'none'} with {text}" for word, text in _WHAT.items())
    said = [difference.cause] if difference.cause else []
    said += [f"{len(changed)} of {every} changed in the first {DEPTH} results; {means}", what]
    rows = [(one.topic, queries.get(one.topic), one.overlap, one.rbo, ", ".join(one.what)) for one in changed]
    listed = rows[: MOST_LISTED if page else LISTED]
    more = "" if listed == rows else f"{len(rows) - len(listed)} more are in -o diff.{'json' if page else 'html'}"
    columns = {"topic": "name", "query": "name", "overlap": ".2f", f"RBO@{DEPTH}": ".2f", "": "text"}
    tables = [_distribution(changes), _by_tag(difference), Table("Queries that moved most", columns, listed, more)]
    parts: list[Table | Section] = [table for table in tables if table.rows]
    rankings = [_rankings(one, queries.get(one.topic, "")) for one in changed[: ON_PAGE if page else ON_SCREEN]]
    next_ = Section("To judge first", steps)
    parts += [next_, *rankings] if page else [*rankings, next_]  # nobody reads the end of a page
    return Section(title, list(map(sentence, said)), parts, notes=[_LEGEND])


def _figures(changes: Sequence[Change]) -> dict[str, Any]:
    """The figures of some queries."""
    number, found = len(changes), Counter(word for one in changes for word in one.what)
    return {
        "queries": number,
        "mean_overlap": sum(one.overlap for one in changes) / number,
        "mean_rbo": sum(one.rbo for one in changes) / number,
        "changed": sum(one.is_changed for one in changes),
        "counts": {word: found[word] for word in _WHAT},
    }


def _distribution(changes: Sequence[Change]) -> Table:
    """How many queries have which overlap."""
    figures = [[round(one.overlap, 12) for one in changes], [round(one.rbo, 12) for one in changes]]
    counts = [Counter(int(value * _PARTS) for value in side) for side in figures]
    rows = [
        (
            f"{part / _PARTS:g}" + f" to below {(part + 1) / _PARTS:g}" * (part < _PARTS),
            *(side[part] for side in counts),
        )
        for part in range(_PARTS, -1, -1)
    ]
    return Table("Distribution", {"from 0 to 1": "text", "queries by overlap": "d", "by RBO": "d"}, rows)


def _by_tag(difference: Difference) -> Table:
    """The figures of each value of a tag, those that moved most first."""
    rows = []
    for tag, value, places in groups([one.topic for one in difference.changes], difference.tags):
        of = _figures([difference.changes[place] for place in places.tolist()])
        rows.append((f"{tag}={value}", of["queries"], of["mean_overlap"], of["mean_rbo"], *of["counts"].values()))
    columns = {"tag": "name", "queries": "d", "overlap": ".2f", "RBO": ".2f", **dict.fromkeys(_WHAT, "d")}
    return Table("By tag", columns, sorted(rows, key=lambda row: row[3]))


def _rankings(one: Change, query: str) -> Table:
    """Both rankings of a query, side by side."""
    rows = []
    for rank, (old, new) in enumerate(zip_longest(one.before, one.after), 1):
        was = one.before.index(new) + 1 if new in one.before else None
        left = f"{old} (gone)" if old and old not in one.after else old
        right = new if new is None or was == rank else f"{new} ({f'was {was}' if was else 'new'})"
        rows.append((str(rank), left, right))
    columns = {"rank": "text", "before": "name", "after": "name"}
    return Table(": ".join(filter(None, (clean(one.topic), clean(query)))), columns, rows, none="-")
