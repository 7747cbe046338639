"""Whether the document ids of a run are those of the judgements, and how they differ if they are not.

A system that is merely weak retrieves few judged documents too, where judgements are sparse or answers short. So a
run is refused only

- if in many topics it retrieves ids that are judged but for upper and lower case;
- if most of the topics that it answers have no judged document, and in addition none of the topics has one, or hardly
  any, or one rewriting of its ids (a prefix taken off, without zeros, ...) finds judged documents in most of those
  topics, or the ids of most of those topics use kinds of characters that no judged id uses;
- if its documents are judged by chance: ids such as 1, 2, 3 are judged ids in any index. But a run on another index
  finds as many documents that are judged for *other* topics as for its own, while even a weak system finds more for
  its own. Only documents count that are judged, or relevant, for one of two topics and not for the other;
- if it is the judgements.

Large runs are judged by some of their topics, which depend on the topics alone.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from urllib.parse import unquote

import numpy as np

from pytest_riskguard.data.ids import BoolArray, Ids, IntArray
from pytest_riskguard.data.qrels import Qrels, judgement_rows
from pytest_riskguard.data.scores import Judged
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen

#: How many topics are examined; of fewer, all are.
MAX_TOPICS = 2_000
#: How many of their first ranks are compared, and how many are counted to see whether matches are chance.
FIRST_RANKS, MAX_RANKS = 10, 100
#: How many ids of each side a message shows.
SHOWN_IDS = 3
#: How many topics without a judged document are looked at for the reason, and how many judged ids of each.
MAX_SAMPLE, MAX_JUDGED_OF_TOPIC = 200, 500
#: How many judged ids are used to see how ids are written: from fewer nothing is concluded.
MIN_JUDGED_IDS, MAX_JUDGED_IDS = 20, 100_000
#: More than this share of the answered topics must have a judged document.
MIN_MATCHED = 0.05
#: The largest share of topics in which ids differ from judged ones only in case: some documents do that.
MAX_RESPELLED = 0.25
#: After a rewriting, at least this share of the ids must still be distinct.
MIN_DISTINCT = 0.9
#: Each topic is compared with that many others, spread evenly over all.
OTHER_TOPICS = 5
#: From fewer different rankings, or topics with two judged documents, nothing is concluded: a few may be ideal.
MIN_TOPICS = 10
#: Matches are not chance if the probability that chance alone gives as many is smaller than this.
UNLIKELY = 0.0001
#: Where so large a share of the first ten documents is judged, ids match: most documents are judged for all topics.
ENOUGH_JUDGED = 0.2
#: Spreads the places of topics over all 32-bit numbers: neighbours are far apart, and any first few spread evenly.
_SPREAD = np.uint32(0x9E3779B1)

_REMEDY = "write the ids of the run as the judgements do"
_Rankings = Mapping[str, Sequence[str]]


@frozen(eq=False)
class FirstDocuments:
    """The first documents of some topics.

    Attributes
    ----------
    places : array of int64, shape (n_topics,)
        The topics, by their places in ``Qrels.topics``.
    offsets : array of int64, shape (n_topics + 1,)
        The documents of topic i are ``documents[offsets[i]:offsets[i + 1]]``, from rank 1 on in the order as written,
        at most ``MAX_RANKS``.
    documents : Ids
    """

    places: IntArray
    offsets: IntArray
    documents: Ids


def examined(places: IntArray) -> IntArray:
    """Which of the topics at these places in the judgements are examined: their indices, rising."""
    if len(places) <= MAX_TOPICS:
        return np.arange(len(places))
    return np.sort(np.argpartition(places.astype(np.uint32) * _SPREAD, MAX_TOPICS)[:MAX_TOPICS])


def refuse_judgements(source: str, qrels: Qrels, places: IntArray, as_judged: BoolArray) -> None:
    """``DataError`` if a run is the judgements: no system returns exactly the judged documents, scored by grades.

    ``as_judged`` says of the topics at these places whether their documents and scores are judgements and grades.
    """
    several = int(np.count_nonzero(np.diff(qrels.arrays.offsets)[places] > 1))
    if as_judged.all() and several >= MIN_TOPICS and 2 * several >= len(places):
        raise DataError(
            f"{source}: expected what a system returned, found the documents of {qrels.path_name} with their grades "
            "as scores: one file was given as both, or judgements as a run; name the run and the judgements",
            reason="bad_run",
        )


def refuse_other_ids(source: str, qrels: Qrels, judged: Judged, first: FirstDocuments, has_judged: BoolArray) -> None:
    """``DataError`` if a run's ids are not those of the judgements.

    ``judged`` has the figures of all topics, ``first`` the topics that are examined; ``has_judged`` says for which of
    these the run retrieves a judged document, at any rank.
    """
    ids, bounds = first.documents.strings(), itertools.pairwise(first.offsets.tolist())
    rankings = {
        qrels.topics[place]: ids[start : min(stop, start + FIRST_RANKS)]
        for place, (start, stop) in zip(first.places.tolist(), bounds, strict=True)
    }

    def refuse(found: Iterable[str], expected: Iterable[str], problem: str) -> DataError:
        ids = f"expected document ids of {qrels.path_name}, such as {_shown(expected)}; found {_shown(found)}"
        return DataError(f"{source}: {ids}{problem}", reason="ids_do_not_match")

    respelled = [pair for topic, ranking in rankings.items() if (pair := _respelled(ranking, qrels.grades[topic]))]
    if len(respelled) > MAX_RESPELLED * len(rankings):
        in_topics = f": in {len(respelled):,} of the {len(rankings):,} topics examined"
        problem = f"{in_topics} they differ in upper and lower case; {_REMEDY}"
        raise refuse([pair[0] for pair in respelled], [pair[1] for pair in respelled], problem)
    unmatched = judged.answered - judged.topics
    if 2 * unmatched > judged.answered:
        without = itertools.compress(rankings.items(), (~has_judged).tolist())
        sample = dict(islice(without, MAX_SAMPLE))
        cause = _cause(sample, qrels)
        is_enough = judged.topics > MIN_MATCHED * judged.answered
        if cause or not (is_enough or (judged.topics and qrels.rules.is_complete)):
            in_topics = f"{unmatched:,} of the {judged.answered:,} topics" if judged.topics else "any topic"
            cause = cause or "its ids may come from another collection or index"
            problem = f", and no judged document in {in_topics} that it answers: {cause}; {_REMEDY}"
            raise refuse(_all(sample.values()), _all(qrels.grades[topic] for topic in sample), problem)
    if judged.share < ENOUGH_JUDGED and len({tuple(ranking) for ranking in rankings.values()}) >= MIN_TOPICS:
        counts = matches(qrels, first)
        if any(other for _, other in counts) and all(is_chance(*count) for count in counts):
            problem = (
                ", judged for other topics as often as for their own: it may be a run on another index, whose ids "
                "name other documents; retrieve from the index that was judged"
            )
            raise refuse(_all(rankings.values()), _all(qrels.grades[topic] for topic in rankings), problem)


def _all(rankings: Iterable[Iterable[str]]) -> Collection[str]:
    """The ids in all rankings, each once."""
    return dict.fromkeys(itertools.chain.from_iterable(rankings))


def _shown(ids: Iterable[str]) -> str:
    return ", ".join(repr(docid if len(docid) <= 60 else f"{docid[:59]}…") for docid in islice(ids, SHOWN_IDS))


def _respelled(ranking: Iterable[str], judged: Mapping[str, float]) -> tuple[str, str] | None:
    """An id among these that is not judged, and the judged id from which it differs only in case."""
    folded = {docid.casefold(): docid for docid in ranking if docid not in judged and docid.lower() != docid.upper()}
    other = next((docid for docid in judged if docid.casefold() in folded), None) if folded else None
    return None if other is None else (folded[other.casefold()], other)


# How ids differ.


def _last_of_path(docid: str) -> str:
    return unquote(docid).split("?")[0].rstrip("/").rpartition("/")[2]


def _without_extension(docid: str) -> str:
    return re.sub(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{0,4}$", "", docid)


#: What may tell two ids of one document apart -> a function that makes them equal.
_REWRITINGS: Mapping[str, Callable[[str], str]] = {
    "they differ in upper and lower case": str.casefold,
    "one side writes whole numbers with decimals": lambda docid: re.sub(r"(?<=\d)\.0+$", "", docid),
    "they differ in leading zeros": lambda docid: re.sub(r"(?<!\d)0+(?=\d)", "", docid),
    "one side writes a file extension": _without_extension,
    "one side writes paths or URLs, or an index before the id": _last_of_path,
    "one side writes paths or URLs of files": lambda docid: _without_extension(_last_of_path(docid)).casefold(),
}


def _cause(sample: _Rankings, qrels: Qrels) -> str | None:
    """How the ids of most topics of the sample differ from judged ids; None if no difference is found."""
    judged = {topic: dict.fromkeys(islice(qrels.grades[topic], MAX_JUDGED_OF_TOPIC)) for topic in sample}
    needed = len(sample) // 2 + 1

    for cause, rewritten in _REWRITINGS.items():
        gained = sum(
            not {*map(rewritten, judged[topic])}.isdisjoint(map(rewritten, ranking))
            for topic, ranking in sample.items()
        )
        if gained >= needed and all(_tells_apart(rewritten, side.values()) for side in (judged, sample)):
            return cause
    steps = {
        step: sum(any(_moved(docid, step) in judged[topic] for docid in ranking) for topic, ranking in sample.items())
        for step in (-2, -1, 1, 2)
    }
    for step in (1, -1):
        by_chance = max(steps[-step], steps[2], steps[-2])  # numbers of a small collection lie close together
        if steps[step] >= max(needed, 2 * by_chance):
            return f"each id of the run is {'one less' if step > 0 else 'one more'} than a judged one"
    for writer in ("run", "judgements"):
        affixes: Counter[str] = Counter()
        for topic, ranking in sample.items():
            pairs = itertools.product(ranking, judged[topic])
            affixes.update(
                {affix for pair in pairs for affix in _affixes(*(pair if writer == "run" else pair[::-1]))}
            )
        if affixes and (most := max(affixes.values())) >= needed:
            return f"ids of the {writer} {min(affix for affix, count in affixes.items() if count == most)}"
    known = [*islice(itertools.chain.from_iterable(qrels.grades.values()), MAX_JUDGED_IDS)]
    kinds = {*map(_characters, known)}
    foreign = sum(kinds.isdisjoint(map(_characters, ranking)) for ranking in sample.values())
    if foreign >= needed and len(known) >= MIN_JUDGED_IDS:
        return "their ids use different kinds of characters"
    return None


def _tells_apart(rewritten: Callable[[str], str], rankings: Iterable[Iterable[str]]) -> bool:
    """Whether documents keep distinct ids: if all URLs end in ``index.html``, that ending identifies none of them."""
    ids = _all(rankings)
    return len({*map(rewritten, ids)}) >= MIN_DISTINCT * len(ids)


def _moved(docid: str, step: int) -> str | None:
    return str(int(docid) + step) if docid.isascii() and docid.isdigit() and len(docid) < 20 else None


def _affixes(long: str, short: str) -> Iterator[str]:
    """What the longer of two ids has before or after the shorter one; never digits next to digits."""
    if long.endswith(short) and not (long[-len(short) - 1].isdigit() and short[0].isdigit()):
        yield f"begin with {long[: -len(short)]!r}, which the others lack"
    if long.startswith(short) and not (long[len(short)].isdigit() and short[-1].isdigit()):
        yield f"end with {long[len(short) :]!r}, which the others lack"


def _characters(docid: str) -> frozenset[str]:
    """The kinds of characters of an id: digits, small and capital letters, and each other character."""
    return frozenset("0" if c.isdigit() else "a" if c.islower() else "A" if c.isupper() else c for c in docid)


# Whether documents are judged by chance.


def matches(qrels: Qrels, first: FirstDocuments) -> list[tuple[int, int]]:
    """How many documents are judged for their own topic alone, and for another alone, over pairs of topics.

    Judged documents in all ranks and in the first ten, then relevant ones.
    """
    grades, count = qrels.arrays.grades, len(qrels.topics)
    least = qrels.rules.relevant_from
    is_relevant = np.append(grades > 0 if least is None else grades >= least, False)  # of row -1
    ranks = np.arange(len(first.documents)) - np.repeat(first.offsets[:-1], np.diff(first.offsets))

    def sides(places: IntArray) -> tuple[BoolArray, BoolArray]:
        rows = judgement_rows(qrels.arrays, places, first.offsets, first.documents)
        return rows >= 0, is_relevant[rows]

    own = sides(first.places)
    counts = np.zeros((2, 2, 2), dtype=np.int64)
    for step in range(1, OTHER_TOPICS + 1):
        shift = max(1, step * count // (OTHER_TOPICS + 1))
        for kind, (mine, theirs) in enumerate(zip(own, sides((first.places + shift) % count), strict=True)):
            for place, depth in enumerate((MAX_RANKS, FIRST_RANKS)):
                for side, is_alone in enumerate((mine & ~theirs, theirs & ~mine)):
                    counts[kind, place, side] += np.count_nonzero(is_alone & (ranks < depth))
    return [(own, other) for own, other in counts.reshape(4, 2).tolist()]


def is_chance(own: int, other: int) -> bool:
    """Whether the own topics match no more than other topics do, if matches are independent (Poisson)."""
    average, expected = own / OTHER_TOPICS, (other + 1) / OTHER_TOPICS  # never 0, which proves nothing
    if average <= expected:
        return True
    terms = (math.exp(-expected + k * math.log(expected) - math.lgamma(k + 1)) for k in range(math.ceil(average)))
    return 1 - math.fsum(terms) > UNLIKELY
