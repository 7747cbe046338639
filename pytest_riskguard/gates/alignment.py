"""Both systems on one list of topics, or the reason why they cannot be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from pytest_riskguard.data.measures import span
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import STRATUM, Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.risk.checks import FloatArray, IntArray
from pytest_riskguard.text import counted, listed, named

#: Topics about which nothing is known.
NO_TOPICS = Topics()


#: A stratum with fewer topics, or clusters, does not show how much it varies.
MIN_IN_STRATUM = 2


@frozen(eq=False)
class Strata:
    """Which topics were drawn from the same part of all queries, and how large these parts are.

    ``numbers`` (n_topics,) are places in ``names`` and ``shares`` (n_strata,), which add up to 1.
    """

    names: tuple[str, ...]
    shares: FloatArray
    numbers: IntArray

    @property
    def counts(self) -> IntArray:
        """How many topics each stratum has."""
        return np.bincount(self.numbers, minlength=self.shares.size)

    @property
    def weights(self) -> FloatArray:
        """What each topic counts, shape (n_topics,), 1 on average: its stratum's share by that of its topics."""
        weights: FloatArray = (self.shares * self.numbers.size / self.counts)[self.numbers]
        return weights

    def only(self, places: IntArray) -> Strata:
        """The strata of these topics; where none is left of a stratum, the others' shares grow."""
        kept, numbers = np.unique(self.numbers[places], return_inverse=True)
        shares = self.shares[kept]
        return Strata(tuple(self.names[i] for i in kept.tolist()), shares / np.sum(shares), numbers)


@frozen
class Aligned:
    """Both systems' scores on the same topics, with a 0 on topics that a system missed.

    ``weights`` (n_topics,) are None where the gate counts all topics the same; ``tags`` map topic to tag to
    value. ``clusters`` (n_topics,) number the cluster of each topic from 0; None where no two topics share one.
    ``topics``: what else is known about them. ``strata`` are None where the topics have none, and for gates on single
    topics and on slices.
    """

    candidate: TopicScores
    baseline: TopicScores
    missing_in_candidate: tuple[str, ...] = ()
    missing_in_baseline: tuple[str, ...] = ()
    replicates: tuple[TopicScores, ...] = ()
    weights: FloatArray | None = None
    tags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    clusters: IntArray | None = None
    topics: Topics = NO_TOPICS
    strata: Strata | None = None


def align(
    gate: Gate,
    candidate: TopicScores,
    baseline: TopicScores,
    *,
    replicates: Sequence[TopicScores] = (),
    topics: Topics | None = None,
) -> Aligned:
    """Put all runs on one list of topics, with their clusters and strata, and weights where the gate asks for them.

    Runs scored with the same qrels are on one already. Per-topic scores must name the same topics, unless a
    missing topic scores 0 (``missing: zero``).
    Reasons of a ``DataError`` are ``inputs_changed`` (scored with different qrels), ``no_common_topic``,
    ``topics_differ``, ``missing_input`` (a topic without a weight), ``bad_strata`` (a topic without a stratum, or
    strata that do not fit their shares) and ``bad_baseline`` (a baseline that leaves out topics that the candidate
    answers, a replicate that leaves out others).
    ``ValueError`` if the gate weights topics, but there are no weights, or strata too.
    """
    (candidate, baseline), (gaps, baseline_gaps) = on_one_list(gate, (candidate, baseline))
    refuse_unanswered(gate, candidate, baseline)
    others = []
    for replicate in replicates:
        (other, _), (replicate_gaps, _) = on_one_list(gate, (replicate, baseline))
        if gate.missing == "refuse" and (lacking := sorted({*replicate_gaps} - {*baseline_gaps})):
            raise _partial_replicate(replicate, baseline, lacking)
        if other.topics != baseline.topics:  # the replicate has a topic that neither side has
            raise _differ([replicate.name, baseline.name], [(), tuple(sorted({*other.topics} - {*baseline.topics}))])
        others.append(other)
    topics = topics or NO_TOPICS
    weights = weights_of(topics, baseline.topics) if gate.weighted else None
    clusters = clusters_of(topics, baseline.topics)
    strata = strata_of(gate, topics, baseline.topics, clusters)
    return Aligned(
        candidate, baseline, gaps, baseline_gaps, tuple(others), weights, topics.tags, clusters, topics, strata
    )


def _partial_replicate(replicate: TopicScores, baseline: TopicScores, lacking: Sequence[str]) -> DataError:
    """Incomplete replicates are refused: missing topics would count as noise, and excuse the candidate."""
    return DataError(
        f"{replicate.name}, a replicate of {baseline.name}, did not answer {counted(len(lacking), 'topic')} "
        f"that {baseline.name} answered: {named(lacking)}; expected a whole run, because missing topics "
        "would count as noise of the baseline",
        reason="bad_baseline",
        remedy="store it again, or let missing topics score 0 (missing: zero)",
    )


