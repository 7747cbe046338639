"""What reading a run of TREC as columns costs with each engine: ``python -m tests.benchmarks.text_readers FILE...``.

Each measurement is a whole process, the best of five: processor time, and the peak of its memory.
"""

from __future__ import annotations

import os
import subprocess
import sys

NUMPY_BLOCKS = """
import sys
from pathlib import Path
import numpy as np
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.text_blocks import numbers, text_blocks
from pytest_riskguard.errors import FileError
from pytest_riskguard.limits import ROW_BYTES, RUN_BYTES
texts, values = ([], []), ([], [])
for block in text_blocks(InputFile(Path(sys.argv[1]), error=FileError, limit=RUN_BYTES), 6, longest=ROW_BYTES):
    topics, _, documents, ranks, scores, _ = block.columns
    for parts, column in zip(texts, (topics, documents)):
        parts.append(column.compact())
    for parts, column in zip(values, (ranks, scores)):
        parts.append(numbers(column))
columns = [*map(Ids.joined, texts), *map(np.concatenate, values)]
"""
PYARROW = """
import sys
from pyarrow import csv
kinds = dict(topic="string", q0="string", document="string", rank="int64", score="float64", tag="string")
csv.read_csv(
    sys.argv[1],
    csv.ReadOptions(column_names=[*kinds]),
    csv.ParseOptions(delimiter=" ", quote_char=False),
    csv.ConvertOptions(column_types=kinds, include_columns=["topic", "document", "rank", "score"]),
)
"""
POLARS = """
import sys
import polars as pl
kinds = [pl.String, pl.String, pl.String, pl.Int64, pl.Float64, pl.String]
pl.read_csv(
    sys.argv[1], separator=" ", has_header=False, quote_char=None, columns=[0, 2, 3, 4], schema_overrides=kinds
)
"""
DUCKDB = """
import sys
import duckdb
kinds = dict(topic="VARCHAR", q0="VARCHAR", document="VARCHAR", place="BIGINT", score="DOUBLE", tag="VARCHAR")
how = f"delim = ' ', header = false, quote = '', columns = {kinds}"
duckdb.sql(f"SELECT topic, document, place, score FROM read_csv('{sys.argv[1]}', {how})").to_arrow_table()
"""
ENGINES = {"numpy blocks": NUMPY_BLOCKS, "pyarrow": PYARROW, "polars": POLARS, "duckdb": DUCKDB}


def measured(code: str, file: str) -> tuple[float, float]:
    """Seconds of processor time and megabytes of one process."""
    process = subprocess.Popen([sys.executable, "-c", code, file])
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    for file in sys.argv[1:]:
        for name, code in ENGINES.items():
            seconds, megabytes = map(min, zip(*(measured(code, file) for _ in range(5)), strict=True))
            print(f"{file}: {name}: {seconds:.2f} s, {megabytes:.0f} MB", flush=True)
