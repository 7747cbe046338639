"""The JSON report: the contract that other tools read."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_riskguard._version import __version__
from pytest_riskguard.gates.verdict import Verdict

SCHEMA = "riskguard-report/1"
#: The JSON Schema of a report, beside this module in the package.
SCHEMA_FILE = Path(__file__).with_name("riskguard-report-1.schema.json")


def report(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The report as plain types."""
    return {
        "schema": SCHEMA,
        "generated_by": {"name": "pytest-riskguard", "version": __version__},
        "verdicts": [verdict.to_dict() for verdict in verdicts],
    }


def dumps(verdicts: Sequence[Verdict]) -> str:
    """The report as text: keys in the order of the schema, no NaN, ASCII so that any console can print it."""
    return json.dumps(report(verdicts), indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def write(path: Path, verdicts: Sequence[Verdict]) -> None:
    """Write the report; see ``write_text``."""
    write_text(path, dumps(verdicts))


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; into a device or a pipe, straight.

    A link keeps pointing where it does: what it points to is replaced. An existing file keeps its mode.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8", newline="\n")
        return
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_mode(target))
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """The mode of the file that is replaced, or what a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
