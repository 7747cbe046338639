"""What ``riskguard init`` finds in a folder, by content: judgements, runs, topics and functions that search."""

from __future__ import annotations

import ast
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_riskguard.data.formats import format_of, read
from pytest_riskguard.data.input_files import START_BYTES, InputFile, Kind
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.errors import FileError, MissingFileError, RiskguardError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.live.importing import code_folders
from pytest_riskguard.text import clean, counted, listed

#: How many folders down is looked, at how many files, and how large one that only makes sense as a whole may be.
DEPTH, FILES, WHOLE = 2, 3000, 16 * 2**20
#: How the names of folders begin that hold what others wrote or what is made of other files.
_SKIPPED = (".", "_", "build", "dist", "node_modules", "site-packages")
#: Formats of which one file may have judgements and rankings; of any other format it has the one or the other.
_OF_BOTH = ("quepid", "workbench", "rank-eval")
#: Words in the names of judgements, and of runs: of the system that there is, and of the one to judge.
_JUDGED = re.compile(r"qrel|judg|rating|label|/(test|dev|train)\.")
_BASELINE = re.compile(r"(^|[^a-z])(prod|production|base|baseline|old|main|master|control|current|a)([^a-z]|$)")
_CANDIDATE = re.compile(r"(^|[^a-z])(cand|candidate|new|test|b|exp|experiment|treatment)([^a-z]|$)")
#: The largest grade in use: a whole number above it is a score.
_LARGEST_GRADE = 10
#: ``package.module:function``, or a mistake for it; no address, and no drive of Windows.
_TARGET = re.compile(r"[\w./-]{2,}:[^\W\d][\w.]*")
_SEARCH = re.compile(r"(search|retrieve|rank|query)(_\w+)?|\w+_search")
_QUERY = re.compile(r"q|text|topic|question|terms?|keywords|\w*query\w*")
_NUMBER = re.compile(r"k|n|size|limit|depth|rows|count|top\w*|num\w*|max\w*")
_EXAMPLES = (
    "query, document and grade, as in `q1 0 doc7 2`, a table, a Quepid export, BEIR's qrels",
    "the text of each query by its id: a table, queries.jsonl, or lines `q1`, tab, `red shoes`",
    "a run: query, document, and rank or score, as in `q1 Q0 doc7 1 9.5 x`, a table, a folder of responses as JSON",
    "another run, or in a .py file a function such as `def search(query, k)`",
)
_MAX_LINE = 200


@frozen
class Plan:
    """What riskguard.yaml will name, by paths from its folder; a search as ``package.module:function``.

    ``lines`` say what was found, and what that looks like which was not.
    """

    qrels: Path | None
    topics: Path | None
    baseline: Path | None
    candidate: Path | str | None
    judgements: Qrels | None
    lines: tuple[str, ...]

    @property
    def is_unjudged(self) -> bool:
        """Whether there is something to compare, and nothing to judge it by."""
        return self.qrels is None and bool(self.baseline or self.candidate)


@frozen
class _Found:
    """A file, or a folder of responses, by its path from the folder, with the topics that its start names."""

    path: Path
    format: str
    topics: frozenset[str]

    def role(self) -> int:
        """-1 for the name of the system that there is, 1 for that of one to judge, 0 for any other."""
        name = "/".join(self.path.parts[-2:]).lower()
        return 1 if _CANDIDATE.search(name) else -bool(_BASELINE.search(name))


def planned(folder: Path, qrels: Path | None, topics: Path | None, candidate: str | None) -> Plan:
    """Look, and choose what was not typed."""
    held, searches = _look(folder)
    runs, judgements = held["rankings"], None
    if qrels is None and held["judgements"]:
        qrels = max(held["judgements"], key=lambda one: "test" in one.path.name).path
    with suppress(MissingFileError):  # it may still be to be written
        judgements = read_qrels(folder / (qrels or "qrels.txt"))
    judged = frozenset().union(*(run.topics for run in runs)) if judgements is None else {*judgements.topics}
    chosen: Path | str | None = candidate
    if candidate is not None and (not _TARGET.fullmatch(candidate) or (folder / candidate).exists()):
        chosen = Path(candidate)
    runs = sorted((run for run in runs if run.path != chosen), key=_Found.role)
    runs = [run for run in runs if run.topics & judged] or runs
    baseline, is_guess = runs[0].path if runs else None, False
    if chosen is None and len(runs) > 1:
        new = max(runs[1:], key=_Found.role)
        chosen, is_guess = new.path, new.role() == runs[0].role()
    chosen = chosen or next(iter(searches), None)
    if topics is None:
        of_queries = (one for one in held["topics"] if len(one.topics & judged) * 2 > len(one.topics))
        by_name = (one for one in held["topics"] if re.search("quer|topic", one.path.name))
        topics = next((one.path for one in (*of_queries, *by_name)), None)
    about: dict[object, str] = {one.path: f" ({one.format})" for kind in held.values() for one in kind}
    about |= dict.fromkeys(searches, "")
    named, lines = (qrels, topics, baseline, chosen), list[str]()
    for what, name, example in zip(("judgements", "topics", "baseline", "candidate"), named, _EXAMPLES, strict=True):
        found = f"none found ({example})" if name is None else f"{name}{about.get(name, ' (as typed)')}"
        if is_absent(name, folder):
            found = f"{name} (not there yet)"
        lines.append(f"{what}: {found}")
    if judgements is not None:
        lines[0] += f", {counted(len(judged), 'query', 'queries')}"
    if others := tuple(str(name) for name in about if name not in named):
        lines.append(f"also there: {listed(others, most=5)}")
    if is_guess:
        lines.append(f"no name says which run is new; the other way round: --candidate {shlex.quote(str(baseline))}")
    return Plan(*named, judgements, tuple(clean(line, limit=_MAX_LINE) for line in lines))


