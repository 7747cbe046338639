"""One piece of a run, read and scored."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from pytest_riskguard import __version__
from pytest_riskguard.errors import DataError, RunFormatError, UsageError
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.runs.rankings import Rankings
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock
from pytest_riskguard.evaluation.runs.run_files import open_file
from pytest_riskguard.evaluation.runs.run_folders import FORMATS, RunFolder
from pytest_riskguard.evaluation.runs.text_blocks import checked_digest
from pytest_riskguard.evaluation.runs.trec_blocks import fold_blocks
from pytest_riskguard.evaluation.runs.trec_rows import InterleavedError
from pytest_riskguard.evaluation.scoring.kept_topics import RunPart, joined
from pytest_riskguard.evaluation.scoring.part_reading import only
from pytest_riskguard.evaluation.scoring.run_parts import (
    checked_measures,
    depth_for,
    part_reader,
    read_part,
)
from pytest_riskguard.evaluation.shards.part_files import Origin, Part
from pytest_riskguard.evaluation.shards.shard_plan import Shard, folder_to_read
from pytest_riskguard.formats.content import InputFile
from pytest_riskguard.formats.detection import format_of
from pytest_riskguard.formats.files.remote_files import local_copy
from pytest_riskguard.formats.given_file import GivenFile, Ties
from pytest_riskguard.formats.input_files import ContentError
from pytest_riskguard.formats.known import system_name
from pytest_riskguard.formats.limits import RUN_BYTES
from pytest_riskguard.formats.topic_keys import TopicKeys

#: Distributions that values or what is kept depend on, besides this one.
_LIBRARIES = ("ir-measures", "pytrec-eval-terrier", "cwl-eval", "numpy")


@dataclass(frozen=True)
class Asked:
    """What every piece of a run is read for.

    Attributes
    ----------
    qrels : Qrels
    measures : tuple of str
    depth : int
        How many ranks are kept whole.
    given : GivenFile
        How the run is read; its path is that of the whole run.
    texts : mapping topic -> query text
        For formats that know topics by them.
    is_hashed : bool
        Whether somebody else computes the digest of a plain file that is divided.
    """

    qrels: Qrels
    measures: tuple[str, ...]
    depth: int
    given: GivenFile
    texts: Mapping[str, str] = field(default_factory=dict)
    is_hashed: bool = False

    @classmethod
    def of(
        cls,
        given: GivenFile,
        qrels: Qrels,
        measures: Sequence[str],
        *,
        depth: int | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> Asked:
        """Measures as ir-measures prints them, and ranks as deep as these need; errors as ``score_run``."""
        parsed = checked_measures(measures, qrels)
        names = tuple(map(str, parsed))
        return cls(qrels, names, depth or depth_for(parsed, qrels), given, dict(texts or qrels.texts))

    def read(self, blocks: Iterable[RowBlock], source: str) -> RunPart:
        """What is kept of some topics."""
        parsed = checked_measures(self.measures, self.qrels)
        return part_reader(self.qrels, parsed, depth=self.depth, source=source).read(blocks)

    def read_file(self, path: Path, start: int = 0, stop: int | None = None) -> RunPart:
        """What is kept of a run in TREC's format, or a part of its file."""
        return read_part(path, self.qrels, self.measures, depth=self.depth, start=start, stop=stop)


def read_shard(shard: Shard, asked: Asked) -> Part:
    """Read and score one piece of a run.

    ``DataError`` as ``score_run`` for what one piece shows; ``UsageError`` for a file that cannot be divided so.
    """
    folder = folder_to_read(shard)
    if folder is not None:
        return _read_files(shard, folder, asked)
    given = replace(asked.given, path=shard.run)
    if _format(given) != "trec" or given.ties == "as_returned":
        raise UsageError(f"{shard.run}: only runs in TREC's format are divided, in the order of their scores")
    if shard.by == "topics":
        kept, digest = fold_blocks(shard.run, lambda blocks: asked.read(_of_piece(blocks, shard), shard.run.name))
    else:
        kept, digest = _range(shard, asked), "" if asked.is_hashed else checked_digest(shard.run)
    return Part(_origin(shard, asked, digest=digest), kept)


def _range(shard: Shard, asked: Asked) -> RunPart:
    start, stop = shard.range_of(shard.run.stat().st_size)
    try:
        return asked.read_file(shard.run, start, stop)
    except InterleavedError:
        raise interleaved(shard.run.name) from None


