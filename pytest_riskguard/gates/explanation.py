"""What a verdict says of why: topics that belong together, slices, documents, judgements, and the data of charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class TopicGroup:
    """Topics that changed the same way and carry the same tag.

    ``topics`` by contribution, largest first; ``contribution`` is theirs together, ``share`` their part in what all
    topics lost (or won); ``tagged`` is how many topics of the comparison carry the tag.
    """

    tag: str
    value: str
    change: Literal["loss", "win"]
    topics: tuple[str, ...]
    contribution: float
    share: float | None
    tagged: int


@dataclass(frozen=True)
class Slice:
    """The comparison on the topics of one tag, at the gate's alpha and level.

    ``lower`` and ``upper`` are the limits of URisk by the gate's own method, ``p_value`` is that of its rule on these
    topics, ``adjusted_p_value`` after Holm over all slices that have one, ``risky`` whether that is at most
    ``1 - level``. These five are None below 10 topics. ``flagged`` are topics of the slice that TR_i flags.
    """

    tag: str
    value: str
    count: int
    changed: int
    wins: int
    losses: int
    candidate_mean: float
    baseline_mean: float
    mean_difference: float
    urisk: float
    lower: float | None
    upper: float | None
    p_value: float | None
    adjusted_p_value: float | None
    risky: bool | None
    flagged: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """Why, from the scores alone.

    Attributes
    ----------
    summary : str
        The verdict in a paragraph of plain language; its figures are those of the verdict.
    pivotal_topics : tuple of str
        Topics of which leaving out any single one gives the other verdict (fail instead of pass, or pass instead of
        fail), most decisive first.
    groups : tuple of TopicGroup
        Those with the largest part first.
    slices : tuple of Slice
        By tag, then value.
    """

    summary: str
    pivotal_topics: tuple[str, ...] = ()
    groups: tuple[TopicGroup, ...] = ()
    slices: tuple[Slice, ...] = ()


@dataclass(frozen=True)
class MovedDocument:
    """A document in both rankings of a topic.

    ``grade`` is None for one that nobody judged; a rank is None where the run does not hold it. ``effect`` is its
    part in the topic's difference, in units of the measure.
    """

    document: str
    grade: int | None
    baseline_rank: int | None
    candidate_rank: int | None
    effect: float


@dataclass(frozen=True)
class TopicDocuments:
    """What moved in one topic.

    Attributes
    ----------
    topic : str
    depth : int
        Ranks that the measure looks at; 0 for all.
    exact : bool
        Whether the effects of ``moved`` add up to the topic's difference: so for sums over documents (nDCG, DCG);
        otherwise each is what putting this document alone back where the baseline had it would bring.
    moved : tuple of MovedDocument
        Relevant documents whose rank changed where the measure looks, largest loss first.
    replacements : tuple of MovedDocument
        What stands in the candidate's first ranks that did not in the baseline's, by rank.
    """

    topic: str
    depth: int
    exact: bool
    moved: tuple[MovedDocument, ...]
    replacements: tuple[MovedDocument, ...]


@dataclass(frozen=True)
class UnjudgedTopic:
    """How many documents of each ranking's first ``depth`` nobody judged."""

    topic: str
    candidate: int
    baseline: int


@dataclass(frozen=True)
class IfJudged:
    """What the gate would have said, had the unjudged documents the grades of this case.

    ``case``: ``irrelevant`` (as scored), ``relevant`` (all have the highest grade that their topic has),
    ``candidate_relevant`` and ``baseline_relevant`` (only those that this side shows more of, or higher up).
    """

    case: Literal["irrelevant", "relevant", "candidate_relevant", "baseline_relevant"]
    urisk: float
    outcome: Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True)
class Judgements:
    """Documents that nobody judged, and whether the verdict rests on them.

    Attributes
    ----------
    depth : int
        Ranks looked at: the measure's cutoff, else 10.
    candidate, baseline, documents : int
        Unjudged (topic, document) pairs in the candidate's first ranks, the baseline's, and in either.
    topics : tuple of UnjudgedTopic
        Those that have any, most first.
    cases : tuple of IfJudged
    depends : bool
        Whether the outcome differs between the cases.
    """

    depth: int
    candidate: int
    baseline: int
    documents: int
    topics: tuple[UnjudgedTopic, ...]
    cases: tuple[IfJudged, ...]
    depends: bool


@dataclass(frozen=True)
class TopicColumns:
    """All topics with their figures, column by column in the order of the topics: what charts draw.

    ``contributions`` add up to the estimate; ``standardised`` is TR_i. ``critical_value`` is where TR_i is flagged,
    None for a single topic. ``tags`` maps each tag to its value per topic (empty where a topic has none).
    """

    topics: tuple[str, ...]
    queries: tuple[str | None, ...]
    candidate: tuple[float, ...]
    baseline: tuple[float, ...]
    contributions: tuple[float, ...]
    standardised: tuple[float, ...]
    critical_value: float | None
    tags: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class AlphaCurve:
    """URisk and TRisk over alpha, with the limits of the gate's decisive interval; None where there are none."""

    alphas: tuple[float, ...]
    urisk: tuple[float, ...]
    trisk: tuple[float | None, ...]
    lower: tuple[float | None, ...]
    upper: tuple[float | None, ...]


@dataclass(frozen=True)
class Density:
    """The bootstrap law of the estimate: its density (mass per unit of the measure) at values in ascending order."""

    values: tuple[float, ...]
    density: tuple[float, ...]


@dataclass(frozen=True)
class GeoRiskCurves:
    """GeoRisk of every system of the pool over alpha."""

    alphas: tuple[float, ...]
    systems: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class SystemMap:
    """The systems of a pool on the first two principal axes of their scores; ``explained`` are shares of variance."""

    explained: tuple[float, ...]
    systems: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Exhibits:
    """The data behind the charts of a report; a part is None where the gate's kind or data have no such thing."""

    topics: TopicColumns
    curve: AlphaCurve | None = None
    density: Density | None = None
    georisk: GeoRiskCurves | None = None
    components: SystemMap | None = None
