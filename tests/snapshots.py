"""Golden outputs: what a report looked like when somebody last looked at it.

They are plain text files in a folder ``golden`` beside the test, so that a change of an output is reviewed as a
change of a file. ``RISKGUARD_UPDATE_GOLDEN=1 pytest tests/...`` writes them anew. A library would bring files of its
own format, and a plugin into every pytest that our tests start; all that is needed is to compare two texts.
"""

import difflib
import json
import math
import os
from pathlib import Path
from typing import Any

UPDATE = "RISKGUARD_UPDATE_GOLDEN"


def golden(path: Path, text: str) -> None:
    """Compare a text with the file ``golden/NAME`` that holds it; every difference is an ``AssertionError``.

    Parameters
    ----------
    path : Path
        ``Path(__file__).parent / "golden" / "NAME.txt"``.
    text : str
    """
    expected = _kept(path, text)
    if expected != text:
        change = "\n".join(
            difflib.unified_diff(expected.splitlines(), text.splitlines(), "golden", "now", lineterm="")
        )
        raise AssertionError(f"{path.name} changed ({UPDATE}=1 writes it anew, if the change is meant)\n{change}")


def golden_json(path: Path, value: Any) -> None:
    """Compare JSON with a file that holds it; numbers may differ in their last digits, as platforms do."""
    expected = json.loads(_kept(path, json.dumps(value, indent=2) + "\n"))
    found = differences(expected, json.loads(json.dumps(value)))
    assert not found, f"{path.name} changed ({UPDATE}=1 writes it anew, if the change is meant): " + "; ".join(
        found[:20]
    )


def differences(expected: Any, value: Any, where: str = "") -> list[str]:
    """Where two JSON values differ by more than a relative 1e-9."""
    if isinstance(expected, dict) and isinstance(value, dict):
        if list(expected) != list(value):
            return [f"{where or 'top'}: keys {list(expected)} are now {list(value)}"]
        return [each for key in expected for each in differences(expected[key], value[key], f"{where}.{key}")]
    if isinstance(expected, list) and isinstance(value, list):
        if len(expected) != len(value):
            return [f"{where}: {len(expected)} items are now {len(value)}"]
        pairs = enumerate(zip(expected, value, strict=True))
        return [each for i, (one, other) in pairs for each in differences(one, other, f"{where}[{i}]")]
    if type(expected) is type(value) is float and math.isclose(expected, value, rel_tol=1e-9, abs_tol=1e-12):
        return []
    same = type(expected) is type(value) and expected == value
    return [] if same else [f"{where}: {expected!r} is now {value!r}"]


def _kept(path: Path, text: str) -> str:
    if os.environ.get(UPDATE) == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    if not path.is_file():
        raise AssertionError(f"no {path.name} in {path.parent.name}; {UPDATE}=1 writes it:\n{text}")
    return path.read_text(encoding="utf-8")