def interleaved(name: str) -> DataError:
    """The error to raise for a run that bytes do not divide."""
    return DataError(
        f"{name}: expected the rows of each topic together, found topics that appear again: pieces by bytes would "
        "divide them; divide the run by topics (`riskguard score --by topics`), or sort it",
        reason="bad_run",
    )


def _of_piece(blocks: Iterable[RowBlock], shard: Shard) -> Iterator[RowBlock]:
    """The topics that fall to a piece."""
    for block in blocks:
        topics = [place for place, topic in enumerate(block.topics) if shard.has_topic(topic)]
        if topics:
            yield only(block, np.array(topics, dtype=np.int64))


def _read_files(shard: Shard, folder: RunFolder, asked: Asked) -> Part:
    """The files of a piece, each topic in one of them."""
    parts: list[RunPart] = []
    digests: dict[str, str] = {}
    found: dict[str, str] = {}  # topic -> its file
    contradicted: list[str] = []
    formats: dict[str, str] = {}
    ties: Ties = "docid"
    for file in shard.files_of(folder):
        with _copied(file) as path:
            given = replace(asked.given, path=path)
            formats.setdefault(_format(given), file.name)
            _refuse_mixed(folder, formats)
            opened = open_file(given, TopicKeys(asked.texts))
            if isinstance(opened, Rankings):
                part = asked.read(map(RowBlock.of, opened.chunks()), file.name)
                digests[file.name] = opened.digest
                contradicted += opened.contradicted
                ties = opened.ties
            else:
                part = asked.read_file(opened)
                digests[file.name] = part.digest
        for topic in topics_of(part, asked.qrels):
            if topic in found:
                raise repeated(folder.shown, topic, found[topic], file.name)
            found[topic] = file.name
        parts.append(part)
    has_ranks = set(formats) == {"trec"} and asked.given.ties != "as_returned"
    listing = hashlib.sha256("\n".join(file.name for file in folder.files).encode()).hexdigest()
    origin = replace(
        _origin(shard, asked),
        files=digests,
        listing=listing,
        ties=ties,
        contradicted=None if has_ranks else tuple(sorted(contradicted)),
    )
    return Part(origin, joined(parts, digest=""))


@contextmanager
def _copied(file: Path) -> Iterator[Path]:
    try:
        with local_copy(file, RUN_BYTES) as path:
            yield path
    except ContentError as problem:
        raise RunFormatError(file, None, str(problem)) from None


def _format(given: GivenFile) -> str:
    file = InputFile(given.path, error=RunFormatError, part=given.part, limit=RUN_BYTES, columns=given.columns)
    return format_of(file, "rankings", named=given.format).name


def _refuse_mixed(folder: RunFolder, formats: Mapping[str, str]) -> None:
    """``RunFormatError`` for files of several formats, or of one whose files cannot be parts of a run."""
    named = " and ".join(f"{name} ({file})" for name, file in formats.items())
    if len(formats) > 1:
        raise RunFormatError(folder.place, None, f"expected parts of one format, found {named}")
    if len(folder.files) > 1 and not set(formats) <= set(FORMATS):
        words = ", ".join(FORMATS)
        raise RunFormatError(folder.place, None, f"expected parts in one of the formats {words}, found {named}")


def topics_of(part: RunPart, qrels: Qrels) -> Iterator[str]:
    """The topics of a part that are scored, and those without judgements."""
    yield from part.unknown
    for place in part.places.tolist():
        yield qrels.topics[place]


def repeated(run: str, topic: str, one: str, other: str) -> DataError:
    """The error to raise for a topic in two parts."""
    return DataError(
        f"{run}: expected each topic in one part, found {topic!r} in {one} and {other}; write all documents of a "
        "topic into one part",
        reason="bad_run",
    )


def _origin(shard: Shard, asked: Asked, *, digest: str = "") -> Origin:
    return Origin(
        name=system_name(replace(asked.given, path=shard.run)),
        number=shard.number,
        count=shard.count,
        by=shard.by,
        digest=digest,
        files={},
        listing="",
        qrels=asked.qrels.digest,
        measures=asked.measures,
        versions=_versions(),
    )


def _versions() -> dict[str, str]:
    found = {"pytest-riskguard": __version__, "python": ".".join(platform.python_version_tuple()[:2])}
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
