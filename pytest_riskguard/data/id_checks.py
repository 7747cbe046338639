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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import unquote

import numpy as np

from pytest_riskguard.data.ids import BoolArray, IntArray, first_rows, offsets_of
from pytest_riskguard.data.judged import JudgedRun
from pytest_riskguard.data.qrels import Qrels, judgement_rows
from pytest_riskguard.data.runs import Order, Run, in_order, names_by_topic
from pytest_riskguard.errors import DataError

#: How many topics are examined for matches by chance, and how many for the spelling of their ids; of fewer, all are.
MAX_TOPICS, MAX_SAMPLE = 2_000, 100
#: How many of their first ranks are compared, and how many are counted to see whether matches are chance.
FIRST_RANKS, MAX_RANKS = 10, 100
#: How many ids of each side a message shows.
SHOWN_IDS = 3
#: How many judged ids of a topic are compared with those of a run.
MAX_JUDGED_OF_TOPIC = 500
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


def examined(places: IntArray, most: int) -> IntArray:
    """Which of the topics at these places in the judgements are examined: their indices, rising."""
    if len(places) <= most:
        return np.arange(len(places))
    return np.sort(np.argpartition(places.astype(np.uint32) * _SPREAD, most)[:most])


def refuse_judgements(place: Mapping[str, Any], qrels: Qrels, run: Run, judged: JudgedRun) -> None:
    """``DataError`` if a run is the judgements: no system returns exactly the judged documents, scored by grades."""
    several = int(np.count_nonzero(judged.retrieved > 1))
    whole = np.diff(qrels.arrays.offsets)[judged.places]
    if several < MIN_TOPICS or 2 * several < len(whole) or not np.array_equal(judged.retrieved, whole):
        return
    scores = run.scores[in_order(-run.scores, run.offsets)]
    if (judged.judgements >= 0).all() and np.array_equal(qrels.arrays.grades[judged.judgements], scores):
        raise DataError(
            f"expected what a system returned, found the documents of {qrels.path_name} with their grades "
            "as scores: one file was given as both, or judgements as a run",
            reason="bad_run",
            remedy="name the run and the judgements",
            **place,
        )


def refuse_other_ids(place: Mapping[str, Any], qrels: Qrels, run: JudgedRun) -> None:
    """``DataError`` of this ``place`` if a run's ids are not those of the judgements."""

    def refuse(rankings: _Rankings, problem: str, remedy: str = _REMEDY) -> DataError:
        sides = (map(qrels.grades.__getitem__, rankings), rankings.values())
        expected, found = (", ".join(f"{docid!r:.60}" for docid in islice(_all(side), SHOWN_IDS)) for side in sides)
        ids = f"expected document ids of {qrels.path_name}, such as {expected}; found {found}"
        return DataError(f"{ids}{problem}", reason="ids_do_not_match", remedy=remedy, **place)

    rankings, judged = _first_documents(run, np.arange(len(run.topics))), run.judged
    respelled = {}
    for topic, ranking in rankings.items():
        grades = qrels.grades[topic]
        folded = {*map(str.casefold, grades)}
        if others := [docid for docid in ranking if docid not in grades and docid.casefold() in folded]:
            respelled[topic] = others
    if len(respelled) > MAX_RESPELLED * len(rankings):
        in_topics = f": in {len(respelled):,} of the {len(rankings):,} topics examined"
        raise refuse(respelled, f"{in_topics} they differ in upper and lower case")
    unmatched = judged.answered - judged.topics
    if 2 * unmatched > judged.answered:
        sample = _first_documents(run, np.flatnonzero(~run.has_judged))
        cause = _cause(sample, qrels)
        is_enough = judged.topics > MIN_MATCHED * judged.answered
        if cause or not (is_enough or (judged.topics and qrels.rules.is_complete)):
            in_topics = f"{unmatched:,} of the {judged.answered:,} topics" if judged.topics else "any topic"
            cause = cause or "its ids may come from another collection or index"
            problem = f", and no judged document in {in_topics} that it answers: {cause}"
            raise refuse(sample, problem)
    if judged.share < ENOUGH_JUDGED and len({*rankings.values()}) >= MIN_TOPICS:
        counts = matches(qrels, run)
        if any(other for _, other in counts) and all(is_chance(*count) for count in counts):
            problem = (
                ", judged for other topics as often as for their own: it may be a run on another index, whose ids "
                "name other documents"
            )
            raise refuse(rankings, problem, "retrieve from the index that was judged")


def _first_documents(run: JudgedRun, topics: IntArray) -> _Rankings:
    """Topic -> its first documents in the order as written, of some of these topics."""
    sample = topics[examined(run.places[topics], MAX_SAMPLE)]
    counts = np.minimum(np.diff(run.offsets)[sample], FIRST_RANKS)
    documents = run.documents.at(first_rows(run.offsets[sample], counts))
    return names_by_topic(map(run.topics.__getitem__, sample.tolist()), documents, counts)


