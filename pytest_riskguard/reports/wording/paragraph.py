"""A verdict in one paragraph of plain language: what happened, where, the mean, why that fails or passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_riskguard.gates.findings import Explanation, RankedDocument, TopicDocuments
from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.wording import sentences
from pytest_riskguard.reports.wording.sentences import from_to, happened, opponent, reasons, row, size, weakness
from pytest_riskguard.text import counted, percent

#: Topics, or slices, that a sentence names; others are counted.
MAX_NAMED = 3


def paragraph(verdict: Verdict) -> str:
    """What happened and where, the mean, why that passes or fails, what hangs on single queries."""
    if Shown(verdict).is_identical:
        return f"The candidate is {Shown(verdict).identical}: no ranking changed."
    sentences = [happened(verdict), _mean(verdict), *reasons(verdict), *weakness(verdict)]
    sentences += [*_unanswered(verdict), *_few_changes(verdict), *_pivots(verdict)]
    if verdict.outcome == "pass":
        sentences += _slices(verdict)
    sentences.append(_look(verdict))
    return " ".join(filter(None, sentences))


def _look(verdict: Verdict) -> str:
    """Which of many looks it was, and the level that this left."""
    family = verdict.family
    if family is None or family.look is None:
        return ""
    of = "" if family.look.looks is None else f" of about {family.look.looks}"
    return f"Look {family.look.number}{of}: judged at {percent(family.level)} instead of {percent(verdict.level)}."


def _mean(verdict: Verdict) -> str:
    estimates, topics = verdict.estimates, verdict.topics
    before, after, difference = estimates.baseline_mean, estimates.candidate_mean, estimates.mean_difference
    if before is None or after is None or difference is None:
        return ""
    name = "The weighted mean" if verdict.weighted else "The mean"
    if verdict.pool is not None:
        against = opponent(verdict)
        if difference == 0:
            return f"{name} equals that of {against}."
        side, moved = "above" if difference > 0 else "below", from_to(before, after)
        if _looks_equal(moved):
            return f"{name} is {size(difference)} {side} that of {against}."
        return f"{name} is {side} that of {against} ({moved})."
    if difference == 0:
        return f"{name} did not change." if topics.changed else ""
    shown = Shown(verdict)
    found = (verdict.reason == "loss" and difference < 0) or shown.has("significantly_better")
    significant = found and estimates.noise_urisk is None  # else the mean was compared with that of the replicates
    verb = ("rose" if difference > 0 else "fell") + " significantly" * significant
    moved = from_to(before, after)
    text = f"{name} {verb} by {size(difference)}" if _looks_equal(moved) else f"{name} {verb} ({moved})"
    if verdict.outcome == "pass" and not shown.is_churn:
        return f"{text}{_improved(verdict)}."
    if shown.explained_by_wins:
        lost = topics.losses
        return f"{text}, although {counted(lost, 'query', 'queries')} got worse." if lost else f"{text}."
    if difference < 0:
        return f"{text}, although {counted(topics.wins, 'query', 'queries')} improved." if topics.wins else f"{text}."
    if not topics.wins or not topics.losses:  # without losses, what happened has counted the wins
        return f"{text}."
    return f"{text} because {topics.wins} other {'query' if topics.wins == 1 else 'queries'} improved."


def _looks_equal(moved: str) -> bool:
    """Whether both numbers of ``from_to`` look the same."""
    before, after = moved.split(" -> ")
    return before == after


def _improved(verdict: Verdict) -> str:
    """How many improved, or got worse, where what happened has not said so."""
    wins, losses = verdict.topics.wins, verdict.topics.losses
    if Shown(verdict).explained_by_wins:
        told = not losses or not sentences.lost_topics(verdict)
        return "" if told else f"; {counted(losses, 'query', 'queries')} got worse"
    if not wins or not (sentences.lost_topics(verdict) or verdict.asked.by_topic):
        return ""
    return f"; {counted(wins, 'query', 'queries')} improved"


def lost_documents(verdict: Verdict) -> str:
    """Where the costliest relevant document moved to, in the topics that the paragraph is about; empty if unknown."""
    if Shown(verdict).explained_by_wins:
        return ""
    about = {topic.topic for topic in sentences.lost_topics(verdict)}
    if (group := sentences.dominant_group(verdict)) is not None:
        about &= {*group.topics}
    examined = [topic for topic in verdict.documents or () if topic.topic in about]
    dropped = [
        (topic, topic.moved[0])
        for topic in examined
        if topic.moved and topic.moved[0].effect < 0 and topic.moved[0].baseline_rank is not None
    ]
    if not dropped:
        return ""
    gone = [(topic, document) for topic, document in dropped if _is_gone(topic, document)]
    kept = [pair for pair in dropped if pair not in gone]
    ways = [(way(pairs), len(pairs)) for way, pairs in ((_out_of, gone), (_to, kept)) if pairs]
    if len(examined) == 1:
        return f"In {sentences.name(examined[0].topic)} the costliest relevant document {ways[0][0]}."
    where = " and ".join(f"{way} in {count}" for way, count in ways)
    return f"Of {len(examined)} queries examined, the costliest relevant document {where}."


def _is_gone(topic: TopicDocuments, document: RankedDocument) -> bool:
    """Whether the document left the ranks that the measure looks at."""
    return document.candidate_rank is None or 0 < topic.depth < document.candidate_rank


def _out_of(gone: Sequence[tuple[TopicDocuments, RankedDocument]]) -> str:
    depths = {topic.depth for topic, _ in gone}
    return f"left the top {depths.pop()}" if len(depths) == 1 and 0 not in depths else "left the results"


def _to(kept: Sequence[tuple[TopicDocuments, RankedDocument]]) -> str:
    ranks = [document.candidate_rank or 0 for _, document in kept]
    low, high = min(ranks), max(ranks)
    return f"fell to rank {low}" if low == high else f"fell to ranks {low}-{high}"


def _unanswered(verdict: Verdict) -> Iterator[str]:
    missing = Shown(verdict).unanswered
    if missing:
        yield f"The candidate returned nothing for {counted(missing, 'query', 'queries')}."


def _few_changes(verdict: Verdict) -> Iterator[str]:
    if verdict.outcome == "inconclusive" or not Shown(verdict).has("few_changed_topics"):
        return
    by_weight = ", by weight," if verdict.weighted else ""
    changed = counted(verdict.topics.changed, "query", "queries")
    if verdict.asked.is_tested and verdict.power.minimum_detectable_effect is None:
        yield f"Only {changed} changed: however much they lost, the gate could not fail."
        return
    yield f"Only {changed} changed: too few{by_weight} for one interval to decide."


def _pivots(verdict: Verdict) -> Iterator[str]:
    """The topics that each decide the verdict alone."""
    pivots = (verdict.explanation or Explanation()).pivotal_topics
    if verdict.asked.by_topic or not pivots:
        return
    if len(pivots) == 1:
        which = sentences.name(pivots[0])
    elif len(pivots) <= MAX_NAMED:
        names = [sentences.name(topic) for topic in pivots]
        which = f"either {' or '.join(names)}" if len(names) == 2 else f"any one of {row(names)}"
    else:
        number = len(pivots) + Shown(verdict).left_out("pivotal_topics")
        which = f"any one of {number} queries, {sentences.name(pivots[0])} above all,"
    yield f"Without {which} it would {'pass' if verdict.outcome == 'fail' else 'fail'}."


def _slices(verdict: Verdict) -> Iterator[str]:
    """Slices that are risky although all topics together are not."""
    explanation = verdict.explanation or Explanation()
    tested = [part for part in explanation.slices if part.risky is not None]
    risky = [part for part in tested if part.risky]
    if not risky:
        return
    if len(risky) == len(tested) > 1:
        enough = "" if len(tested) == len(explanation.slices) else f" with at least {MIN_TOPICS} queries"
        yield f"Each of the {len(tested)} slices{enough} is significantly risky on its own."
        return
    risky.sort(key=lambda part: (part.adjusted_p_value or 0.0, part.tag, part.value))
    names = [f"{sentences.name(part.tag)}={sentences.name(part.value)}" for part in risky]
    more = len(names) - MAX_NAMED
    listed = row(names[:MAX_NAMED]) if more <= 0 else f"{', '.join(names[:MAX_NAMED])} and {more} more slices"
    yield f"On their own, the queries of {listed} are significantly risky."
