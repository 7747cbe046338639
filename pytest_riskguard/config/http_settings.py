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
from pytest_riskguard.config.setting_types import Model, Queried
from pytest_riskguard.gates.option_types import OneOf, Text, shown

#: An environment variable, in the address and in values of headers.
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
#: Headers and parameters whose values nobody may write into a file.
_SECRET_NAME = re.compile(r"authori[sz]ation|api[-_]?key|token|secret|password|cookie|credential", re.IGNORECASE)
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_IN_NO_FILE = "a secret must not be in a file; write ${NAME_OF_A_VARIABLE}"
_OF_TOPIC = ("query", "topic", "tags.")
_ADDRESS = "an address such as http://localhost:9200/products"


def _refuse_open(text: str) -> None:
    """``ValueError`` for the beginning of a variable that none follows."""
    if "${" in VARIABLE.sub("", text):
        # what was found may be a secret itself
        raise ValueError("expected the name of an environment variable, letters, digits and underscores, in ${NAME}")


def address_problem(text: str) -> str | None:
    """What is wrong with an address; the address itself, which may hold a secret, is not repeated."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return f"expected {_ADDRESS}"
    if parts.username is not None or parts.password is not None:
        return f"expected {_ADDRESS} without user and password; send `Authorization: Basic ${{NAME}}` in `headers:`"
    is_whole = parts.scheme in ("http", "https") and host and text.split() == [text]
    return None if is_whole else f"expected {_ADDRESS}"


def _address(text: str) -> str:
    _refuse_open(text)
    known = VARIABLE.sub("1", text)
    if problem := address_problem(f"http://{known}" if text.startswith("${") else known):
        raise ValueError(problem + ("" if "@" in text else f", found {shown(text)}"))
    for name, value in parse_qsl(text.partition("?")[2], keep_blank_values=True):
        if _SECRET_NAME.search(name) and not VARIABLE.search(value):
            raise ValueError(f"{name}: {_IN_NO_FILE}")
    return text


def _headers(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a mapping of headers, found {shown(value)}")
    for name, text in value.items():
        if not _HEADER.fullmatch(str(name)):
            raise ValueError(f"expected the name of a header, found {shown(name)}")
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            raise ValueError(f"{name}: expected a text, found {shown(text)}")
        _refuse_open(str(text))
        if _SECRET_NAME.search(name) and not VARIABLE.search(str(text)):
            raise ValueError(f"{name}: {_IN_NO_FILE}")
        if not (str(text).isascii() and str(text).isprintable()):
            raise ValueError(f"{name}: expected a value of ASCII characters, found {shown(text)}")
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
    body: Annotated[Path | str | None, PlainValidator(_body, json_schema_input_type=str | dict[str, Any])] = None
    headers: Annotated[
        tuple[tuple[str, str], ...], PlainValidator(_headers, json_schema_input_type=dict[str, str])
    ] = ()
    hits: Annotated[str, PlainValidator(Text("a JMESPath expression", parse=_expression))] | None = None

    @property
    def kind(self) -> Preset:
        """The preset."""
        return PRESETS[self.preset]

    @property
    def request(self) -> Request:
        """The preset's template, which depends on whether there is a body."""
        return self.kind.request if self.body is None else self.kind.with_body

    @property
    def params(self) -> dict[str, Any]:
        """The preset's parameters, without those that the address has."""
        own = {name for name, _ in parse_qsl(self.url.partition("?")[2], keep_blank_values=True)}
        return {name: value for name, value in self.request.params.items() if name not in own}

    @model_validator(mode="after")
    def _is_whole(self) -> Http:
        if self.preset == "general" and self.hits is None:
            raise ValueError("expected `hits:`, the JMESPath of the hits in the answer, found none")
        if not isinstance(self.body, Path):
            self.refuse_constant(self.request.body if self.body is None else json.loads(self.body))
        return self

    def refuse_constant(self, body: object) -> None:
        """``ValueError`` for a request with this body that is the same for all topics."""
        if not any(name.startswith(_OF_TOPIC) for name in placeholders([self.url, self.params, body])):
            where = "url" if body is None else "body"
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
            raise ValueError(f"depth: {self.http.kind.title} returns at most {most} hits to a request")
        return self
