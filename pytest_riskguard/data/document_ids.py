"""Whether the document ids of a run are those of the judgements, and how they differ if they are not.

A system that is merely weak retrieves few judged documents too, where judgements are sparse or answers short. So a
run is refused only if most of the topics that it answers have no judged document, and in addition

- none of the topics has one, or hardly any, or
- one rewriting of its ids (a prefix taken off, lower case, ...) finds judged documents in most of those topics, or
- the ids of most of those topics use kinds of characters that no judged id uses;

or if in many topics it retrieves ids that are judged but for upper and lower case; or if its documents are judged by
chance (``examined_ids.are_by_chance``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from pytest_riskguard.data.qrels import Qrels


#: How many of the first ranks count for the share of judged documents.
FIRST_RANKS = 10
#: How many ids of each side a message shows.
SHOWN_IDS = 3
#: How many topics without a judged document are examined for the reason.
MAX_SAMPLE = 200
#: How many judged ids of a topic are compared with those of a run to find the reason.
MAX_JUDGED_OF_TOPIC = 500
#: How many judged ids are used to see how ids are written: from fewer nothing is concluded.
MIN_JUDGED_IDS, MAX_JUDGED_IDS = 20, 100_000
#: Of at least so many answered topics, this share must have a judged document.
MIN_MATCHED, ENOUGH_TOPICS = 0.05, 20
#: The largest share of topics in which ids differ from judged ones only in case: some documents do that.
MAX_RESPELLED = 0.25
#: After a rewriting, at least this share of the ids must still be distinct.
MIN_DISTINCT = 0.9


@dataclass(frozen=True)
class Judged:
    """How much of what a run retrieved is judged.

    Attributes
    ----------
    answered : int
        Scored topics that the run answers.
    topics : int
        How many of these retrieve at least one judged document, at any rank.
    share : float
        Of the documents in the first 10 ranks of all these topics, the share that is judged.
    """

    answered: int
    topics: int
    share: float


@dataclass
class JudgedTally:
    """``Judged``, counted topic by topic; keeps the first ids of some topics without a judged document.

    ``whole`` has the figures of all topics where only some are counted here.
    """

    answered: int = 0
    topics: int = 0
    _first: int = 0
    _judged_first: int = 0
    unmatched: dict[str, tuple[str, ...]] = field(default_factory=dict)
    respelled: dict[str, tuple[str, str]] = field(default_factory=dict)
    whole: Judged | None = None

    def add(
        self, topic: str, ranking: Collection[str], judged: Mapping[str, float], *, has_judged: bool = False
    ) -> None:
        """Count one topic: its documents from rank 1 on, and its judgements.

        ``has_judged`` says that a document is judged which ``ranking`` may leave out.
        """
        first = tuple(islice(ranking, FIRST_RANKS))
        judged_first = len(judged.keys() & first)
        if (pair := _respelled(first, judged)) is not None:
            self.respelled[topic] = pair
        self.answered += 1
        self._first += len(first)
        self._judged_first += judged_first
        if has_judged or judged_first or not judged.keys().isdisjoint(ranking):
            self.topics += 1
        elif len(self.unmatched) < MAX_SAMPLE:
            self.unmatched[topic] = first

    @property
    def total(self) -> Judged:
        """The figures of all topics counted so far."""
        return Judged(self.answered, self.topics, self._judged_first / max(self._first, 1))


def mismatch(source: str, tally: JudgedTally, qrels: Qrels) -> str | None:
    """Why a run's ids are not those of the judgements, as a sentence for people; None if they are, or may be."""
    if len(tally.respelled) > MAX_RESPELLED * tally.answered:
        return _in_another_case(source, tally, qrels)
    whole = tally.whole or tally.total
    unmatched = whole.answered - whole.topics
    if 2 * unmatched <= whole.answered:
        return None
    cause = _cause(tally.unmatched, qrels.grades)
    is_enough = whole.answered < ENOUGH_TOPICS or whole.topics > MIN_MATCHED * whole.answered
    if whole.topics and cause is None and (is_enough or qrels.rules.is_complete):
        return None
    run_ids = dict.fromkeys(docid for first in tally.unmatched.values() for docid in first)
    judged_ids = dict.fromkeys(docid for topic in tally.unmatched for docid in qrels.grades[topic])
    in_topics = "any topic" if not whole.topics else f"{unmatched:,} of the {whole.answered:,} topics"
    likely = cause or "its ids may come from another collection or index"
    return (
        f"{source}: expected document ids of {qrels.path_name}, such as {_shown(judged_ids)}; found "
        f"{_shown(run_ids)}, and no judged document in {in_topics} that it answers: {likely}; write the ids "
        "of the run as the judgements do"
    )


