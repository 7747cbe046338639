"""Topics and their query texts as columns, and what teams say of them: tags, weights, shares of strata."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_riskguard.data.checks import Lines, Rows
from pytest_riskguard.data.formats import format_of
from pytest_riskguard.data.given_file import GivenFile, InputData
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.records import TopicKeys, derived_id
from pytest_riskguard.errors import TopicsFormatError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import TOPICS

WEIGHT = "weight"
#: The tag that says which topics hang together: variants of a query, a session, one need in several languages.
CLUSTER = "cluster"
#: The tag that says from which part of all queries a topic was drawn.
STRATUM = "stratum"
_NONE: Mapping[str, Any] = MappingProxyType({})


@frozen(eq=False)
class Topics:
    """The topics of a collection, with a value in each column for each of them.

    Attributes
    ----------
    topics : sequence of str
        Ids, in the order of the file.
    texts : sequence of str or None
        Query texts.
    columns : mapping tag -> sequence of str or None
    weighting : sequence of float or None
        The column ``weight``, above 0; empty where there is none.
    path_name, digest : str
        The file's name without its folder, and ``sha256:...`` of its content, decompressed.
    shares : mapping stratum -> float
        How much of all queries each stratum is, above 0 and 1 together; empty where nobody said so.
    """

    topics: Sequence[str]
    texts: Sequence[str | None]
    columns: Mapping[str, Sequence[str | None]] = field(default_factory=lambda: _NONE)
    weighting: Sequence[float | None] = ()
    path_name: str = ""
    digest: str | None = None
    shares: Mapping[str, float] = field(default_factory=lambda: _NONE)

    @classmethod
    def of(
        cls,
        queries: Mapping[str, str],
        tags: Mapping[str, Mapping[str, str]] = _NONE,
        weights: Mapping[str, float] = _NONE,
        **more: Any,
    ) -> Topics:
        """The same from mappings, each of which may lack topics."""
        topics = tuple(dict.fromkeys([*queries, *tags, *weights]))
        weighting = [weights.get(topic) for topic in topics] if weights else ()
        columns = columns_of([tags.get(topic, _NONE) for topic in topics])
        return cls(topics, [queries.get(topic) for topic in topics], columns, weighting, **more)

    @cached_property
    def queries(self) -> Mapping[str, str]:
        """The text of each topic that has one."""
        return _filled(self.topics, self.texts)

    @cached_property
    def tags(self) -> Mapping[str, Mapping[str, str]]:
        """The tags of each topic."""
        rows = zip(*self.columns.values(), strict=True) if self.columns else [()] * len(self.topics)
        return {topic: _filled(self.columns, row) for topic, row in zip(self.topics, rows, strict=True)}

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """The weight of each topic; empty where there are none."""
        return _filled(self.topics, self.weighting)

    @cached_property
    def clusters(self) -> Mapping[str, str]:
        """The cluster of each topic that has one."""
        return _filled(self.topics, self.columns.get(CLUSTER, ()), "")

    @cached_property
    def strata(self) -> Mapping[str, str]:
        """The stratum of each topic that has one."""
        return _filled(self.topics, self.columns.get(STRATUM, ()), "")


def _filled(names: Iterable[str], values: Iterable[Any], *nothing: str) -> dict[str, Any]:
    """The values that are there by name; there may be none at all."""
    pairs = zip(names, values, strict=False)
    return {name: value for name, value in pairs if value is not None and value not in nothing}


def columns_of(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str | None]]:
    """The columns of rows that may lack some."""
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}


def topics_of(
    given: InputData,
    topics: Sequence[str | None],
    texts: Sequence[str],
    tags: Iterable[tuple[str, Sequence[str | None]]] = (),
    weights: Sequence[float] = (),
    *,
    lines: Lines | Callable[[], Lines] | None = None,
) -> Topics:
    """Topics from the columns that a reader found; one without an id is named by its text (``derived_id``).

    The digest of data in memory is that of their table, as it is written. Raises what ``given`` refuses: no topics,
    a topic twice, two columns of clusters or of strata, what ``Rows`` refuses of ids and texts.
    """
    rows = Rows(given, lines)
    if not topics:
        raise given.refuse(None, "expected topics, found none")
    rows.limit(TOPICS, len(topics))
    rows.ids(texts, "query text", is_text=True)
    names = [derived_id(text) if topic is None else topic for topic, text in zip(topics, texts, strict=True)]
    rows.ids(names, "topic")
    row_of: dict[str, int] = {}
    for row, name in enumerate(names):
        if (first := row_of.setdefault(name, row)) != row:
            line = rows.line(first)
            where = "again" if line is None else f"also on line {line}"
            raise rows.error(row, f"expected each topic once, found {name!r} {where}")
    columns: dict[str, Sequence[str | None]] = {}
    for tag, values in tags:
        rows.ids([value or "" for value in values], "tag", is_text=True)
        low = tag.strip().lower()
        name = low if low in (CLUSTER, STRATUM) else tag  # these may be written in any case
        if name in columns:
            raise given.refuse(None, f"expected one column {name!r}, in any case, found 2")
        columns[name] = values
    found = Topics(tuple(names), texts, columns, weights, given.name)
    return replace(found, digest=given.digest or f"sha256:{hashlib.sha256(write_topics(found)).hexdigest()}")


def write_topics(topics: Topics) -> bytes:
    """A table with tabs and a header; white space inside texts becomes single spaces."""
    columns: dict[str, Sequence[str | None]] = {"topic": topics.topics, "query": topics.texts}
    columns |= {name: topics.columns[name] for name in sorted(topics.columns)}
    if topics.weighting:
        columns[WEIGHT] = list(map(repr, topics.weighting))
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join("\t".join(" ".join((cell or "").split()) for cell in row) + "\n" for row in rows).encode()


def read_topics(given: Path | str | GivenFile | Any) -> Topics:
    """Read topics: a file in any format of ``data.formats``, plain or gzip, or data in memory.

    Data are a mapping topic -> query text, a frame, or rows with named fields.

    Raises
    ------
    TopicsFormatError
        A file of no known format, a row without the columns of its format, and what ``topics_of`` refuses.
    MissingFileError
        The path cannot be read.
    TypeError
        Data of another shape.
    """
    if not isinstance(given, Path | str | GivenFile):
        from pytest_riskguard.data import memory

        return memory.topics(given, InputData("topics", reason=TopicsFormatError.reason))
    given = GivenFile.of(given)
    file = InputFile(given, error=TopicsFormatError)
    topics: Topics = format_of(file, "topics").reader("topics")(file)
    return replace(topics, shares=dict(given.strata))


def read_collection(qrels: Path | GivenFile, topics: Path | GivenFile | None = None) -> tuple[Qrels, Topics | None]:
    """Both files of a collection; errors as ``read_qrels`` and ``read_topics``."""
    known = None if topics is None else read_topics(topics)
    return read_qrels(qrels, TopicKeys(None if known is None else known.queries)), known