def clusters_of(topics: Topics, wanted: tuple[str, ...]) -> IntArray | None:
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


def strata_of(gate: Gate, topics: Topics, wanted: tuple[str, ...], clusters: IntArray | None) -> Strata | None:
    """The strata of topics where shares are declared, the largest first; raises like ``align``.

    A gate on single topics needs none, and shares of all queries are not the shares within a slice.
    """
    if not topics.shares or gate.by_topic or gate.slice is not None:
        return None
    if gate.weighted:
        raise ValueError("weighted: the shares of strata are weights already; leave out `weighted` or the strata")
    names = tuple(sorted(topics.shares, key=lambda name: (-topics.shares[name], name)))
    number = {name: place for place, name in enumerate(names)}
    where = topics.path_name or "the strata"
    named_in = [topics.strata.get(topic) for topic in wanted]
    lacking = [topic for topic, name in zip(wanted, named_in, strict=True) if not name]
    if lacking:
        raise DataError(
            f"{where}: no stratum for {counted(len(lacking), 'topic')}: {named(lacking)}",
            reason="bad_strata",
            remedy=f"give every judged topic one of {', '.join(names)} in the column `{STRATUM}`",
        )
    strange = sorted({name for name in named_in if name and name not in number})
    if strange:
        raise DataError(
            f"{where}: no share of {named(strange)}; expected one of {', '.join(names)} in the column `{STRATUM}`",
            reason="bad_strata",
            remedy="correct it, or declare the share",
        )
    found = Strata(
        names,
        np.array([topics.shares[name] for name in names]),
        np.array([number[name] for name in named_in if name], dtype=np.int64),
    )
    _refuse_small(found, clusters, where)
    return found


def _refuse_small(strata: Strata, clusters: IntArray | None, where: str) -> None:
    """``DataError`` (``bad_strata``) for a cluster in two strata, and for strata whose variation is not known."""
    units, what = strata.numbers, "topic"
    if clusters is not None:
        pairs = np.unique(np.stack([clusters, strata.numbers]), axis=1)
        twice = np.flatnonzero(np.diff(pairs[0]) == 0)
        if twice.size:
            both = " and ".join(strata.names[i] for i in pairs[1, twice[0] : twice[0] + 2].tolist())
            raise DataError(
                f"{where}: {counted(twice.size, 'cluster')} with topics in two strata, such as {both}",
                reason="bad_strata",
                remedy="strata are drawn apart, so give all topics of a cluster one stratum",
            )
        units, what = pairs[1], "cluster"
    sizes = np.bincount(units, minlength=len(strata.names)).tolist()
    few = [f"{name} has {size}" for name, size in zip(strata.names, sizes, strict=True) if size < MIN_IN_STRATUM]
    if few:
        raise DataError(
            f"{where}: expected at least {MIN_IN_STRATUM} judged {what}s in every stratum, {'; '.join(few)}",
            reason="bad_strata",
            remedy="judge more of them, or join strata and add up their shares",
        )


def weights_of(topics: Topics, wanted: tuple[str, ...]) -> FloatArray:
    """Each topic's weight; raises as ``align``."""
    if not topics.weights:
        raise ValueError("weighted: there are no weights; give a topics file with a column named weight")
    lacking = [topic for topic in wanted if topic not in topics.weights]
    if lacking:
        raise DataError(
            f"{topics.path_name or 'the weights'}: no weight for {counted(len(lacking), 'topic')}: {named(lacking)}",
            reason="missing_input",
            remedy="give every judged topic a weight, or count all topics the same (weighted: false)",
        )
    return np.array([topics.weights[topic] for topic in wanted])


def on_one_list(
    gate: Gate, systems: Sequence[TopicScores]
) -> tuple[tuple[TopicScores, ...], tuple[tuple[str, ...], ...]]:
    """All systems on the same topics, and for each the topics that it was given a 0 for; raises like ``align``."""
    first, *others = systems
    for other in others:
        if len({first.qrels_digest, other.qrels_digest} - {None}) > 1:
            raise DataError(
                f"{first.name} and {other.name} were scored with different qrels",
                reason="inputs_changed",
                remedy="score both with the same file",
            )
        if first.topics != other.topics and not {*first.topics} & {*other.topics}:
            raise DataError(
                f"{first.name} ({_such_as(first)}) and {other.name} ({_such_as(other)}) have no topic in common",
                reason="no_common_topic",
            )
    lacking: list[tuple[str, ...]] = [()] * len(systems)
    if any(other.topics != first.topics for other in others):
        all_topics = tuple(sorted({topic for system in systems for topic in system.topics}))
        lacking = [tuple(sorted({*all_topics} - {*system.topics})) for system in systems]
        if gate.missing == "refuse":
            raise _differ([system.name for system in systems], lacking)
        systems = tuple(_spread(system, all_topics) for system in systems)
    missing = [tuple(sorted({*system.unanswered, *gaps})) for system, gaps in zip(systems, lacking, strict=True)]
    return tuple(systems), tuple(missing)