def _all(rankings: Iterable[Iterable[str]]) -> Collection[str]:
    """The ids in all rankings, each once."""
    return dict.fromkeys(itertools.chain.from_iterable(rankings))


# How ids differ.


def _cause(sample: _Rankings, qrels: Qrels) -> str | None:
    """How the ids of most topics of the sample differ from judged ids; None if no difference is found."""
    judged = {topic: [*islice(qrels.grades[topic], MAX_JUDGED_OF_TOPIC)] for topic in sample}
    needed = len(sample) // 2 + 1
    for writer, long, short in (("run", sample, judged), ("judgements", judged, sample)):
        affixes: Counter[str] = Counter()
        for topic in sample:
            pairs = itertools.product(long[topic], short[topic])
            affixes.update({affix for pair in pairs for affix in _affixes(*pair)})
        affix = min(affixes, key=lambda affix: (-affixes[affix], affix), default="")
        if affixes[affix] >= needed:
            return f"ids of the {writer} {affix}"
    gained = sum(
        not {*map(_plain, judged[topic])}.isdisjoint(map(_plain, ranking)) for topic, ranking in sample.items()
    )
    sides = (_all(sample.values()), _all(judged.values()))
    # if all URLs end in ``index.html``, that ending identifies none
    if gained >= needed and all(len({*map(_plain, ids)}) >= MIN_DISTINCT * len(ids) for ids in sides):
        return "they differ in leading zeros, decimals, case, a file extension, or a path or an index before the id"
    known = qrels.arrays.documents.at(slice(MAX_JUDGED_IDS)).strings()
    kinds = {*map(_characters, known)}
    foreign = sum(kinds.isdisjoint(map(_characters, ranking)) for ranking in sample.values())
    if foreign >= needed and len(known) >= MIN_JUDGED_IDS:
        return "their ids use different kinds of characters"
    return None


def _affixes(long: str, short: str) -> Iterator[str]:
    """What the longer of two ids has before or after the shorter one; never digits next to digits."""
    if long.endswith(short) and not (long[-len(short) - 1].isdigit() and short[0].isdigit()):
        yield f"begin with {long[: -len(short)]!r}, which the others lack"
    if long.startswith(short) and not (long[len(short)].isdigit() and short[-1].isdigit()):
        yield f"end with {long[len(short) :]!r}, which the others lack"


def _plain(docid: str) -> str:
    """An id without what two spellings of it may differ in."""
    name = unquote(docid).split("?")[0].rstrip("/").rpartition("/")[2]
    name = re.sub(r"(?<=.)\.([A-Za-z][A-Za-z0-9]{0,4}|0+)$", "", name)
    return re.sub(r"(?<!\d)0+(?=\d)", "", name).casefold()


def _characters(docid: str) -> frozenset[str]:
    """The kinds of characters of an id: digits, small and capital letters, and each other character."""
    return frozenset("0" if c.isdigit() else "a" if c.islower() else "A" if c.isupper() else c for c in docid)


# Whether documents are judged by chance.


def matches(qrels: Qrels, run: JudgedRun) -> list[list[int]]:
    """How many documents are judged for their own topic alone, and for another alone, over pairs of topics.

    Judged documents in the first hundred ranks and in the first ten, then relevant ones.
    """
    is_relevant = np.append(qrels.rules.is_relevant(qrels.arrays.grades), False)  # of row -1
    places = run.places
    topics = examined(places, MAX_TOPICS)
    lengths = np.minimum(np.diff(run.offsets)[topics], min(run.depth, MAX_RANKS))
    rows, offsets = first_rows(run.offsets[topics], lengths), offsets_of(lengths)
    documents, is_first = run.documents.at(rows), run.ranks[Order.WRITTEN][rows] <= FIRST_RANKS

    def sides(judgements: IntArray) -> BoolArray:
        found, relevant = judgements >= 0, is_relevant[judgements]
        return np.stack([found, found & is_first, relevant, relevant & is_first])

    own, counts = sides(run.judgements[rows].astype(np.int64)), np.zeros((4, 2), dtype=np.int64)
    for step in range(1, OTHER_TOPICS + 1):
        shift = max(1, step * len(qrels.topics) // (OTHER_TOPICS + 1))
        other_topics = (places[topics] + shift) % len(qrels.topics)
        theirs = sides(judgement_rows(qrels.arrays, other_topics, offsets, documents))
        counts += np.count_nonzero([own & ~theirs, theirs & ~own], axis=2).T
    return counts.tolist()


def is_chance(own: int, other: int) -> bool:
    """Whether the own topics match no more than other topics do, if matches are independent (Poisson)."""
    average, expected = own / OTHER_TOPICS, (other + 1) / OTHER_TOPICS  # never 0, which proves nothing
    terms = (math.exp(-expected + k * math.log(expected) - math.lgamma(k + 1)) for k in range(math.ceil(average)))
    return 1 - math.fsum(terms) > UNLIKELY
