"""The cache: per-topic scores of runs that were scored before, by the digest of everything that they depend on.

An entry is one file, named by the digest of its key: the bytes of the run and how they are read, the judgements, the
measure and the versions of the packages that compute. It repeats its key and begins with a checksum of the rest, so
one that is damaged, cut off or of another run is as good as none. What cannot be kept is scored again.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import stat
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from pytest_riskguard import __version__, run_context
from pytest_riskguard.data.document_ids import Judged
from pytest_riskguard.data.formats import added_formats
from pytest_riskguard.data.given_file import TIES, GivenFile, Ties
from pytest_riskguard.data.input_files import open_regular
from pytest_riskguard.data.judged import JudgedRun
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.run_scores import ScoredRun
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.errors import MissingFileError, RiskguardError, ScoringError, UsageError
from pytest_riskguard.limits import RUN_BYTES, factor

VARIABLE, OFF = "RISKGUARD_CACHE", "off"
#: Bytes that entries may take together, counted as disks do, in blocks.
MOST, BLOCK = 128 * 2**20, 4096
#: Distributions whose versions may change a score.
_LIBRARIES = ("ir-measures", "pytrec-eval-terrier", "pytrec_eval", "cwl-eval", "numpy", "scipy")
_PACKAGE = Path(__file__).parents[1]
#: A project may register measures of its own, whose code no key would cover.
_COVERED = ("ir_measures", "pytest_riskguard")

#: Values of JSON that say what scores depend on.
Key = dict[str, Any]
#: Reads a run and scores it with these measures.
Read = Callable[[Sequence[str]], ScoredRun]


@dataclass(frozen=True)
class Wanted:
    """What is asked of a run: scores with ``measures``, each as ir-measures prints it, under a name and with texts.

    ``depth`` is how many ranks of the run are kept whole.
    """

    qrels: Qrels
    measures: Sequence[str]
    depth: int
    name: str
    queries: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class RunScores:
    """The scores of a run, read or kept.

    ``fetch`` gives what a reading keeps of the run, reading it again if need be; the run may be another by then, as
    its digest says. ``was_read`` says that this reading was just now, so that ``fetch`` costs nothing.
    """

    scores: tuple[TopicScores, ...]
    ties: Ties
    fetch: Callable[[], JudgedRun]
    was_read: bool

    @classmethod
    def of(cls, scored: ScoredRun) -> RunScores:
        """What was read just now."""
        return cls(scored.scores, scored.ties, lambda: scored.run, was_read=True)


def file_scores(given: GivenFile, wanted: Wanted, read: Read, *, texts: Mapping[str, str]) -> RunScores:
    """The scores of a run file; ``texts`` are the query texts by which formats without ids know topics."""

    def run() -> list[object] | None:
        if given.format is not None and given.format in added_formats():
            return None  # a plugin's reader, whose code no key would cover
        digest = _bytes_digest(given.path)
        known_as = _digest([*texts.items()])
        endings = "".join(Path(given.path.name.lower()).suffixes)
        how = [endings, given.format, given.part, given.ties, sorted(map(list, given.columns.items())), known_as]
        return None if digest is None else [digest, *how]

    return _scores(run, wanted, read)


def text_scores(digest: str, wanted: Wanted, read: Read) -> RunScores:
    """The scores of a TREC run whose text, decompressed, has this digest."""
    return _scores(lambda: ["text", digest], wanted, read)


def _scores(run: Callable[[], list[object] | None], wanted: Wanted, read: Read) -> RunScores:
    """Kept scores with all measures that are wanted, else those of a reading, which are kept.

    ``run`` says what is read; it is asked before and after a reading, during which a file may change.
    """
    root = folder()
    known = None if root is None else run()
    if root is None or known is None:
        return RunScores.of(read(wanted.measures))
    keys = {measure: _key(known, wanted.qrels, measure) for measure in wanted.measures if _is_covered(measure)}
    kept = [_read(root, keys[measure], wanted, measure) if measure in keys else None for measure in wanted.measures]
    found = [one for one in kept if one is not None]
    if len(found) == len(kept) and len({scores.digest for scores, _ in found}) == 1:
        first = wanted.measures[:1]
        return RunScores(tuple(scores for scores, _ in found), found[0][1], lambda: read(first).run, was_read=False)
    scored = read(wanted.measures)
    if run() == known:
        for scores in scored.scores:
            if scores.measure in keys:
                _write(root, keys[scores.measure], scores, scored.ties)
        _trim(root)
    return RunScores.of(scored)


def folder() -> Path | None:
    """The folder of the cache, which is there; None where it is off, or nobody else must be able to write and can.

    ``UsageError`` for one in the checkout: what a commit brings along must not answer for a run.
    """
    named = os.environ.get(VARIABLE, "").strip()
    if named.lower() == OFF or not run_context.current().cached:
        return None
    try:
        root = Path(named).absolute() if named else _of_user()
        checkout = next((place for place in (Path.cwd(), *Path.cwd().parents) if (place / ".git").exists()), None)
        if checkout is not None and root.resolve().is_relative_to(checkout.resolve()):
            if named:
                raise UsageError(
                    f"{VARIABLE}: expected a folder outside the checkout {checkout}, found {named!r:.200}; a commit "
                    f"could bring scores along there: name another folder, or `{OFF}`"
                )
            return None
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = root.stat()
    except (OSError, ValueError, RuntimeError):  # no home folder, a link to itself, a NUL in the path
        return None
    if hasattr(os, "geteuid"):
        others_may_write = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if status.st_uid != os.geteuid() or others_may_write:
            return None
    return root


def _of_user() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "riskguard" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "riskguard"
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if Path(named).is_absolute() else Path.home() / ".cache") / "riskguard"


def _key(run: list[object], qrels: Qrels, measure: str) -> Key:
    judgements = [qrels.digest, repr(qrels.rules)]
    return {"run": run, "qrels": judgements, "measure": measure, "software": _software(), "limits": factor()}


@functools.cache
def _software() -> str:
    """One digest of what computes: the code of readers and measures, the libraries, Python, the processor."""
    code = hashlib.sha256()
    for path in sorted((_PACKAGE / "data").rglob("*.py")):
        code.update(f"{path.relative_to(_PACKAGE).as_posix()}\n".encode() + path.read_bytes())
    versions = [__version__, sys.version, sys.platform, platform.machine(), code.hexdigest()]
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            versions.append(f"{name} {version(name)}")
    return _digest(versions)


def _is_covered(measure: str) -> bool:
    """Whether a measure, and what computes it in this process, are of packages that the key covers."""
    from pytest_riskguard.data.measures import parse_measure, provider_of

    try:
        parsed = parse_measure(measure)
        return all(type(part).__module__.partition(".")[0] in _COVERED for part in (parsed, provider_of(parsed)))
    except (RiskguardError, ValueError):  # the reading says what is wrong
        return False


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _bytes_digest(path: Path) -> str | None:
    """The digest of a file's bytes; None if it cannot be read, or is too large to be a run."""
    digest = hashlib.sha256()
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size > RUN_BYTES.value:
                return None
            while block := file.read(2**20):
                digest.update(block)
    except (OSError, MissingFileError):
        return None
    return digest.hexdigest()


