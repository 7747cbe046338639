"""How much input may hold: one table of limits, all of which the factor ``RISKGUARD_LIMITS`` scales."""

from __future__ import annotations

import math
import os

from pytest_riskguard.errors import UsageError
from pytest_riskguard.frozen import frozen

VARIABLE = "RISKGUARD_LIMITS"


def factor() -> float:
    """What all limits are multiplied by; ``UsageError`` if the environment gives no such number."""
    text = os.environ.get(VARIABLE, "").strip() or "1"
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise UsageError(f"{VARIABLE}: expected a factor above 0, such as 2, found {text!r:.60}")
    return number


@frozen
class Limit:
    """The most that input may hold of something."""

    default: int
    what: str

    @property
    def value(self) -> int:
        """The number that holds now, at least 1."""
        return max(1, round(self.default * factor()))

    def problem(self, found: int) -> str:
        """What is wrong with input that holds more; ``found`` is how many were counted until it was refused."""
        return (
            f"expected at most {self.value:,} {self.what}, found {found:,}; "
            f"if the file is right, set {VARIABLE} to a larger factor (now {factor():g})"
        )


#: The largest grade or gain, in either direction: trec_eval allocates a counter for every grade up to the largest.
MAX_GRADE = 1000

#: A run of 10 million rows has some 500 million bytes.
RUN_BYTES = Limit(800_000_000, "bytes of text in a run")
#: Qrels, topics and per-topic scores are held in memory as a whole.
TABLE_BYTES = Limit(200_000_000, "bytes of text in a table")
#: Documents with their whole texts, of which only titles and addresses are kept.
CORPUS_BYTES = Limit(8_000_000_000, "bytes of text in a documents file")
LINES = Limit(12_000_000, "lines")
LINE_BYTES = Limit(2**20, "bytes in a line")
#: An id is no longer than a row that could hold it, whatever the format; search engines allow ids of 512 bytes.
ROW_BYTES = Limit(2048, "bytes in a row of a run or of qrels")
TOPICS = Limit(1_000_000, "topics")
DOCUMENTS = Limit(200_000, "documents in a topic")
JUDGEMENTS = Limit(2_000_000, "judgements")
CELLS = Limit(2_000_000, "cells in a table (rows times columns)")
#: Text compresses to a tenth or a twentieth; only a file made to exhaust its reader compresses to a thousandth.
RATIO = Limit(100, "times the compressed size after decompression")
#: An empty object in a list takes 75 bytes of memory and three of a file.
JSON_VALUES = Limit(3_000_000, "values in a JSON file")
#: What a command prints, or an engine sends, for one query.
ANSWER_BYTES = Limit(50_000_000, "bytes in the answer of a live system")
MANIFEST_BYTES = Limit(20_000_000, "bytes in a manifest")
#: A report of 10,000 topics with the data of all charts has some 10 million bytes.
REPORT_BYTES = Limit(60_000_000, "bytes in a report")
YAML_BYTES = Limit(1_000_000, "bytes of settings")
#: Measures, alphas, baselines and slices multiply.
GATES = Limit(2_000, "gates of a riskguard.yaml, counting each measure, alpha, baseline and slice")
