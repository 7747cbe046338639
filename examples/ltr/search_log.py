"""A generated search log with judged queries: a strong head, a hard tail, and clicks that can mislead.

Labels are drawn first, then what a search engine would have seen of these documents. No label depends on a feature,
on a ranker or on what one is trained for.

- **Kinds of query.** Half are *head* queries: frequent, short, most of them looking for one page. An eighth are
  *torso* queries with several good pages, the others *tail* queries: rare, longer, answered by few pages.
- **Text.** BM25 sees the relevance of a page through noise, in every kind of query, and best in the tail, whose rare
  words say more. The fields, the language model and the proximity of words share much of that noise, so they are
  partly redundant. Exact matches of the title find most targets of head queries.
- **Clicks.** Users look at the ranking of an old system, at its top most often, and click what appears relevant or
  well known. The click-through rate is smoothed towards the page's rate over all queries. With thousands of
  impressions, clicks are by far the best evidence.
- **Borrowed clicks.** A rare query has no clicks of its own. As many engines do, this one rewrites it to the most
  similar frequent query and takes the clicks of that one. Often that query means something else ("jaguar parts"
  becomes "jaguar"): the clicks then praise the wrong pages, with nearly as many impressions as in the head. The
  distance to the rewritten query gives a hint, and so does the length of the query; neither is reliable.
- **Judgements.** Training queries are drawn from the traffic, where the tail is rare. Test queries are drawn from all
  distinct queries, so that the tail counts.

Trusting clicks thus raises the mean of a ranker, since most queries are frequent, and costs it the rare queries on
which they mislead. How far to trust them when a query may be of either kind is the choice between mean and risk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

KINDS = ("head", "torso", "tail")
SHARES = (0.5, 0.12, 0.38)
#: Shares of queries without a relevant page, and with a single one.
NOTHING_RELEVANT, ONE_RELEVANT = 0.03, 0.05
#: The share of tail queries whose borrowed clicks come from a query with another meaning.
MISLED = 0.75
#: The median number of impressions, how well text tells relevant pages, and the popularity that relevance adds.
IMPRESSIONS = (1000.0, 50.0, 500.0)
TEXT = (0.5, 0.5, 0.8)
POPULARITY = (0.5, 0.2, -0.3)
#: The share of queries that is kept for the test, and how the others are divided.
TEST, PARTS = 0.35, (0.4, 0.4, 0.2)
#: The share of tail queries outside the test that were judged, so that rankers can learn from them.
TAIL_JUDGED = 0.2
#: The page's click-through rate over all queries weighs as much as this many impressions.
SMOOTHING = 20.0

TEXT_FEATURES = ("bm25", "bm25_title", "bm25_body", "bm25_anchor", "lm_dirichlet", "proximity", "words_matched")
MATCH_FEATURES = ("exact_title", "url_match")
PAGE_FEATURES = ("quality", "inlinks", "url_depth", "page_length", "page_age", "spam")
CLICK_FEATURES = ("ctr", "log_clicks", "dwell_time", "last_click_share", "page_ctr", "log_visits")
QUERY_FEATURES = ("query_words", "log_impressions", "rewrite_distance")
NOISE_FEATURES = ("noise_1", "noise_2")
NAMES = TEXT_FEATURES + MATCH_FEATURES + PAGE_FEATURES + CLICK_FEATURES + QUERY_FEATURES + NOISE_FEATURES


@dataclass(frozen=True, eq=False)
class SearchLog:
    """Queries with judged documents, in the arrays that LightGBM takes.

    Attributes
    ----------
    features : array, shape (n_documents, n_features)
        The rows of a query stand together.
    labels : array of int, shape (n_documents,)
        Relevance, 0 to 4.
    group : array of int, shape (n_queries,)
        How many rows each query has.
    queries, kinds : tuple of str
        Name and kind ("head", "torso", "tail") of each query. Rankers must not see the kind.
    names : tuple of str
        The features.
    """

    features: Floats
    labels: Ints
    group: Ints
    queries: tuple[str, ...]
    kinds: tuple[str, ...]
    names: tuple[str, ...] = NAMES

    def column(self, name: str) -> Floats:
        """One feature of all documents."""
        found: Floats = self.features[:, self.names.index(name)]
        return found

    @property
    def documents(self) -> list[str]:
        """A name for each document, all different."""
        return [
            f"{query}-d{number:02d}"
            for query, size in zip(self.queries, self.group, strict=True)
            for number in range(1, size + 1)
        ]

    def hand_tuned(self) -> Floats:
        """A score for each document by a formula over text and page features, as a team has before it learns one.

        It uses no clicks and was fitted to no labels.
        """
        title, body, proximity = self.column("bm25_title"), self.column("bm25_body"), self.column("proximity")
        score: Floats = (
            self.column("bm25") + 0.5 * title + 0.5 * body + 2 * proximity + 3 * self.column("exact_title")
        )
        return score + self.column("quality") - self.column("spam")

    def take(self, places: npt.ArrayLike) -> SearchLog:
        """The queries at these places, in their order."""
        chosen = np.asarray(places, dtype=np.int64)
        starts = np.concatenate(([0], np.cumsum(self.group)))
        rows = np.concatenate([np.arange(starts[place], starts[place + 1]) for place in chosen])
        return SearchLog(
            self.features[rows],
            self.labels[rows],
            self.group[chosen],
            tuple(self.queries[place] for place in chosen),
            tuple(self.kinds[place] for place in chosen),
            self.names,
        )

    def split(self, seed: int, *, tail_judged: float = TAIL_JUDGED) -> Split:
        """The queries in four parts, at random.

        A share ``TEST`` of all queries is for the test. Of the others, tail queries were judged with probability
        ``tail_judged``, the rest always; those that were judged are divided by ``PARTS``.
        """
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(self.queries))
        test, others = np.split(order, [round(TEST * order.size)])
        rare = np.array([self.kinds[place] == "tail" for place in others])
        judged = others[~rare | (rng.random(others.size) < tail_judged)]
        ends = np.round(np.cumsum(PARTS)[:-1] * judged.size).astype(int)
        parts = [*np.split(judged, ends), test]
        return Split(*(self.take(np.sort(part)) for part in parts))


class Split(NamedTuple):
    """Parts of a log; a previous model learns from ``earlier``, so that the queries of ``train`` are new to it."""

    earlier: SearchLog
    train: SearchLog
    valid: SearchLog
    test: SearchLog


def make_log(queries: int = 2000, seed: int = 0) -> SearchLog:
    """A log with this many queries of 20 to 40 judged documents each. The same seed gives the same log."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(len(KINDS), size=queries, p=SHARES)
    found = [_query(int(kind), rng) for kind in kinds]
    return SearchLog(
        np.concatenate([features for features, _ in found]),
        np.concatenate([labels for _, labels in found]),
        np.array([labels.size for _, labels in found]),
        tuple(f"q{number:04d}" for number in range(1, queries + 1)),
        tuple(KINDS[kind] for kind in kinds),
    )