def _write(root: Path, key: Key, scores: TopicScores, ties: Ties) -> None:
    """Keep scores, whole or not at all."""
    judged = scores.judged
    body = json.dumps(
        {
            "key": key,
            "digest": scores.digest,
            "ties": ties,
            "judged": None if judged is None else [judged.answered, judged.topics, judged.share],
            "values": scores.values.tolist(),
            "unanswered": scores.unanswered,
            "unknown": scores.unknown,
            "contradicted": scores.contradicted,
            "as_written": dict(scores.as_written),
        }
    ).encode()
    if len(body) > MOST // 2:
        return
    unfinished = root / f"{_digest(key)}.{uuid.uuid4().hex}"
    try:
        unfinished.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        unfinished.replace(root / _digest(key))
    except OSError:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _read(root: Path, key: Key, wanted: Wanted, measure: str) -> tuple[TopicScores, Ties] | None:
    """Kept scores; None if there are none that fit the judgements."""
    path, qrels = root / _digest(key), wanted.qrels
    try:
        checksum, _, body = path.read_bytes().partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != checksum:
            return None
        held = json.loads(body)
        values = np.array(held["values"], dtype=np.float64)
        named = {*held["unanswered"], *held["as_written"]}
        if held["key"] != key or held["ties"] not in TIES or values.shape != (len(qrels.topics),):
            return None
        if not named <= {*qrels.topics}:
            return None
        answered, with_judged, share = held["judged"]
        scores = TopicScores(
            name=wanted.name,
            measure=measure,
            topics=qrels.topics,
            values=values,
            queries=MappingProxyType(dict(wanted.queries)),
            digest=str(held["digest"]),
            qrels_digest=qrels.digest,
            unanswered=tuple(held["unanswered"]),
            unknown=tuple(held["unknown"]),
            without_relevant=qrels.without_relevant,
            from_run=True,
            judged=Judged(int(answered), int(with_judged), float(share)),
            as_written=MappingProxyType(held["as_written"]),
            contradicted=tuple(held["contradicted"]),
        )
        os.utime(path)  # it was used now
    except (OSError, ValueError, KeyError, TypeError, ScoringError):
        return None
    return scores, cast(Ties, held["ties"])


def _trim(root: Path) -> None:
    """Delete what was not used for longest, until the rest takes no more than it may."""
    entries = []
    with suppress(OSError):
        for found in os.scandir(root):
            if found.name.partition(".")[0].isalnum() and len(found.name) in (64, 97):
                with suppress(OSError):  # another process has deleted it
                    status = found.stat(follow_symlinks=False)
                    entries.append((status.st_mtime, found.path, max(status.st_size, BLOCK)))
    total = sum(size for _, _, size in entries)
    for _, path, size in sorted(entries):
        if total <= MOST:
            break
        with suppress(OSError):
            Path(path).unlink()
        total -= size
