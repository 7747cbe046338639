"""Do the verdicts of this checkout differ from those of an earlier commit?

Run from the checkout: ``python -m tests.benchmarks.compare_with_commit COMMIT``; needs the folder of real runs. Each
version runs the commands of its own ``verdict_cases``, since options get other names; a case has one name in both.
Exit statuses and the values of fields that both reports have must be equal. Sentences may differ, and fields that
only one version writes are named. The exit status is 1 where a value differs.
"""

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.verdict_cases import CASES
from tests.shared_data import SHARED

CHECKOUT = Path(__file__).resolve().parents[2]
#: Sentences, what names the version, and times, which no two runs share.
NOT_COMPARED = (
    "verdicts[].warnings[].message",
    "verdicts[].problem",
    "verdicts[].remedy",
    "verdicts[].summary",
    "verdicts[].figures",
    "generated_by",
    "provenance.date",
    "provenance.candidate.latency.queries",
    "provenance.candidate.latency.median_ms",
    "provenance.candidate.latency.p95_ms",
    "provenance.baselines[].stored",
)
#: Stands for the value of a field that a version does not write.
ABSENT = "(absent)"


class Number(str):
    """A number as the report writes it, so that 0.10 is not 0.1."""

    __slots__ = ()


#: A place of a report, and its two values.
Difference = tuple[str, Any, Any]


def differences(old: str, new: str, within: float = 0.0) -> list[Difference]:
    """What differs between two outputs of a command, numbers by more than ``within``."""
    try:
        reports = [json.loads(output, parse_int=Number, parse_float=Number) for output in (old, new)]
    except ValueError:
        return [] if old == new else [("output", old, new)]
    return [
        (place, before, after)
        for place, before, after in _unequal(*reports)
        if re.sub(r"\[\d+\]", "[]", place) not in NOT_COMPARED and not _is_close(before, after, within)
    ]


def _unequal(old: Any, new: Any, place: str = "") -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _unequal(old.get(key, ABSENT), new.get(key, ABSENT), f"{place}.{key}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from _unequal(*pair, f"{place}[{number}]")
    elif type(old) is not type(new) or old != new:
        yield place, old, new


def _is_close(old: Any, new: Any, within: float) -> bool:
    return isinstance(old, Number) and isinstance(new, Number) and abs(float(new) - float(old)) <= within


def outputs(names: Sequence[str], tree: Path) -> dict[str, list[dict[str, Any]]]:
    """What every command of the named cases gives with the package, and the cases, of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-m", "tests.benchmarks.run_verdict_cases", "--out", folder]
        command += ["--shared", str(SHARED), "--tree", str(tree), *names]
        subprocess.run(command, env=environment, cwd=folder, check=True)
        return {path.stem: json.loads(path.read_text("utf-8")) for path in Path(folder).glob("*.json")}


def old_outputs(names: Sequence[str], commit: str) -> dict[str, list[dict[str, Any]]]:
    """The same for an earlier commit."""
    packed = subprocess.run(["git", "-C", CHECKOUT, "archive", commit], capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(packed)) as tree:
        tree.extractall(folder, filter="data")
        return outputs(names, Path(folder))


def compare(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]], within: float) -> Iterator[Difference]:
    """What differs between two versions in one case."""
    for before, after in zip(old, new, strict=True):
        yield from _unequal(before["status"], after["status"], "exit status")
        yield from differences(before["output"], after["output"], within)


def main() -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--only", action="append", metavar="NAME", choices=[case.name for case in CASES])
    parser.add_argument("--within", type=float, default=0.0, metavar="X", help="Let numbers move by X.")
    options = parser.parse_args()
    names = [case.name for case in CASES if not options.only or case.name in options.only]
    old, new = old_outputs(names, options.commit), outputs(names, CHECKOUT)
    different, of_one = 0, set()
    for name in names:
        if name not in old:
            print(f"{name}: a new case")
            continue
        found = list(compare(old[name], new[name], options.within))
        values = [one for one in found if ABSENT not in one[1:]]
        of_one |= {re.sub(r"\[\d+\]", "", one[0]) for one in found if ABSENT in one[1:]}
        different += bool(values)
        print(f"{name}: {'VALUES DIFFER' if values else 'same'}")
        for place, before, after in values:
            print(f"  {place}: {before!s:.60} -> {after!s:.60}")
    print(f"fields of one version alone: {', '.join(sorted(of_one)) or 'none'}")
    print(f"{len(names)} cases, {different} with other values")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
