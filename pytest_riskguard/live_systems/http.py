"""A search engine over HTTP as a live system, as a riskguard.yaml describes it: one request for each query.

Requests are made from the settings and the preset of an engine, hits are found as its preset says or by JMESPath, and
secrets from the environment are removed from whatever a server says.
"""

from __future__ import annotations

import html
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus, urlencode, urljoin

from pytest_riskguard.config.http_presets import PLACEHOLDER, placeholders
from pytest_riskguard.config.http_settings import VARIABLE, address_problem, parameters
from pytest_riskguard.data.engines import AnswerError, Hits, identifier, said_in, whole_scores
from pytest_riskguard.data.input_files import read_limited
from pytest_riskguard.data.json_nodes import at
from pytest_riskguard.errors import DataError, FileError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import ANSWER_BYTES, TABLE_BYTES
from pytest_riskguard.live_systems.retrieval import FailedSearchError, Topic
from pytest_riskguard.serialization import JsonError, parsed_value
from pytest_riskguard.text import clean

if TYPE_CHECKING:
    import httpx2

    from pytest_riskguard.config.asking import Asking
    from pytest_riskguard.config.http_settings import Http


#: Statuses after which another attempt may succeed.
_TEMPORARY = frozenset({429, 502, 503, 504})
#: Compressions that are unpacked: of few bytes others, and gzip twice, make any number at once.
_CODINGS = ("", "identity", "gzip", "deflate")
#: Characters of what a server says that a message repeats.
MAX_SAID = 200


@contextmanager
def http_search(http: Http, asking: Asking) -> Iterator[HttpSearch]:
    """A search that sends each query to an engine; its connections end with the context.

    Raises ``UsageError`` if httpx2 is missing or a template is wrong, ``DataError`` for a secret that is not set.
    """
    try:
        import httpx2
    except ImportError:
        raise missing_extra("httpx2") from None
    secrets = Secrets(http)
    try:
        client = httpx2.Client(
            timeout=asking.timeout,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=asking.workers),
            follow_redirects=False,
            # No cookie is kept: one answer must not depend on another.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={"User-Agent": "pytest-riskguard", "Accept": "application/json"}
            | {"Accept-Encoding": "gzip, deflate"}
            | secrets.headers,
        )
    except Exception as error:  # such as for a proxy that the environment names
        raise UsageError(clean(secrets.hidden_in(f"httpx2 cannot be used: {error}"))) from None
    with client:
        yield HttpSearch(client, secrets, Requests(http, asking.depth, secrets.url), Answers(http), asking.timeout)


class HttpSearch:
    """Sends a query and reads the hits of the answer."""

    def __init__(
        self, client: httpx2.Client, secrets: Secrets, requests: Requests, answers: Answers, limit: float | None
    ) -> None:
        self._client, self._secrets, self._requests, self._answers = client, secrets, requests, answers
        self._limit = limit

    def __call__(self, topic: Topic) -> list[tuple[str, float]]:
        """The hits for a topic, best first; where the engine gives no scores, these are the places from the last.

        ``FailedSearchError`` if there is no usable answer.
        """
        request = self._requests.of(topic)
        status, wait, content = self._sent(request)
        is_success = status in range(200, 300)
        if is_success:
            with suppress(JsonError, AnswerError):
                documents, scores = self._answers.hits(parsed_value(content))
                return list(zip(documents, scores or range(len(documents), 0, -1), strict=True))
        # Without secrets before it is read: a message repeats parts, and half a secret would not be found in it.
        problem = self._problem(status, self._secrets.hidden_in(content.decode(errors="replace")), is_success)
        raise self._failure(problem, wait=wait if status in _TEMPORARY else None)

    def _problem(self, status: int, text: str, is_success: bool) -> str:
        """What is wrong with an answer."""
        first_line = clean(next((line for line in text.splitlines() if line.strip()), ""), limit=MAX_SAID)
        answer = None
        try:
            answer = parsed_value(text.encode())
            if is_success:
                self._answers.hits(answer)
        except JsonError as error:
            if is_success:
                return f"expected JSON, found another answer ({error}): {first_line}"
        except AnswerError as error:
            return str(error)
        said = said_in(answer) or first_line
        return f"it answered {status}{f': {said}' if said else ''}"

    def _sent(self, request: Request) -> tuple[int, float, bytes]:
        """Status, seconds to wait before another attempt and content of the response."""
        import httpx2

        wait = None
        deadline = None if self._limit is None else time.monotonic() + self._limit
        headers = {} if request.body is None else {"Content-Type": "application/json"}
        try:
            with self._client.stream(request.method, request.url, content=request.body, headers=headers) as response:
                coding = response.headers.get("Content-Encoding", "")
                if response.is_redirect:
                    problem = f"it answered {response.status_code}, a redirect, which is not followed; correct `url:`"
                elif coding not in _CODINGS:
                    problem = f"expected a response without compression, or with gzip or deflate, found {coding!r}"
                else:
                    content = bytearray()
                    most = ANSWER_BYTES.value
                    for block in response.iter_bytes():
                        content += block
                        if len(content) > most or (deadline is not None and time.monotonic() > deadline):
                            break
                    else:
                        after = response.headers.get("Retry-After", "")
                        return response.status_code, float(after) if after.isdecimal() else 0.0, bytes(content)
                    too_long = len(content) > most
                    problem = ANSWER_BYTES.problem(len(content)) if too_long else "the answer did not end in time"
        except httpx2.TimeoutException:
            problem = "no answer in time"
        except httpx2.ConnectError as error:
            problem, wait = f"cannot connect: {error}", 0.0
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            problem, wait = f"the connection broke: {error or type(error).__name__}", 0.0
        raise self._failure(problem, wait=wait)

    def _failure(self, problem: str, *, wait: float | None = None) -> FailedSearchError:
        said = clean(self._secrets.hidden_in(problem), limit=2 * MAX_SAID)
        return FailedSearchError(f"{self._requests.place}: {said}", wait=wait)


