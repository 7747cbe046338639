"""Topics and their query texts: tables with tabs line by line, other formats through their readers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from pytest_riskguard.data import memory
from pytest_riskguard.data.content import InputFile
from pytest_riskguard.data.formats import format_of
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.memory import Input, InputData, TopicsData
from pytest_riskguard.data.records import Records, TopicRow, derived_id
from pytest_riskguard.data.text_files import LineReader
from pytest_riskguard.data.text_tables import TEXT_NAMES, TOPIC_NAMES
from pytest_riskguard.errors import TopicsFormatError
from pytest_riskguard.limits import TOPICS

_Lines = LineReader[TopicsFormatError]
_WEIGHT = "weight"
#: The tag that says which topics hang together: variants of a query, a session, one need in several languages.
CLUSTER = "cluster"
#: The tag that says from which part of all queries a topic was drawn.
STRATUM = "stratum"
_NO_HEADER = ("", "")
_HEADERLESS = "2 columns (id, query text) with a tab between them"


@dataclass(frozen=True, eq=False)
class Topics:
    """The topics of a collection.

    Attributes
    ----------
    queries : mapping topic -> query text
    tags : mapping topic -> mapping tag -> value
        One entry per topic; empty mappings where the file has no further column. In a table topics with the same
        values share one mapping: a million of them would take more memory than everything else.
    weights : mapping topic -> float
        The column ``weight``, above 0; empty where there is none.
    path_name, digest : str
        The file's name without its folder, and ``sha256:...`` of its content, decompressed.
    shares : mapping stratum -> float
        How much of all queries each stratum is, above 0 and 1 together; empty where nobody said so.
    """

    queries: Mapping[str, str]
    tags: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    path_name: str = ""
    digest: str | None = None
    shares: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def clusters(self) -> Mapping[str, str]:
        """The cluster of each topic that has one: its value of the tag ``cluster``."""
        return {topic: cluster for topic, tags in self.tags.items() if (cluster := tags.get(CLUSTER))}

    @cached_property
    def strata(self) -> Mapping[str, str]:
        """The stratum of each topic that has one: its value of the tag ``stratum``."""
        return {topic: stratum for topic, tags in self.tags.items() if (stratum := tags.get(STRATUM))}


def read_topics(given: Path | str | GivenFile | TopicsData) -> Topics:
    """Read topics: a file in any format of ``data.formats``, plain or gzip, or data in memory.

    Data are a mapping topic -> query text, a frame, or rows with named fields.

    Without ids, topics are named by their texts (``records.derived_id``). The digest of a format other than a
    table with tabs is that of the table that ``write_topics`` writes.

    Raises
    ------
    TopicsFormatError
        A file of no known format, an empty id, a topic or a column twice, a weight that is not a finite number above
        0, more than a limit of ``input_files`` allows, or no topic.
    MissingFileError
        The path cannot be read.
    TypeError
        Data of another shape.
    """
    if not isinstance(given, Path | str | GivenFile):
        data = InputData("topics", reason=TopicsFormatError.reason)
        return _of_records(data, memory.topics(given, data))
    given = GivenFile.of(given)
    topics = _read_file(given)
    return replace(topics, shares=MappingProxyType(dict(given.strata))) if given.strata else topics


def _read_file(given: GivenFile) -> Topics:
    file = InputFile(
        given.path, error=TopicsFormatError, part=given.part, columns=given.columns, download=given.download
    )
    known = format_of(file, "topics", named=given.format)
    if known.name == "tsv":
        return _read_table(given.path)
    return _of_records(file, known.reader("topics")(file))


def _of_records(given: Input, records: Records[TopicRow]) -> Topics:
    queries: dict[str, str] = {}
    tags: dict[str, Mapping[str, str]] = {}
    weights: dict[str, float] = {}
    most = TOPICS.value
    for row in records.rows:
        topic = derived_id(row.text) if row.topic is None else row.topic
        if topic in queries:
            raise given.refuse(row.line, f"expected each topic once, found {topic!r} again")
        names = list(map(_tag, row.tags))
        for name in (CLUSTER, STRATUM):
            if (found := names.count(name)) > 1:
                raise given.refuse(row.line, f"expected one column {name!r}, in any case, found {found}")
        queries[topic], tags[topic] = row.text, MappingProxyType(dict(zip(names, row.tags.values(), strict=True)))
        if row.weight is not None:
            weights[topic] = row.weight
        if len(queries) > most:
            raise given.refuse(None, TOPICS.problem(len(queries)))
    if not queries:
        raise given.refuse(None, "expected topics, found none")
    if lacking := weights and queries.keys() - weights.keys():
        raise given.refuse(None, f"expected a weight of every topic or of none, found none of {min(lacking)!r}")
    digest = f"sha256:{hashlib.sha256(write_topics(queries, tags, weights)).hexdigest()}"
    return Topics(MappingProxyType(queries), MappingProxyType(tags), MappingProxyType(weights), given.name, digest)


def write_topics(
    queries: Mapping[str, str], tags: Mapping[str, Mapping[str, str]], weights: Mapping[str, float]
) -> bytes:
    """A table with tabs and a header; white space inside texts becomes single spaces."""
    names = sorted({name for tagged in tags.values() for name in tagged})
    rows = [["topic", "query", *names, *([_WEIGHT] if weights else [])]]
    for topic, text in queries.items():
        weight = [repr(weights[topic])] if weights else []
        rows.append([topic, text, *(tags.get(topic, {}).get(name, "") for name in names), *weight])
    return "".join("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in rows).encode()


def _read_table(path: Path) -> Topics:
    """A table with tabs, without quoting.

    Without a header, two columns: id and query text. With a header, whose first column is one of topic, id,
    qid, query_id and second one of query, text, title (in any case), further columns are tags; one named
    weight, in any case, is a number above 0.
    """
    lines = LineReader(path, error=TopicsFormatError)
    header: tuple[str, ...] | None = None
    queries: dict[str, str] = {}
    tags: dict[str, Mapping[str, str]] = {}
    weights: dict[str, float] = {}
    line_of: dict[str, int] = {}
    shared: dict[tuple[str, ...], Mapping[str, str]] = {}
    for number, line in lines:
        if not line.strip():
            continue
        cells = line.decode().rstrip("\r").split("\t")
        if header is None:
            header, is_header = _header(lines, number, cells)
            if is_header:
                continue
        if len(cells) != len(header):
            raise lines.refuse_line(number, line, _columns(header), str(len(cells)))
        topic = cells[0].strip()
        if not topic:
            raise lines.refuse_line(number, line, "a topic id", "an empty one")
        if topic in queries:
            raise lines.refuse_line(number, line, "each topic once", f"topic {topic!r} also on line {line_of[topic]}")
        line_of[topic] = number
        lines.check_size(rows=len(line_of), columns=len(header))
        queries[topic] = cells[1].strip()
        rest = [cell.strip() for cell in cells[2:]]
        if _WEIGHT in header:
            weights[topic] = _weight(lines, number, line, rest.pop(header.index(_WEIGHT) - 2))
        values = tuple(rest)
        if (of_topic := shared.get(values)) is None:
            names = (name for name in header[2:] if name != _WEIGHT)
            of_topic = shared[values] = MappingProxyType(dict(zip(names, values, strict=True)))
        tags[topic] = of_topic
    if not queries:
        raise lines.refuse_empty(_HEADERLESS)
    return Topics(
        MappingProxyType(queries), MappingProxyType(tags), MappingProxyType(weights), lines.path.name, lines.digest
    )


def _header(lines: _Lines, number: int, cells: list[str]) -> tuple[tuple[str, ...], bool]:
    """The columns, and whether this row names them."""
    names = [cell.strip() for cell in cells]
    lowered = [name.lower() for name in names]
    if len(names) < 2 or lowered[0] not in TOPIC_NAMES or lowered[1] not in TEXT_NAMES:
        return _NO_HEADER, False
    names[2:] = [_WEIGHT if low == _WEIGHT else _tag(name) for name, low in zip(names, lowered, strict=True)][2:]
    for index, name in enumerate(names):
        if not name or name in names[:index]:
            problem = f"expected a name of its own for every column, found {name!r} in column {index + 1}"
            raise lines.refuse(number, problem)
    return tuple(names), True


def _tag(name: str) -> str:
    """The name of a tag; those with a meaning may be written in any case."""
    low = name.strip().lower()
    return low if low in (CLUSTER, STRATUM) else name


def _columns(header: tuple[str, ...]) -> str:
    if header == _NO_HEADER:
        return f"{_HEADERLESS} (further columns need a header line)"
    return f"{len(header)} columns ({', '.join(header)}) with tabs between them"


def _weight(lines: _Lines, number: int, line: bytes, cell: str) -> float:
    try:
        weight = math.nan if "_" in cell else float(cell)
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight > 0):
        raise lines.refuse_line(number, line, "a weight that is a number above 0", repr(cell))
    return weight
