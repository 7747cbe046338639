"""Tables of per-topic scores on both sides: ``compare --scores``, and ``riskguard.scores`` of the fixture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.sabotage.case import CLI, Case, Sabotage, harmless
from tests.sabotage.project import TOPICS
from tests.sabotage.sabotages import (
    append,
    bom,
    crlf,
    delete,
    empty,
    lfs_pointer,
    on_lines,
    replace_line,
    replace_text,
    truncate,
    write,
)

COMPARE = "scores/candidate.csv --baseline base=scores/base.csv --scores"
RISKGUARD = "--riskguard --riskguard-no-yaml"
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


def scores(name: str, *breaks: Sabotage, **settings: Any) -> Case:
    """A case of the two tables, by the command and by the fixture."""
    settings = {"words": ["candidate.csv"], "riskguard": RISKGUARD} | settings
    return Case(name, [*tables(), *breaks], compare=COMPARE, **settings)


CASES = [
    scores("as-it-is", status=1, words=["got worse"]),
    scores("truncated", truncate(PATH, 0.5)),
    scores("empty", empty(PATH), words=["candidate.csv:1", "expected a table"]),
    scores("missing", delete(PATH), words=["candidate.csv", "no such file"]),
    scores("baseline-missing", delete("scores/base.csv"), words=["base.csv", "no such file"]),
    scores("lfs-pointer", lfs_pointer(PATH), words=["candidate.csv", "Git LFS"]),
    scores("topic-twice", append(PATH, "t01,0.9\n"), words=["candidate.csv:62", "t01"]),
    scores("value-a-word", replace_line(PATH, 5, "t04,high"), words=["candidate.csv:5", "high"]),
    scores("value-nan", replace_line(PATH, 5, "t04,nan"), words=["candidate.csv:5", "nan"]),
    scores("value-above-1", replace_line(PATH, 5, "t04,1.5"), words=["candidate.csv:5", "1.5"]),
    scores("value-in-percent", replace_text(PATH, ",0.", ","), words=["candidate.csv:2"]),
    scores("value-with-underscore", replace_line(PATH, 5, "t04,0_1"), words=["candidate.csv:5", "0_1"]),
    scores("three-columns-in-a-row", replace_line(PATH, 5, "t04,0.5,0.5"), words=["candidate.csv:5"]),
    scores("no-header", on_lines(PATH, lambda lines: lines[1:]), words=["candidate.csv:1"]),
    scores("measure-twice", replace_line(PATH, 1, "topic,nDCG@10,nDCG@10"), words=["candidate.csv:2"]),
    scores("another-measure", replace_line(PATH, 1, "topic,AP"), words=["AP"], ways=CLI),
    scores("loss-left-out", on_lines(PATH, lambda lines: [lines[0], *lines[46:]]), words=["topics_differ", "t01"]),
    scores("topic-added", append(PATH, "t61,1\n"), words=["topics_differ", "t61"]),
    scores("run-in-its-place", write(PATH, "t01 Q0 d 1 2.0 x\n"), words=["candidate.csv:1"]),
    scores("bom", bom(PATH), status=1, words=["got worse"]),
    scores("crlf", crlf(PATH), status=1, words=["got worse"]),
    harmless("better", tables(is_loss=False), compare=COMPARE, riskguard=RISKGUARD),
]
