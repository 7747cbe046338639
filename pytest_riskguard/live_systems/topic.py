"""A topic as a search is asked about it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_NONE: Mapping[str, str] = MappingProxyType({})


class Topic(str):
    """The text of a query, with the topic's id and tags: a search that takes topics may use it as text.

    Attributes
    ----------
    id : str
    text : str
        The query, as plain text.
    tags : mapping tag -> value
        Further columns of the topics file.
    """

    id: str
    tags: Mapping[str, str]

    def __new__(cls, text: str, *, id: str = "", tags: Mapping[str, str] = _NONE) -> Topic:
        """A topic with this query."""
        topic = super().__new__(cls, text)
        topic.id, topic.tags = id, tags
        return topic

    @property
    def text(self) -> str:
        """The query, as plain text."""
        return str.__str__(self)
