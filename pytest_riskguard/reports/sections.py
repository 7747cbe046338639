"""The parts of a report under its figures, the same in every format: documents, slices, judgements, pool, settings.

A terminal shows the sentences of a section, a page its text and tables. Cells are plain text: each format escapes
them, and leaves out rows for which it has no room.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pytest_riskguard.gates.findings import (
    MovedDocument,
    Slice,
    TopicDocuments,
    TopicGroup,
)
from pytest_riskguard.gates.kinds import options_of
from pytest_riskguard.gates.verdict import JSON_TYPES, Verdict
from pytest_riskguard.reports.shown import OUTCOMES, Shown
from pytest_riskguard.text import clean, counted, listed, percent, plain, probability, sentence, short, signed

#: Topics, documents that moved and documents in their place that a terminal shows, unless everything was asked for.
_MAX_TOPICS, _MAX_MOVED, _MAX_NEW = 3, 2, 1
#: Longest id of a document, value of a tag and name of a tag.
_MAX_ID, _MAX_TAG = 60, 40
#: Risky slices that a terminal shows: tags overlap, so the first ones say most.
_MAX_SLICES = 2
#: Topics of a group that are named, and topics with unjudged documents that a table lists.
_MAX_NAMED, _MAX_UNJUDGED = 8, 20


@dataclass(frozen=True)
class Column:
    """A column of a table: names are text of other people, numbers are set to the right."""

    label: str
    kind: Literal["name", "text", "number"] = "text"


@dataclass(frozen=True)
class Table:
    """Rows of cells, in the order of the columns; the note says how to read them."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a report: ``sentences`` for a terminal; ``text`` and ``tables`` for a page."""

    key: str
    title: str
    sentences: tuple[str, ...] = ()
    text: str = ""
    tables: tuple[Table, ...] = ()


def sections(verdict: Verdict) -> tuple[Section, ...]:
    """Those that the verdict has something for, in the order in which a page shows them."""
    parts = (documents(verdict), slices(verdict), judgements(verdict), _pool(verdict), _lineage(verdict))
    return (*filter(None, parts), _settings(verdict))


def _name(label: str) -> Column:
    return Column(label, "name")


def _numbers(*labels: str) -> tuple[Column, ...]:
    return tuple(Column(label, "number") for label in labels)


def topics(shown: Shown) -> Table:
    """The topics that a failure lists, most harmful first."""
    by_topic = shown.verdict.asked.by_topic  # then nothing adds up: each topic has its own limit
    with_queries = any(topic.query for topic in shown.losers)
    columns = (
        _name("topic"),
        *([_name("query")] if with_queries else []),
        Column("baseline -> candidate"),
        *_numbers("difference", *([] if by_topic else ["of loss"])),
        Column(""),
    )
    return Table(
        "Topics responsible",
        columns,
        tuple(
            (
                topic.topic,
                *([topic.query or ""] if with_queries else []),
                f"{plain(topic.baseline)} -> {plain(topic.candidate)}",
                signed(topic.difference),
                *([] if by_topic else [percent(topic.share or 0, 1)]),
                shown.marks(topic, flagged=topic.flagged, flips=topic.flips_verdict),
            )
            for topic in shown.losers
        ),
    )


def documents(verdict: Verdict, *, everything: bool = True) -> Section | None:
    """What moved in each topic; in sentences in the topics that a failure lists."""
    if not verdict.documents:
        return None
    by_topic = {one.topic: one for one in verdict.documents}
    listed_topics = [by_topic[topic.topic] for topic in Shown(verdict).losers if topic.topic in by_topic]
    sentences = (
        _moved_in(one, everything=everything) for one in listed_topics[: None if everything else _MAX_TOPICS]
    )
    return Section(
        "documents",
        "Documents that moved",
        sentences=tuple(filter(None, sentences)),
        tables=tuple(map(_documents, verdict.documents)),
    )


