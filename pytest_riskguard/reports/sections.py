"""The parts of a report under its figures, the same in every format: documents, slices, judgements, pool, settings.

A terminal shows the sentences of a section, a page its text and tables. Cells are plain text: each format escapes
them, and leaves out rows for which it has no room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import Judgements, RankedDocument, Slice, TopicDocuments, TopicGroup
from pytest_riskguard.gates.kinds import options_of
from pytest_riskguard.gates.verdict import BELOW, JSON_TYPES, Verdict
from pytest_riskguard.reports.parts import Table
from pytest_riskguard.reports.shown import OUTCOMES, Shown
from pytest_riskguard.reports.wording.sentences import from_to
from pytest_riskguard.text import clean, counted, listed, plain, probability, sentence, short, signed

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


def sections(verdict: Verdict) -> tuple[Part, ...]:
    """The sections of a verdict, in the order in which a page shows them; those without data are left out."""
    parts = (documents(verdict), slices(verdict), judgements(verdict), _pool(verdict), _lineage(verdict))
    return (*filter(None, parts), _settings(verdict))


def topics(shown: Shown, *, most: int | None = None) -> Table:
    """The topics that a failure lists, most harmful first; ``most`` of them at most."""
    flips, by_topic = shown.decisive_topics, shown.verdict.asked.by_topic  # each topic has its own limit: no shares
    columns = {
        "topic": "name",
        "query": "name",
        "baseline -> candidate": "text",
        "difference": "+.4f",
        "of gain" if shown.explained_by_wins else "of loss": ".1%",
        "": "text",
    }
    rows = [
        (
            topic.topic,
            topic.query,
            f"{plain(topic.baseline)} -> {plain(topic.candidate)}",
            topic.difference,
            None if by_topic else topic.share or 0.0,
            shown.marks(topic, flagged=topic.flagged, flips=topic.topic in flips),
        )
        for topic in shown.losers[:most]
    ]
    return Table("Topics responsible", columns, rows).filled


def worst_topics(shown: Shown, *, most: int | None = None) -> Table:
    """The same topics with their queries and scores alone."""
    title = "Largest wins" if shown.explained_by_wins else "Worst topics"
    rows = [(topic.topic, topic.query, from_to(topic.baseline, topic.candidate)) for topic in shown.losers[:most]]
    return Table(title, {"topic": "name", "query": "name", "scores": "text"}, rows).filled


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
    columns = {"Document": "name", "Grade": "text", "Baseline rank": "d", "Candidate rank": "d", "Effect": "+.4f"}
    effects: list[tuple[RankedDocument, float | str]] = [(document, document.effect) for document in topic.moved]
    effects += [(document, "new") for document in topic.replacements]
    rows = [
        (
            document.document,
            "unjudged" if document.grade is None else document.grade,
            document.baseline_rank or "not in the run",
            document.candidate_rank or "not in the run",
            effect,
        )
        for document, effect in effects
    ]
    return Table(f"{clean(topic.topic, limit=120)}: {moved} moved, {new} new", columns, rows, note)


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
    columns = {"Tag": "name", "Change": "text", "Topics": "d", "Topics with the tag": "d", "Contribution": "+.4f"}
    rows = [
        (
            _tagged(group),
            group.change,
            len(group.topics),
            group.tagged,
            group.contribution,
            group.share,
            listed(group.topics, most=_MAX_NAMED),
        )
        for group in groups
    ]
    return Table("Topics that changed alike", columns | {"Share": ".1%", "Which": "name"}, rows)


def _slices(shown: Shown, worst: Sequence[Slice]) -> Table:
    columns = {"Slice": "name", "Topics": "d", "Wins": "d", "Losses": "d", "Mean change": "+.4f", "URisk": "+.4f"}
    if shown.slices_are_tested:
        columns |= {"Interval": "text", "Adjusted p": "p", "Risky": "text"}
    rows = []
    for part in worst:
        row = [_tagged(part), part.count, part.wins, part.losses, part.mean_difference, part.urisk]
        if shown.slices_are_tested:
            row += [shown.limits(part.lower, part.upper) or "too few topics", part.adjusted_p_value, part.risky]
        rows.append([*row, part.flagged])
    return Table("The comparison on each slice", columns | {"Flagged": "d"}, rows)


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
    columns = {"Judge": "name", "URisk": "+.4f", "Outcome": "text"}
    rows = [(judge.case, judge.urisk, judge.outcome) for judge in labels.judges]
    return (Table("The verdict under each judge", columns, rows),)


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
    rows = [(shown.case(case), case.urisk, case.outcome) for case in unjudged.cases]
    by_case = Table("The verdict in each case", {"If": "text", "URisk": "+.4f", "Outcome": "text"}, rows)
    tables = (*_by_judge(unjudged), *([by_case] if rows else []))
    return Part("judgements", title, tuple(sentences), sentence(answer) + advice, tables)


def _pool(verdict: Verdict) -> Part | None:
    """The systems of a pool, and the candidate against each reference."""
    pool, shown = verdict.pool, Shown(verdict)
    if pool is None:
        return None
    georisk, zrisk = verdict.estimates.georisk or {}, verdict.estimates.zrisk or {}
    roles = {pool.decided_by: " (reference)", verdict.candidate: " (candidate)"}
    systems = Table(
        "Systems, highest GeoRisk first",
        {"System": "name", "GeoRisk": ".4f", "ZRisk": "+.4f"},
        [
            (clean(name, limit=80) + roles.get(name, ""), georisk[name], zrisk.get(name))
            for name in sorted(georisk, key=lambda system: -georisk[system])
        ],
    )
    references = Table(
        "Against each reference",
        {"Reference": "name", "Difference": "+.4f", "Interval": "text", "p (Holm)": "p", "Passes": "text"},
        [
            (
                against.reference,
                against.georisk_difference,
                shown.limits(against.lower, against.upper),
                against.adjusted_p_value,
                against.passes,
            )
            for against in pool.references
        ],
    )
    return Part("pool", "Pool", tables=(systems, references))


def _lineage(verdict: Verdict) -> Part | None:
    """The accepted runs of the baseline."""
    if verdict.lineage is None:
        return None
    runs = verdict.lineage.runs
    table = Table(
        "Accepted runs of the baseline, oldest first, then the candidate",
        {"Run": "name", "Mean": ".4f", "Against the oldest": "+.4f", "URisk against the oldest": "+.4f"},
        [(run.run, run.mean, run.mean - runs[0].mean, run.urisk) for run in runs],
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
    settings = Table("Settings", {"Option": "name", "Value": "name"}, kept, note)
    rows = [(name, digest or missing) for name, digest in digests.items()]
    inputs_read = Table("Digests", {"Input": "name", "Digest": "name"}, rows)
    tables = (settings, inputs_read) if digests else (settings,)
    return Part("settings", "Settings and inputs", tables=tables)


def _setting(value: Any) -> str:
    """The value of an option as people write it; empty if it is None."""
    if isinstance(value, tuple):
        return listed(value, most=_MAX_NAMED)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return short(value) if isinstance(value, float) else "" if value is None else str(value)
