"""What reports show below the answer, the same in every format: statistics, documents, slices, judgements.

A terminal shows it with ``-v``, Markdown folds it, a page opens it. Cells are plain text, which each format escapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_riskguard.gates.findings import RankedDocument, ResponsibleTopic
from pytest_riskguard.gates.kinds import options_of
from pytest_riskguard.gates.rankings import LIMITED
from pytest_riskguard.gates.verdict import BELOW, FLIPS, JSON_TYPES, POOL, Verdict
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.numbers import from_to, limits, percent, plain, probability, short, signed
from pytest_riskguard.reports.parts import Section, Table
from pytest_riskguard.reports.words import METHODS, opponent
from pytest_riskguard.text import clean, counted, listed, sentence

#: Intervals that are shown as well as the one that decided.
_REPORTED = ("student_t", "percentile", "bca")
#: What reports call corrections.
_CORRECTIONS = {"holm": "Holm", POOL: "pooled Westfall-Young", FLIPS: "joint sign flips"}
#: Names that a line shows; others are counted.
_MAX_NAMED, _MAX_NAME = 8, 60
#: Limits of a gate on single topics that a topic exceeds, as marks beside it.
_LIMIT_MARKS = {"max_loss": "loss", "max_share": "share", "protected": "protected", **LIMITED}
_CASES = {
    "irrelevant": "none of them is relevant (as scored)",
    "relevant": "all have their topic's highest grade",
    "candidate_relevant": "only the candidate's are relevant",
    "baseline_relevant": "only the baseline's are relevant",
    "lowest": "each topic is judged as is worst for the candidate",
    "highest": "each topic is judged as is best for the candidate",
}


def details(verdict: Verdict) -> list[Section]:
    """The sections of a verdict that have something to show, the most telling first."""
    if verdict.outcome == "incomparable":
        return []
    parts = (_statistics, _documents, _slices, _judgements, _pool)
    return [section for part in parts if (section := part(verdict)) is not None]


# ---- topics


def worst_topics(verdict: Verdict, *, most: int | None = None) -> Table:
    """The topics that a failure lists, with their queries and scores."""
    rows = []
    for topic in Card(verdict).worst[:most]:
        scores = from_to(topic.baseline, topic.candidate)
        if verdict.asked.of_rankings:
            scores += f" ({marks(topic)})"
        rows.append((topic.topic, None if topic.query == topic.topic else topic.query, scores))
    return Table("", {"topic": "name", "query": "name", "scores": "text"}, rows).filled


def marks(topic: ResponsibleTopic, *, flips: bool = False) -> str:
    """The marks of a topic: the limits it exceeds, or whether it is flagged or flips the verdict."""
    found = [_LIMIT_MARKS[limit] for limit in topic.exceeds]
    return ", ".join(found or ["flagged"] * topic.flagged + ["flips it"] * flips)


def _topics(card: Card) -> Table:
    """The same topics with all of their figures."""
    by_topic = card.verdict.asked.by_topic  # each topic has its own limit: no shares
    columns = {"topic": "name", "query": "name", "scores": "text", "change": "+.4f", "share": ".1%", "": "text"}
    rows = [
        (
            topic.topic,
            topic.query,
            f"{plain(topic.baseline)} -> {plain(topic.candidate)}",
            topic.difference,
            None if by_topic else topic.share or 0.0,
            marks(topic, flips=topic.topic in card.decisive_topics),
        )
        for topic in card.worst
    ]
    return Table("", columns, rows)


# ---- statistics


def _statistics(verdict: Verdict) -> Section:
    card = Card(verdict)
    shown = verdict.outcome != "pass" or card.is_churn or verdict.asked.by_topic
    topics = [_topics(card)] if shown and card.worst else []
    return Section("Statistics", [*figures(verdict), *_flips(card)], topics)


def figures(verdict: Verdict) -> Iterator[str]:
    """A sentence for each kind of figure."""
    estimates, topics, power = verdict.estimates, verdict.topics, verdict.power.minimum_detectable_effect
    if verdict.asked.of_rankings:
        yield (
            f"{clean(verdict.candidate)} against {opponent(verdict)}: mean {verdict.measure} "
            f"{plain(estimates.candidate_mean)}; {topics.changed} of {counted(topics.count, 'query', 'queries')} "
            "changed"
        )
        return
    if estimates.mean_difference is not None:
        means = f"{plain(estimates.baseline_mean)} -> {plain(estimates.candidate_mean)}"
        yield (
            f"{clean(verdict.candidate)} against {opponent(verdict)}: {'weighted ' * verdict.weighted}mean {means} "
            f"({signed(estimates.mean_difference)})"
        )
    if (lineage := verdict.lineage) is not None:
        yield (
            f"{counted(lineage.accepted, 'accepted change')} since {clean(lineage.runs[0].run)}; in total "
            f"{signed(lineage.in_total)}, URisk {signed(lineage.runs[-1].urisk)} "
            f"{limits(lineage.lower, lineage.upper)}"
        ).rstrip()
    if (georisk := estimates.georisk) is not None:
        difference, candidate = estimates.georisk_difference or 0.0, georisk[verdict.candidate]
        rank = 1 + sum(value > candidate for value in georisk.values())
        yield (
            f"GeoRisk(alpha={short(verdict.alpha)}): {plain(candidate - difference)} -> {plain(candidate)}; "
            f"difference {signed(difference)}; rank {rank} of {len(georisk)}"
        )
    if verdict.intervals:
        yield _tests(verdict)
    if verdict.family is not None:
        family, p_value = verdict.family, probability(estimates.decision_p_value)
        yield (
            f"one of a family of {counted(family.size, 'gate')} ({_CORRECTIONS[family.correction]}): p {p_value}, "
            f"adjusted {probability(family.adjusted_p_value)}; judged at {percent(family.level)}"
        )
    counts = (
        f"{counted(topics.wins, 'win')}, {counted(topics.losses, 'loss', 'losses')}, {counted(topics.ties, 'tie')}"
    )
    if topics.clusters:
        counts += f"; {counted(topics.count, 'topic')} in {counted(topics.clusters, 'cluster')}"
        counts += "" if topics.effective is None else f", which count like {topics.effective:.3g} independent topics"
    yield counts
    if verdict.outcome == "pass" and power:
        yield f"smallest fall detected at 80% power: {signed(-power)}"


def _tests(verdict: Verdict) -> str:
    """The tests and the intervals."""
    estimates, said = verdict.estimates, []
    if estimates.trisk is not None and not verdict.asked.is_pool:
        said.append(f"TRisk {signed(estimates.trisk, 3)} (two-sided p {probability(estimates.p_value)})")
    if estimates.break_even_p_value is not None:
        said.append(f"one-sided: break-even p {probability(estimates.break_even_p_value)}")
    ends = [
        f"{METHODS[one.method]} {limits(one.lower, one.upper)}{' (decisive)' * one.decisive}"
        for one in verdict.intervals
        if one.decisive or one.method in _REPORTED
    ]
    return "; ".join([*said, f"{percent(verdict.intervals[0].level)} intervals: {', '.join(ends)}"])


def _flips(card: Card) -> list[str]:
    """Without which topics a failure would be a pass."""
    verdict, flips = card.verdict, card.verdict.estimates.flip_set
    if verdict.outcome != "fail" or verdict.asked.by_topic or flips is None:
        return []
    bound = "" if len(flips) == 1 else " (found greedily: an upper bound on the smallest such set)"
    more = card.left_out("flip_set")
    names = listed(flips, most=10, left_out=more)
    return [f"would pass without {counted(len(flips) + more, 'topic')}: {names}{bound}"]


# ---- what explains it


#: The columns of ``ranked``.
RANKED = {"document": "name", "grade": "text", "ranks": "text", "effect": "+.4f"}


def ranked(document: RankedDocument) -> tuple[str, str, str, float | None]:
    """A document of both rankings, as a row of a table."""
    grade = "unjudged" if document.grade is None else short(document.grade)
    ranks = f"{document.baseline_rank or '-'} -> {document.candidate_rank or '-'}"
    return document.document, grade, ranks, document.effect or None


def _documents(verdict: Verdict) -> Section | None:
    """What moved in each topic that a failure lists."""
    card = Card(verdict)
    rows = [
        (topic.topic, *ranked(document))
        for topic in card.worst
        if topic.topic in card.documents
        for document in card.documents[topic.topic].moved
    ]
    if not rows:
        return None
    note = (
        "An effect is the document's part in the topic's difference; of measures that are no sum over documents, "
        "what moving it alone back to its rank would gain."
    )
    return Section("Documents that moved", parts=[Table("", {"topic": "name", **RANKED}, rows, note)])


def _slices(verdict: Verdict) -> Section | None:
    """Each slice, the worst first."""
    card = Card(verdict)
    columns = {"Slice": "name", "Topics": "d", "Losses": "d", "Share": ".1%", "Mean change": "+.4f", "URisk": "+.4f"}
    columns |= {"Interval": "+.4f", "Adjusted p": "p", "Risky": "text"}
    rows = [
        (
            f"{clean(part.tag, limit=40)}={clean(part.value, limit=_MAX_NAME)}",
            part.count,
            part.losses,
            card.share(part),
            part.mean_difference,
            part.urisk,
            (part.lower, part.upper),
            part.adjusted_p_value,
            part.risky,
        )
        for part in card.slices
    ]
    note = (
        "Share: the part of all that was lost, or of all that was won where wins are at fault. Without an interval: "
        "too few topics."
    )
    return Section("Topics by tag", parts=[Table("", columns, rows, note)]) if rows else None


def _judgements(verdict: Verdict) -> Section | None:
    """Whether the outcome rests on unjudged documents."""
    unjudged = verdict.judgements
    if unjudged is None:
        return None
    where = f"{counted(unjudged.documents, 'unjudged document')} in the first {Card(verdict).ranks_searched} ranks"
    if unjudged.depends:
        answer = f"this verdict rests on {where}"
    else:
        answer = f"none of these ways of judging {where} changes the outcome"
    rows = [(_CASES.get(case.case, clean(case.case)), case.urisk, case.outcome) for case in unjudged.cases]
    table = Table("The verdict in each case", {"If": "text", "URisk": "+.4f", "Outcome": "text"}, rows)
    return Section("Unjudged documents", [sentence(answer)], [table.filled])


def _pool(verdict: Verdict) -> Section | None:
    """The systems of a pool."""
    georisk, zrisk = verdict.estimates.georisk or {}, verdict.estimates.zrisk or {}
    roles = {verdict.baseline: " (reference)", verdict.candidate: " (candidate)"}
    rows = [
        (clean(name, limit=80) + roles.get(name, ""), georisk[name], zrisk.get(name))
        for name in sorted(georisk, key=lambda system: -georisk[system])
    ]
    columns = {"System": "name", "GeoRisk": ".4f", "ZRisk": "+.4f"}
    return Section("Pool", parts=[Table("Systems, highest GeoRisk first", columns, rows)]) if rows else None


def settings(verdict: Verdict) -> Section:
    """The options of the gate that a report holds, and digests of what was compared."""
    asked, inputs = verdict.asked, verdict.inputs
    options = {"kind": asked.kind, **{name: _setting(getattr(asked, name)) for name in options_of(type(asked))}}
    options["replicates"] = verdict.replicates
    rows = [
        (name, value) for name, value in options.items() if name in {*JSON_TYPES, *BELOW} and value not in (None, "")
    ]
    if inputs is not None:
        digests = {"qrels": inputs.qrels, "candidate": inputs.candidate}
        digests |= {f"baseline {name}": digest for name, digest in sorted(inputs.baselines.items())}
        rows += [(name, digest or "not a file that could be read") for name, digest in digests.items()]
    note = "" if inputs is not None else "No digests: the scores did not come from files."
    return Section("Settings and inputs", parts=[Table("", {"Option": "name", "Value": "name"}, rows, note)])


def _setting(value: Any) -> Any:
    """The value of an option as people write it."""
    if isinstance(value, tuple):
        return listed(value, most=_MAX_NAMED)
    return short(value) if isinstance(value, float) else value  # the table knows yes and no