def _documents(topic: TopicDocuments) -> Table:
    depth = f"the first {topic.depth} ranks" if topic.depth else "all ranks"
    if topic.exact:
        note = f"The measure looks at {depth}. The effects add up to the topic's difference."
    else:
        note = (
            f"The measure looks at {depth}. An effect is what restoring this document alone to its baseline rank "
            "would gain; effects need not add up."
        )
    moved, new = counted(len(topic.moved), "document"), len(topic.replacements)
    return Table(
        f"{clean(topic.topic, limit=120)}: {moved} moved, {new} new",
        (_name("Document"), Column("Grade"), *_numbers("Baseline rank", "Candidate rank", "Effect")),
        (
            *((*_document(document), signed(document.effect)) for document in topic.moved),
            *((*_document(document), "new") for document in topic.replacements),
        ),
        note,
    )


def _document(document: MovedDocument) -> tuple[str, ...]:
    ranks = (
        "not in the run" if rank is None else str(rank) for rank in (document.baseline_rank, document.candidate_rank)
    )
    return (document.document, "unjudged" if document.grade is None else str(document.grade), *ranks)


def _moved_in(documents: TopicDocuments, *, everything: bool) -> str | None:
    # A document that gained does not explain the topic's loss, so only -vv shows it.
    moved = documents.moved if everything else tuple(d for d in documents.moved if d.effect < 0)
    most_moved, most_new = (len(moved), len(documents.replacements)) if everything else (_MAX_MOVED, _MAX_NEW)
    parts = [_moved(document, effect=everything) for document in moved[:most_moved]]
    if (rest := len(moved) - most_moved) > 0:
        parts.append(f"{counted(rest, 'more relevant document')} lost ranks")
    if new := documents.replacements[:most_new]:
        parts += [f"new at rank {document.candidate_rank}: {_named(document)}" for document in new]
    return f"{clean(documents.topic, limit=_MAX_ID)}: {'; '.join(parts)}" if parts else None


def _moved(document: MovedDocument, *, effect: bool) -> str:
    if document.baseline_rank is None:
        text = f"{_named(document)} entered at rank {document.candidate_rank}"
    elif document.candidate_rank is None:
        text = f"{_named(document)} dropped from rank {document.baseline_rank} out of the run"
    else:
        text = f"{_named(document)} rank {document.baseline_rank} -> {document.candidate_rank}"
    return f"{text}, {signed(document.effect)}" if effect else text


def _named(document: MovedDocument) -> str:
    grade = "unjudged" if document.grade is None else f"grade {document.grade}"
    return f"{clean(document.document, limit=_MAX_ID)} ({grade})"


def slices(verdict: Verdict, *, everything: bool = True) -> Section | None:
    """Groups of topics that changed alike, and each slice, the worst first; in sentences the risky ones."""
    if verdict.explanation is None or not (verdict.explanation.slices or verdict.explanation.groups):
        return None
    shown = Shown(verdict)
    worst = sorted(verdict.explanation.slices, key=lambda one: (not one.risky, round(one.urisk, 12)))
    risky = [one for one in worst if one.risky]
    sentences = [_on_slice(shown, one) for one in (worst if everything else risky[:_MAX_SLICES])]
    if not everything and (rest := len(risky) - _MAX_SLICES) > 0:
        sentences.append(
            f"{counted(rest, 'more slice')} {'is' if rest == 1 else 'are'} significantly risky, -vv shows all"
        )
    tables = []
    if verdict.explanation.groups:
        columns = (
            _name("Tag"),
            Column("Change"),
            *_numbers("Topics", "Topics with the tag", "Contribution", "Share"),
            _name("Which"),
        )
        rows = tuple(_group(shown, group) for group in verdict.explanation.groups)
        tables.append(Table("Topics that changed alike", columns, rows))
    if worst:
        columns = (
            _name("Slice"),
            *_numbers("Topics", "Wins", "Losses", "Mean change", "URisk"),
            Column("Interval"),
            *_numbers("p (Holm)"),
            Column("Risky"),
            *_numbers("Flagged"),
        )
        tables.append(Table("The comparison on each slice", columns, tuple(_slice(shown, one) for one in worst)))
    return Section("slices", "Topics by tag", sentences=tuple(sentences), tables=tuple(tables))


