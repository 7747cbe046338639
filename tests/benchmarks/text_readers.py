"""What reading runs of TREC as columns costs with each engine: ``python -m tests.benchmarks.text_readers FILE...``.

Each measurement is a whole process, the best of three: processor time, and the peak of its memory. Engines that are
not installed are left out. ``--write`` writes the table of docs/performance.md.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from tests.benchmarks.scale.__main__ import DATA, as_csv, figures
from tests.benchmarks.scale.measuring import ROOT, alternately
from tests.house import tokens

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
file = InputFile(Path(sys.argv[1]), error=FileError, limit=RUN_BYTES)
for topics, _, documents, ranks, scores, _ in text_blocks(file, 6, longest=ROW_BYTES):
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
duckdb.sql("SET enable_progress_bar = false")
duckdb.sql(f"SELECT topic, document, place, score FROM read_csv('{sys.argv[1]}', {how})").to_arrow_table()
"""
#: What imports an engine, and megabytes of its wheel for Python 3.11 on Linux.
ENGINES = {
    "numpy": (NUMPY_BLOCKS, "numpy", "17, needed anyway"),
    "pyarrow": (PYARROW, "pyarrow.csv", "55"),
    "polars": (POLARS, "polars", "55"),
    "duckdb": (DUCKDB, "duckdb", "25"),
}
#: Modules of the package that are only there to read text in blocks: their tokens are added.
OWN = ("pytest_riskguard/data/text_blocks.py",)
ROUNDS = 3


def table(files: list[str]) -> str:
    """A row for each engine."""
    rows: dict[str, list[object]] = {}
    header: list[object] = ["engine", "code tokens", "wheel MB", "import s"]
    engines = {name: engine for name, engine in ENGINES.items() if importlib.util.find_spec(name)}
    imports = {name: (sys.executable, "-c", f"import {module}") for name, (_, module, _) in engines.items()}
    for name, one in alternately(imports, rounds=ROUNDS).items():
        code, _, wheel = engines[name]
        count = tokens(code)
        if name == "numpy":
            count += sum(tokens((ROOT / module).read_text(encoding="utf-8")) for module in OWN)
        rows[name] = [name, count, wheel, figures(one.seconds)]
    for file in files:
        with Path(file).open("rb") as lines:
            count = sum(1 for _ in lines)
        header += [f"{count:,} rows: s", "MB"]
        commands = {name: (sys.executable, "-c", code, file) for name, (code, _, _) in engines.items()}
        for name, one in alternately(commands, rounds=ROUNDS).items():
            rows[name] += [figures(one.seconds), round(one.megabytes)]
    return as_csv(header, list(rows.values()))


if __name__ == "__main__":
    shown = table([argument for argument in sys.argv[1:] if argument != "--write"])
    print(shown)
    if "--write" in sys.argv:
        (DATA / "engines.csv").write_text(shown, encoding="utf-8", newline="\n")
