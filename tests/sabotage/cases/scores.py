"""Tables of per-topic scores on both sides: ``compare --scores``, and ``riskguard.scores`` of the fixture."""

from collections.abc import Callable

from tests.sabotage.case import Sabotage
from tests.sabotage.project import TOPICS
from tests.sabotage.sabotages import (
    write,
)

PATH = "scores/candidate.csv"
TEST = """\
def test_scores(riskguard):
    candidate, baseline = (riskguard.scores(f"scores/{name}.csv") for name in ("candidate", "base"))
    riskguard.assert_not_significantly_risky(candidate, baseline, measure="nDCG@10")
"""


def _table(value: Callable[[int], float], separator: str = ",") -> str:
    rows = [f"{topic}{separator}{value(number):.4f}" for number, topic in enumerate(TOPICS)]
    return "\n".join([f"topic{separator}nDCG@10", *rows, ""])


def tables(is_loss: bool = True) -> list[Sabotage]:
    """Two tables, and a test of them; 45 of 60 topics of the candidate lost 0.3."""
    shift = -0.3 if is_loss else 0.1
    return [
        write("scores/base.csv", _table(lambda n: 0.5 + n / 200)),
        write(PATH, _table(lambda n: 0.5 + n / 200 + shift * (n < 45))),
        write("test_ranking.py", TEST),
        write("riskguard.yaml", "collection: {qrels: qrels.txt}\n"),
    ]
