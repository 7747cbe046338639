"""A search engine over HTTP as a live system: one request for each query."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any

from pytest_riskguard.errors import UsageError
from pytest_riskguard.formats.engine_answers import AnswerError
from pytest_riskguard.formats.limits import ANSWER_BYTES
from pytest_riskguard.formats.serialization import JsonError, parsed_value
from pytest_riskguard.live_systems.http.requests import Asked, Request, Requests
from pytest_riskguard.live_systems.http.responses import Answers, missing_extra
from pytest_riskguard.live_systems.http.secrets import Headers
from pytest_riskguard.live_systems.retrieval import FailedSearchError
from pytest_riskguard.text import clean

if TYPE_CHECKING:
    import httpx2

    from pytest_riskguard.config.asking import Asking
    from pytest_riskguard.config.http_settings import Http

#: Seconds after the time limit of a query after which its request ends by itself, in a thread that nobody interrupts.
_LATER = 1.0
#: Statuses after which another attempt may succeed: a time-out, too many requests, errors of the server.
_TEMPORARY = frozenset({408, 429, *range(500, 600)})
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
    headers = Headers(http)
    limit = None if asking.timeout is None else asking.timeout + _LATER
    client = _client(
        timeout=limit,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=asking.workers),
        follow_redirects=False,
        # No cookie is kept: one answer must not depend on another.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        headers={"User-Agent": "pytest-riskguard", "Accept": "application/json", "Accept-Encoding": "gzip, deflate"}
        | headers.values(),
    )
    if isinstance(client, str):
        raise UsageError(clean(headers.hidden_in(client)))
    with client:
        yield HttpSearch(client, headers, Requests(http, asking.depth), Answers(http), limit)


class HttpSearch:
    """Sends a query and reads the hits of the answer."""

    def __init__(
        self, client: httpx2.Client, headers: Headers, requests: Requests, answers: Answers, limit: float | None
    ) -> None:
        self._client, self._headers, self._requests, self._answers = client, headers, requests, answers
        self._limit = limit

    def __call__(self, topic: Asked) -> list[tuple[str, float]]:
        """The hits for a topic, best first; where the engine gives no scores, these are the places from the last.

        ``FailedSearchError`` if there is no usable answer.
        """
        request = self._requests.of(topic)
        status, wait, content = self._sent(request)
        try:
            answer, problem = parsed_value(content), None
        except JsonError as error:
            answer, problem = None, str(error)
        if status not in range(200, 300):
            said = self._answers.problem(self._headers.hidden_in_answer(answer)) or self._first_line(content)
            raise self._refusal(status, wait, said)
        if problem is not None:
            said = f"expected JSON, found another answer ({problem}): {self._first_line(content)}"
            raise self._failure(said)
        try:
            hits = self._answers.hits(answer)
        except AnswerError:
            failed = self._problem(answer)
        else:
            if self._headers.are_in(hit.document for hit in hits):
                raise self._failure("its answer repeats a secret in the id of a document", is_final=True)
            return [(h.document, len(hits) - place if h.score is None else h.score) for place, h in enumerate(hits)]
        raise self._failure(failed)

    def _sent(self, request: Request) -> tuple[int, float, bytes]:
        """Status, seconds to wait before another attempt and content of the response.

        No error leaves this function with a traceback of httpx2, whose frames hold the headers of the request.
        """
        import httpx2

        ended: BaseException | None = None
        problem, is_final = "", True
        deadline = None if self._limit is None else time.monotonic() + self._limit
        headers = {} if request.body is None else {"Content-Type": "application/json"}
        try:
            with self._client.stream(request.method, request.url, content=request.body, headers=headers) as response:
                if response.is_redirect:
                    problem = f"it answered {response.status_code}, a redirect, which is not followed; correct `url:`"
                    is_final = True
                elif problem := _compression_problem(response.headers.get("Content-Encoding", "")):
                    is_final = True
                else:
                    content = bytearray()
                    most = ANSWER_BYTES.value
                    for block in response.iter_bytes():
                        content += block
                        if len(content) > most or (deadline is not None and time.monotonic() > deadline):
                            break
                    else:
                        return response.status_code, _seconds(response.headers.get("Retry-After")), bytes(content)
                    too_long = len(content) > most
                    problem = ANSWER_BYTES.problem(len(content)) if too_long else "the answer did not end in time"
                    is_final = too_long
        except httpx2.TimeoutException:
            problem, is_final = "no answer in time", False
        except httpx2.ConnectError as error:
            problem, is_final = f"cannot connect: {error}", False
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            problem, is_final = f"the connection broke: {error or type(error).__name__}", False
        except Exception as error:
            problem = f"httpx2 failed ({type(error).__name__}): {error}"
        except BaseException as error:  # Ctrl-C, or the end of the time limit
            ended = error
        if ended is not None:
            ended.__context__ = ended.__cause__ = None
            raise ended.with_traceback(None)
        raise self._failure(problem, is_final=is_final)

    def _problem(self, answer: Any) -> str:
        """What is wrong with an answer, in which no secret can be cut in two."""
        try:
            self._answers.hits(self._headers.hidden_in_answer(answer))
        except AnswerError as error:
            return str(error)
        return "an answer without hits that could be read"

    def _first_line(self, content: bytes) -> str:
        text = self._headers.hidden_in(content[: 4 * MAX_SAID + 4 * self._headers.longest].decode(errors="replace"))
        return clean(next((line for line in text.splitlines() if line.strip()), ""), limit=MAX_SAID)

    def _refusal(self, status: int, wait: float, said: str) -> FailedSearchError:
        """The error for a status other than success."""
        is_final = status not in _TEMPORARY
        return self._failure(f"it answered {status}{f': {said}' if said else ''}", is_final=is_final, wait=wait)

    def _failure(self, problem: str, *, is_final: bool = False, wait: float = 0.0) -> FailedSearchError:
        said = clean(self._headers.hidden_in(problem), limit=2 * MAX_SAID)
        return FailedSearchError(f"{self._requests.place}: {said}", is_final=is_final, wait=wait)


def _client(**options: Any) -> httpx2.Client | str:
    """A client, or why there is none, such as a proxy that the environment names; no traceback with the headers."""
    import httpx2

    try:
        return httpx2.Client(**options)
    except Exception as error:
        return f"httpx2 cannot be used: {error}"


def _compression_problem(codings: str) -> str:
    """Why a response is not unpacked: of few bytes, gzip twice and other compressions make any number at once."""
    names = [name for part in codings.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    if not names or names in (["gzip"], ["deflate"]):
        return ""
    return f"expected a response without compression, or with gzip or deflate, found {codings!r}"


def _seconds(retry_after: Any) -> float:
    """The seconds that a header ``Retry-After`` asks for, given as a number or as a date."""
    if not isinstance(retry_after, str):
        return 0.0
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        until = email.utils.parsedate_to_datetime(retry_after).timestamp()
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return max(until - time.time(), 0.0)
