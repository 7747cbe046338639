"""Servers on loopback that answer as search engines do, over an index of SQLite FTS5.

What each engine refuses, the server refuses in the same words: another index, a missing key, a wrong path.
A test can have the next responses replaced (``Server.instead``).
"""

import json
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.data.engine_shapes import SHAPES

Hits = list[tuple[str, float]]
Search = Callable[[str, int], Hits]
Reply = tuple[int, Any]

#: The index that every engine has, and the secret that those with keys ask for.
INDEX, KEY = "help", "correct horse battery staple"

DOCUMENTS = {
    "reset": "reset your password with the link in the mail",
    "cancel": "cancel an order before it is dispatched",
    "return": "return an order within thirty days",
    "refund": "a refund for a cancelled order takes five days",
    "router": "the router needs the password of the network",
}


def fts(documents: Mapping[str, str]) -> Search:
    """A search over an FTS5 table in memory."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute("CREATE VIRTUAL TABLE document USING fts5(id UNINDEXED, body, tokenize='porter unicode61')")
    connection.executemany("INSERT INTO document VALUES (?, ?)", documents.items())
    lock = threading.Lock()

    def search(query: str, depth: int) -> Hits:
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        if not match:
            return []
        with lock:
            rows = connection.execute(
                "SELECT id, round(-bm25(document), 6) AS score FROM document WHERE document MATCH ? "
                "ORDER BY score DESC, id DESC LIMIT ?",
                (match, depth),
            ).fetchall()
        return [(str(document), float(score)) for document, score in rows]

    return search


@dataclass
class Seen:
    """One request as the server got it."""

    method: str
    path: str
    params: dict[str, list[str]]
    headers: dict[str, str]
    body: Any


@dataclass
class Instead:
    """A response in place of the engine's own; ``wait`` is how long it takes, None is a broken connection."""

    status: int | None = 200
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0


class Server:
    """One engine that answers at ``url``; ``seen`` are its requests, ``instead`` what it answers next."""

    def __init__(self, engine: str, search: Search) -> None:
        self.seen: list[Seen] = []
        self.instead: list[Instead] = []
        self.url = ""
        self.answer = partial(ENGINES[engine], search)


class _Quiet(ThreadingHTTPServer):
    """Says nothing of clients that leave before they have their answer."""

    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def serving(engine: str, search: Search | None = None) -> Iterator[Server]:
    """A server of an engine, in threads of this process."""
    server = Server(engine, search or fts(DOCUMENTS))
    http = _Quiet(("127.0.0.1", 0), _handler(server))
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(content) if content else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = Seen(self.command, parts.path, parse_qs(parts.query), headers, body)
            server.seen.append(seen)
            if server.instead:
                self._send(server.instead.pop(0))
                return
            status, answer = server.answer(seen)
            is_text = isinstance(answer, str)
            self._send(Instead(status, (answer if is_text else json.dumps(answer)).encode()))

        def _send(self, reply: Instead) -> None:
            time.sleep(reply.wait)
            if reply.status is None:
                self.close_connection = True
                return
            content = reply.content
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler


def _elasticsearch(search: Search, seen: Seen) -> Reply:
    match = re.fullmatch(r"/([^/]+)/_search", seen.path)
    if seen.method != "POST" or match is None:
        return 400, {"error": f"no handler found for uri [{seen.path}] and method [{seen.method}]"}
    if match[1] != INDEX:
        reason = {"type": "index_not_found_exception", "reason": f"no such index [{match[1]}]", "index": match[1]}
        return 404, {"error": {"root_cause": [reason], **reason}, "status": 404}
    query = _text_of(seen.body["query"])
    return 200, SHAPES["elasticsearch"](query, search(query, seen.body.get("size", 10)))


def _text_of(query: Any) -> str:
    """The first text that is matched, however deep the query is."""
    if isinstance(query, str):
        return query
    wanted = [
        query[key] for key in ("query", "match", "multi_match", "bool", "must", "title", "body") if key in query
    ]
    return _text_of(wanted[0])


def _solr(search: Search, seen: Seen) -> Reply:
    if seen.path != f"/solr/{INDEX}/select":
        return 404, "<html>\n<head><title>Error 404 Not Found</title></head></html>\n"
    if seen.params.get("defType") == ["nonsense"]:
        error = {"metadata": [], "msg": "Unknown query parser 'nonsense'", "code": 400}
        return 400, {"responseHeader": {"status": 400, "QTime": 0}, "error": error}
    query = seen.params["q"][0]
    return 200, SHAPES["solr"](query, search(query, int(seen.params.get("rows", ["10"])[0])))


def _vespa(search: Search, seen: Seen) -> Reply:
    if seen.path != "/search/":
        return 404, "<html><body>404</body></html>"
    return 200, SHAPES["vespa"]("", search(seen.body["query"], seen.body.get("hits", 10)))


def _algolia(search: Search, seen: Seen) -> Reply:
    if seen.headers.get("x-algolia-api-key") != KEY or "x-algolia-application-id" not in seen.headers:
        return 403, {"message": "Invalid Application-ID or API key", "status": 403}
    if seen.path != f"/1/indexes/{INDEX}/query":
        return 404, {"message": "Index does not exist", "status": 404}
    query = seen.body["query"]
    return 200, SHAPES["algolia"](query, search(query, seen.body.get("hitsPerPage", 20)))


def _typesense(search: Search, seen: Seen) -> Reply:
    if seen.headers.get("x-typesense-api-key") != KEY:
        return 401, {"message": "Forbidden - a valid `x-typesense-api-key` header must be sent."}
    if seen.path != f"/collections/{INDEX}/documents/search":
        return 404, {"message": "Not Found"}
    if "query_by" not in seen.params:
        return 400, {"message": "Parameter `query_by` is required."}
    query, depth = seen.params["q"][0], int(seen.params.get("per_page", ["10"])[0])
    return 200, SHAPES["typesense"](query, search(query, depth))


def _meilisearch(search: Search, seen: Seen) -> Reply:
    error = {"type": "auth", "link": "https://docs.meilisearch.com/errors"}
    if seen.headers.get("authorization") != f"Bearer {KEY}":
        return 403, {"message": "The provided API key is invalid.", "code": "invalid_api_key", **error}
    if seen.path != f"/indexes/{INDEX}/search":
        return 404, {"message": "Index `x` not found.", "code": "index_not_found", **error}
    query = seen.body["q"]
    answered = SHAPES["meilisearch"](query, search(query, seen.body.get("limit", 20)))
    if not seen.body.get("showRankingScore"):
        for hit in answered["hits"]:
            del hit["_rankingScore"]
    return 200, answered


def _general(search: Search, seen: Seen) -> Reply:
    if seen.path != "/find":
        return 404, {"detail": "no such page"}
    given = seen.body if seen.method == "POST" else {key: value[0] for key, value in seen.params.items()}
    hits = search(given["words"], int(given["most"]))
    found = [{"doc": {"ref": document}, "relevance": score} for document, score in hits]
    return 200, {"data": {"found": found}, "asked": given}


ENGINES: Mapping[str, Callable[[Search, Seen], Reply]] = {
    "elasticsearch": _elasticsearch,
    "opensearch": _elasticsearch,
    "solr": _solr,
    "vespa": _vespa,
    "algolia": _algolia,
    "typesense": _typesense,
    "meilisearch": _meilisearch,
    "general": _general,
}
