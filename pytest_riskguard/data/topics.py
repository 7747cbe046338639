"""Topics and their query texts, and what teams say of them: tags, weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_riskguard.data.checks import GivenLines, Rows, derived_id
from pytest_riskguard.data.formats import read_given
from pytest_riskguard.data.given_file import GivenFile, InputData, Queries, json_digest
from pytest_riskguard.errors import TopicsFormatError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import TOPICS

#: Topic -> tag -> value.
Tags = Mapping[str, Mapping[str, str]]
#: The tag that says which topics hang together: variants of a query, a session, one need in several languages.
CLUSTER = "cluster"


@frozen(eq=False)
class Topics:
    """The topics of a collection, by id in the order of the file; what is not known of a topic is left out.

    Attributes
    ----------
    queries : mapping topic -> query text
    tags : mapping topic -> tag -> value
        What further columns say.
    weights : mapping topic -> weight
        Above 0; empty where there are none.
    path_name, digest : str
        The file's name without its folder, and ``sha256:...`` of its content, decompressed.
    """

    queries: Queries = field(default_factory=dict)
    tags: Tags = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    path_name: str = ""
    digest: str | None = None

    @cached_property
    def clusters(self) -> Mapping[str, str]:
        """The cluster of each topic that has one."""
        return {topic: tags[CLUSTER] for topic, tags in self.tags.items() if tags.get(CLUSTER)}


def topics_of(
    given: InputData,
    topics: Sequence[str] | None,
    texts: Sequence[str],
    tags: Iterable[tuple[str, Sequence[str | None]]] = (),
    weights: Sequence[float] = (),
    *,
    lines: GivenLines = None,
) -> Topics:
    """Topics from the columns that a reader found; without ids they are named by their texts (``derived_id``).

    There are no weights, or one for each. Raises what ``given`` refuses: no topics, a topic twice, a tag twice,
    what ``Rows`` refuses of ids and texts.
    """
    rows = Rows(given, lines)
    if not texts:
        raise given.refuse(None, "expected topics, found none")
    given.at_most(TOPICS, len(texts))
    rows.ids(texts, "query text", is_text=True)
    names = list(map(derived_id, texts)) if topics is None else topics
    rows.ids(names, "topic")
    of_topic: dict[str, dict[str, str]] = {}
    for row, name in enumerate(names):
        if name in of_topic:
            raise rows.error(row, f"expected each topic once, found {name!r} again")
        of_topic[name] = {}
    seen: set[str] = set()
    for tag, values in tags:
        rows.ids([value or "" for value in values], "tag", is_text=True)
        tag = CLUSTER if tag.strip().lower() == CLUSTER else tag  # in any case
        if tag in seen:
            raise given.refuse(None, f"expected one column {tag!r}, in any case, found 2")
        seen.add(tag)
        for name, value in zip(names, values, strict=True):
            if value is not None:
                of_topic[name][tag] = value
    queries, of_weight = dict(zip(names, texts, strict=True)), dict(zip(names, weights, strict=False))
    digest = given.digest or json_digest([queries, of_topic, of_weight])
    return Topics(queries, of_topic, of_weight, given.name, digest)


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
    topics: Topics = read_given(given, "topics", TopicsFormatError)
    return topics
