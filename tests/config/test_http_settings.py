"""``candidate: {http: ...}``: what it may hold, and what is said of anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_riskguard.config.http_settings import HttpCandidate, Secret
from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError

REST = "collection: {qrels: qrels.txt}\ngates: [{name: a, kind: not_significantly_risky, baseline: p, measure: AP}]\n"
SOLR = "preset: solr, url: 'http://localhost:8983', index: help"


def loaded(folder: Path, candidate: str) -> HttpCandidate:
    path = folder / "riskguard.yaml"
    path.write_text(f"candidate: {{{candidate}}}\n{REST}", encoding="utf-8")
    found = load_config(path).candidate
    assert isinstance(found, HttpCandidate)
    assert hash(found) == hash(load_config(path).candidate)
    return found


def test_an_engine_with_everything(tmp_path: Path) -> None:
    headers = "headers: {X-Id: gate, X-Api-Key: {env: KEY, prefix: 'k '}}, auth: {user: elastic, password: {env: PW}}"
    found = loaded(
        tmp_path,
        "http: {preset: elasticsearch, url: 'https://es:9200', index: a, body: q.json, path: x/_search, "
        f"method: POST, params: {{routing: 7, fq: [a, b], exact: true}}, {headers}, "
        "hits: hits.hits, id: _source.sku, score: _score}, depth: 50, workers: 4, "
        "timeout: 5, retries: 1, rate: 10.5, ask_twice: 0, metadata: {index: v8}",
    )
    assert (found.depth, found.workers, found.timeout, found.retries, found.rate) == (50, 4, 5, 1, 10.5)
    assert found.http.body == tmp_path / "q.json"
    assert found.http.params == (("routing", "7"), ("fq", "a"), ("fq", "b"), ("exact", "true"))
    assert found.http.headers["X-Api-Key"] == Secret(env="KEY", prefix="k ")


def test_fields_that_say_that_hits_are_missing(tmp_path: Path) -> None:
    assert loaded(tmp_path, f"http: {{{SOLR}, partial: a.b}}").http.partial == ("a.b",)
    assert loaded(tmp_path, f"http: {{{SOLR}, partial: [a.b, c]}}").http.partial == ("a.b", "c")
    assert loaded(tmp_path, f"http: {{{SOLR}}}").http.partial == ()


def test_defaults(tmp_path: Path) -> None:
    found = loaded(tmp_path, f"http: {{{SOLR}}}")
    assert (found.depth, found.retries, found.rate, found.http.body) == (100, 2, None, None)


REFUSED = [
    ("preset: solar, url: 'http://a'", "expected elasticsearch, opensearch, solr"),
    ("preset: solr, index: a", "add the engine's address, such as `url: http://localhost:9200`"),
    ("preset: solr, url: 'http://a'", "expected `index:`, the name of what Solr searches"),
    ("url: 'http://a?q={query}'", "expected `hits:` and `id:`"),
    ("preset: vespa, url: 'ftp://a'", "expected an address such as http://localhost:9200, found 'ftp://a'"),
    ("preset: vespa, url: 'http://a:x'", "expected an address such as"),
    ("preset: vespa, url: 'http://me:swordfish@a'", "without user and password; give them as `auth:`"),
    ("url: 'http://a/find', hits: h, id: i", "expected {query} in `params:`; this request would be the same"),
    (f"{SOLR}, body: {{query: '*:*'}}", "expected {query} in `body:`; this request would be the same"),
    (f"{SOLR}, id: 'a['", "expected a JMESPath expression, found 'a['"),
    (f"{SOLR}, hits: '{'[' * 3000}'", "candidate.http.hits: expected a JMESPath expression, found '[[["),
    (f"{SOLR}, partial: [timed_out, 'a[']", "candidate.http.partial: expected a JMESPath expression, found 'a['"),
    (f"{SOLR}, partial: {{a: b}}", "candidate.http.partial: expected a JMESPath expression, or a list of them"),
    (f"{SOLR}, params: [a]", "expected a mapping of parameters"),
    (f"{SOLR}, params: {{a: {{b: c}}}}", "a: expected a text or a number, or a list of them"),
    (f"{SOLR}, params: {{api_key: swordfish}}", "params: api_key: a secret must not be in a file"),
    (
        f"{SOLR}, headers: {{X-Api-Key: swordfish}}",
        "headers: X-Api-Key: a secret must not be in a file; write {env: NAME",
    ),
    (f"{SOLR}, headers: {{'a b': c}}", "headers: expected the name of a header, found 'a b'"),
    (f"{SOLR}, headers: {{a: 'é'}}", "headers: a: expected a value of ASCII characters"),
    (f"{SOLR}, headers: {{a: {{env: 'swordfish B'}}}}", "expected the name of an environment variable: letters"),
    ("preset: vespa, url: 'me:swordfish@host:9200'", "expected an address such as http://localhost:9200"),
    ("preset: vespa, url: 'http://a/?api_key=swordfish'", "url: api_key: a secret must not be in a file"),
    ("preset: vespa, url: 'http://a', path: '/x?q={query}&token=swordfish'", "path: token: a secret must not be in"),
    (
        f"{SOLR}, headers: {{a: {{env: A, prefx: b}}}}",
        "unknown key 'prefx' in 'candidate.http.headers.a'; did you mean 'prefix'?",
    ),
    (
        f"{SOLR}, auth: {{user: a, password: swordfish}}",
        "candidate.http.auth.password: a secret must not be in a file",
    ),
    (f"{SOLR}, indx: a", "unknown key 'indx' in 'candidate.http'; did you mean 'index'?"),
    (
        f"{SOLR}}}, rate: 0, x: {{",
        "candidate.rate: expected a number of queries a second above 0, at most 10000",
    ),
    (
        "preset: typesense, url: 'http://a', index: b}, depth: 300, metadata: {",
        "depth: Typesense returns at most 250 hits",
    ),
]


@pytest.mark.parametrize(("http", "expected"), REFUSED)
def test_what_is_wrong_is_said_with_its_line_and_never_with_a_secret(
    tmp_path: Path, http: str, expected: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, f"http: {{{http}}}")
    said = "\n".join(map(str, caught.value.errors))
    assert expected in said
    assert "riskguard.yaml:1: " in said
    assert "swordfish" not in said
