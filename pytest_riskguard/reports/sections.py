"""The parts of a report under its figures, the same in every format: documents, slices, judgements, pool, settings.

A terminal shows the sentences of a section, a page its text and tables. Cells are plain text: each format escapes
them, and leaves out rows for which it has no room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import RankedDocument, ResponsibleTopic, Slice, TopicDocuments, TopicGroup
from pytest_riskguard.gates.kinds import options_of
from pytest_riskguard.gates.rankings.label_findings import Judgements
from pytest_riskguard.gates.verdict import BELOW, JSON_TYPES, Verdict
from pytest_riskguard.reports.parts import Table
from pytest_riskguard.reports.shown import OUTCOMES, Shown
from pytest_riskguard.reports.wording.sentences import from_to
from pytest_riskguard.text import clean, counted, listed, percent, plain, probability, sentence, short, signed

T = TypeVar("T")

#: How many topics, documents that moved and documents that replaced them a terminal shows, unless all are asked for.
_MAX_TOPICS, _MAX_MOVED, _MAX_NEW = 3, 2, 1
#: Longest id of a document, value of a tag and name of a tag.
_MAX_ID, _MAX_TAG = 60, 40
#: Risky slices that a terminal shows: tags overlap, so the first ones say most.
_MAX_SLICES = 2
#: Topics of a group that are named.
_MAX_NAMED = 8


@frozen
class Part:
    """A part of a verdict's report: ``sentences`` for a terminal; ``text`` and ``tables`` for a page."""

    key: str
    title: str
    sentences: tuple[str, ...] = ()
    text: str = ""
    tables: tuple[Table, ...] = ()


Cell = Callable[[T], object]
#: The label of a column, what it holds, and what makes its cell for an item.
CellsOf = tuple[str, str, Cell[T]]


def _table(title: str, items: Iterable[T], *columns: CellsOf[T], note: str = "") -> Table:
    """A row for each item."""
    rows = [[cell(item) for _, _, cell in columns] for item in items]
    return Table(title, {label: kind for label, kind, _ in columns}, rows, note)


def _name(label: str, cell: Cell[T]) -> CellsOf[T]:
    return label, "name", cell


def _words(label: str, cell: Cell[T]) -> CellsOf[T]:
    return label, "text", cell


def _number(label: str, cell: Cell[T]) -> CellsOf[T]:
    return label, "number", cell


def sections(verdict: Verdict) -> tuple[Part, ...]:
    """The sections of a verdict, in the order in which a page shows them; those without data are left out."""
    parts = (documents(verdict), slices(verdict), judgements(verdict), _pool(verdict), _lineage(verdict))
    return (*filter(None, parts), _settings(verdict))


def topics(shown: Shown, *, most: int | None = None) -> Table:
    """The topics that a failure lists, most harmful first; ``most`` of them at most."""
    query: CellsOf[ResponsibleTopic] = _name("query", lambda topic: topic.query)
    flips = shown.decisive_topics
    share: CellsOf[ResponsibleTopic] = _number(
        "of gain" if shown.explained_by_wins else "of loss", lambda topic: percent(topic.share or 0, 1)
    )
    return _table(
        "Topics responsible",
        shown.losers[:most],
        _name("topic", lambda topic: topic.topic),
        *([query] if any(topic.query for topic in shown.losers) else []),
        _words("baseline -> candidate", lambda topic: f"{plain(topic.baseline)} -> {plain(topic.candidate)}"),
        _number("difference", lambda topic: signed(topic.difference)),
        *([] if shown.verdict.asked.by_topic else [share]),  # no shares there: each topic has its own limit
        _words("", lambda topic: shown.marks(topic, flagged=topic.flagged, flips=topic.topic in flips)),
    )


def worst_topics(shown: Shown, *, most: int | None = None) -> Table:
    """The same topics with their queries and scores alone."""
    query: CellsOf[ResponsibleTopic] = _name("query", lambda topic: topic.query)
    return _table(
        "Largest wins" if shown.explained_by_wins else "Worst topics",
        shown.losers[:most],
        _name("topic", lambda topic: topic.topic),
        *([query] if any(topic.query for topic in shown.losers) else []),
        _words("scores", lambda topic: from_to(topic.baseline, topic.candidate)),
    )


