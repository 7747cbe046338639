"""Requests for single topics, from the settings and the preset of an engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

from pytest_riskguard.config.request_templates import filled, filled_address, placeholders
from pytest_riskguard.errors import MissingFileError, UsageError
from pytest_riskguard.formats.input_files import LimitError, read_limited
from pytest_riskguard.formats.limits import TABLE_BYTES
from pytest_riskguard.formats.serialization import JsonError, parsed_value
from pytest_riskguard.live_systems.retrieval import FailedSearchError

if TYPE_CHECKING:
    from pytest_riskguard.config.http_settings import Http


class Asked(Protocol):
    """A topic whose query is sent."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def text(self) -> str:
        """Its query."""

    @property
    def tags(self) -> Mapping[str, str]:
        """Its tags."""


@dataclass(frozen=True)
class Request:
    """One request; ``body`` is JSON, or None."""

    method: str
    url: str
    body: bytes | None


class Requests:
    """The requests of one candidate, each for ``depth`` hits; ``UsageError`` for a body that is not a template."""

    def __init__(self, http: Http, depth: int) -> None:
        template = http.request
        body: Any = json.loads(http.body) if isinstance(http.body, str) else http.body
        if isinstance(body, Path):
            body = _template(body)
            try:
                http.refuse_constant(body)
            except ValueError as error:
                raise UsageError(str(error)) from None
        params: dict[str, Any] = dict(template.params)
        given: dict[str, list[str]] = {}
        for name, value in http.params:
            given.setdefault(name, []).append(value)
        params |= given
        body = template.body if body is None else body
        if template.depth is not None and "depth" not in placeholders([params, body, http.url, http.path]):
            where, key = template.depth
            if where == "body" and isinstance(body, Mapping):
                body = {key: depth} | dict(body)
            elif where == "params":
                params = {key: depth} | params
        path = (
            http.path
            if http.path is not None
            else template.path.replace("{index}", quote(http.index or "", safe=","))
        )
        self._url, self._params, self._body, self._depth = _joined(http.url, path), params, body, depth
        self._method = http.method or template.method

    @property
    def place(self) -> str:
        """The address without parameters, as messages name it: the same for all topics."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    def of(self, topic: Asked) -> Request:
        """The request for a topic; ``FailedSearchError`` if it lacks a tag that a template names."""
        values = {"query": topic.text, "topic": topic.id, "depth": self._depth}
        values |= {f"tags.{name}": value for name, value in topic.tags.items()}
        try:
            params, body = filled(self._params, values), filled(self._body, values)
            url = filled_address(self._url, values)
        except KeyError as error:
            problem = f"the topic has no {error.args[0]}, which the request names"
            raise FailedSearchError(problem, is_final=True) from None
        if params:
            url += ("&" if "?" in url else "?") + urlencode(params, doseq=True)
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        return Request(self._method, url, content)


def _joined(url: str, path: str) -> str:
    """The address of the engine with a path below it; Solr's own may be in both."""
    if not path:
        return url
    url, path = url.rstrip("/"), path.lstrip("/")
    first = path.partition("/")[0]
    if first == "solr" and url.endswith("/solr"):
        path = path.removeprefix("solr/")
    return f"{url}/{path}"


def _template(path: Path) -> Any:
    """The JSON in a file; ``UsageError`` if there is none."""
    try:
        return parsed_value(read_limited(path, TABLE_BYTES))
    except MissingFileError as error:
        raise UsageError(f"body: {error}") from None
    except (JsonError, LimitError) as error:
        raise UsageError(
            f"body: {path}: expected JSON with {{query}} in a text, found another file: {error}"
        ) from None