def _group(shown: Shown, group: TopicGroup) -> tuple[str, ...]:
    return (
        _tagged(group),
        group.change,
        str(len(group.topics)),
        str(group.tagged),
        shown.value(group.contribution),
        "" if group.share is None else percent(group.share, 1),
        listed(group.topics, most=_MAX_NAMED),
    )


def _slice(shown: Shown, one: Slice) -> tuple[str, ...]:
    untested = "too few topics" if shown.slices_are_tested else "not tested"
    return (
        _tagged(one),
        str(one.count),
        str(one.wins),
        str(one.losses),
        signed(one.mean_difference),
        shown.value(one.urisk),
        untested if one.lower is None or one.upper is None else shown.limits(one.lower, one.upper),
        "" if one.adjusted_p_value is None else probability(one.adjusted_p_value),
        "" if one.risky is None else _yes_or_no(one.risky),
        str(len(one.flagged)),
    )


def _on_slice(shown: Shown, one: Slice) -> str:
    risk = shown.value(one.urisk)
    if one.lower is not None and one.upper is not None:
        risk += f" {shown.limits(one.lower, one.upper)}"
    answer = "significantly risky, " if one.risky else ""
    moved = f"{counted(one.losses, 'loss', 'losses')} and {counted(one.wins, 'win')} on {counted(one.count, 'topic')}"
    text = f"slice {_tagged(one)}: {answer}URisk {risk}, mean {signed(one.mean_difference)}; {moved}"
    if one.adjusted_p_value is not None:
        return f"{text}; p {probability(one.adjusted_p_value)} among the slices (Holm)"
    return f"{text}; too few topics for an interval" if shown.slices_are_tested else text


def _tagged(one: Slice | TopicGroup) -> str:
    return f"{clean(one.tag, limit=_MAX_TAG)}={clean(one.value, limit=_MAX_ID)}"


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def judgements(verdict: Verdict, *, everything: bool = True) -> Section | None:
    """Whether the outcome rests on unjudged documents; in sentences where it does, or everything was asked for."""
    found = verdict.judgements
    if found is None:
        return None
    shown, title = Shown(verdict), "Unjudged documents"
    if not found.documents:
        return Section("judgements", title, text=f"Every document in the first {found.depth} ranks was judged.")
    where = (
        f"{counted(found.documents, 'unjudged document')} in the first {found.depth} ranks ({found.candidate} of the "
        f"candidate, {found.baseline} of the baseline)"
    )
    answer = f"this verdict rests on {where}" if found.depends else f"the outcome does not depend on {where}"
    sentences = [f"judgements: {answer}"] if everything or found.depends else []
    if found.depends:
        cases = [case for case in found.cases if everything or case.outcome != verdict.outcome]
        sentences[0] += ": " + "; ".join(
            f"it {OUTCOMES.get(case.outcome, f'is {case.outcome}')} if {shown.case(case)} "
            f"(URisk {shown.value(case.urisk)})"
            for case in cases
        )
    advice = " riskguard judge-next lists those to judge first." if found.depends else ""
    cases_table = Table(
        "The verdict in each case",
        (Column("If"), *_numbers("URisk"), Column("Outcome")),
        tuple((shown.case(case), shown.value(case.urisk), case.outcome) for case in found.cases),
    )
    topics_table = Table(
        "Topics with the most unjudged documents",
        (_name("Topic"), *_numbers("Candidate", "Baseline")),
        tuple((t.topic, str(t.candidate), str(t.baseline)) for t in found.topics[:_MAX_UNJUDGED]),
    )
    tables = tuple(table for table in (cases_table, topics_table) if table.rows)
    return Section("judgements", title, tuple(sentences), sentence(answer) + advice, tables)


