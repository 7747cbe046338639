"""The cache: per-topic scores of runs that were scored before, by the digest of everything that they depend on.

An entry is one file, named by the digest of its key: the run and how it is read, the judgements, the measure and the
versions of the packages that compute. It repeats its name and begins with a checksum of the rest, so one that is
damaged, cut off or of another run is as good as none. What cannot be kept is scored again.
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
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from pytest_riskguard import __version__, run_context
from pytest_riskguard.data.formats import added_formats
from pytest_riskguard.data.given_file import GivenFile, Ties
from pytest_riskguard.data.input_files import open_regular
from pytest_riskguard.data.measures import function_of, parse_measure, provider_of
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.scores import Judged, TopicScores
from pytest_riskguard.errors import MissingFileError, RiskguardError, UsageError
from pytest_riskguard.limits import RUN_BYTES, factor

VARIABLE, OFF = "RISKGUARD_CACHE", "off"
#: Bytes that entries may take together, counted as disks do, in blocks.
MOST, BLOCK = 128 * 2**20, 4096
#: Distributions whose versions may change a score.
_LIBRARIES = ("ir-measures", "pytrec-eval-terrier", "pytrec_eval", "cwl-eval", "numpy", "scipy")
_PACKAGE = Path(__file__).parents[1]
#: A project may register measures of its own, whose code no key would cover.
_COVERED = ("ir_measures", "pytest_riskguard")

#: Scores with several measures, and which order of equal scores counted.
Found = tuple[tuple[TopicScores, ...], Ties]


def key_of_file(given: GivenFile, texts: Mapping[str, str]) -> str | None:
    """What scores of a run file depend on beside judgements and measure: its bytes, and how it is read.

    ``texts`` are the query texts by which formats without ids know topics. None for a file that cannot be read, or is
    too large to be a run, and for a format of a plugin, whose code no key would cover; nor where nothing is kept.
    """
    if folder() is None or (given.format is not None and given.format in added_formats()):
        return None
    digest = hashlib.sha256()
    try:
        with open_regular(given.path) as file:
            if os.fstat(file.fileno()).st_size > RUN_BYTES.value:
                return None
            while block := file.read(2**20):
                digest.update(block)
    except (OSError, MissingFileError):
        return None
    endings = "".join(Path(given.path.name.lower()).suffixes)
    how = [endings, given.format, given.part, given.ties, sorted(given.columns.items()), [*texts.items()]]
    return _digest([digest.hexdigest(), how])


def find(
    run: str | None, qrels: Qrels, measures: Sequence[str], *, name: str, queries: Mapping[str, str]
) -> Found | None:
    """Kept scores with all of these measures, each as ir-measures prints it, under a name and with query texts.

    ``run`` is the key of a file, or the digest of a TREC run's text; None if that is not known.
    """
    root = None if run is None else folder()
    if root is None:
        return None
    scores, ties = [], set()
    for measure in measures:
        key = _key(run, qrels, measure)
        path = root / (key or "")
        try:
            checksum, _, body = path.read_bytes().partition(b"\n")
            held = json.loads(body)
            if hashlib.sha256(body).hexdigest().encode() != checksum or held["key"] != key:
                return None
            os.utime(path)  # it was used now
        except (OSError, ValueError, TypeError, KeyError):
            return None
        ties.add(held["ties"])
        scores.append(
            TopicScores(
                name,
                measure,
                qrels.topics,
                np.array(held["values"]),
                queries=queries,
                digest=held["digest"],
                qrels_digest=qrels.digest,
                unanswered=tuple(held["unanswered"]),
                unknown=tuple(held["unknown"]),
                without_relevant=qrels.without_relevant,
                from_run=True,
                judged=Judged(*held["judged"]),
                as_written=held["as_written"],
                contradicted=tuple(held["contradicted"]),
            )
        )
    return (tuple(scores), ties.pop()) if scores else None


def keep(run: str | None, qrels: Qrels, scores: Sequence[TopicScores], ties: Ties) -> None:
    """Keep what a reading found, each score whole or not at all."""
    root = None if run is None else folder()
    if root is None:
        return
    for one in scores:
        key, judged = _key(run, qrels, str(one.measure)), one.judged
        if key is None:
            continue
        assert judged is not None
        held = {"key": key, "ties": ties, "digest": one.digest, "values": one.values.tolist()}
        held |= {"judged": astuple(judged), "as_written": dict(one.as_written)}
        held |= {"unanswered": one.unanswered, "unknown": one.unknown, "contradicted": one.contradicted}
        body = json.dumps(held).encode()
        unfinished = root / f"{key}.{uuid.uuid4().hex}"
        with suppress(OSError):
            if len(body) <= MOST // 2:
                unfinished.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
                unfinished.replace(root / key)
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    _trim(root)


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
    is_shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return None if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or is_shared) else root


def _of_user() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "riskguard" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "riskguard"
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if Path(named).is_absolute() else Path.home() / ".cache") / "riskguard"


def _key(run: str | None, qrels: Qrels, measure: str) -> str | None:
    """The name of an entry; None for a measure whose code is not of packages that it covers."""
    try:
        parsed = parse_measure(measure)
        packages = {type(part).__module__.partition(".")[0] for part in (parsed, provider_of(parsed))}
    except (RiskguardError, ValueError):  # the reading says what is wrong
        return None
    if function_of(parsed) is not None or not packages <= {*_COVERED}:
        return None
    return _digest([run, qrels.digest, repr(qrels.rules), measure, _software(), factor()])


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


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


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
