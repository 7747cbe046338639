"""Topics as a table as wide as the terminal: scores, change, share of the loss, marks."""

from __future__ import annotations

from pytest_riskguard.gates.findings import ResponsibleTopic
from pytest_riskguard.reports import rendered
from pytest_riskguard.reports.detail import Detail
from pytest_riskguard.reports.text import clean, plain, signed

#: From this width on the table has room for long headings beside the query texts.
_WIDE = 90
#: Limits of ``no_topic_collapse`` as the table marks them.
_LIMITS = {"max_loss": "loss", "max_share": "share", "protected": "protected"}


def table(topics: tuple[ResponsibleTopic, ...], detail: Detail, *, shares: bool = True) -> list[str]:
    """The rows as lines, indented; ``shares`` says whether each topic's share of the loss is one of the columns."""
    from rich.cells import cell_len
    from rich.text import Text

    rows = rendered.bare_table()
    with_queries = any(topic.query for topic in topics)
    narrow = detail.width < _WIDE
    widest = 16 if narrow and with_queries else 24
    longest = max(cell_len(clean(topic.topic)) for topic in topics)
    rows.add_column("topic", no_wrap=True, overflow="ellipsis", min_width=min(longest, widest), max_width=widest)
    scores = [f"{plain(topic.baseline)} -> {plain(topic.candidate)}" for topic in topics]
    figures = (
        ("scores" if narrow else "baseline -> candidate", max(map(len, scores))),
        ("change" if narrow else "difference", max(len(signed(topic.difference)) for topic in topics)),
        *([("of loss", 7)] if shares else []),
        ("", max(map(len, map(marks, topics)))),
    )
    widths = [max(width, len(name)) for name, width in figures]
    if with_queries:
        # The query takes what the topic and the figures leave: these are never cut.
        left = max(detail.width - 4, 60) - min(longest, widest) - sum(widths) - 2 * (len(widths) + 1)
        rows.add_column("query", no_wrap=True, overflow="ellipsis", max_width=max(left, 8))
    for (name, _), width in zip(figures, widths, strict=True):
        right = name in {"change", "difference", "of loss"}
        rows.add_column(name, no_wrap=True, min_width=width, justify="right" if right else "left")
    for topic, score in zip(topics, scores, strict=True):
        cells = [clean(topic.topic)]
        if with_queries:
            cells.append(_fitting(clean(topic.query or ""), max(left, 8)))
        cells += [score, signed(topic.difference)]
        if shares:
            cells.append(f"{100 * (topic.share or 0):.1f} %")
        cells.append(marks(topic))
        rows.add_row(*(Text(cell) for cell in cells))
    return ["    " + line for line in rendered.lines(rows, width=max(detail.width - 4, 60))]


def _fitting(text: str, width: int) -> str:
    """Cut to so many columns of a terminal, where wide characters take two."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def marks(topic: ResponsibleTopic) -> str:
    """What is remarkable in a topic: the limits that it exceeds, or whether it is flagged and flips the verdict."""
    if topic.exceeds:
        return ", ".join(_LIMITS[name] for name in topic.exceeds)
    return ", ".join(mark for mark, on in (("flagged", topic.flagged), ("flips it", topic.flips_verdict)) if on)
