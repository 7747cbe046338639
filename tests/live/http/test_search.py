"""Engines that are asked over HTTP, each in its own words, over a real index on loopback."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from itertools import chain, repeat
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from pytest_riskguard.config.candidate_settings import HttpCandidate
from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.live.http import HttpSearch, http_search
from pytest_riskguard.live.retrieval import SearchError, Topic
from tests.data.engine_shapes import SHAPES
from tests.live.http.servers import DOCUMENTS, INDEX, KEY, Instead, Server, fts, serving

#: Where each engine has its index, below the address of its server, and what else a riskguard.yaml says.
SETTINGS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "elasticsearch": (f"/{INDEX}", {}),
    "opensearch": (f"/{INDEX}/", {}),
    "solr": (f"/solr/{INDEX}", {}),
    "vespa": ("", {}),
    "algolia": (
        f"/1/indexes/{INDEX}",
        {"headers": {"X-Algolia-Application-Id": "APP", "X-Algolia-API-Key": "${ENGINE_KEY}"}},
    ),
    "typesense": (
        f"/collections/{INDEX}?query_by=body",
        {"headers": {"X-TYPESENSE-API-KEY": "${ENGINE_KEY}"}},
    ),
    "meilisearch": (f"/indexes/{INDEX}", {"headers": {"Authorization": "Bearer ${ENGINE_KEY}"}}),
    "general": (
        "/find?words={query}&most={depth}",
        {"hits": "data.found[].{id: doc.ref, score: relevance}"},
    ),
}
QUERY = "cancel an order"

every_engine = pytest.mark.parametrize("engine", SETTINGS)


def asked(text: str = QUERY, *, tags: Mapping[str, str] | None = None) -> Topic:
    return Topic(text, id="q1", tags=tags or {})


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("ENGINE_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def candidate(
    engine: str, server: Server, at: str | None = None, *, about: Any = None, **settings: Any
) -> HttpCandidate:
    """An engine that is queried at a path of its server."""
    path, others = SETTINGS[engine]
    http = {"preset": engine, "url": server.url + (path if at is None else at)} | others | settings
    given = {"http": http, **(about or {})}
    return HttpCandidate.model_validate(given)


@contextmanager
def asking(
    engine: str, server: Server, /, *, depth: int = 100, timeout: float | None = 5.0, **settings: Any
) -> Iterator[HttpSearch]:
    about = {"depth": depth, "timeout": timeout}
    with http_search(candidate(engine, server, about=about, **settings)) as search:
        yield search


def failure(engine: str, server: Server, **settings: Any) -> SearchError:
    with asking(engine, server, **settings) as search, pytest.raises(SearchError) as caught:
        search(asked())
    return caught.value


@every_engine
def test_a_preset_asks_an_engine_and_reads_its_hits(engine):
    expected = fts(DOCUMENTS)(QUERY, 100)
    assert len(expected) >= 3
    with serving(engine) as server, asking(engine, server) as search:
        found = search(asked())
        assert search(asked(text="xylophone")) == []
    assert [document for document, _ in found] == [document for document, _ in expected]
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    if engine not in ("algolia", "typesense"):
        assert found == expected


@every_engine
def test_depth_is_how_many_hits_the_engine_is_asked_for(engine):
    with serving(engine) as server, asking(engine, server, depth=2) as search:
        assert len(search(asked())) == 2


@every_engine
def test_the_query_is_data_in_the_request(engine):
    hostile = 'order", "size": 0, {query} &rows=0 {{topic}} \\ ☃'
    with serving(engine) as server, asking(engine, server) as search:
        assert [document for document, _ in search(asked(text=hostile))] == [
            d for d, _ in fts(DOCUMENTS)(hostile, 100)
        ]
        (seen,) = server.seen
    assert hostile in json.dumps([seen.params, seen.body], ensure_ascii=False).replace('\\"', '"').replace(
        "\\\\", "\\"
    )


def test_a_body_has_the_fields_of_the_topic():
    must, shop = {"match": {"body": "{query}"}}, {"shop": "{tags.shop} {topic}"}
    body = {"query": {"bool": {"must": must, "filter": shop}}}
    with serving("elasticsearch") as server:
        with asking("elasticsearch", server, body=body, depth=7) as search:
            assert search(asked(tags={"shop": "de"}))
            with pytest.raises(SearchError, match=r"the topic has no tags\.shop, which the request names"):
                search(asked())
        (seen,) = server.seen
    filled = {"bool": {"must": {"match": {"body": QUERY}}, "filter": {"shop": "de q1"}}}
    assert seen.body == {"size": 7, "query": filled}


MATCH = {"query": {"match": {"body": "{query}"}}}


@pytest.mark.parametrize(
    ("engine", "settings", "path", "part", "hits"),
    [
        ("elasticsearch", {"body": MATCH | {"size": "{depth}"}}, f"/{INDEX}/_search", {"size": 2}, 2),
        ("elasticsearch", {"body": MATCH | {"size": 1}}, f"/{INDEX}/_search", {"size": 1}, 1),
        ("elasticsearch", {"at": f"/{INDEX}?size={{depth}}", "body": MATCH}, f"/{INDEX}/_search", {"size": ["2"]}, 3),
        ("solr", {"at": f"/solr/{INDEX}?rows=1"}, f"/solr/{INDEX}/select", {"rows": ["1"]}, 1),
        ("solr", {"at": f"/solr/{INDEX}?fq=a&fq=b"}, f"/solr/{INDEX}/select", {"fq": ["a", "b"], "q": [QUERY]}, 2),
        (
            "general",
            {"at": "/find", "body": {"words": "{query}", "most": "{depth}"}, "hits": "data.found[].doc.ref"},
            "/find",
            {"words": QUERY, "most": 2},
            2,
        ),
    ],
)
def test_what_the_settings_say_goes_into_the_request(engine, settings, path, part, hits):
    with serving(engine) as server, asking(engine, server, depth=2, **settings) as search:
        found = search(asked())
        (seen,) = server.seen
    assert (seen.path, len(found)) == (path, hits)
    assert part.items() <= (seen.params | (seen.body or {})).items()
    if engine == "general":  # ids alone: their order counts
        assert found == [(d, 2 - place) for place, (d, _) in enumerate(fts(DOCUMENTS)(QUERY, 2))]


def test_ids_and_scores_may_stand_elsewhere():
    hits = "hits.hits[].{id: _source.title, score: _score}"
    with serving("elasticsearch") as server, asking("elasticsearch", server, hits=hits) as search:
        assert search(asked())[0][0].startswith("About ")


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("elasticsearch", {"at": "/halp"}, r"/halp/_search: it answered 404: index_not_found_exception: no such"),
    ("solr", {"at": "/solr/halp"}, r"/solr/halp/select: it answered 404: <html>$"),
    ("solr", {"at": f"/solr/{INDEX}?defType=nonsense"}, "it answered 400: Unknown query parser 'nonsense'"),
    (
        "solr",
        {"hits": "response.docs[].{id: sku}"},
        r"an id in each hit at 'response.docs\[\].\{id: sku\}', found None",
    ),
    ("solr", {"hits": "response"}, r"expected a list of ids, or of \{id, score\}, at 'response', found an object"),
    ("algolia", {"at": "/1/indexes/halp"}, "it answered 404: Index does not exist"),
    ("typesense", {"at": f"/collections/{INDEX}"}, "it answered 400: Parameter `query_by` is required."),
    ("meilisearch", {"at": "/indexes/halp"}, "it answered 404: Index `x` not found."),
    ("general", {"at": "/fnid?words={query}"}, r"/fnid: it answered 404: \{\"detail\": \"no such page\"\}"),
]


@pytest.mark.parametrize(("engine", "settings", "expected"), WRONG)
def test_a_request_that_an_engine_refuses_is_not_sent_again(engine, settings, expected):
    with serving(engine) as server:
        error = failure(engine, server, **settings)
    assert not error.is_temporary
    assert re.search(expected, str(error))


@pytest.mark.parametrize("engine", ["algolia", "typesense", "meilisearch"])
def test_a_wrong_key_is_refused_and_never_shown(engine, monkeypatch):
    monkeypatch.setenv("ENGINE_KEY", "swordfish")
    with serving(engine) as server:
        error = failure(engine, server)
    assert not error.is_temporary
    assert "it answered 40" in str(error)
    assert "swordfish" not in repr(error)


BUSY = b"\n  try later  \nsecond line"
BROKEN = [
    *((Instead(status, BUSY), f"it answered {status}: try later$") for status in (429, 502, 503, 504)),
    (Instead(500, b"no"), "it answered 500: no$"),
    (Instead(302, headers={"Location": "/solr/help/select?q=order"}), "it answered 302$"),
    (
        Instead(content=b'{"response": {"docs": ['),
        r"expected JSON, found another answer \(line 1: not JSON .*\{\"response\"",
    ),
    (Instead(content=b"<html>log in</html>"), "<html>log in</html>"),
    (Instead(content=b"[1]"), "Solr: expected hits in response.docs, found a list"),
    (Instead(status=None), "the connection broke: "),
    (Instead(wait=1.0), "no answer in time$"),
    (Instead(content=b"[" + b"1," * 1_000_000 + b"1]"), "at most 1,000 bytes in the answer of a live system"),
]


@pytest.mark.parametrize(("instead", "expected"), BROKEN)
def test_an_answer_that_is_none_is_a_failure(instead, expected, set_limit):
    set_limit("ANSWER_BYTES", 1000)
    with serving("solr") as server:
        server.instead = [instead]
        error = failure("solr", server, timeout=0.5)
        assert len(server.seen) == 1
    assert re.search(expected, str(error))
    assert error.is_temporary == ("try later" in expected or instead.status is None)


@pytest.mark.parametrize(("timeout", "now", "is_late"), [(5.0, 5.0, False), (5.0, 5.1, True), (None, 1e9, False)])
def test_an_answer_must_have_ended_at_the_time_limit(monkeypatch, timeout, now, is_late):
    with serving("solr") as server, asking("solr", server, timeout=timeout) as search:
        clock = SimpleNamespace(monotonic=chain([0.0], repeat(now)).__next__)
        monkeypatch.setattr("pytest_riskguard.live.http.time", clock)
        with pytest.raises(SearchError, match="the answer did not end in time") if is_late else nullcontext():
            assert search(asked())


def test_headers_are_those_of_the_settings_then_our_own_and_no_cookie(monkeypatch, set_limit):
    set_limit("ANSWER_BYTES", 5000)
    monkeypatch.setenv("ENGINE_KEY", f" {KEY}\n")  # as a file has it
    with serving("meilisearch") as server:
        empty = json.dumps(SHAPES["meilisearch"](QUERY, [])).encode().ljust(5000)  # as much as is read
        server.instead = [Instead(content=empty, headers={"Set-Cookie": "session=1"})]
        headers = {"Authorization": "Bearer ${ENGINE_KEY}", "User-Agent": "shop"}
        with asking("meilisearch", server, headers=headers) as search:
            assert search(asked()) == []
            assert search(asked())
        sent = server.seen[-1].headers
    assert "cookie" not in sent
    names = ("user-agent", "accept", "accept-encoding", "content-type")
    assert [sent[name] for name in names] == ["shop", "application/json", "identity", "application/json"]


@pytest.mark.parametrize("settings", [{}, {"hits": "hits.hits[]._id"}])
def test_partial_results_are_a_failure(settings):
    content = SHAPES["elasticsearch"](QUERY, [("d1", 2.0)]) | {"terminated_early": True}
    with serving("elasticsearch") as server:
        server.instead = [Instead(content=json.dumps(content).encode())]
        said = str(failure("elasticsearch", server, **settings))
    assert "Elasticsearch: hits are missing: terminated_early is True" in said


def test_what_a_server_says_is_made_safe_and_holds_no_secret():
    said = f"\x1b[31mgo away\x1b[0m ::error:: your key is {KEY}\n".encode()
    with serving("meilisearch") as server:
        server.instead = [Instead(403, said)]
        text = str(failure("meilisearch", server))
    assert KEY not in text
    assert "your key is ***" in text
    assert "\x1b" not in text
    assert "::error" not in text


@pytest.mark.parametrize("long", ["x" * length for length in (0, 170, 190, 195, 780)])
def test_no_part_of_a_secret_is_left_where_a_message_is_cut(long):
    for said in (f"{long} {KEY}", json.dumps({"message": f"{long} {KEY}", "code": "a", "type": "b"})):
        with serving("meilisearch") as server:
            server.instead = [Instead(403, said.encode())]
            text = str(failure("meilisearch", server))
        assert KEY[:4] not in text


@pytest.mark.parametrize(
    "said", ["{}", pytest.param("<b>{}", marks=pytest.mark.slow), pytest.param('"{}"', marks=pytest.mark.slow)]
)
def test_a_secret_is_hidden_however_it_is_written(said, monkeypatch):
    key = 'a "secret"  of & two/words'
    monkeypatch.setenv("ENGINE_KEY", key)
    with serving("meilisearch") as server:
        for written in (
            key,
            " ".join(key.split()),
            json.dumps(key),
            html.escape(key),
            quote(key, safe=""),
            quote_plus(key),
        ):
            server.instead = [Instead(500, said.format(written).encode())]
            text = str(failure("meilisearch", server))
            assert "***" in text, written
            assert "two" not in text


def test_a_secret_that_holds_another_is_hidden_whole(monkeypatch):
    monkeypatch.setenv("SHORT_KEY", "abcd")
    monkeypatch.setenv("LONG_KEY", "abcd-efgh")
    headers = {"X-Short": "${SHORT_KEY}", "X-Long": "${LONG_KEY}"}
    with serving("general") as server:
        server.instead = [Instead(403, b"no abcd-efgh here")]
        text = str(failure("general", server, headers=headers))
    assert "no *** here" in text


@pytest.mark.parametrize(("key", "expected"), [("wxyz", "no *** here"), ("xyz", "no xyz here")])
def test_a_secret_is_hidden_from_four_characters_on(monkeypatch, key, expected):
    monkeypatch.setenv("SHORT_KEY", key)
    with serving("general") as server:
        server.instead = [Instead(403, f"no {key} here".encode())]
        assert expected in str(failure("general", server, headers={"X-Short": "${SHORT_KEY}"}))


def test_variables_of_the_address_are_filled_in_and_hidden(monkeypatch):
    with serving("general") as server:
        monkeypatch.setenv("ENGINE_ADDRESS", server.url)
        monkeypatch.setenv("ENGINE_KEY", "swordfish {query}&most=1")
        url = "${ENGINE_ADDRESS}/find?key=${ENGINE_KEY}&words={query}&most={depth}"
        with asking("general", server, url=url) as search:
            assert search(asked("cancel ${ENGINE_KEY}"))
            assert "swordfish" not in f"{vars(search)} {search!r}"
        (seen,) = server.seen
        assert seen.params["key"] == ["swordfish {query}&most=1"]
        assert seen.params["words"] == ["cancel ${ENGINE_KEY}"]
        server.instead = [Instead(500, f"bad swordfish {{query}}&most=1 of {server.url}".encode())]
        said = str(failure("general", server, url=url))
        assert said == "${ENGINE_ADDRESS}/find: it answered 500: bad *** of ***"
        server.instead = [Instead(content=json.dumps({"data": {"found": [{"doc": {"ref": server.url}}]}}).encode())]
        with asking("general", server, url=url) as search:
            assert search(asked()) == [(server.url, 1)]  # an id may be an address there
        monkeypatch.setenv("ENGINE_ADDRESS", f"{server.url}/{{query}}")
        failure("general", server, url=url)
        assert server.seen[-1].path == "/%7Bquery%7D/find"  # not the words of the query


@pytest.mark.parametrize(
    ("value", "problem"), [(None, "is not set"), ("  ", "is not set"), ("a\nb", "holds characters"), ("é", "holds")]
)
def test_a_secret_that_is_not_there_is_named_not_shown(monkeypatch, value, problem):
    monkeypatch.delenv("ENGINE_KEY") if value is None else monkeypatch.setenv("ENGINE_KEY", value)
    with (
        serving("meilisearch") as server,
        pytest.raises(
            DataError,
            match=rf"headers: Authorization: ENGINE_KEY {problem}.*; set the environment variable ENGINE_KEY",
        ) as caught,
        asking("meilisearch", server),
    ):
        pass
    assert caught.value.reason == "missing_input"
    assert value is None or not value.strip() or value not in str(caught.value)


def test_nobody_listening_is_a_failure_worth_another_attempt():
    with serving("solr") as server:
        pass
    error = failure("solr", server)
    assert error.is_temporary
    assert "cannot connect: " in str(error)
    assert error.remedy == f"is the engine running at {str(error).partition(': ')[0]}?"


@pytest.mark.parametrize(
    ("engine", "settings", "where"),
    [
        ("general", {"at": "/find"}, "url"),
        ("solr", {"at": f"/solr/{INDEX}?q=shoes"}, "url"),
        ("vespa", {"body": {"query": "shoes"}}, "body"),
    ],
)
def test_a_request_that_is_the_same_for_all_topics_is_refused(engine, settings, where):
    refused = pytest.raises(UsageError, match=rf"expected {{query}} in `{where}:`; this request would be the same")
    with serving(engine) as server, refused, asking(engine, server, **settings):
        pass


@pytest.mark.parametrize("hits", ["a[", "[" * 3000])
def test_what_is_no_expression_is_refused(hits):
    refused = pytest.raises(UsageError, match=r"hits: expected a JMESPath expression, found '")
    with serving("general") as server, refused, asking("general", server, hits=hits):
        pass


@pytest.mark.parametrize("package", ["httpx2", "jmespath"])
def test_a_missing_package_is_named(package, monkeypatch):
    with serving("general") as server:
        asked = candidate("general", server)
        monkeypatch.setitem(__import__("sys").modules, package, None)
        with (
            pytest.raises(UsageError, match=rf"needs {package}: pip install 'pytest-riskguard\[http\]'"),
            http_search(asked),
        ):
            pass
