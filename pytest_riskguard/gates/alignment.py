"""All systems on one list of topics, or the reason why they cannot be."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pytest_riskguard.data.measures import span
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.rankings import Rankings
from pytest_riskguard.risk.checks import FloatArray, IntArray
from pytest_riskguard.text import Names, counted, listed, named

#: Topics about which nothing is known.
NO_TOPICS = Topics()


@frozen(eq=False)
class Aligned:
    """Systems with scores on the same topics, and for each the topics that it was ``missing``, where it scores 0.

    The candidate comes first, then the baselines of a pool, or a baseline and its replicates. ``about`` is what is
    known of the topics. ``weights`` (n_topics,) are None where the gate counts all topics the same; ``clusters``
    (n_topics,) number the cluster of each topic from 0, None where no two topics share one.
    """

    systems: tuple[TopicScores, ...]
    missing: tuple[Names, ...]
    about: Topics = NO_TOPICS
    weights: FloatArray | None = None
    clusters: IntArray | None = None

    @property
    def candidate(self) -> TopicScores:
        """The system that is judged."""
        return self.systems[0]

    @property
    def baseline(self) -> TopicScores:
        """What it is compared with; of a pool the first."""
        return self.systems[1]

    @property
    def replicates(self) -> tuple[TopicScores, ...]:
        """Of a pair, other runs of the baseline."""
        return self.systems[2:]


Systems = Sequence[TopicScores]
"""The candidate, then the baselines of a pool, or a baseline and its replicates."""


def baselines_of(gate: Gate, systems: Systems) -> Systems:
    """The systems that a gate compares the candidate with, without replicates."""
    return systems[1:] if gate.is_pool else systems[1:2]


def align(gate: Gate, candidate: TopicScores, *others: TopicScores, topics: Topics | None = None) -> Aligned:
    """Put all systems on one list of topics, with what the gate asks about these.

    Runs scored with the same qrels are on one already. Per-topic scores must name the same topics, unless a
    missing topic scores 0 (``missing: zero``).
    Reasons of a ``DataError`` are ``inputs_changed`` (scored with different qrels), ``no_common_topic``,
    ``topics_differ``, ``missing_input`` (a topic without a weight) and ``bad_baseline`` (a baseline that leaves out
    topics that the candidate answers, a replicate that leaves out others).
    ``ValueError`` if the gate weights topics, but there are no weights.
    """
    systems, missing = on_one_list(gate, (candidate, *others))
    baselines = baselines_of(gate, systems)
    for baseline in baselines:
        if len(free := free_wins(gate, systems[0], baseline)) > baseline.a_few:
            raise _unanswered(candidate, baseline, free)
    for replicate, gaps in zip(others[len(baselines) :], missing[len(baselines) + 1 :], strict=True):
        name = others[0].name
        if strays := {*replicate.topics} - {*candidate.topics, *others[0].topics}:
            raise _differ([name], [tuple(sorted(strays))])
        if gate.missing == "refuse" and (lacking := sorted({*gaps} - {*missing[1]})):
            # missing topics would count as noise, and excuse the candidate
            raise DataError(
                f"{replicate.name}, a replicate of {name}, did not answer {counted(len(lacking), 'topic')} that "
                f"{name} answered: {named(lacking)}; expected a whole run, because missing topics would count as "
                "noise of the baseline",
                reason="bad_baseline",
                remedy="store it again, or let missing topics score 0 (missing: zero)",
            )
    about, wanted = topics or NO_TOPICS, systems[0].topics
    weights = weights_of(about, wanted) if gate.weighted else None
    return Aligned(systems, missing, about, weights, clusters_of(about, wanted))


def clusters_of(topics: Topics, wanted: Names) -> IntArray | None:
    """Each topic's cluster by number, clusters in the order of their first topic; a topic without one has its own.

    ``DataError`` (``topics_differ``) where clusters are given, but of other topics altogether.
    """
    if not topics.clusters:
        return None
    clustered, known = topics.clusters.keys(), topics.queries.keys()
    # judged topics may all stand for themselves, but then whoever named the clusters knows these topics
    if wanted and clustered.isdisjoint(wanted) and (known.isdisjoint(wanted) or clustered.isdisjoint(known)):
        raise DataError(
            f"{topics.path_name or 'the clusters'}: expected clusters of judged topics, such as {wanted[0]!r}, found "
            f"those of {counted(len(clustered), 'other topic')}: {named(sorted(clustered))}",
            reason="topics_differ",
            remedy="use the same topic ids",
        )
    numbers: dict[tuple[str, bool], int] = {}
    pairs = ((topics.clusters.get(topic), topic) for topic in wanted)
    places = [numbers.setdefault((cluster or topic, cluster is None), len(numbers)) for cluster, topic in pairs]
    return np.array(places, dtype=np.int64) if len(numbers) < len(wanted) else None


def weights_of(topics: Topics, wanted: Names) -> FloatArray:
    """Each topic's weight; raises as ``align``."""
    if not topics.weights:
        raise ValueError("weighted: there are no weights; give a topics file with a column named weight")
    if lacking := [topic for topic in wanted if topic not in topics.weights]:
        raise DataError(
            f"{topics.path_name or 'the weights'}: no weight for {counted(len(lacking), 'topic')}: {named(lacking)}",
            reason="missing_input",
            remedy="give every judged topic a weight, or count all topics the same (weighted: false)",
        )
    return np.array([topics.weights[topic] for topic in wanted])