def chance(source: str, sample: Mapping[str, Collection[str]], qrels: Qrels) -> str:
    """What to say of a run whose documents are judged by chance; ``sample`` has some topics with their documents."""
    run_ids = dict.fromkeys(docid for documents in sample.values() for docid in documents)
    judged_ids = dict.fromkeys(docid for topic in sample for docid in qrels.grades[topic])
    return (
        f"{source}: expected document ids of {qrels.path_name}, such as {_shown(judged_ids)}; found "
        f"{_shown(run_ids)}, judged for other topics as often as for their own: it may be a run on another index, "
        "whose ids name other documents; retrieve from the index that was judged"
    )


def _respelled(first: Iterable[str], judged: Mapping[str, float]) -> tuple[str, str] | None:
    """An id among these that is not judged, and the judged id from which it differs only in case."""
    folded = {docid.casefold(): docid for docid in first if docid not in judged and docid.lower() != docid.upper()}
    if not folded:
        return None
    other = next((docid for docid in judged if docid.casefold() in folded), None)
    return None if other is None else (folded[other.casefold()], other)


def _in_another_case(source: str, tally: JudgedTally, qrels: Qrels) -> str:
    run_ids, judged_ids = (dict.fromkeys(side) for side in zip(*tally.respelled.values(), strict=True))
    is_sample = tally.whole is not None and tally.whole.answered > tally.answered
    return (
        f"{source}: expected document ids of {qrels.path_name}, such as {_shown(judged_ids)}; found "
        f"{_shown(run_ids)}: in {len(tally.respelled):,} of the {tally.answered:,} topics that "
        f"{'were examined' if is_sample else 'it answers'} they differ in upper and lower case; write the "
        "ids of the run as the judgements do"
    )


def _shown(ids: Collection[str]) -> str:
    return ", ".join(repr(docid if len(docid) <= 60 else f"{docid[:59]}…") for docid in islice(ids, SHOWN_IDS))


def _cause(sample: Mapping[str, tuple[str, ...]], grades: Mapping[str, Mapping[str, float]]) -> str | None:
    """How the ids of most topics of the sample differ from judged ids; None if no difference is found."""
    needed = len(sample) // 2 + 1
    judged = {topic: dict.fromkeys(islice(grades[topic], MAX_JUDGED_OF_TOPIC)) for topic in sample}
    for cause, rewritten in _REWRITINGS.items():
        gained = sum(
            not {rewritten(docid) for docid in judged[topic]}.isdisjoint(map(rewritten, first))
            for topic, first in sample.items()
        )
        if gained >= needed and all(_tells_apart(rewritten, side.values()) for side in (judged, sample)):
            return cause
    steps = {
        step: sum(any(_moved(docid, step) in judged[topic] for docid in first) for topic, first in sample.items())
        for step in (-2, -1, 1, 2)
    }
    for step in (1, -1):
        by_chance = max(steps[-step], steps[2], steps[-2])  # numbers of a small collection lie close together
        if steps[step] >= max(needed, 2 * by_chance):
            return f"each id of the run is {'one less' if step > 0 else 'one more'} than a judged one"
    for writer in ("run", "judgements"):
        affixes: Counter[str] = Counter()
        for topic, first in sample.items():
            run_ids, judged_ids = islice(first, FIRST_RANKS), list(judged[topic])
            pairs = ((a, b) if writer == "run" else (b, a) for a in run_ids for b in judged_ids)
            affixes.update({affix for long, short in pairs for affix in _affixes(long, short)})
        if affixes and (most := max(affixes.values())) >= needed:
            return f"ids of the {writer} {min(affix for affix, count in affixes.items() if count == most)}"
    return _written_differently(sample, grades, needed)


