"""What a report shows under the answer, the same in every format: statistics, documents, slices, judgements.

A terminal shows it with ``-v``, Markdown folds it, a page opens it. Cells are plain text, which each format escapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_riskguard.data.measures import cutoff_of
from pytest_riskguard.gates.findings import Lineage, PoolFigures, ResponsibleTopic, Slice
from pytest_riskguard.gates.kinds import MIN_TOPICS, options_of
from pytest_riskguard.gates.verdict import BELOW, FLIPS, JSON_TYPES, POOL, Family, Verdict
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.numbers import from_to, limits
from pytest_riskguard.reports.parts import Section, Table
from pytest_riskguard.reports.words import METHODS, opponent
from pytest_riskguard.text import clean, counted, listed, percent, plain, probability, sentence, short, signed

#: Intervals that are shown as well as the one that decided.
_REPORTED = ("student_t", "percentile", "bca")
#: What reports call corrections.
_CORRECTIONS = {
    "holm": "Holm",
    "benjamini_hochberg": "Benjamini-Hochberg",
    POOL: "pooled Westfall-Young",
    FLIPS: "joint sign flips",
}
#: Names that a line shows; others are counted.
_MAX_NAMED, _MAX_NAME = 8, 60
#: Limits of ``no_topic_collapse`` that a topic exceeds, as marks beside it.
_LIMIT_MARKS = {"max_loss": "loss", "max_share": "share", "protected": "protected"}
_CASES = {
    "irrelevant": "none of them is relevant (as scored)",
    "relevant": "all have their topic's highest grade",
    "candidate_relevant": "only the candidate's are relevant",
    "baseline_relevant": "only the baseline's are relevant",
    "lowest": "each topic is judged as is worst for the candidate",
    "highest": "each topic is judged as is best for the candidate",
    "other": "they are judged in another way that was tried",
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
    card = Card(verdict)
    title = "Largest wins" if card.explained_by_wins else "Worst topics"
    rows = [(topic.topic, topic.query, from_to(topic.baseline, topic.candidate)) for topic in card.worst[:most]]
    return Table(title, {"topic": "name", "query": "name", "scores": "text"}, rows).filled


def marks(topic: ResponsibleTopic | None, *, flagged: bool, flips: bool) -> str:
    """The marks of a topic: the limits it exceeds, or whether it is flagged or flips the verdict."""
    if topic is not None and topic.exceeds:
        return ", ".join(_LIMIT_MARKS[limit] for limit in topic.exceeds)
    return ", ".join(mark for mark, on in (("flagged", flagged), ("flips it", flips)) if on)


def _topics(card: Card) -> list[Table]:
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
            marks(topic, flagged=topic.flagged, flips=topic.topic in card.decisive_topics),
        )
        for topic in card.worst
    ]
    return [Table("", columns, rows)] if rows else []


# ---- statistics


def _statistics(verdict: Verdict) -> Section:
    card = Card(verdict)
    shown = card.explains_topics or verdict.asked.by_topic
    return Section("Statistics", [*figures(verdict), *_flips(card)], _topics(card) if shown else [])


def figures(verdict: Verdict) -> list[str]:
    """A sentence for each kind of figure; those that the verdict has already, if it was put into words."""
    if verdict.figures or verdict.outcome == "incomparable":
        return list(verdict.figures)
    return [said for said in _figures(verdict) if said]


def _figures(verdict: Verdict) -> Iterator[str]:
    estimates, topics, power = verdict.estimates, verdict.topics, verdict.power.minimum_detectable_effect
    if estimates.mean_difference is not None:
        means = f"{plain(estimates.baseline_mean)} -> {plain(estimates.candidate_mean)}"
        yield (
            f"{clean(verdict.candidate)} against {opponent(verdict)}: {'weighted ' * verdict.weighted}mean {means} "
            f"({signed(estimates.mean_difference)})"
        )
    if (baseline := verdict.yardstick) is not None:
        word = {"mean": "mean", "median": "median", "max": "best"}[baseline.kind]
        inside = "including" if baseline.candidate_inside else "excluding"
        systems = listed(baseline.systems, most=10)
        yield f"the baseline is computed topic by topic: the {word} of {systems}, {inside} the candidate"
    if verdict.lineage is not None:
        yield _since(verdict.lineage)
    if verdict.pool is not None:
        yield from _georisks(verdict, verdict.pool)
    yield _tests(verdict)
    if (noise := estimates.noise_urisk) is not None and estimates.urisk is not None:
        yield (
            f"URisk {signed(estimates.urisk + noise)}, of which {signed(noise)} is the baseline's own noise (mean "
            f"URisk of its {counted(verdict.replicates, 'replicate')} against it); the excess "
            f"{signed(estimates.urisk)} is judged"
        )
    if verdict.family is not None:
        yield _family(verdict, verdict.family)
    counts = (
        f"{counted(topics.wins, 'win')}, {counted(topics.losses, 'loss', 'losses')}, {counted(topics.ties, 'tie')}"
    )
    yield counts + _clusters(verdict)
    if topics.strata:
        said = (f"{clean(name, limit=_MAX_NAME)} {signed(urisk)}" for name, urisk in topics.strata.items())
        yield f"URisk of each stratum: {'; '.join(said)}"
    if (labels := verdict.judgements) is not None and (labels.candidate or labels.baseline):
        whose = f"{labels.candidate} of the candidate, {labels.baseline} of the baseline"
        yield f"unjudged documents in the first {Card(verdict).ranks_searched} ranks: {whose}"
    if verdict.outcome == "pass" and power:
        what = "mean loss" if verdict.on_churn == "warn" else "URisk"
        what = "difference of GeoRisk" if verdict.pool is not None else what
        yield f"smallest detectable {what} at 80% power: {signed(-power)}"


def _since(lineage: Lineage) -> str:
    means = listed(tuple(plain(run.mean) for run in lineage.runs), most=8)
    return (
        f"{counted(lineage.accepted, 'accepted change')} since {clean(lineage.runs[0].run)}; means so far, candidate "
        f"last: {means}; in total {signed(lineage.in_total)}, URisk {signed(lineage.runs[-1].urisk)} "
        f"{limits(lineage.lower, lineage.upper)}"
    ).rstrip()


def _tests(verdict: Verdict) -> str:
    """The tests and the intervals."""
    if not verdict.intervals:
        return ""
    estimates, said = verdict.estimates, []
    if estimates.trisk is not None and verdict.pool is None:
        said.append(f"TRisk {signed(estimates.trisk, 3)} (two-sided p {probability(estimates.p_value)})")
    if estimates.break_even_p_value is not None:
        said.append(f"one-sided: break-even p {probability(estimates.break_even_p_value)}")
    ends = [
        f"{method(verdict, one.method)} {limits(one.lower, one.upper)}{' (decisive)' * one.decisive}"
        for one in verdict.intervals
        if one.decisive or one.method in _REPORTED
    ]
    return "; ".join([*said, f"{percent(verdict.intervals[0].level)} intervals: {', '.join(ends)}"])


def method(verdict: Verdict, name: str) -> str:
    """The name of an interval; over a pool Student-t has its error from the jackknife."""
    jackknife = " (jackknife)" if verdict.pool is not None and name == "student_t" else ""
    return f"{METHODS[name]}{jackknife}"


def _family(verdict: Verdict, family: Family) -> str:
    together, budget = "one look of many", ""
    if family.correction != "none":
        together = f"one of a family of {counted(family.size, 'gate')} ({_CORRECTIONS[family.correction]})"
    if (look := family.look) is not None:
        of = "" if look.looks is None else f" of about {look.looks}"
        budget = f"; look {look.number}{of} at this collection may spend {percent(look.share)} of the budget"
    p_value = verdict.estimates.decision_p_value
    found = f"{together}: p {probability(p_value)}, adjusted {probability(family.adjusted_p_value)}"
    if family.draws:
        fails_alone = p_value is not None and p_value <= 1 - verdict.level < family.adjusted_p_value
        return found + "; judged alone it would fail" * fails_alone
    instead = f" instead of {percent(verdict.level)}" if family.level != verdict.level else ""
    return f"{found}; judged at {percent(family.level)}{instead}{budget}"


def _clusters(verdict: Verdict) -> str:
    topics = verdict.topics
    if not topics.clusters:
        return ""
    like = ""
    if topics.effective is not None:
        like = f", which say as much about this change as {topics.effective:.3g} independent topics"
        if topics.effective >= topics.count:
            like = ", which do not widen this interval"
    return f"; {counted(topics.count, 'topic')} in {counted(topics.clusters, 'cluster')}{like}"


def _georisks(verdict: Verdict, pool: PoolFigures) -> Iterator[str]:
    """GeoRisk of both sides, the rank, the references beside the one that decided."""
    difference, georisk = verdict.estimates.georisk_difference or 0.0, verdict.estimates.georisk or {}
    candidate = georisk[verdict.candidate]
    rank = 1 + sum(value > candidate for value in georisk.values())
    yield (
        f"GeoRisk(alpha={short(verdict.alpha)}): {plain(candidate - difference)} -> {plain(candidate)}; difference "
        f"{signed(difference)}; rank {rank} of {len(georisk)}"
    )
    if len(pool.references) > 1:
        failed = sorted(
            (one for one in pool.references if not one.passes),
            key=lambda one: (one.adjusted_p_value, one.georisk_difference),
        )
        of_all = counted(len(pool.references), "reference")
        names = listed(
            tuple(
                f"{clean(one.reference)} ({signed(one.georisk_difference)}, adjusted p "
                f"{probability(one.adjusted_p_value)})"
                for one in failed
            ),
            most=_MAX_NAMED,
        )
        below = f"significantly below {len(failed)} of {of_all} (Holm): {names}"
        yield below if failed else f"not significantly below any of {of_all} (Holm)"


def _flips(card: Card) -> Iterator[str]:
    """Without which topics a failure would be a pass."""
    verdict, flips = card.verdict, card.verdict.estimates.flip_set
    if verdict.outcome != "fail" or verdict.asked.by_topic or (flips is None and verdict.topics.count <= MIN_TOPICS):
        return
    if flips is None:
        yield f"removing the worst topics does not flip the verdict as long as {MIN_TOPICS} remain"
        return
    bound = "" if len(flips) == 1 else " (found greedily: an upper bound on the smallest such set)"
    more = card.left_out("flip_set")
    names = listed(flips, most=10, left_out=more)
    yield f"would pass without {counted(len(flips) + more, 'topic')}: {names}{bound}"


# ---- what explains it


def _documents(verdict: Verdict) -> Section | None:
    """What moved in each topic that a failure lists."""
    examined, depth = Card(verdict).documents, 0 if verdict.documents is None else verdict.documents.depth
    listed_topics = [examined[topic.topic] for topic in Card(verdict).worst if topic.topic in examined]
    columns = {"topic": "name", "document": "name", "grade": "text", "ranks": "text", "effect": "+.4f"}
    rows = [
        (
            moved.topic,
            document.document,
            "unjudged" if document.grade is None else short(document.grade),
            f"{document.baseline_rank or '-'} -> {document.candidate_rank or '-'}",
            effect,
        )
        for moved in listed_topics
        for document in (*moved.moved, *(row for row in moved.new(depth) if not row.effect))
        for effect in [document.effect or "new"]
    ]
    if not rows:
        return None
    looks_at = "all ranks" if (last := cutoff_of(verdict.measure)) is None else f"the first {last} ranks"
    adds_up = all(moved.exact for moved in listed_topics)
    note = (
        "The effects add up to the topic's difference."
        if adds_up
        else ("An effect is what moving this document alone back to its rank would gain; effects need not add up.")
    )
    table = Table("", columns, rows, f"The measure looks at {looks_at}. {note}")
    return Section("Documents that moved", parts=[table])


def _slices(verdict: Verdict) -> Section | None:
    """Each slice, the worst first."""
    card, tested, rows = Card(verdict), not verdict.asked.by_topic, []
    columns = {"Slice": "name", "Topics": "d", "Losses": "d", "Share": ".1%", "Mean change": "+.4f", "URisk": "+.4f"}
    columns |= {"Interval": "text", "Adjusted p": "p", "Risky": "text"} if tested else {}
    for part in card.slices:
        row = [_tagged(part), part.count, part.losses, card.share(part), part.mean_difference, part.urisk]
        between = limits(part.lower, part.upper) or "too few topics"
        rows.append(row + [between, part.adjusted_p_value, part.risky] * tested)
    note = "Share: of what all topics lost." if not card.explained_by_wins else "Share: of what all topics won."
    return Section("Topics by tag", parts=[Table("", columns, rows, note)]) if rows else None


def _tagged(part: Slice) -> str:
    return f"{clean(part.tag, limit=40)}={clean(part.value, limit=_MAX_NAME)}"


def _judgements(verdict: Verdict) -> Section | None:
    """Whether the outcome rests on unjudged documents."""
    unjudged = verdict.judgements
    if unjudged is None:
        return None
    ranks = f"in the first {Card(verdict).ranks_searched} ranks"
    where = f"{counted(unjudged.documents, 'unjudged document')} {ranks}"
    if not unjudged.documents:
        answer = f"every document {ranks} was judged"
    elif unjudged.depends:
        answer = f"this verdict rests on {where}"
    elif unjudged.certain:
        answer = f"the outcome does not depend on {where}: every way of judging them was tried"
    else:
        answer = f"no way of judging {where} that was tried changes the outcome"
    rows = [(_CASES.get(case.case, clean(case.case)), case.urisk, case.outcome) for case in unjudged.cases]
    judges = [(judge.case, judge.urisk, judge.outcome) for judge in unjudged.judges]
    tables = (
        Table("The verdict under each judge", {"Judge": "name", "URisk": "+.4f", "Outcome": "text"}, judges),
        Table("The verdict in each case", {"If": "text", "URisk": "+.4f", "Outcome": "text"}, rows),
    )
    return Section("Unjudged documents", [sentence(answer)], [table for table in tables if table.rows])


def _pool(verdict: Verdict) -> Section | None:
    """The systems of a pool, and the candidate against each reference."""
    if (pool := verdict.pool) is None:
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
    columns = {"Reference": "name", "Difference": "+.4f", "Interval": "text", "p (Holm)": "p", "Passes": "text"}
    rows = [
        (one.reference, one.georisk_difference, limits(one.lower, one.upper), one.adjusted_p_value, one.passes)
        for one in pool.references
    ]
    return Section("Pool", parts=[systems, Table("Against each reference", columns, rows)])


def settings(verdict: Verdict) -> Section:
    """The options of the gate that a report holds, and digests of what was compared."""
    asked, inputs = verdict.asked, verdict.inputs
    options = {"kind": asked.kind, **{name: _setting(getattr(asked, name)) for name in options_of(type(asked))}}
    options["replicates"] = str(verdict.replicates)
    rows = [(name, value) for name, value in options.items() if name in {*JSON_TYPES, *BELOW} and value]
    if inputs is not None:
        digests = {"qrels": inputs.qrels, "candidate": inputs.candidate}
        digests |= {f"baseline {name}": digest for name, digest in inputs.baselines.items()}
        rows += [(name, digest or "not a file that could be read") for name, digest in digests.items()]
    note = "" if inputs is not None else "No digests: the scores did not come from files."
    return Section("Settings and inputs", parts=[Table("", {"Option": "name", "Value": "name"}, rows, note)])


def _setting(value: Any) -> str:
    """The value of an option as people write it; empty if it is None."""
    if isinstance(value, tuple):
        return listed(value, most=_MAX_NAMED)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return short(value) if isinstance(value, float) else "" if value is None else str(value)
