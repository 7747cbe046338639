"""What changed between two systems' rankings, as text, page, JSON, and the table of what to judge first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, zip_longest

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.rankings import DEPTH, Change, to_judge
from pytest_riskguard.gates.slices import groups
from pytest_riskguard.reports.json import document
from pytest_riskguard.reports.numbers import plain
from pytest_riskguard.reports.parts import Section, Table
from pytest_riskguard.text import clean, counted, sentence

SCHEMA = "riskguard-diff/1"
#: Queries whose rankings a terminal and a page show, and that their tables list.
ON_SCREEN, ON_PAGE, LISTED, MOST_LISTED = 2, 50, 10, 1_000
#: Where the distribution of overlaps is cut.
_EDGES = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)


@frozen
class Difference:
    """What changed from a ``baseline`` to a ``candidate``: ``changes`` with those that moved most first.

    ``cause`` is what is likely wrong where all changed alike; ``tags`` are those that are shown.
    """

    baseline: str
    candidate: str
    changes: Sequence[Change]
    cause: str
    queries: Mapping[str, str]
    tags: Mapping[str, Mapping[str, str]]

    @property
    def changed(self) -> list[Change]:
        """Those with any change."""
        return [one for one in self.changes if one.is_changed]

    def to_judge(self) -> list[tuple[str, str]]:
        """Pairs of topic and document to judge first."""
        return to_judge(self.changed)


def dumps(difference: Difference) -> str:
    """All of it as JSON text."""
    changes = [
        {
            "topic": one.topic,
            "query": difference.queries.get(one.topic),
            "overlap": one.overlap,
            "rbo": one.rbo,
            "what": _what(one),
            "before": one.before,
            "after": one.after,
        }
        for one in difference.changes
    ]
    pairs = [{"topic": topic, "document": name} for topic, name in difference.to_judge()]
    content = {
        "baseline": difference.baseline,
        "candidate": difference.candidate,
        "depth": DEPTH,
        **_means(difference.changes),
        "cause": difference.cause or None,
        "changes": changes,
        "to_judge": pairs,
    }
    return document(SCHEMA, content)


def section(difference: Difference, *, steps: Sequence[str], page: bool = False) -> Section:
    """The report, whole for a ``page``; ``steps`` say what to do next."""
    changes, changed = difference.changes, difference.changed
    names = f"{clean(difference.candidate)} against {clean(difference.baseline)}"
    title = f"This measures change, not harm: {names}, {counted(len(changes), 'query', 'queries')}, no judgements"
    if not changed:
        return Section(title, [f"No query has another result in the first {DEPTH}."])
    shown = ON_PAGE if page else ON_SCREEN
    most = changed[: MOST_LISTED if page else LISTED]
    rows = [
        (one.topic, difference.queries.get(one.topic), one.overlap, one.rbo, ", ".join(_what(one))) for one in most
    ]
    columns = {"topic": "name", "query": "name", "overlap": ".2f", f"RBO@{DEPTH}": ".2f", "": "text"}
    more = (
        f"and {len(changed) - len(most)} more: {'the JSON report has' if page else '-o page.html shows'} all"
        if len(changed) > len(most)
        else ""
    )
    parts: list[Table | Section] = [
        _distribution(changes),
        *_slices(difference),
        Table("Queries that moved most", columns, rows, more),
    ]
    rankings = [_rankings(one, difference.queries.get(one.topic)) for one in changed[:shown]]
    next_ = Section("To judge first", steps)
    parts += [next_, *rankings] if page else [*rankings, next_]  # of a page nobody reads the end
    cause = [sentence(difference.cause)] if difference.cause else []
    return Section(title, [*cause, *_summary(changes)], parts, notes=[_LEGEND])


_LEGEND = (
    f"Overlap: the share of the first {DEPTH} results that both have. RBO@{DEPTH}: the same with most weight on the "
    "first ranks (rank-biased overlap, p 0.9); 1 for equal lists. A list that is shorter than the other counts as "
    "changed."
)


def _means(changes: Sequence[Change]) -> dict[str, float | int]:
    number = len(changes)
    return {
        "queries": number,
        "mean_overlap": sum(one.overlap for one in changes) / number,
        "mean_rbo": sum(one.rbo for one in changes) / number,
        "changed": sum(one.is_changed for one in changes),
        "changed_first": sum(one.is_other_first for one in changes),
        "empty": sum(one.is_empty for one in changes),
        "shorter": sum(one.is_shorter for one in changes),
        "new": sum(one.is_new for one in changes),
    }


def _summary(changes: Sequence[Change]) -> list[str]:
    """The figures of all queries in two sentences."""
    of = _means(changes)
    kinds = {
        "changed_first": "another first result",
        "empty": "no result any more",
        "shorter": "fewer results",
        "new": "results where there were none",
    }
    said = ", ".join(f"{of[key] or 'none'} with {what}" for key, what in kinds.items())
    return [
        f"{of['changed']} of {counted(len(changes), 'query', 'queries')} changed in the first {DEPTH} results; mean "
        f"overlap {plain(of['mean_overlap'], 2)}, mean RBO {plain(of['mean_rbo'], 2)}.",
        f"{said[0].upper()}{said[1:]}.",
    ]


def _what(one: Change) -> list[str]:
    """What happened to a query, in a word each."""
    kinds = {
        "empty": one.is_empty,
        "was empty": one.is_new,
        "shorter": one.is_shorter,
        "other first result": one.is_other_first,
    }
    return [word for word, holds in kinds.items() if holds]


def _distribution(changes: Sequence[Change]) -> Table:
    """How many queries have which overlap."""
    rows = [("1", *(sum(value == 1 for value in side) for side in _values(changes)))]
    for high, low in pairwise(_EDGES):
        inside = [sum(low <= value < high for value in side) for side in _values(changes)]
        rows.append((f"{low:g} to below {high:g}", *inside))
    columns = {"from 0 to 1": "text", "queries by overlap": "d", "by RBO": "d"}
    return Table("Distribution", columns, rows)


def _values(changes: Sequence[Change]) -> tuple[list[float], list[float]]:
    """Both figures of each query, without what rounding leaves."""
    return [round(one.overlap, 12) for one in changes], [round(one.rbo, 12) for one in changes]


def _slices(difference: Difference) -> list[Table]:
    """The figures of each value of a tag, those that moved most first."""
    found = []
    for tag, value, places in groups([one.topic for one in difference.changes], difference.tags):
        of = _means([difference.changes[place] for place in places.tolist()])
        figures = [of[key] for key in ("queries", "mean_overlap", "mean_rbo", "changed_first", "empty", "shorter")]
        found.append((f"{clean(tag, limit=40)}={clean(value, limit=60)}", *figures))
    columns = {"tag": "name", "queries": "d", "overlap": ".2f", "RBO": ".2f", "other first": "d", "empty": "d"}
    rows = sorted(found, key=lambda row: row[3])
    return [Table("By tag", columns | {"shorter": "d"}, rows)] if rows else []


def _rankings(one: Change, query: str | None) -> Table:
    """Both rankings of a query, side by side."""
    places = [{document: rank for rank, document in enumerate(side, 1)} for side in one.sides]
    rows = []
    for rank, (before, after) in enumerate(zip_longest(*one.sides), 1):
        left = before if before in places[1] or before is None else f"{before} (gone)"
        was = places[0].get(after or "")
        right = after if was == rank or after is None else f"{after} ({f'was {was}' if was else 'new'})"
        rows.append((str(rank), left, right))
    columns = {"rank": "text", "before": "name", "after": "name"}
    return Table(": ".join(filter(None, [clean(one.topic), clean(query or "")])), columns, rows, none="-")
