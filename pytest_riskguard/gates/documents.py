"""Which documents made a topic lose or win: where they moved, and the effect of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pytest_riskguard.data.given_file import AS_GIVEN
from pytest_riskguard.data.judged import RankedRun
from pytest_riskguard.data.measures import DEFAULT_DEPTH, cutoff_of, has_kernel
from pytest_riskguard.data.scoring import JudgedRows, is_binary, kernel_of, parts_of
from pytest_riskguard.gates.findings import RankedDocument, ResponsibleTopic, TopicDocuments

#: The most topics whose documents are listed: the most harmful losses, and the largest flagged wins.
MAX_LOSSES, MAX_WINS = 50, 10
#: The most documents listed for a topic if the measure looks at whole runs: those with the largest effects.
MAX_DOCUMENTS = 50
#: How many documents (highest ranks first) are moved back one at a time if the measure is not a sum and uses whole
#: runs; and the most rows that all these rankings may have together: less harmful topics are left out.
MAX_MOVED_BACK, MAX_ROWS = 10, 1_000_000
#: How closely effects that are called exact add up to the topic's difference.
EXACT = 1e-9

#: What was found about topics: how many rows had to be scored for it, and what moved.
Known = dict[str, tuple[int, TopicDocuments]]


def topic_documents(
    losers: Sequence[ResponsibleTopic],
    winners: Sequence[ResponsibleTopic],
    candidate: RankedRun,
    baseline: RankedRun,
    known: Known | None = None,
) -> tuple[TopicDocuments, ...]:
    """What moved in the topics responsible, most harmful first, then in the flagged wins.

    It does not depend on the gate, so gates on the same two runs and judgements may share what is ``known``.
    """
    documents, rows, known = [], 0, {} if known is None else known
    for row in (*losers[:MAX_LOSSES], *winners[:MAX_WINS]):
        moves = None
        if row.topic not in known:
            moves = _Moves(row.topic, candidate, baseline)
            if (as_sum := _as_sum(row, moves)) is not None:
                known[row.topic] = 0, as_sum
        rows += known[row.topic][0] if moves is None or row.topic in known else moves.cost
        if rows > MAX_ROWS:
            break
        if moves is not None and row.topic not in known:
            known[row.topic] = moves.cost, _one_at_a_time(row, moves)
        documents.append(known[row.topic][1])
    return tuple(documents)


class _Moves:
    """A topic's two rankings side by side."""

    def __init__(self, topic: str, candidate: RankedRun, baseline: RankedRun) -> None:
        self.measure, self.all_rules = candidate.measure, candidate.qrels.rules
        #: As the measure takes them, and as the file gives them.
        self.grades, self._given = candidate.grades(topic), candidate.qrels.grades[topic]
        self._rules = (
            AS_GIVEN if is_binary(self.measure) else self.all_rules
        )  # binary labels follow the rules already
        #: How many ranks the measure looks at; None for all.
        self.cutoff = cutoff_of(self.measure)
        self._depth = min(self.cutoff or DEFAULT_DEPTH, candidate.depth, baseline.depth)
        self._candidate_ranks, self._baseline_ranks = candidate.ranks(topic), baseline.ranks(topic)
        place = candidate.qrels.arrays.places[topic]
        self._lengths = int(candidate.rows.retrieved[place]), int(baseline.rows.retrieved[place])

    def rank(self, document: str) -> tuple[int | None, int | None]:
        """The document's rank in the candidate and in the baseline."""
        return self._candidate_ranks.get(document), self._baseline_ranks.get(document)

    def has_moved(self, document: str) -> bool:
        """Whether the measure can have noticed the move: beyond its cutoff all ranks are the same."""
        last = math.inf if self.cutoff is None else self.cutoff
        candidate, baseline = (None if rank is None or rank > last else rank for rank in self.rank(document))
        return candidate != baseline

    def best_rank(self, document: str) -> int:
        """The better of the document's two ranks."""
        return min(rank for rank in self.rank(document) if rank is not None)

    @property
    def relevant(self) -> list[str]:
        """Relevant documents that moved, best rank first."""
        moved = [document for document, grade in self.grades.items() if self._counts(document, grade)]
        return sorted(moved, key=lambda document: (self.best_rank(document), document))

    def _counts(self, document: str, grade: float) -> bool:
        return self._rules.is_relevant(grade) and self.has_moved(document)

    @property
    def cost(self) -> int:
        """How many rows are scored when the topic's documents are moved back one at a time."""
        return max(self._lengths) * (1 + len(self._to_move_back))

    @property
    def _to_move_back(self) -> list[str]:
        return self.relevant[: MAX_MOVED_BACK if self.cutoff is None else None]

    def moved_back(self) -> tuple[list[str], JudgedRows]:
        """The documents, and for each the candidate's ranking with only this one at its baseline rank."""
        documents, grades = self._to_move_back, list(self._given.values())
        variants = [self._with_one_back(document) for document in documents]
        rows = JudgedRows(
            np.repeat(np.arange(len(documents)), len(grades)),
            np.array([rank for ranks, _ in variants for rank in ranks], dtype=np.int64),
            np.tile(np.array(grades, dtype=np.float64), len(documents)),
            np.array([retrieved for _, retrieved in variants], dtype=np.int64),
        )
        return documents, rows

    def _with_one_back(self, document: str) -> tuple[list[int], int]:
        """The ranks of the judged documents, 0 for none, and how many documents there are then.

        Where the ranking is too short for the baseline's rank, it is filled up, except for a measure of sets: it
        ignores ranks and would count the fillers as retrieved documents.
        """
        ranks = {name: self._candidate_ranks.get(name, 0) for name in self._given}
        length, back = self._lengths[0], self._baseline_ranks.get(document)
        if taken := ranks[document]:
            ranks = {name: rank - (rank > taken) for name, rank in ranks.items()}
            length -= 1
        if back is not None:
            if str(self.measure.NAME).startswith("Set"):
                back = min(back, length + 1)
            ranks = {name: rank + (rank >= back) for name, rank in ranks.items()}
            length = max(length, back - 1) + 1
        ranks[document] = back or 0
        return list(ranks.values()), length

    def as_finding(self, topic: str, effects: Mapping[str, float], *, exact: bool) -> TopicDocuments:
        """What the verdict says of the topic."""

        def document(name: str) -> RankedDocument:
            candidate_rank, baseline_rank = self.rank(name)
            return RankedDocument(
                name,
                self.grades.get(name, self.all_rules.ungraded),
                baseline_rank,
                candidate_rank,
                effects.get(name, 0.0),
            )

        def loss_first(name: str) -> tuple[float, int, str]:
            return round(effects[name], 12), self.best_rank(name), name

        kept = list(effects)
        if self.cutoff is None and len(kept) > MAX_DOCUMENTS:
            kept = sorted(kept, key=lambda name: (-abs(effects[name]), name))[:MAX_DOCUMENTS]
            exact = False
        candidate, baseline = (
            [name for name, rank in ranks.items() if rank <= self._depth]
            for ranks in (self._candidate_ranks, self._baseline_ranks)
        )
        in_baseline = frozenset(baseline)
        new = [name for name in candidate if name not in in_baseline]
        return TopicDocuments(
            topic,
            exact,
            tuple(map(document, sorted(kept, key=loss_first))),
            tuple(map(document, new)),
            self.cutoff or 0,
        )


