"""A search engine over HTTP as a live system, as a riskguard.yaml describes it: one request for each query.

Requests are made from the settings and the preset of an engine, hits are found as its preset says or by JMESPath, and
secrets from the environment are removed from whatever a server says.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus, urlencode

from pytest_riskguard.config.candidate_settings import PLACEHOLDER, VARIABLE, Http, HttpCandidate, placeholders
from pytest_riskguard.data.engines import ENGINES, AnswerError, Hits, identifier, said_in, whole_scores
from pytest_riskguard.data.input_files import imported
from pytest_riskguard.data.json_nodes import outline
from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.gates.option_types import shown
from pytest_riskguard.limits import ANSWER_BYTES
from pytest_riskguard.live.retrieval import SearchError, Topic
from pytest_riskguard.serialization import JsonError, parsed_value
from pytest_riskguard.text import clean

if TYPE_CHECKING:
    import httpx2


#: Names of what differs from topic to topic.
_OF_TOPIC = ("query", "topic", "tags.")
#: Statuses after which another attempt may succeed.
_TEMPORARY = frozenset({429, 502, 503, 504})
#: Characters of what a server says that a message repeats.
MAX_SAID = 200


@contextmanager
def http_search(candidate: HttpCandidate) -> Iterator[HttpSearch]:
    """A search that sends each query to an engine; its connections end with the context.

    Raises ``UsageError`` if httpx2 is missing or a template is wrong, ``DataError`` for a secret that is not set.
    """
    httpx2: Any = imported("httpx2", extra="http", what="it")
    secrets = Secrets(candidate.http)
    headers = {"User-Agent": "pytest-riskguard", "Accept": "application/json", "Accept-Encoding": "identity"}
    try:
        client = httpx2.Client(
            timeout=candidate.timeout,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=candidate.workers),
            follow_redirects=False,
            # No cookie is kept: one answer must not depend on another.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers=headers | secrets.headers,
        )
    except Exception as error:  # such as for a proxy that the environment names
        raise UsageError(clean(secrets.hidden_in(f"httpx2 cannot be used: {error}"))) from None
    with client:
        yield HttpSearch(client, candidate, secrets)


class HttpSearch:
    """Sends a query and reads the hits of the answer."""

    def __init__(self, client: httpx2.Client, candidate: HttpCandidate, secrets: Secrets) -> None:
        self._client, self._http, self._secrets, self._asking = client, candidate.http, secrets, candidate
        http, preset = candidate.http, candidate.http.request
        self._find = None if http.hits is None else _compiled(http.hits)
        body = preset.body if http.body is None else json.loads(http.body)
        if not any(name.startswith(_OF_TOPIC) for name in placeholders([http.url, http.params, body])):
            where = "url" if body is None else "body"
            raise UsageError(f"expected {{query}} in `{where}:`; this request would be the same for all topics")
        if preset.size and body is not None and "depth" not in placeholders([body, http.url]):
            body = {preset.size: "{depth}"} | body
        self._path, self._params, self._body = preset.path.partition("?")[0], http.params, body
        #: The address without parameters, as messages name it: the same for all topics, and with no secret.
        self._place = _joined(http.url, self._path).partition("?")[0]

    def __call__(self, topic: Topic) -> list[tuple[str, float]]:
        """The hits for a topic, best first; where the engine gives no scores, these are the places from the last.

        ``SearchError`` if there is no usable answer.
        """
        status, content = self._sent(*self._request(topic))
        with suppress(AnswerError):
            return self._read(status, content)
        problem = "its answer cannot be read"
        try:  # without secrets: a message repeats parts, and half a secret would not be found in it
            self._read(status, self._secrets.hidden_in(content.decode(errors="replace")).encode())
        except AnswerError as error:
            problem = str(error)
        raise self._failure(problem, is_temporary=status in _TEMPORARY)

    def _read(self, status: int, content: bytes) -> list[tuple[str, float]]:
        """The hits of a response; ``AnswerError`` says what it is instead."""
        first_line = clean(content.decode(errors="replace").strip().partition("\n")[0], limit=MAX_SAID)
        is_success, answer = status in range(200, 300), None
        try:
            answer = parsed_value(content)
        except JsonError as error:
            if is_success:
                raise AnswerError(f"expected JSON, found another answer ({error}): {first_line}") from None
        if not is_success:
            said = said_in(answer) or first_line
            raise AnswerError(f"it answered {status}{f': {said}' if said else ''}")
        documents, scores = self._hits(answer)
        return list(zip(documents, scores or range(len(documents), 0, -1), strict=True))

    def _hits(self, answer: Any) -> Hits:
        """The hits of an answer in their order; ``AnswerError`` if it is a failure or has another shape."""
        answers, expression = self._http.request.answers, self._http.hits
        if answers is not None:
            engine = ENGINES[answers]
            if self._find is None:
                return engine.hits(answer)
            engine.check(answer)
        assert self._find is not None
        found = self._find(answer)
        if not isinstance(found, list):
            raise AnswerError(
                f"expected a list of ids, or of {{id, score}}, at {expression!r}, found {outline(found)}"
            )
        hits = [hit if isinstance(hit, dict) else {"id": hit} for hit in found]
        documents = [identifier(hit.get("id"), f"each hit at {expression!r}") for hit in hits]
        return documents, whole_scores([hit.get("score") for hit in hits])

    def _request(self, topic: Topic) -> tuple[str, bytes | None]:
        """Address and body of the request for a topic; ``SearchError`` if it lacks a tag that they name."""
        values = {"query": topic.text, "topic": topic.id, "depth": self._asking.depth}
        values |= {f"tags.{name}": value for name, value in topic.tags.items()}
        quoted = {name: quote(str(value), safe="") for name, value in values.items()}
        try:
            params, body = _filled(self._params, values), _filled(self._body, values)
            url = _filled(_joined(self._secrets.url, self._path), quoted)
        except KeyError as error:
            raise SearchError(f"the topic has no {error.args[0]}, which the request names") from None
        if params:
            url += ("&" if "?" in url else "?") + urlencode(params)
        return url, None if body is None else json.dumps(body, ensure_ascii=False).encode()

    def _sent(self, url: str, body: bytes | None) -> tuple[int, bytes]:
        """Status and content of the response."""
        import httpx2

        is_temporary, content, remedy = True, bytearray(), None
        deadline = math.inf if self._asking.timeout is None else time.monotonic() + self._asking.timeout
        method, headers = ("GET", {}) if body is None else ("POST", {"Content-Type": "application/json"})
        try:
            with self._client.stream(method, url, content=body, headers=headers) as response:
                for block in response.iter_raw():  # what is packed is not asked for, and may be of any size unpacked
                    content += block
                    if len(content) > ANSWER_BYTES.value:
                        raise self._failure(ANSWER_BYTES.problem(len(content)))
                    if time.monotonic() > deadline:
                        raise self._failure("the answer did not end in time")
                return response.status_code, bytes(content)
        except httpx2.TimeoutException:
            problem, is_temporary = "no answer in time", False
        except httpx2.ConnectError as error:
            problem, remedy = f"cannot connect: {error}", f"is the engine running at {self._place}?"
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            problem = f"the connection broke: {error or type(error).__name__}"
        raise self._failure(problem, is_temporary=is_temporary, remedy=remedy)

    def _failure(self, problem: str, **about: Any) -> SearchError:
        said = clean(self._secrets.hidden_in(problem), limit=2 * MAX_SAID)
        return SearchError(f"{self._place}: {said}", **about)


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
    """The address of the engine with a path below it, before its parameters."""
    address, mark, params = url.partition("?")
    return f"{address.rstrip('/')}/{path}{mark}{params}" if path else url


def _compiled(text: str) -> Callable[[Any], Any]:
    """The search of a JMESPath expression; ``UsageError`` if it is none, or its package is not there."""
    jmespath: Any = imported("jmespath", extra="http", what="it")
    try:
        compiled = jmespath.compile(text)
    except (jmespath.exceptions.JMESPathError, RecursionError) as error:
        name = type(error).__name__
        raise UsageError(f"hits: expected a JMESPath expression, found {shown(text)} ({name})") from None

    def search(value: Any) -> Any:
        try:
            return compiled.search(value)
        except (jmespath.exceptions.JMESPathError, RecursionError) as error:
            raise AnswerError(f"{text!r} does not fit the answer ({type(error).__name__})") from None

    return search


#: Shorter values occur by chance in what a server says, and protect nothing.
_MIN_LENGTH = 4
_HIDDEN = "***"


class Secrets:
    """The address and the headers of every request, with the variables of the environment in them.

    ``DataError``, which names only the variable, for one that is not set or that no header can have.
    """

    def __init__(self, http: Http) -> None:
        self._values: set[str] = set()
        self.headers = {name: self._filled(text, f"headers: {name}") for name, text in http.headers}
        address, mark, params = http.url.partition("?")
        # Braces in a value are no placeholders.
        self.url = self._filled(address, "url", safe=":/[]@%,") + mark + self._filled(params, "url", safe="")

    def hidden_in(self, text: str) -> str:
        """A text without the secrets, as they are and as JSON, HTML, addresses and single spaces have them."""
        spelled: set[str] = set()
        for value in self._values:
            in_json = json.dumps(value)[1:-1]
            spelled |= {value, " ".join(value.split()), html.escape(value), in_json, json.dumps(in_json)[1:-1]}
            spelled |= {quote(value), quote(value, safe=""), quote_plus(value)}
        for value in sorted(spelled, key=len, reverse=True):
            text = text.replace(value, _HIDDEN)
        return text

    def _filled(self, text: str, where: str, *, safe: str | None = None) -> str:
        """A text with its variables, which become secrets; in addresses quoted, but for ``safe`` characters."""

        def value_of(match: re.Match[str]) -> str:
            value = os.environ.get(match[1], "").strip()
            if not (value and value.isascii() and value.isprintable()):
                problem = "holds characters that no header can have" if value else "is not set"
                fault, remedy = f"{match[1]} {problem}", f"set the environment variable {match[1]}"
                raise DataError(f"candidate.http: {where}: {fault}", remedy=remedy)
            if len(value) >= _MIN_LENGTH:
                self._values.add(value)
            return value if safe is None else quote(value, safe=safe)

        return VARIABLE.sub(value_of, text)