def is_absent(name: Path | str | None, folder: Path) -> bool:
    """Whether riskguard.yaml names a file that is still to be written."""
    return isinstance(name, Path) and not os.path.exists(folder / name)  # noqa: PTH110 - it may be too long


def _look(folder: Path) -> tuple[dict[Kind, list[_Found]], list[str]]:
    """The files of each kind, the nearest first, and searches as ``package.module:function``.

    No code is imported.
    """
    held: dict[Kind, list[_Found]] = {"judgements": [], "rankings": [], "topics": []}
    searches = list[str]()
    roots = sorted(code_folders(folder), key=lambda root: -len(root.parts))
    for path in sorted(islice(_paths(folder), FILES), key=lambda path: (len(path.parts), path)):
        if path.suffix == ".py":
            searches += _searches(path, roots)
        elif path.parent not in {folder / one.path for one in held["rankings"]}:
            for kind, format, content in _kinds(path):
                topics = content.queries if kind == "topics" else content.topics
                held[kind].append(_Found(path.relative_to(folder), format, frozenset(topics)))
    return held, searches


def _paths(folder: Path) -> Iterator[Path]:
    """The files, and the folders of nothing but JSON."""
    for root, folders, files in os.walk(folder):
        here = Path(root)
        folders[:] = [
            name
            for name in sorted(folders)
            if len(here.relative_to(folder).parts) < DEPTH
            and not name.startswith(_SKIPPED)
            and not os.path.exists(here / name / "manifest.json")  # noqa: PTH110 - a stored baseline; raises nothing
        ]
        paths = [here / name for name in sorted(files) if not name.startswith(".")]
        if here != folder and len(paths) > 1 and all(".json" in path.suffixes for path in paths):
            yield here
        yield from paths


def _kinds(path: Path) -> Iterator[tuple[Kind, str, Any]]:
    """What a file holds: kind, format, and content as far as its start goes."""
    file = InputFile(path, error=FileError)
    if path.is_dir():
        with suppress(RiskguardError):
            yield "rankings", "responses", read(file, "rankings")
        return
    try:
        start = file.start
        if b"\0" in start or b"\n" not in start or (file.looks_like_json and file.first_object is None):
            if path.stat().st_size > WHOLE:
                return
        elif len(start) == START_BYTES:
            file = InputFile(path, error=FileError, content=start[: start.rindex(b"\n") + 1])
    except (OSError, RiskguardError):
        return
    judged = ranked = None
    if file.first_line.count("\t") != 1:  # else words of a query might pass for columns
        judged, ranked = _read(file, "judgements"), _read(file, "rankings")
    if judged and ranked and ranked[1] not in _OF_BOTH:
        if _read(file, "scores"):
            return
        grades, name = judged[2].arrays.grades, path.name.lower()
        like_scores = ranked[1] == "msmarco" or bool((grades % 1 + (grades > _LARGEST_GRADE)).any())
        is_run = _BASELINE.search(name) or _CANDIDATE.search(name) or like_scores
        is_judged = _JUDGED.search("/".join(path.parts[-2:]).lower()) or not is_run
        judged, ranked = (judged, None) if is_judged else (None, ranked)
    topics = None if judged or ranked or _read(file, "scores") else _read(file, "topics")
    yield from filter(None, (judged, ranked, topics))


def _read(file: InputFile, kind: Kind) -> tuple[Kind, str, Any] | None:
    try:
        format = format_of(file, kind)
        if format.function("fits")(file, kind) is not None:  # the nearest one, for its message
            return None
        return kind, format.name, format.reader(kind)(file)
    except RiskguardError:
        return None


def _searches(path: Path, roots: list[Path]) -> Iterator[str]:
    """The functions in a module that take a query, and perhaps how many results are wanted."""
    try:
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return
    root = next(root for root in roots if path.is_relative_to(root))
    module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _SEARCH.fullmatch(node.name):
            given = node.args
            names = [argument.arg for argument in given.args]
            query, *more = names[: len(names) - len(given.defaults)] or [""]
            takes_it = _QUERY.fullmatch(query) and len(more) < 2 and all(map(_NUMBER.fullmatch, more))
            if takes_it and None not in given.kw_defaults:
                yield f"{module}:{node.name}"