def _tells_apart(rewritten: Callable[[str], str], rankings: Iterable[Iterable[str]]) -> bool:
    """Whether documents keep distinct ids: if all URLs end in ``index.html``, that ending identifies none of them."""
    ids = {docid for ranking in rankings for docid in ranking}
    return len(set(map(rewritten, ids))) >= MIN_DISTINCT * len(ids)


def _moved(docid: str, step: int) -> str | None:
    return str(int(docid) + step) if docid.isascii() and docid.isdigit() and len(docid) < 20 else None


def _affixes(long: str, short: str) -> Iterator[str]:
    """What the longer of two ids has before or after the shorter one; never digits next to digits."""
    if long.endswith(short) and not (long[-len(short) - 1].isdigit() and short[0].isdigit()):
        yield f"begin with {long[: -len(short)]!r}, which the others lack"
    if long.startswith(short) and not (long[len(short)].isdigit() and short[-1].isdigit()):
        yield f"end with {long[len(short) :]!r}, which the others lack"


def _written_differently(
    sample: Mapping[str, tuple[str, ...]], grades: Mapping[str, Mapping[str, float]], needed: int
) -> str | None:
    judged_ids = islice((docid for judged in grades.values() for docid in judged), MAX_JUDGED_IDS)
    known = Counter(map(_characters, judged_ids))
    foreign = sum(not any(_characters(docid) in known for docid in first) for first in sample.values())
    if foreign < needed or known.total() < MIN_JUDGED_IDS:
        return None
    return "their ids use different kinds of characters"


def _characters(docid: str) -> frozenset[str]:
    """The kinds of characters of an id: digits, small and capital letters, and each other character."""
    return frozenset("0" if c.isdigit() else "a" if c.islower() else "A" if c.isupper() else c for c in docid)


def _without_zeros(docid: str) -> str:
    return re.sub(r"(?<!\d)0+(?=\d)", "", docid)


def _without_extension(docid: str) -> str:
    return re.sub(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{0,4}$", "", docid)


def _last_of_path(docid: str) -> str:
    return unquote(docid).split("?")[0].rstrip("/").rpartition("/")[2]


#: What may tell two ids of one document apart -> a function that makes them equal.
_REWRITINGS: Mapping[str, Callable[[str], str]] = {
    "they differ in upper and lower case": str.casefold,
    "one side writes whole numbers with decimals": lambda docid: re.sub(r"(?<=\d)\.0+$", "", docid),
    "they differ in leading zeros": _without_zeros,
    "one side writes a file extension": _without_extension,
    "one side writes paths or URLs, or an index before the id": _last_of_path,
    "one side writes paths or URLs of files": lambda docid: _without_extension(_last_of_path(docid)).casefold(),
}


#: From fewer topics with two documents or more, nothing is concluded: a few answers may be ideal.
MIN_TOPICS = 10


@dataclass
class GradesAsScores:
    """Counts topics whose documents and scores are those of the judgements: one file was given as both.

    Such a run is ideal, so a gate would pass; but no system returns exactly the judged documents, scored by grades.
    """

    same: int = 0
    several: int = 0
    other: int = 0

    def add(self, documents: Mapping[str, float], judged: Mapping[str, float]) -> None:
        """Count one topic: the scores of its documents, and its grades."""
        if documents == judged:
            self.same += 1
            self.several += len(judged) > 1
        else:
            self.other += 1

    @property
    def is_certain(self) -> bool:
        """Whether that is so in every topic, and half of them, enough to conclude it, have two documents or more."""
        return not self.other and self.several >= MIN_TOPICS and 2 * self.several >= self.same


def same_file(source: str, qrels: str) -> str:
    """What to say of such a run."""
    return (
        f"{source}: expected what a system returned, found the documents of {qrels} with their grades as scores: one "
        "file was given as both, or judgements as a run; name the run and the judgements"
    )
