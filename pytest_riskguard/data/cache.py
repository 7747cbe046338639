"""The cache: per-topic scores of runs that were scored before, by the digest of everything that they depend on.

An entry is one file, named by the digest of its key: the run and how it is read, the judgements, the measure and the
versions of the packages that compute. It begins with a checksum of its name and the rest, so one that is damaged, cut
off or of another run is as good as none. What cannot be kept is scored again.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import sys
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from importlib.metadata import PackageNotFoundError, version
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

from pytest_riskguard import __version__, run_context
from pytest_riskguard.data.formats import added_formats
from pytest_riskguard.data.given_file import GivenFile, Ties, json_digest
from pytest_riskguard.data.input_files import open_regular
from pytest_riskguard.data.measures import function_of, parse_measure, provider_of
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.scores import Judged, TopicScores
from pytest_riskguard.errors import MissingFileError, RiskguardError
from pytest_riskguard.limits import factor

VARIABLE, OFF = "RISKGUARD_CACHE", "off"
#: Bytes that entries may take together, counted as disks do, in blocks.
MOST, BLOCK = 128 * 2**20, 4096
#: Distributions whose versions may change a score.
_LIBRARIES = ("ir-measures", "pytrec-eval-terrier", "pytrec_eval", "cwl-eval", "numpy", "scipy")
_PACKAGE = Path(__file__).parents[1]
#: A project may register measures of its own, whose code no key would cover.
_COVERED = frozenset({"ir_measures", "pytest_riskguard"})

#: Topics that an entry names.
_TOPICS = ("unanswered", "unknown", "contradicted")
#: Scores with several measures, and which order of equal scores counted.
Found = tuple[tuple[TopicScores, ...], Ties]


def key_of_file(given: GivenFile, texts: Mapping[str, str]) -> str | None:
    """What scores of a run file depend on beside judgements and measure: its bytes, and how it is read.

    ``texts`` are the query texts by which formats without ids know topics. None for a file that cannot be read, and
    for a format of a plugin, whose code no key would cover; nor where nothing is kept.
    """
    if folder() is None or (given.format is not None and given.format in added_formats()):
        return None
    try:
        with open_regular(given.path) as file:
            digest = hashlib.file_digest(cast(BufferedReader, file), "sha256").hexdigest()
    except (OSError, MissingFileError):
        return None
    endings = "".join(Path(given.path.name.lower()).suffixes)
    how = [endings, given.format, given.part, given.ties, sorted(given.columns.items()), [*texts.items()]]
    return json_digest([digest, how])


def find(
    run: str | None, qrels: Qrels, measures: Sequence[str], *, name: str, queries: Mapping[str, str]
) -> Found | None:
    """Kept scores with all of these measures, each as ir-measures prints it, under a name and with query texts.

    ``run`` is the key of a file, or the digest of a TREC run's text; None if that is not known.
    """
    root = None if run is None else folder()
    if root is None:
        return None
    scores, ties = [], None
    for measure in measures:
        path = root / (_key(run, qrels, measure) or "")
        try:
            checksum, _, body = path.read_bytes().partition(b"\n")
            if _checksum(path, body) != checksum:
                return None
            os.utime(path)  # it was used now
        except OSError:
            return None
        held: dict[str, Any] = json.loads(body)
        ties, held["judged"] = held.pop("ties"), Judged(*held["judged"])
        held |= {what: tuple(held[what]) for what in _TOPICS}
        held |= {"qrels_digest": qrels.digest, "without_relevant": qrels.without_relevant, "from_run": True}
        scores.append(TopicScores(name, measure, qrels.topics, queries=queries, **held))
    return (tuple(scores), ties) if ties else None


def keep(run: str | None, qrels: Qrels, scores: Sequence[TopicScores], ties: Ties) -> None:
    """Keep what a reading found, each score whole or not at all."""
    root = None if run is None else folder()
    if root is None:
        return
    for one in scores:
        key = _key(run, qrels, str(one.measure))
        if key is None:
            continue
        assert one.judged is not None
        held = {"ties": ties, "digest": one.digest, "values": one.values.tolist(), "judged": astuple(one.judged)}
        held |= {"as_written": dict(one.as_written)} | {what: getattr(one, what) for what in _TOPICS}
        path, body, unfinished = root / key, json.dumps(held).encode(), root / f"{key}.{uuid.uuid4().hex}"
        with suppress(OSError):  # what stays unfinished is deleted some day, as the rest
            unfinished.write_bytes(_checksum(path, body) + b"\n" + body)
            unfinished.replace(path)
    _trim(root)


def folder() -> Path | None:
    """The folder of the cache, which is there; None where it is off, or nobody else must be able to write and can.

    Nor is one in the checkout used: what a commit brings along must not answer for a run.
    """
    named = os.environ.get(VARIABLE, "").strip()
    if named.lower() == OFF or not run_context.current().cached:
        return None
    try:
        root = (Path(named) if named else _of_user()).resolve()
        here = Path.cwd()
        if any((place / ".git").exists() and root.is_relative_to(place) for place in (here, *here.parents)):
            return None
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = root.stat()
    except (OSError, ValueError, RuntimeError):  # no home folder, a link to itself, a NUL in the path
        return None
    is_of_others = hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022)
    return None if is_of_others else root


def _of_user() -> Path:
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    return (Path(named) if Path(named).is_absolute() else Path.home() / ".cache") / "riskguard"


def _key(run: str | None, qrels: Qrels, measure: str) -> str | None:
    """The name of an entry; None for a measure whose code is not of packages that it covers."""
    try:
        parsed = parse_measure(measure)
        packages = {type(part).__module__.partition(".")[0] for part in (parsed, provider_of(parsed))}
    except (RiskguardError, ValueError):  # the reading says what is wrong
        return None
    if function_of(parsed) is not None or not packages <= _COVERED:
        return None
    digest = json_digest([run, qrels.digest, repr(qrels.rules), measure, _software(), factor()])
    return digest.removeprefix("sha256:")


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
    return json_digest(versions)


def _checksum(path: Path, body: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + body).hexdigest().encode()


def _trim(root: Path) -> None:
    """Delete what was not used for longest, until the rest takes no more than it may."""
    with suppress(OSError):  # another process has deleted something
        entries = [
            (path.stat().st_mtime, max(path.stat().st_size, BLOCK), path)
            for path in root.iterdir()
            if len(path.name) in (64, 97)
        ]
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= MOST:
                break
            path.unlink()
            total -= size