@frozen
class Request:
    """One request; ``body`` is JSON, or None."""

    method: str
    url: str
    body: bytes | None


class Requests:
    """The requests of one candidate, each for ``depth`` hits; ``UsageError`` for a body that is not a template."""

    def __init__(self, http: Http, depth: int, url: str) -> None:
        template, params = http.request, http.params
        body = template.body if http.body is None else http.body
        content = _template(http, body) if isinstance(body, Path) else json.loads(body or "null")
        if "depth" not in placeholders([params, content, http.url]):
            if template.key is not None and isinstance(content, Mapping):
                content = {template.key: depth} | dict(content)
            if template.param is not None and template.param not in dict(parameters(http.url)):
                params = {template.param: depth} | params
        path, self._params, self._body, self._depth = template.path.partition("?")[0], params, content, depth
        self._url, self._method = _joined(url, path), http.method or template.method
        #: The address without parameters, as messages name it: the same for all topics, and with no secret.
        self.place = _joined(http.url, path).partition("?")[0]

    def of(self, topic: Topic) -> Request:
        """The request for a topic; ``FailedSearchError`` if it lacks a tag that a template names."""
        values = {"query": topic.text, "topic": topic.id, "depth": self._depth}
        values |= {f"tags.{name}": value for name, value in topic.tags.items()}
        quoted = {name: quote(str(value), safe="") for name, value in values.items()}
        try:
            params, body, url = _filled(self._params, values), _filled(self._body, values), _filled(self._url, quoted)
        except KeyError as error:
            raise FailedSearchError(f"the topic has no {error.args[0]}, which the request names") from None
        if params:
            url += ("&" if "?" in url else "?") + urlencode(params, doseq=True)
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        return Request(self._method, url, content)


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    """A template with its placeholders replaced; ``KeyError`` for one without a value."""
    if isinstance(template, Mapping):
        return {_filled(key, values): _filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(item, values) for item in template]
    if template == "{depth}":
        return values["depth"]
    return PLACEHOLDER.sub(lambda name: str(values[name[1]]), template) if isinstance(template, str) else template


def _joined(url: str, path: str) -> str:
    """The address of the engine with a path below it, before its parameters; from its root, if there is a slash."""
    if not path:
        return url
    address, mark, params = url.partition("?")
    return f"{urljoin(address.rstrip('/') + '/', path)}{mark}{params}"


def _template(http: Http, path: Path) -> Any:
    """The JSON in a file; ``UsageError`` if there is none, or it is the same for all topics."""
    try:
        content = read_limited(path, TABLE_BYTES)
        template = parsed_value(content)
        http.refuse_constant(content.decode())
    except FileError as error:
        raise UsageError(f"body: {error}") from None
    except JsonError as error:
        raise UsageError(
            f"body: {path}: expected JSON with {{query}} in a text, found another file: {error}"
        ) from None
    except ValueError as error:
        raise UsageError(str(error)) from None
    return template