def documents(verdict: Verdict, *, everything: bool = True) -> Part | None:
    """What moved in each topic; the sentences are about the topics that a failure lists."""
    if not verdict.documents:
        return None
    by_topic = {moves.topic: moves for moves in verdict.documents}
    listed_topics = [by_topic[topic.topic] for topic in Shown(verdict).losers if topic.topic in by_topic]
    sentences = (
        _moved_in(moves, everything=everything) for moves in listed_topics[: None if everything else _MAX_TOPICS]
    )
    return Part(
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
    return _table(
        f"{clean(topic.topic, limit=120)}: {moved} moved, {new} new",
        [*((doc, signed(doc.effect)) for doc in topic.moved), *((doc, "new") for doc in topic.replacements)],
        _name("Document", lambda row: row[0].document),
        _words("Grade", lambda row: "unjudged" if row[0].grade is None else row[0].grade),
        _number("Baseline rank", lambda row: row[0].baseline_rank or "not in the run"),
        _number("Candidate rank", lambda row: row[0].candidate_rank or "not in the run"),
        _number("Effect", lambda row: row[1]),
        note=note,
    )


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


def _moved(document: RankedDocument, *, effect: bool) -> str:
    if document.baseline_rank is None:
        text = f"{_named(document)} entered at rank {document.candidate_rank}"
    elif document.candidate_rank is None:
        text = f"{_named(document)} dropped from rank {document.baseline_rank} out of the run"
    else:
        text = f"{_named(document)} rank {document.baseline_rank} -> {document.candidate_rank}"
    return f"{text}, {signed(document.effect)}" if effect else text


def _named(document: RankedDocument) -> str:
    grade = "unjudged" if document.grade is None else f"grade {document.grade}"
    return f"{clean(document.document, limit=_MAX_ID)} ({grade})"


def slices(verdict: Verdict, *, everything: bool = True) -> Part | None:
    """Groups of topics that changed alike, and each slice, the worst first; the sentences are about risky slices."""
    if verdict.explanation is None or not (verdict.explanation.slices or verdict.explanation.groups):
        return None
    shown = Shown(verdict)
    worst = sorted(verdict.explanation.slices, key=lambda part: (not part.risky, round(part.urisk, 12)))
    risky = [part for part in worst if part.risky]
    sentences = [_on_slice(shown, part) for part in (worst if everything else risky[:_MAX_SLICES])]
    tested = [part for part in worst if part.risky is not None]
    if not everything and len(risky) == len(tested) > _MAX_SLICES:
        sentences = [f"each of the {len(tested)} slices is significantly risky, {_tagged(risky[0])} most of all"]
    elif not everything and (rest := len(risky) - _MAX_SLICES) > 0:
        sentences.append(
            f"{counted(rest, 'more slice')} {'is' if rest == 1 else 'are'} significantly risky, -vv shows all"
        )
    tables = []
    if verdict.explanation.groups:
        tables.append(_groups(verdict.explanation.groups))
    if worst:
        tables.append(_slices(shown, worst))
    return Part("slices", "Topics by tag", sentences=tuple(sentences), tables=tuple(tables))


def _groups(groups: Sequence[TopicGroup]) -> Table:
    return _table(
        "Topics that changed alike",
        groups,
        _name("Tag", _tagged),
        _words("Change", lambda group: group.change),
        _number("Topics", lambda group: len(group.topics)),
        _number("Topics with the tag", lambda group: group.tagged),
        _number("Contribution", lambda group: signed(group.contribution)),
        _number("Share", lambda group: None if group.share is None else percent(group.share, 1)),
        _name("Which", lambda group: listed(group.topics, most=_MAX_NAMED)),
    )


def _slices(shown: Shown, worst: Sequence[Slice]) -> Table:
    tests: list[CellsOf[Slice]] = [
        _words("Interval", lambda row: shown.limits(row.lower, row.upper) or "too few topics"),
        _number(
            "Adjusted p", lambda row: None if row.adjusted_p_value is None else probability(row.adjusted_p_value)
        ),
        _words("Risky", lambda row: row.risky),
    ]
    return _table(
        "The comparison on each slice",
        worst,
        _name("Slice", _tagged),
        _number("Topics", lambda row: row.count),
        _number("Wins", lambda row: row.wins),
        _number("Losses", lambda row: row.losses),
        _number("Mean change", lambda row: signed(row.mean_difference)),
        _number("URisk", lambda row: signed(row.urisk)),
        *(tests if shown.slices_are_tested else ()),
        _number("Flagged", lambda row: row.flagged),
    )


def _on_slice(shown: Shown, part: Slice) -> str:
    risk = f"{signed(part.urisk)} {shown.limits(part.lower, part.upper)}".rstrip()
    answer = "significantly risky, " if part.risky else ""
    changes = f"{counted(part.losses, 'loss', 'losses')} and {counted(part.wins, 'win')}"
    text = f"slice {_tagged(part)}: {answer}URisk {risk}, mean {signed(part.mean_difference)}; {changes} on "
    text += counted(part.count, "topic")
    if part.adjusted_p_value is not None:
        return f"{text}; p {probability(part.adjusted_p_value)} among the slices"
    return f"{text}; too few topics for an interval" if shown.slices_are_tested else text


def _tagged(part: Slice | TopicGroup) -> str:
    return f"{clean(part.tag, limit=_MAX_TAG)}={clean(part.value, limit=_MAX_ID)}"


def _by_judge(labels: Judgements) -> tuple[Table, ...]:
    """The verdict under each judge, if there are several."""
    if not labels.judges:
        return ()
    table = _table(
        "The verdict under each judge",
        labels.judges,
        _name("Judge", lambda judge: judge.case),
        _number("URisk", lambda judge: signed(judge.urisk)),
        _words("Outcome", lambda judge: judge.outcome),
    )
    return (table,)


def judgements(verdict: Verdict, *, everything: bool = True) -> Part | None:
    """Whether the outcome rests on unjudged documents; a sentence if it does, or if everything was asked for."""
    unjudged = verdict.judgements
    if unjudged is None:
        return None
    shown, title = Shown(verdict), "Unjudged documents"
    if not unjudged.documents:
        text = f"Every document in the first {unjudged.depth} ranks was judged."
        return Part("judgements", title, (), text, _by_judge(unjudged))
    where = f"{counted(unjudged.documents, 'unjudged document')} in the first {unjudged.depth} ranks"
    if unjudged.depends:
        answer = f"this verdict rests on {where}"
    elif unjudged.certain:
        answer = f"the outcome does not depend on {where}: every way of judging them was tried"
    else:
        answer = f"no way of judging {where} that was tried changes the outcome"
    sentences = [f"judgements: {answer}"] if everything or unjudged.depends else []
    if unjudged.depends:
        cases = [case for case in unjudged.cases if everything or case.outcome != verdict.outcome]
        sentences[0] += ": " + "; ".join(
            f"it {OUTCOMES.get(case.outcome, f'is {case.outcome}')} if {shown.case(case)} "
            f"(URisk {signed(case.urisk)})"
            for case in cases
        )
    advice = " The command judge-next lists those to judge first." if unjudged.depends else ""
    tables = (
        *_by_judge(unjudged),
        _table(
            "The verdict in each case",
            unjudged.cases,
            _words("If", shown.case),
            _number("URisk", lambda case: signed(case.urisk)),
            _words("Outcome", lambda case: case.outcome),
        ),
    )
    filled = tuple(table for table in tables if table.rows)
    return Part("judgements", title, tuple(sentences), sentence(answer) + advice, filled)


def _pool(verdict: Verdict) -> Part | None:
    """The systems of a pool, and the candidate against each reference."""
    pool, shown = verdict.pool, Shown(verdict)
    if pool is None:
        return None
    georisk, zrisk, below = verdict.estimates.georisk or {}, verdict.estimates.zrisk or {}, pool.probability_below
    roles = {pool.decided_by: " (reference)", verdict.candidate: " (candidate)"}
    systems = _table(
        "Systems, highest GeoRisk first",
        sorted(georisk, key=lambda system: -georisk[system]),
        _name("System", lambda system: clean(system, limit=80) + roles.get(system, "")),
        _number("GeoRisk", lambda system: plain(georisk[system])),
        _number("ZRisk", lambda system: signed(zrisk[system]) if system in zrisk else None),
        _number("Candidate below it", lambda system: percent(below[system], 1) if system in below else None),
    )
    references = _table(
        "Against each reference",
        pool.references,
        _name("Reference", lambda against: against.reference),
        _number("Difference", lambda against: signed(against.georisk_difference)),
        _words("Interval", lambda against: shown.limits(against.lower, against.upper)),
        _number("p (Holm)", lambda against: probability(against.adjusted_p_value)),
        _words("Passes", lambda against: against.passes),
    )
    return Part("pool", "Pool", tables=(systems, references))


def _lineage(verdict: Verdict) -> Part | None:
    """The accepted runs of the baseline."""
    if verdict.lineage is None:
        return None
    runs = verdict.lineage.runs
    table = _table(
        "Accepted runs of the baseline, oldest first, then the candidate",
        runs,
        _name("Run", lambda run: run.run),
        _number("Mean", lambda run: plain(run.mean)),
        _number("Against the oldest", lambda run: signed(run.mean - runs[0].mean)),
        _number("URisk against the oldest", lambda run: signed(run.urisk)),
    )
    return Part("lineage", "Accepted changes", tables=(table,))


def _settings(verdict: Verdict) -> Part:
    """The options of the gate that a report holds, and digests of what was compared."""
    asked, inputs = verdict.asked, verdict.inputs
    options = {"kind": asked.kind, **{name: _setting(getattr(asked, name)) for name in options_of(type(asked))}}
    options["replicates"] = str(verdict.replicates)
    kept = [(name, value) for name, value in options.items() if name in {*JSON_TYPES, *BELOW} and value]
    digests: dict[str, str | None] = {}
    if inputs is not None:
        digests = {"qrels": inputs.qrels, "candidate": inputs.candidate}
        digests |= {f"baseline {name}": digest for name, digest in inputs.baselines.items()}
    note = "" if digests else "No digests: the scores did not come from files."
    missing = "none: it could not be read, or is not a file"
    settings = _table(
        "Settings", kept, _name("Option", lambda row: row[0]), _name("Value", lambda row: row[1]), note=note
    )
    inputs_read = _table(
        "Digests", digests.items(), _name("Input", lambda row: row[0]), _name("Digest", lambda row: row[1] or missing)
    )
    tables = (settings, inputs_read) if digests else (settings,)
    return Part("settings", "Settings and inputs", tables=tables)


def _setting(value: Any) -> str:
    """The value of an option as people write it; empty if it is None."""
    if isinstance(value, tuple):
        return listed(value, most=_MAX_NAMED)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return short(value) if isinstance(value, float) else "" if value is None else str(value)