def _as_sum(row: ResponsibleTopic, moves: _Moves) -> TopicDocuments | None:
    """Each document's part in the difference; None where the measure is not a sum over documents.

    One score gives the factor that all documents share; if it gives the other score too, the measure is a sum.
    """
    parts = parts_of(moves.measure)
    if parts is None:
        return None
    grades = np.array(list(moves.grades.values()), dtype=np.float64)
    ranks = np.array([[rank or 0 for rank in moves.rank(document)] for document in moves.grades], dtype=np.int64)
    worth = parts(np.tile(grades, 2), ranks.T.ravel()).reshape(2, -1).tolist()
    raw = [math.fsum(side) for side in worth]
    scores = (row.candidate, row.baseline)
    larger = 0 if raw[0] >= raw[1] else 1
    if not raw[larger] > 0:
        return None
    factor = scores[larger] / raw[larger]
    if not abs(factor * raw[1 - larger] - scores[1 - larger]) <= EXACT:
        return None
    effects = {
        document: factor * (now - before)
        for document, now, before in zip(moves.grades, *worth, strict=True)
        if now != before
    }
    no_effect = {document: 0.0 for document in moves.relevant if document not in effects}
    return moves.as_finding(row.topic, effects | no_effect, exact=True)


def _one_at_a_time(row: ResponsibleTopic, moves: _Moves) -> TopicDocuments:
    """The effect of moving each document alone back to its baseline rank; none is known without a kernel."""
    if not has_kernel(moves.measure):
        return moves.as_finding(row.topic, {}, exact=False)
    documents, variants = moves.moved_back()
    scores = kernel_of(moves.measure, moves.all_rules).scores(variants).tolist()
    effects = {document: row.candidate - score for document, score in zip(documents, scores, strict=True)}
    return moves.as_finding(row.topic, effects, exact=False)