Expression = Callable[[Any], Any]


class Answers:
    """Reads the answers of one candidate; ``UsageError`` if its expression needs a package that is not there."""

    def __init__(self, http: Http) -> None:
        self._engine, self._expression, self._found = http.kind.engine, http.hits, _compiled(http.hits)

    def hits(self, answer: Any) -> Hits:
        """The hits of an answer in their order; ``AnswerError`` if it is a failure or has another shape."""
        if self._engine is not None:
            several = [one for key in ("responses", "results") if isinstance(one := at(answer, key), list)]
            answer = several[0][0] if several and len(several[0]) == 1 else answer
            if self._found is None:
                return self._engine.hits(answer)
            self._engine.check(answer)
        found = None if self._found is None else self._found(answer)
        if not isinstance(found, list):
            kind = _KINDS.get(type(found), "nothing")
            raise AnswerError(f"expected a list of ids, or of {{id, score}}, at {self._expression!r}, found {kind}")
        hits = [hit if isinstance(hit, dict) else {"id": hit} for hit in found]
        documents = [identifier(hit.get("id"), f"each hit at {self._expression!r}") for hit in hits]
        return documents, whole_scores([hit.get("score") for hit in hits])


def _compiled(text: str | None) -> Expression | None:
    if text is None:
        return None
    try:
        import jmespath
    except ImportError:
        raise missing_extra("jmespath") from None
    compiled = jmespath.compile(text)

    def search(value: Any) -> Any:
        try:
            return compiled.search(value)
        except (jmespath.exceptions.JMESPathError, RecursionError) as error:
            raise AnswerError(f"{text!r} does not fit the answer ({type(error).__name__})") from None

    return search


def missing_extra(package: str) -> UsageError:
    """The error for a package that is not installed."""
    return UsageError(f"it needs {package}: pip install 'pytest-riskguard[http]'")


_KINDS = {dict: "an object", str: "a text", bool: "true or false", int: "a number", float: "a number"}

#: Shorter values occur by chance in what a server says, and protect nothing.
_MIN_LENGTH = 4
_HIDDEN = "***"


class Secrets:
    """The address and the headers of every request, with the variables of the environment in them.

    ``DataError``, which names only the variable, for one that is not set or that no header can have.
    """

    def __init__(self, http: Http) -> None:
        self._addresses: set[str] = set()
        self._secrets: set[str] = set()
        self.headers = {name: _with_variables(text, f"headers: {name}", self._secrets) for name, text in http.headers}
        address, mark, params = http.url.partition("?")
        # Braces in a value are no placeholders.
        address = _with_variables(address, "url", self._addresses, lambda value: quote(value, safe=":/[]@%,"))
        self.url = address + mark + _with_variables(params, "url", self._secrets, lambda value: quote(value, safe=""))
        if self._addresses and (problem := address_problem(self.url)):
            raise UsageError(f"url: {problem}, in its variables")

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self.headers)})"

    def hidden_in(self, text: str) -> str:
        """A text without the secrets, in case a server repeats them."""
        for value in sorted(self._spelled, key=len, reverse=True):
            text = text.replace(value, _HIDDEN)
        return text

    @cached_property
    def _spelled(self) -> frozenset[str]:
        """The secrets as they are, and as they stand in JSON, HTML, addresses and lines with single spaces."""
        return frozenset(spelled for value in self._secrets | self._addresses for spelled in _spellings(value))


def _with_variables(text: str, where: str, secrets: set[str], written: Callable[[str], str] = str) -> str:
    """A text with its variables, which become secrets."""

    def value_of(match: re.Match[str]) -> str:
        value = os.environ.get(match[1], "").strip()
        problem = None if value else f"{match[1]} is not set"
        if not (value.isascii() and value.isprintable()):
            problem = f"{match[1]} holds characters that no header can have"
        if problem is not None:
            fault, remedy = f"candidate.http: {where}: {problem}", f"set the environment variable {match[1]}"
            raise DataError(fault, reason="missing_input", remedy=remedy)
        if len(value) >= _MIN_LENGTH:
            secrets.add(value)
        return written(value)

    return VARIABLE.sub(value_of, text)


def _spellings(value: str) -> tuple[str, ...]:
    in_json = json.dumps(value)[1:-1]
    return (
        *(value, " ".join(value.split()), html.escape(value)),
        *(in_json, json.dumps(in_json)[1:-1]),
        *(quote(value), quote(value, safe=""), quote_plus(value)),
    )
