"""``candidate: {http: ...}``: a search engine that is queried over HTTP."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import BeforeValidator, Discriminator, PlainValidator, Tag, model_validator

from pytest_riskguard.config.http_presets import PRESETS, Preset, Request, placeholders
from pytest_riskguard.config.setting_types import ASKING, Model, Queried
from pytest_riskguard.gates.option_types import OneOf, Text, shown

#: Headers whose values nobody may write into a file.
_SECRET_NAME = re.compile(r"authori[sz]ation|api[-_]?key|token|secret|password|cookie|credential", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_IN_NO_FILE = "a secret must not be in a file; write {env: NAME_OF_A_VARIABLE}"
_IN_NO_ADDRESS = "a secret must not be in a file or an address; send it as one of `headers:`"
_OF_TOPIC = ("query", "topic", "tags.")
#: Further attempts by default: engines are busy at times.
RETRIES = 2


def _variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        # what was found may be the secret itself
        raise ValueError("expected the name of an environment variable: letters, digits and underscores")
    return name


class Secret(Model):
    """A value that the environment variable ``env`` holds, after ``prefix``."""

    env: Annotated[str, PlainValidator(Text("the name of an environment variable", parse=_variable))]
    prefix: Annotated[str, PlainValidator(Text("the text before the value"))] = ""


_PLAIN, _SECRET = "<plain>", "<secret>"
#: Tags of a union, which pydantic puts into the path of an error.
TAGS = frozenset({_PLAIN, _SECRET})


def _plain(value: Any) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"expected a text, or {{env: NAME}}, found {shown(value)}")


_Value = Annotated[
    Annotated[str, PlainValidator(_plain), Tag(_PLAIN)] | Annotated[Secret, Tag(_SECRET)],
    Discriminator(lambda value: _SECRET if isinstance(value, dict) else _PLAIN),
]


def _no_text(value: Any) -> Any:
    if not isinstance(value, dict | Secret):
        raise ValueError(_IN_NO_FILE)
    return value


class Login(Model):
    """``auth``: user and password of basic authentication."""

    user: _Value
    password: Annotated[Secret, BeforeValidator(_no_text)]


def _address(text: str) -> str:
    expected = "an address such as http://localhost:9200"
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError(f"expected {expected}") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"expected {expected} without user and password; give them as `auth:`")
    if parts.scheme not in ("http", "https") or not host or text.split() != [text]:
        raise ValueError(f"expected {expected}" + ("" if "@" in text else f", found {shown(text)}"))
    return text


def _refuse_secrets_in(text: str | None, where: str) -> None:
    """``ValueError`` for an address with a parameter that holds a secret."""
    for name, _ in parse_qsl((text or "").partition("?")[2], keep_blank_values=True):
        if _SECRET_NAME.search(name):
            raise ValueError(f"{where}: {name}: {_IN_NO_ADDRESS}")


def _body(value: Any, info: Any) -> Path | str:
    """The path of a file, or the template that is written here, as JSON."""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return Path(os.path.normpath(info.context["path"].parent / Text("a file, or a mapping")(value)))


def _params(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a mapping of parameters, found {shown(value)}")
    pairs = []
    for name, given in value.items():
        if _SECRET_NAME.search(str(name)):
            raise ValueError(f"params: {name}: {_IN_NO_ADDRESS}")
        for one in given if isinstance(given, list) else [given]:
            if not isinstance(one, str | int | float):
                raise ValueError(f"{name}: expected a text or a number, or a list of them, found {shown(one)}")
            pairs.append((str(name), str(one).lower() if isinstance(one, bool) else str(one)))
    return tuple(pairs)


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


def _expressions(value: Any) -> tuple[str, ...]:
    read = Text("a JMESPath expression, or a list of them", parse=_expression)
    return tuple(str(read(text)) for text in (value if isinstance(value, list) else [value]))


_Expression = Annotated[str, PlainValidator(Text("a JMESPath expression", parse=_expression))]
_Text = Annotated[str, PlainValidator(Text("a text"))]


class Http(Model):
    """How an engine is asked over HTTP, and where its answers have the hits.

    ``preset`` fills in what is not given. ``body`` is a path, or a template as JSON. ``hits`` leads to the list of
    hits, ``id`` and ``score`` from each hit to its id and score. An answer holds a part of the hits only if one of
    ``partial`` is there and is neither false, 0 nor empty.
    """

    preset: Annotated[str, PlainValidator(OneOf(tuple(PRESETS)))] = "general"
    url: Annotated[str, PlainValidator(Text("an address", parse=_address))]
    index: _Text | None = None
    path: _Text | None = None
    method: Annotated[str, PlainValidator(OneOf(("GET", "POST", "PUT")))] | None = None
    params: Annotated[
        tuple[tuple[str, str], ...], PlainValidator(_params, json_schema_input_type=dict[str, Any])
    ] = ()
    body: Annotated[Path | str | None, PlainValidator(_body, json_schema_input_type=str | dict[str, Any])] = None
    headers: dict[str, _Value] | None = None
    auth: Login | None = None
    hits: _Expression | None = None
    id: _Expression | None = None
    score: _Expression | None = None
    partial: Annotated[tuple[str, ...], PlainValidator(_expressions, json_schema_input_type=str | list[str])] = ()

    @property
    def kind(self) -> Preset:
        """The preset."""
        return PRESETS[self.preset]

    @property
    def request(self) -> Request:
        """The preset's template, which depends on whether there is a body."""
        return self.kind.request if self.body is None else self.kind.with_body

    @model_validator(mode="after")
    def _is_whole(self) -> Http:
        for where, address in (("url", self.url), ("path", self.path)):
            _refuse_secrets_in(address, where)
        for name, value in (self.headers or {}).items():
            if not _HEADER.fullmatch(name):
                raise ValueError(f"headers: expected the name of a header, found {shown(name)}")
            if isinstance(value, str) and _SECRET_NAME.search(name):
                raise ValueError(f"headers: {name}: {_IN_NO_FILE}")
            if isinstance(value, str) and not (value.isascii() and value.isprintable()):
                raise ValueError(f"headers: {name}: expected a value of ASCII characters, found {shown(value)}")
        if self.index is None and self.path is None and self.kind.needs_index:
            raise ValueError(f"expected `index:`, the name of what {self.kind.title} searches, found none")
        if self.preset == "general" and (self.hits is None or self.id is None):
            raise ValueError("expected `hits:` and `id:`, the JMESPath of the hits and of the id of each, found none")
        if not isinstance(self.body, Path):
            self.refuse_constant(self.request.body if self.body is None else json.loads(self.body))
        return self

    def refuse_constant(self, body: object) -> None:
        """``ValueError`` for a request with this body that is the same for all topics."""
        params = {**self.request.params, **dict(self.params)}
        if not any(name.startswith(_OF_TOPIC) for name in placeholders([self.url, self.path, params, body])):
            where = "params" if body is None else "body"
            raise ValueError(f"expected {{query}} in `{where}:`; this request would be the same for all topics")

    def __hash__(self) -> int:
        return hash(repr(self))  # a dict has none


def model_at(path: Sequence[str]) -> type[Model]:
    """The model of the mapping at a path below ``http``."""
    models: Mapping[tuple[str, ...], type[Model]] = {(): Http, ("auth",): Login}
    return models.get(tuple(path), Secret)


class HttpCandidate(Queried):
    """``candidate`` as an engine that is queried over HTTP, as ``config.asking.Asking`` says."""

    http: Http
    retries: Annotated[int, PlainValidator(ASKING["retries"])] = RETRIES

    @model_validator(mode="after")
    def _is_shallow(self) -> HttpCandidate:
        most = self.http.kind.max_depth
        if most is not None and self.depth > most:
            raise ValueError(f"depth: {self.http.kind.title} returns at most {most} hits to a request")
        return self
