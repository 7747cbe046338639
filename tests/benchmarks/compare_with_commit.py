"""Do the verdicts of this checkout differ from those of an earlier commit?

Run from the checkout: ``python -m tests.benchmarks.compare_with_commit COMMIT``; needs the folder of real runs. Each
version runs the commands of its own ``verdict_cases``, since options get other names; a case has one name in both.
Exit statuses and the values of fields that both reports have must be equal. Sentences may differ, and fields that
only one version writes are listed at the end. One line per case; the exit status is 1 where a value differs.

``--moved PLACE=X`` lets numbers move by X, for instance ``verdicts[].intervals[].upper=1e-8``. Every number that
moved is listed.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.benchmarks.verdict_cases import CASES
from tests.shared_data import SHARED

CHECKOUT = Path(__file__).resolve().parents[2]
#: Sentences, and what names the version.
TEXTS = (
    "verdicts[].warnings[].message",
    "verdicts[].problem",
    "verdicts[].explanation.summary",
    "generated_by",
)
#: Times, which no two runs share.
TIMES = (
    "provenance.date",
    "provenance.candidate.latency.median_ms",
    "provenance.candidate.latency.p95_ms",
    "provenance.baselines[].stored",
)
#: Stands for the value of a field that a version does not write.
ABSENT = "(absent)"


class Number(str):
    """A number as the report writes it, so that 0.10 is not 0.1."""

    __slots__ = ()


@dataclass(frozen=True)
class Difference:
    """Two values at one place of a report; ``kind`` is text, number, moved, removed or added."""

    kind: str
    place: str
    old: object
    new: object

    def __str__(self) -> str:
        return f"{self.kind}: {self.place} {_short(self.old)} {_short(self.new)}"


def differences(old: str, new: str, moved: Mapping[str, float]) -> list[Difference]:
    """What differs between two outputs of a command."""
    if old == new:
        return []
    try:
        reports = [json.loads(output, parse_int=Number, parse_float=Number) for output in (old, new)]
    except ValueError:
        return [Difference("number", "output", old, new)]
    return [
        Difference(_kind(before, after, _pattern(place), moved), place, before, after)
        for place, before, after in _unequal(*reports)
        if _pattern(place) not in TIMES
    ]


def _pattern(place: str) -> str:
    return re.sub(r"\[\d+\]", "[]", place)


def _unequal(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _unequal(old.get(key, ABSENT), new.get(key, ABSENT), f"{place}.{key}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from _unequal(*pair, f"{place}[{number}]")
    elif type(old) is not type(new) or old != new:
        yield place, old, new


def _kind(old: object, new: object, pattern: str, moved: Mapping[str, float]) -> str:
    if ABSENT in (old, new):
        return "removed" if new is ABSENT else "added"
    if pattern in TEXTS and type(old) is type(new) is str:
        return "text"
    if isinstance(old, Number) and isinstance(new, Number):
        return "moved" if abs(float(new) - float(old)) <= moved.get(pattern, 0.0) else "number"
    return "number"


def _short(value: object) -> str:
    text = value if isinstance(value, Number) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def outputs(names: Sequence[str], tree: Path) -> dict[str, list[dict[str, Any]]]:
    """What every command of the named cases gives with the package, and the cases, of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-m", "tests.benchmarks.run_verdict_cases", "--out", folder]
        command += ["--shared", str(SHARED), "--tree", str(tree), *names]
        subprocess.run(command, env=environment, cwd=folder, check=True)
        return {path.stem: json.loads(path.read_text("utf-8")) for path in Path(folder).glob("*.json")}


def old_outputs(names: Sequence[str], commit: str, cache: Path) -> dict[str, list[dict[str, Any]]]:
    """The same for an earlier commit, from ``cache`` where it is kept."""
    git = ["git", "-C", str(CHECKOUT)]
    full = subprocess.run([*git, "rev-parse", f"{commit}^{{commit}}"], capture_output=True, text=True, check=True)
    kept = cache / full.stdout.strip()
    kept.mkdir(parents=True, exist_ok=True)
    if unknown := [name for name in names if not (kept / f"{name}.json").exists()]:
        with tempfile.TemporaryDirectory() as folder:
            packed = subprocess.run([*git, "archive", commit], capture_output=True, check=True).stdout
            with tarfile.open(fileobj=io.BytesIO(packed)) as tree:
                tree.extractall(folder, filter="data")
            for name, results in outputs(unknown, Path(folder)).items():
                (kept / f"{name}.json").write_text(json.dumps(results), encoding="utf-8")
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in kept.glob("*.json")}


def compare(
    old: Iterable[dict[str, Any]], new: Iterable[dict[str, Any]], moved: Mapping[str, float]
) -> Iterator[Difference]:
    """What differs between two versions in one case."""
    for number, (before, after) in enumerate(zip(old, new, strict=True), start=1):
        if before["status"] != after["status"]:
            yield Difference("number", f"command {number}: exit status", before["status"], after["status"])
        for difference in differences(before["output"], after["output"], moved):
            yield replace(difference, place=f"command {number}: {difference.place}")


def result_of(compared: Sequence[Difference]) -> str:
    """The result of a case, in words."""
    kinds = {difference.kind for difference in compared}
    if "number" in kinds:
        return "NUMBERS DIFFER"
    if "moved" in kinds:
        return "numbers moved as allowed"
    if kinds & {"removed", "added"}:
        return "other fields"
    return "texts differ" if kinds else "same"


def _moved(text: str) -> tuple[str, float]:
    place, equals, most = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected PLACE=X, got {text!r}")
    return place, float(most)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--only", action="append", metavar="NAME", choices=[case.name for case in CASES])
    parser.add_argument("--cache", type=Path, help="Keep the earlier commit's output in this folder.")
    parser.add_argument("--moved", action="append", type=_moved, default=[], metavar="PLACE=X")
    parser.add_argument("--texts", action="store_true", help="List the sentences that differ as well.")
    return parser.parse_args()


def main() -> int:
    """Compare, and print what differs."""
    options = _options()
    names = [case.name for case in CASES if not options.only or case.name in options.only]
    with ExitStack() as stack:
        cache = options.cache or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cache.mkdir(parents=True, exist_ok=True)
        old = old_outputs(names, options.commit, cache)
    new = outputs(names, CHECKOUT)
    results = []
    fields: dict[str, set[str]] = {"removed": set(), "added": set()}
    for name in names:
        if name not in old:
            print(f"{name}: a new case")
            continue
        compared = list(compare(old[name], new[name], dict(options.moved)))
        results.append(result_of(compared))
        print(f"{name}: {results[-1]}")
        for difference in compared:
            if difference.kind in ("number", "moved") or (difference.kind == "text" and options.texts):
                print(f"  {difference}")
        for difference in compared:
            if difference.kind in fields:
                fields[difference.kind].add(re.sub(r"command \d+: |\[\d+\]", "", difference.place))
    for kind, places in fields.items():
        print(f"{kind}: {', '.join(sorted(places)) or 'nothing'}")
    different = results.count("NUMBERS DIFFER")
    print(f"{len(names)} cases, {different} with other numbers")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