def _pool(verdict: Verdict) -> Section | None:
    """The systems of a pool, and the candidate against each reference."""
    pool, shown = verdict.pool, Shown(verdict)
    if pool is None:
        return None
    zrisk, roles = verdict.estimates.zrisk or {}, {pool.decided_by: " (reference)", verdict.candidate: " (candidate)"}
    systems = tuple(
        (
            f"{clean(system, limit=80)}{roles.get(system, '')}",
            shown.level_of_risk(georisk),
            shown.value(zrisk[system]) if system in zrisk else "",
            percent(pool.probability_below[system], 1) if system in pool.probability_below else "",
        )
        for system, georisk in sorted((verdict.estimates.georisk or {}).items(), key=lambda one: -one[1])
    )
    references = tuple(
        (
            one.reference,
            shown.value(one.georisk_difference),
            shown.limits(one.lower, one.upper),
            probability(one.adjusted_p_value),
            _yes_or_no(one.passes),
        )
        for one in pool.references
    )
    return Section(
        "pool",
        "Pool",
        tables=(
            Table(
                "Systems, highest GeoRisk first",
                (_name("System"), *_numbers("GeoRisk", "ZRisk", "Candidate below it")),
                systems,
            ),
            Table(
                "Against each reference",
                (
                    _name("Reference"),
                    *_numbers("Difference"),
                    Column("Interval"),
                    *_numbers("p (Holm)"),
                    Column("Passes"),
                ),
                references,
            ),
        ),
    )


def _lineage(verdict: Verdict) -> Section | None:
    """The accepted runs of the baseline."""
    if verdict.lineage is None:
        return None
    rows = tuple(
        (
            run.run,
            plain(run.mean),
            "" if run.mean_difference is None else signed(run.mean_difference),
            signed(run.cumulative_mean_difference),
            Shown(verdict).value(run.urisk),
        )
        for run in verdict.lineage.runs
    )
    columns = (
        _name("Run"),
        *_numbers("Mean", "Against the previous run", "Against the oldest", "URisk against the oldest"),
    )
    title = "Accepted runs of the baseline, oldest first, then the candidate"
    return Section("lineage", "Accepted changes", tables=(Table(title, columns, rows),))


def _settings(verdict: Verdict) -> Section:
    """The options of the gate that a report holds, and digests of what was compared."""
    asked, inputs = verdict.asked, verdict.inputs
    options = [(name, _setting(getattr(asked, name))) for name in options_of(type(asked)) if name in JSON_TYPES]
    options = [("kind", asked.kind), *options, ("replicates", str(verdict.replicates))]
    digests: list[tuple[str, str | None]] = []
    if inputs is not None:
        digests += [("qrels", inputs.qrels), ("candidate", inputs.candidate)]
        digests += [(f"baseline {name}", digest) for name, digest in inputs.baselines.items()]
        digests += [(f"replicate {place}", digest) for place, digest in enumerate(inputs.replicates, 1)]
    settings = Table(
        "Settings",
        (_name("Option"), _name("Value")),
        tuple((name, value) for name, value in options if value),
        note="" if digests else "No digests: the scores did not come from files.",
    )
    missing = "none: it could not be read, or is not a file"
    rows = tuple((name, digest or missing) for name, digest in digests)
    tables = (settings, Table("Digests", (_name("Input"), _name("Digest")), rows)) if rows else (settings,)
    return Section("settings", "Settings and inputs", tables=tables)


def _setting(value: Any) -> str:
    """The value of an option as people write it; empty where it is none."""
    if isinstance(value, bool):
        return _yes_or_no(value)
    if isinstance(value, int | float):
        return short(value)
    return listed(value, most=_MAX_NAMED) if isinstance(value, tuple) else value or ""
