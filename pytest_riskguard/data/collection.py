"""Files of topics, and judgements and topics that belong together: judgements may name queries by their texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_riskguard.data import memory
from pytest_riskguard.data.formats import format_of
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.memory import InputData, TopicsData
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.records import TopicKeys
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import TopicsFormatError


def read_topics(given: Path | str | GivenFile | TopicsData) -> Topics:
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
        data = InputData("topics", reason=TopicsFormatError.reason)
        return memory.topics(given, data)
    given = GivenFile.of(given)
    file = InputFile(given, error=TopicsFormatError)
    topics: Topics = format_of(file, "topics").reader("topics")(file)
    return replace(topics, shares=dict(given.strata))


def read_collection(qrels: Path | GivenFile, topics: Path | GivenFile | None = None) -> tuple[Qrels, Topics | None]:
    """Both files of a collection; errors as ``read_qrels`` and ``read_topics``."""
    known = None if topics is None else read_topics(topics)
    return read_qrels(qrels, TopicKeys(None if known is None else known.queries)), known
