"""Judgements and topics that belong together: judgements that name queries by their texts need the topics."""

from __future__ import annotations

from pathlib import Path

from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.records import TopicKeys
from pytest_riskguard.data.topics import Topics, read_topics


def read_collection(qrels: Path | GivenFile, topics: Path | GivenFile | None = None) -> tuple[Qrels, Topics | None]:
    """Both files of a collection; errors as ``read_qrels`` and ``read_topics``."""
    known = None if topics is None else read_topics(topics)
    return read_qrels(qrels, keys_of(known)), known


def keys_of(topics: Topics | None) -> TopicKeys:
    """Finds topics by their texts."""
    return TopicKeys({} if topics is None else topics.queries)