def _query(kind: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Features and labels of one query."""
    labels = _labels(kind, int(rng.integers(20, 41)), rng)
    size = labels.size
    popularity = rng.normal(size=size) + POPULARITY[kind] * labels
    words = int(rng.integers(*((1, 5), (1, 6), (2, 8))[kind]))
    text = _text(labels, kind, words, rng)
    exact = rng.random(size) < (np.where(labels == 4, 0.8, 0.03), np.where(labels >= 3, 0.3, 0.03), 0.01)[kind]
    url = rng.random(size) < (np.where(labels == 4, 0.6, 0.05), 0.1, 0.03)[kind]
    page = np.column_stack(
        [
            rng.normal(size=size) + 0.2 * labels,
            2 + popularity + rng.normal(size=size),
            rng.integers(1, 6, size=size),
            rng.normal(6, 1, size=size),
            rng.exponential(1, size=size),
            rng.exponential(0.5, size=size) - 0.05 * labels,
        ]
    )
    impressions = float(IMPRESSIONS[kind] * rng.lognormal(0, 1))
    misled = KINDS[kind] == "tail" and rng.random() < MISLED
    wanted = rng.permutation(labels) if misled else labels
    clicks = _clicks(wanted, text[:, 0], popularity, impressions, rng)
    distance = rng.gamma(2.0) * (1.5 if misled else 1)
    query = np.tile([words, np.log1p(impressions), distance], (size, 1))
    return np.column_stack([text, exact, url, page, clicks, query, rng.normal(size=(size, 2))]), labels


def _labels(kind: int, size: int, rng: np.random.Generator) -> Ints:
    """Relevance of the documents of a query, drawn before anything else about them."""
    draw = rng.random()
    if draw < NOTHING_RELEVANT:
        relevant = np.zeros(0, dtype=np.int64)
    elif draw < NOTHING_RELEVANT + ONE_RELEVANT:
        relevant = rng.integers(2, 5, size=1)
    elif KINDS[kind] == "head":
        relevant = np.append(rng.integers(1, 4, size=rng.integers(1, 5)), 4)
    elif KINDS[kind] == "torso":
        relevant = rng.integers(1, 5, size=rng.integers(3, 9))
    else:
        relevant = rng.integers(1, 5, size=rng.integers(1, 6))
    return rng.permutation(np.concatenate([relevant, np.zeros(size - relevant.size, dtype=np.int64)]))


def _text(labels: Ints, kind: int, words: int, rng: np.random.Generator) -> Floats:
    """Matches of words, on a scale that depends on the query as BM25's does."""
    size, scale = labels.size, np.sqrt(words) * rng.lognormal(0, 0.15)
    seen = TEXT[kind] * labels + 0.7 * rng.normal(size=size)  # the noise that all text features share
    fields = seen[:, None] + np.array([0.9, 0.7, 1.2]) * rng.normal(size=(size, 3))
    bm25 = 0.4 * fields[:, 0] + 0.6 * fields[:, 1] + 0.2 * rng.normal(size=size)
    language_model = seen + 0.8 * rng.normal(size=size)
    proximity = 0.6 * seen + 0.8 * rng.normal(size=size)
    matched = np.clip(np.round((0.5 + 0.2 * seen) * words + rng.normal(size=size)), 0, words) / words
    on_scale = scale * (4 + np.column_stack([bm25, fields]))
    return np.column_stack([on_scale, language_model, proximity, matched])


def _clicks(wanted: Ints, bm25: Floats, popularity: Floats, impressions: float, rng: np.random.Generator) -> Floats:
    """What was logged when users wanted these documents and looked at the ranking of an old system."""
    size = wanted.size
    rank = 1 + np.argsort(np.argsort(-(bm25 + rng.normal(0, 1.5, size=size))))
    seen = np.round(impressions * rank**-0.8).astype(np.int64)
    attractive = 1 / (1 + np.exp(3 - 0.8 * wanted - 0.5 * popularity - 0.9 * rng.normal(size=size)))
    clicks = rng.binomial(seen, attractive)
    page_ctr = 1 / (1 + np.exp(2 - 0.8 * popularity - 0.2 * rng.normal(size=size)))
    ctr = (clicks + SMOOTHING * page_ctr) / (seen + SMOOTHING)
    stay = 20 + 5 * wanted + 10 * rng.normal(size=size) + 30 * rng.normal(size=size) / np.sqrt(np.maximum(clicks, 1))
    last = rng.binomial(clicks, 0.2 + 0.1 * wanted) / np.maximum(clicks, 1)
    visits = 5 + popularity + 0.3 * rng.normal(size=size)
    return np.column_stack(
        [ctr, np.log1p(clicks), np.where(clicks > 0, np.maximum(stay, 0), 0), last, page_ctr, visits]
    )