def on_one_list(gate: Gate, systems: Sequence[TopicScores]) -> tuple[tuple[TopicScores, ...], tuple[Names, ...]]:
    """All systems on the same topics, and for each the topics that it was given a 0 for; raises like ``align``."""
    first, *others = systems
    for other in others:
        if len({first.qrels_digest, other.qrels_digest} - {None}) > 1:
            raise DataError(
                f"{first.name} and {other.name} were scored with different qrels",
                reason="inputs_changed",
                remedy="score both with the same file",
            )
        refuse_unrelated(first, other)
    lacking: list[Names] = [()] * len(systems)
    if any(other.topics != first.topics for other in others):
        topics = tuple(sorted(set().union(*(system.topics for system in systems))))
        lacking = [tuple(sorted({*topics} - {*system.topics})) for system in systems]
        if gate.missing == "refuse":
            raise _differ([system.name for system in systems], lacking)
        spread = []
        for system in systems:
            values = dict(zip(system.topics, system.values, strict=True))
            values_of_all = np.array([values.get(topic, 0.0) for topic in topics])
            spread.append(replace(system, topics=topics, values=values_of_all))
        systems = spread
    missing = [tuple(sorted({*system.unanswered, *gaps})) for system, gaps in zip(systems, lacking, strict=True)]
    return tuple(systems), tuple(missing)


def refuse_unrelated(first: TopicScores | Rankings, other: TopicScores | Rankings) -> None:
    """``DataError`` (``no_common_topic``) if two systems have none."""
    if {*first.topics}.isdisjoint(other.topics):
        such = [f"{one.name} (topics: {listed(one.topics, most=1) or 'none'})" for one in (first, other)]
        raise DataError(f"{' and '.join(such)} have no topic in common", reason="no_common_topic")


def _differ(names: Sequence[str], lacking: Sequence[Names]) -> DataError:
    parts = [
        f"{name} lacks {counted(len(topics), 'topic')}: {named(topics)}"
        for name, topics in zip(names, lacking, strict=True)
        if topics
    ]
    return DataError(
        f"the topics differ: {'; '.join(parts)}",
        reason="topics_differ",
        remedy="score both on the same topics, or let missing topics score 0 (missing: zero)",
    )


def free_wins(gate: Gate, candidate: TopicScores, baseline: TopicScores) -> Names:
    """The topics that the candidate answered and the baseline did not: it scores 0 there, so any answer wins.

    None where such topics are known to have no result (``missing: zero``, or accepted when the baseline was stored).
    """
    if gate.missing == "zero":
        return ()
    return tuple(sorted({*baseline.unanswered} - {*baseline.accepted} - {*candidate.unanswered}))


def _unanswered(candidate: TopicScores, baseline: TopicScores, free: Names, why: str = "") -> DataError:
    return DataError(
        f"{baseline.name} did not answer {len(free)} of {counted(len(baseline.topics), 'topic')} that "
        f"{candidate.name} answered ({listed(free, most=5)}), where any answer would count as a win{why}",
        reason="bad_baseline",
        remedy="use a whole run; if the search finds nothing there, let that count as 0 (missing: zero, or --set "
        "missing=zero)",
    )


def refuse_if_unanswered_decide(gate: Gate, systems: Systems, outcome_of: Callable[[Systems], str]) -> None:
    """Check that a pass does not rest on free wins; ``outcome_of`` asks the gate's question of other scores.

    ``DataError`` (``bad_baseline``) if the candidate would not pass had the baselines the best score on these topics.
    """
    candidate, baselines = systems[0], enumerate(baselines_of(gate, systems), start=1)
    free = {place: topics for place, one in baselines if (topics := free_wins(gate, candidate, one))}
    if not free:
        return
    at_best = list(systems)
    for place, topics in free.items():
        baseline = systems[place]
        best = math.inf if baseline.measure is None else span(baseline.measure)
        if not math.isfinite(best):
            best = float(max(np.max(candidate.values), np.max(baseline.values)))
        values = np.where(np.isin(baseline.topics, topics), best, baseline.values)
        at_best[place] = replace(baseline, values=values)
    if outcome_of(at_best) != "pass":
        place, topics = next(iter(free.items()))
        raise _unanswered(candidate, systems[place], topics, ", and the gate would not pass if it did well there")


def refuse_other_order(gate: Gate, systems: Systems, outcome: str, outcome_of: Callable[[Systems], str]) -> None:
    """Check that the order of equal scores does not decide; ``outcome_of`` asks the gate's question again.

    ``DataError`` with reason ``order_as_written`` if the gate has another outcome where all runs are scored in the
    order as written (see ``data.runs``). Never one run in one order and another in the other: runs whose
    scores are tied by design would then differ where nothing changed. A run that changes little is left as scored,
    unless single topics decide.
    """
    after, changes = list(systems), []
    for place, scored in enumerate(systems):
        if scored.reordered if gate.by_topic else scored.is_reordered:
            after[place] = written = scored.in_written_order()
            changes.append(
                f"{scored.name} has equal scores (trec_eval compares 32 bits), which are ranked by document id; in "
                f"{counted(len(scored.reordered), 'topic')} that is not the order as written: mean {scored.measure} "
                f"{scored.mean:.4f} as scored, {written.mean:.4f} as written"
            )
    if changes and (other_outcome := outcome_of(after)) != outcome:
        raise DataError(
            f"the order of equal scores decides: {'; '.join(changes)}. The gate's answer is {outcome} as scored and "
            f"{other_outcome} as written",
            reason="order_as_written",
            remedy="give each rank its own score, different even in 32 bits",
        )
