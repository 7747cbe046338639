"""``candidate: {http: ...}``: a search engine that is queried over HTTP."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import PlainValidator, model_validator

from pytest_riskguard.config.http_presets import PRESETS, Preset, Request, placeholders
from pytest_riskguard.config.setting_types import Model, Pairs, Queried, SettingError, checked
from pytest_riskguard.gates.option_types import OneOf, Text, shown

#: An environment variable, in the address and in values of headers.
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
#: Headers and parameters whose values nobody may write into a file.
_SECRET_NAME = re.compile(r"authori[sz]ation|api[-_]?key|token|secret|password|cookie|credential", re.IGNORECASE)
_ASCII = re.compile(r"[ -~]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OF_TOPIC = ("query", "topic", "tags.")
_ADDRESS = "expected an address such as http://localhost:9200/products"


def address_problem(text: str) -> str | None:
    """What is wrong with an address; the address itself, which may hold a secret, is not repeated."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return _ADDRESS
    if "@" in parts.netloc:
        return f"{_ADDRESS} without user and password; send `Authorization: Basic ${{NAME}}` in `headers:`"
    return None if parts.scheme in ("http", "https") and host and text.split() == [text] else _ADDRESS


def _refuse_secret(name: str, value: str) -> None:
    """``ValueError`` for a secret, and for the beginning of a variable that none follows, which may be one too."""
    if "${" in VARIABLE.sub("", value):
        raise ValueError("expected the name of an environment variable, letters, digits and underscores, in ${NAME}")
    if _SECRET_NAME.search(name) and not VARIABLE.search(value):
        raise ValueError(f"{name}: a secret must not be in a file; write ${{NAME_OF_A_VARIABLE}}")


def parameters(address: str) -> list[tuple[str, str]]:
    """The parameters of an address."""
    return parse_qsl(address.partition("?")[2], keep_blank_values=True)


def _address(text: str) -> str:
    _refuse_secret("", text)
    known = VARIABLE.sub("1", text)
    if problem := address_problem(f"http://{known}" if text.startswith("${") else known):
        raise ValueError(problem if "@" in text else f"{problem}, found {shown(text)}")
    for name, value in parameters(text):
        _refuse_secret(name, value)
    return text


def _headers(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a mapping of headers, found {shown(value)}")
    for name, text in value.items():
        if not _HEADER.fullmatch(name):
            raise ValueError(f"expected the name of a header, found {shown(name)}")
        _refuse_secret(name, str(text))
        if isinstance(text, bool) or not isinstance(text, str | int | float) or not _ASCII.fullmatch(str(text)):
            raise ValueError(f"{name}: expected a text of ASCII characters, found {shown(text)}")
    return tuple((name, str(text)) for name, text in value.items())


def _body(value: Any, info: Any) -> Path | str:
    """The path of a file, or the template that is written here, as JSON."""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return Path(os.path.normpath(info.context["path"].parent / Text("a file, or a mapping")(value)))


def _expression(text: str) -> str:
    try:
        import jmespath
    except ImportError:  # said when the engine is asked
        return text
    try:
        jmespath.compile(text)
    except (jmespath.exceptions.JMESPathError, RecursionError) as error:
        raise ValueError(f"expected a JMESPath expression, found {shown(text)} ({type(error).__name__})") from None
    return text


class Http(Model):
    """How an engine is asked over HTTP, and where its answers have the hits.

    Attributes
    ----------
    preset
        `elasticsearch`, `opensearch`, `solr`, `vespa`, `algolia`, `typesense`, `meilisearch` or
        `general`: it gives the defaults of the keys below.
    url
        The address, with the parameters that are to be added. Presets append their path, such as
        `/_search`, to that of the index, core or collection: `https://es.example.com/products`,
        `http://localhost:8983/solr/help?fq=shop:de`, `https://APP-dsn.algolia.net/1/indexes/products`,
        `http://localhost:8108/collections/help?query_by=title`, `http://localhost:7700/indexes/help`.
    method
        `GET`, `POST` or `PUT`.
    body
        JSON: a file, or a mapping written here. It replaces the preset's.
    headers
        Texts by name.
    hits
        What the answer has, in JMESPath: a list of ids, or of objects with `id` and perhaps `score`.
        Without scores the order counts.
    """

    preset: Annotated[str, PlainValidator(OneOf(tuple(PRESETS)))] = "general"
    url: Annotated[str, PlainValidator(Text("an address", parse=_address))]
    method: Annotated[str, PlainValidator(OneOf(("GET", "POST", "PUT")))] | None = None
    body: Annotated[Path | str | None, checked(_body, str | dict[str, Any])] = None
    headers: Annotated[Pairs, checked(_headers, dict[str, str])] = ()
    hits: Annotated[str, PlainValidator(Text("a JMESPath expression", parse=_expression))] | None = None

    @property
    def kind(self) -> Preset:
        """The preset."""
        return PRESETS[self.preset]

    @property
    def request(self) -> Request:
        """The preset's template, which depends on whether there is a body."""
        return (self.body and self.kind.with_body) or self.kind.request

    @property
    def params(self) -> dict[str, Any]:
        """The preset's parameters, without those that the address has."""
        own = dict(parameters(self.url))
        return {name: value for name, value in parameters(self.request.path) if name not in own}

    @model_validator(mode="after")
    def _is_whole(self) -> Http:
        if self.preset == "general" and self.hits is None:
            raise ValueError("expected `hits:`, the JMESPath of the hits in the answer, found none")
        if not isinstance(self.body, Path):
            self.refuse_constant(self.body or self.request.body)
        return self

    def refuse_constant(self, body: str | None) -> None:
        """``ValueError`` for a request with this body, JSON, that is the same for all topics."""
        named = placeholders([self.url, self.params, json.loads(body or "null")])
        if not any(name.startswith(_OF_TOPIC) for name in named):
            where = "body" if body else "url"
            raise ValueError(f"expected {{query}} in `{where}:`; this request would be the same for all topics")


class HttpCandidate(Queried):
    """``candidate`` as an engine that is queried over HTTP, as ``config.asking.Asking`` says.

    Attributes
    ----------
    http
        How the engine is asked, a mapping.
    """

    http: Http

    @model_validator(mode="after")
    def _is_shallow(self) -> HttpCandidate:
        most = self.http.kind.max_depth
        if most is not None and self.depth > most:
            raise SettingError(f"{self.http.kind.title} returns at most {most} hits to a request", "depth")
        return self
