"""All systems on one list of topics, or the reason why they cannot be."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

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
    def weights(self) -> FloatArray:
        """What each topic counts, shape (n_topics,), 1 on average: its stratum's share by that of its topics."""
        sizes = np.bincount(self.numbers, minlength=self.shares.size)
        weights: FloatArray = (self.shares * self.numbers.size / sizes)[self.numbers]
        return weights

    def only(self, places: IntArray) -> Strata:
        """The strata of these topics; where none is left of a stratum, the others' shares grow."""
        kept, numbers = np.unique(self.numbers[places], return_inverse=True)
        shares = self.shares[kept]
        return Strata(tuple(self.names[i] for i in kept.tolist()), shares / np.sum(shares), numbers)


@frozen(eq=False)
class Aligned:
    """Systems with scores on the same topics, and for each the topics that it was ``missing``, where it scores 0.

    The candidate comes first, then the baselines of a pool, or a baseline and its replicates. ``about`` is what is
    known of the topics. ``weights`` (n_topics,) are None where the gate counts all topics the same; ``clusters``
    (n_topics,) number the cluster of each topic from 0, None where no two topics share one; ``strata`` are None where
    the topics have none, and for gates on single topics and on slices.
    """

    systems: tuple[TopicScores, ...]
    missing: tuple[tuple[str, ...], ...]
    about: Topics = NO_TOPICS
    weights: FloatArray | None = None
    clusters: IntArray | None = None
    strata: Strata | None = None

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
    ``topics_differ``, ``missing_input`` (a topic without a weight), ``bad_strata`` (a topic without a stratum, or
    strata that do not fit their shares) and ``bad_baseline`` (a baseline that leaves out topics that the candidate
    answers, a replicate that leaves out others).
    ``ValueError`` if the gate weights topics, but there are no weights, or strata too, or a pool has strata.
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
    clusters = clusters_of(about, wanted)
    weights = weights_of(about, wanted) if gate.weighted else None
    return Aligned(systems, missing, about, weights, clusters, strata_of(gate, about, wanted, clusters))


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
    names = tuple(sorted(topics.shares, key=lambda name: (-topics.shares[name], name)))
    if gate.is_pool:
        raise ValueError(
            f"{gate.kind}: GeoRisk is not defined for strata with shares; ask about one stratum (`slice: "
            f"{STRATUM}={names[0]}`), or ask another kind of gate"
        )
    if gate.weighted:
        raise ValueError("weighted: the shares of strata are weights already; leave out `weighted` or the strata")

    def refused(problem: str, remedy: str) -> DataError:
        where = topics.path_name or "the strata"
        return DataError(f"{where}: {problem}", reason="bad_strata", remedy=remedy)

    found = [topics.strata.get(topic) for topic in wanted]
    if wrong := [topic for topic, name in zip(wanted, found, strict=True) if name not in topics.shares]:
        others = sorted({name for name in found if name and name not in topics.shares})
        raise refused(
            f"expected one of {', '.join(names)} in the column `{STRATUM}`, found {named(others) or 'none'} for "
            f"{counted(len(wrong), 'topic')}: {named(wrong)}",
            "give every judged topic one of them, or declare the share of another",
        )
    numbers = np.array([names.index(name) for name in found if name], dtype=np.int64)
    units = numbers
    if clusters is not None:
        pairs = np.unique(np.stack([clusters, numbers]), axis=1)
        twice, units = int(np.count_nonzero(np.diff(pairs[0]) == 0)), pairs[1]
        if twice:
            raise refused(
                f"{counted(twice, 'cluster')} with topics in two strata",
                "strata are drawn apart, so give all topics of a cluster one stratum",
            )
    sizes = np.bincount(units, minlength=len(names)).tolist()
    if few := [f"{name} has {size}" for name, size in zip(names, sizes, strict=True) if size < MIN_IN_STRATUM]:
        what = "topics" if clusters is None else "clusters"
        raise refused(
            f"expected at least {MIN_IN_STRATUM} judged {what} in every stratum, {'; '.join(few)}",
            "judge more of them, or join strata and add up their shares",
        )
    return Strata(names, np.array([topics.shares[name] for name in names]), numbers)


def weights_of(topics: Topics, wanted: tuple[str, ...]) -> FloatArray:
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
        if first.topics != other.topics and {*first.topics}.isdisjoint(other.topics):
            such = [f"{s.name} ({counted(len(s.topics), 'topic')}, such as {s.topics[0]!r})" for s in (first, other)]
            raise DataError(f"{' and '.join(such)} have no topic in common", reason="no_common_topic")
    lacking: list[tuple[str, ...]] = [()] * len(systems)
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


def free_wins(gate: Gate, candidate: TopicScores, baseline: TopicScores) -> tuple[str, ...]:
    """The topics that the candidate answered and the baseline did not: it scores 0 there, so any answer wins.

    None where such topics are known to have no result (``missing: zero``, or accepted when the baseline was stored).
    """
    if gate.missing == "zero":
        return ()
    return tuple(sorted({*baseline.unanswered} - {*baseline.accepted} - {*candidate.unanswered}))


def _unanswered(candidate: TopicScores, baseline: TopicScores, free: tuple[str, ...], why: str = "") -> DataError:
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