def free_wins(gate: Gate, candidate: TopicScores, baseline: TopicScores) -> tuple[str, ...]:
    """The topics that the candidate answered and the baseline did not: it scores 0 there, so any answer wins.

    None where such topics are known to have no result (``missing: zero``, or accepted when the baseline was stored).
    """
    if gate.missing == "zero":
        return ()
    return tuple(sorted({*baseline.unanswered} - {*baseline.accepted} - {*candidate.unanswered}))


def refuse_unanswered(gate: Gate, candidate: TopicScores, baseline: TopicScores) -> None:
    """``DataError`` (``bad_baseline``) for a baseline with more than a small share of free wins."""
    free = free_wins(gate, candidate, baseline)
    if len(free) > baseline.a_few:
        raise _unanswered(candidate, baseline, free)


def refuse_if_unanswered_decide(
    gate: Gate,
    candidate: TopicScores,
    baselines: Sequence[TopicScores],
    passes: Callable[[Sequence[TopicScores]], bool],
) -> None:
    """Check that a pass does not rest on free wins; ``passes`` asks the gate's question of other baselines.

    ``DataError`` (``bad_baseline``) if the candidate would not pass had the baselines the best score on these topics.
    """
    free = [free_wins(gate, candidate, baseline) for baseline in baselines]
    if not any(free):
        return
    at_best = [_at_best(candidate, baseline, topics) for baseline, topics in zip(baselines, free, strict=True)]
    if not passes(at_best):
        baseline, topics = next(pair for pair in zip(baselines, free, strict=True) if pair[1])
        raise _unanswered(candidate, baseline, topics, ", and the gate would not pass if it did well there")


def _at_best(candidate: TopicScores, baseline: TopicScores, topics: Sequence[str]) -> TopicScores:
    reach = math.inf if baseline.measure is None else span(baseline.measure)
    best = reach if math.isfinite(reach) else float(max(np.max(candidate.values), np.max(baseline.values)))
    lacking = np.isin(baseline.topics, topics)
    return replace(baseline, values=np.where(lacking, best, baseline.values))


def _unanswered(candidate: TopicScores, baseline: TopicScores, free: Sequence[str], why: str = "") -> DataError:
    queries = "these queries" if len(free) > 1 else "this query"
    return DataError(
        f"{baseline.name} did not answer {len(free)} of {counted(len(baseline.topics), 'topic')} that "
        f"{candidate.name} answered ({listed(tuple(free), most=5)}), where any answer would count as a win{why}",
        reason="bad_baseline",
        remedy=f"use a whole run; if the search finds nothing for {queries}, let that count as 0 (missing: zero, or "
        "--set missing=zero)",
    )


def refuse_other_order(
    gate: Gate,
    candidate: TopicScores,
    others: Sequence[TopicScores],
    outcome: str,
    outcome_of: Callable[[TopicScores, Sequence[TopicScores]], str],
) -> None:
    """Check that the order of equal scores does not decide; ``outcome_of`` asks the gate's question again.

    ``DataError`` with reason ``order_as_written`` if the gate has another outcome where all runs are scored in the
    order as written (see ``data.runs``). Never one run in one order and another in the other: runs whose
    scores are tied by design would then differ where nothing changed. A run that changes little is left as scored,
    unless single topics decide.
    """
    before = (candidate, *others)
    is_changed = [bool(system.reordered) if gate.by_topic else system.is_reordered for system in before]
    if not any(is_changed):
        return
    after = [
        system.in_written_order() if changed else system for system, changed in zip(before, is_changed, strict=True)
    ]
    other_outcome = outcome_of(after[0], after[1:])
    if other_outcome != outcome:
        changes = [_reordered(*pair) for pair in zip(before, after, strict=True) if pair[0] is not pair[1]]
        raise DataError(
            f"the order of equal scores decides: {'; '.join(changes)}. The gate's answer is {outcome} as scored and "
            f"{other_outcome} as written",
            reason="order_as_written",
            remedy="give each rank its own score, different even in 32 bits",
        )


def _reordered(scored: TopicScores, written: TopicScores) -> str:
    return (
        f"{scored.name} has equal scores (trec_eval compares 32 bits), which are ranked by document id; in "
        f"{counted(len(scored.reordered), 'topic')} that is not the order as written: mean {scored.measure} "
        f"{scored.mean:.4f} as scored, {written.mean:.4f} as written"
    )


def _such_as(scores: TopicScores) -> str:
    return f"{counted(len(scores.topics), 'topic')}, such as {scores.topics[0]!r}"


def _differ(names: Sequence[str], lacking: Sequence[tuple[str, ...]]) -> DataError:
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


def _spread(scores: TopicScores, topics: tuple[str, ...]) -> TopicScores:
    values = dict(zip(scores.topics, scores.values, strict=True))
    return replace(scores, topics=topics, values=np.array([values.get(topic, 0.0) for topic in topics]))
