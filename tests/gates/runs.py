"""Two small runs as ranked lists, and what a verdict says of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_riskguard.data import TopicScores
from pytest_riskguard.data.judged import RankedRun
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate, gate_of
from pytest_riskguard.gates.unjudged import Labels, Rejudged
from pytest_riskguard.gates.verdict import Verdict
from tests.data.tables import Rankings, falling, judged_run


@dataclass(frozen=True)
class Pair:
    """Candidate and baseline, each topic -> docids from rank 1 on, with their judgements."""

    candidate: Rankings
    baseline: Rankings
    grades: Mapping[str, Mapping[str, float]]
    measure: str = "nDCG@10"
    gate: Gate = field(default_factory=lambda: gate_of("g"))
    topics: Topics | None = None

    def scores(self) -> tuple[TopicScores, TopicScores]:
        """As the judgements are."""
        runs = map(falling, (self.candidate, self.baseline))
        ours, theirs = (score_run(run, read_qrels(self.grades), [self.measure])[0] for run in runs)
        return ours, theirs

    def ranked(self) -> tuple[RankedRun, RankedRun]:
        """As the measure ranks them."""
        ours, theirs = (
            ranked(side, read_qrels(self.grades), self.measure) for side in (self.candidate, self.baseline)
        )
        return ours, theirs

    def verdict(self) -> Verdict:
        """By the scores alone."""
        return judge(self.gate, *self.scores(), topics=self.topics)

    def rejudged(self) -> Rejudged:
        """To be asked again."""
        return Rejudged(self.gate, Labels(self.scores(), self.ranked()), self.topics)


def ranked(rankings: Rankings, qrels: Qrels, measure: str) -> RankedRun:
    """A run whose scores fall, as a measure ranks it."""
    return RankedRun(judged_run(falling(rankings), qrels), qrels, parse_measure(measure))
