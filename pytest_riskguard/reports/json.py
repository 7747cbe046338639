"""The JSON report: the contract that other tools read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_riskguard._version import __version__
from pytest_riskguard.gates.verdict import Verdict

SCHEMA = "riskguard-report/1"
#: The JSON Schema of a report, beside this module in the package.
SCHEMA_FILE = Path(__file__).with_name("riskguard-report-1.schema.json")


def document(schema: str, content: dict[str, Any]) -> str:
    """JSON text that names its schema and this package: no NaN, ASCII so that any console can print it."""
    whole = {"schema": schema, "generated_by": {"name": "pytest-riskguard", "version": __version__}, **content}
    return json.dumps(whole, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def report(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The report as plain types."""
    return {
        "schema": SCHEMA,
        "generated_by": {"name": "pytest-riskguard", "version": __version__},
        "verdicts": [verdict.to_dict() for verdict in verdicts],
    }


def dumps(verdicts: Sequence[Verdict]) -> str:
    """The report as text: keys in the order of the schema, no NaN, ASCII so that any console can print it.

    Two ``#`` in a row, which only text of others holds, begin a command of some CI systems wherever they stand in a
    line: the first is written as an escape.
    """
    text = json.dumps(report(verdicts), indent=2, ensure_ascii=True, allow_nan=False)
    return text.replace("##", "\\u0023#") + "\n"
