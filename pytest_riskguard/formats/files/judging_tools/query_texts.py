"""Query texts for files of tools that know queries by nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_riskguard.errors import UsageError
from pytest_riskguard.formats.topic_keys import normal


def texts_of(topics: Iterable[str], texts: Mapping[str, str], tool: str) -> dict[str, str]:
    """The text of each topic; ``UsageError`` if one has none, or two have the same, which the tool would mix up."""
    found: dict[str, str] = {}
    owner: dict[str, str] = {}
    for topic in topics:
        text = normal(texts.get(topic, ""))
        if not text:
            raise UsageError(
                f"{tool} knows queries by their texts, and topic {topic!r} has none; give the topics file (--topics)"
            )
        if owner.setdefault(text, topic) != topic:
            raise UsageError(
                f"{tool} knows queries by their texts, and topics {owner[text]!r} and {topic!r} have the same one"
            )
        found[topic] = text
    return found
