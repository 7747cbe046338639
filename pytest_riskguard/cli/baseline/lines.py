"""Stored baselines, and what replacing them changes, in lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_riskguard.text import clean, counted, listed, percent, plain, signed

if TYPE_CHECKING:
    from pytest_riskguard.baselines.changes import ScoreChange
    from pytest_riskguard.baselines.manifest import Manifest, Staleness
    from pytest_riskguard.evaluation.scores import TopicScores

#: How many of the topics that fall are shown.
MAX_FALLS = 5


def means_of(table: Sequence[TopicScores]) -> dict[str, float]:
    """The mean of each measure."""
    from pytest_riskguard.baselines.entry import mean_score

    return {str(scores.measure): mean_score(scores) for scores in table}


def in_a_line(manifest: Manifest, means: Mapping[str, float] | None = None, stale: Staleness | None = None) -> str:
    """A baseline in one line, with the means of its measures if they are known."""
    judged = (
        "; scores alone"
        if not manifest.has_run
        else ""
        if manifest.judged is None
        else f"; {percent(manifest.judged.share, 0)} judged"
    )
    speed = "" if manifest.latency is None else f"; {manifest.latency}"
    note = f"; {clean(manifest.note, limit=60)}" if manifest.note else ""
    replicates = f"; {counted(len(manifest.replicates), 'replicate')}" if manifest.replicates else ""
    history = f"; {counted(len(manifest.history), 'earlier run')}" if manifest.history else ""
    kind = f"; {manifest.kind}" if stale is not None or manifest.kind != "fixed" else ""
    age = "" if stale is None else f", {stale_in_words(stale)}"
    start = f"{topics_in_words(manifest)}; {measures_in_words(manifest, means or {})}{judged}; {manifest.created}"
    return f"{start}{kind}{age}{history}{replicates}{speed}{note}"


def measures_in_words(manifest: Manifest, means: Mapping[str, float]) -> str:
    """``nDCG@10 0.4312, AP 0.2911``; without its mean, only the name of a measure."""
    names = manifest.measure_names
    return ", ".join(f"{name} {plain(means[name])}" if name in means else name for name in names)


def metadata_in_words(manifest: Manifest) -> str:
    """``index=v7, model=small``."""
    return ", ".join(f"{clean(key)}={clean(value, limit=500)}" for key, value in manifest.metadata.items())


def judged_in_words(manifest: Manifest) -> str:
    """How much of the run is judged."""
    judged = manifest.judged
    if not manifest.has_run:
        return "unknown: scores were stored, no run"
    if judged is None:
        return f"unknown (stored in format {manifest.format}; baseline rescore finds out)"
    return (
        f"{judged.topics} of {counted(manifest.topics.scored, 'topic')} retrieve a judged document; "
        f"{percent(judged.share, 0)} of the first 10 documents are judged"
    )


def stale_in_words(stale: Staleness) -> str:
    """``stored 412 days ago; 7 changes accepted since``."""
    when = f"{counted(stale.days, 'day')} ago" if stale.days else "today"
    since = f", {counted(stale.accepted_since, 'change')} accepted since" if stale.accepted_since else ""
    return f"stored {when}{since}"


def topics_in_words(manifest: Manifest) -> str:
    """How many topics are scored, and which were not answered."""
    text, unanswered = counted(manifest.topics.scored, "topic"), manifest.topics.unanswered
    return f"{text} ({len(unanswered)} unanswered: {listed(unanswered, most=5)})" if unanswered else text


def change_lines(changes: Sequence[ScoreChange]) -> Iterator[str]:
    """Each mean before and after, the topics that fall, worst first, and those that are scored on one side only."""
    if not changes:
        yield "  nothing to compare with: the old scores are damaged, or from other judgements or measures"
    for change in changes:
        difference = signed(change.after - change.before)
        yield f"  {change.measure} {plain(change.before)} -> {plain(change.after)} ({difference})"
        if change.fallen:
            worst = change.fallen[:MAX_FALLS]
            falls = ", ".join(f"{clean(f.topic, limit=60)} {plain(f.before)} -> {plain(f.after)}" for f in worst)
            more = f" and {len(change.fallen) - len(worst)} more" if len(change.fallen) > len(worst) else ""
            verb = "fall" if len(change.fallen) > 1 else "falls"
            yield f"    {len(change.fallen)} of {counted(change.topics, 'topic')} {verb}: {falls}{more}"
    if changes and changes[0].gone:
        yield f"  no longer scored: {listed(changes[0].gone, most=MAX_FALLS)}"
    if changes and changes[0].added:
        yield f"  scored from now on: {listed(changes[0].added, most=MAX_FALLS)}"
