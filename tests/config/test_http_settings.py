"""``candidate: {http: ...}``: what it may hold, and what is said of anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_riskguard.config.http_settings import HttpCandidate
from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError

REST = "collection: {qrels: qrels.txt}\ngates: [{name: a, kind: not_significantly_risky, baseline: p, measure: AP}]\n"
SOLR = "preset: solr, url: 'http://localhost:8983/solr/help'"


def loaded(folder: Path, candidate: str) -> HttpCandidate:
    path = folder / "riskguard.yaml"
    path.write_text(f"candidate: {{{candidate}}}\n{REST}", encoding="utf-8")
    found = load_config(path).candidate
    assert isinstance(found, HttpCandidate)
    assert hash(found) == hash(load_config(path).candidate)
    return found


def test_an_engine_with_everything(tmp_path):
    found = loaded(
        tmp_path,
        "http: {preset: elasticsearch, url: 'https://${HOST}:9200/a?routing=7&api_key=${KEY}', body: q.json, "
        "method: POST, headers: {X-Id: 7, X-Api-Key: 'k ${KEY}'}, hits: 'hits.hits[].{id: _source.sku}'}, "
        "depth: 50, workers: 4, timeout: 5, metadata: {index: v8}",
    )
    assert (found.depth, found.workers, found.timeout) == (50, 4, 5)
    assert found.http.body == tmp_path / "q.json"
    assert found.http.headers == (("X-Id", "7"), ("X-Api-Key", "k ${KEY}"))
    assert found.http.url.startswith("https://${HOST}:9200/a?")


def test_defaults(tmp_path):
    found = loaded(tmp_path, f"http: {{{SOLR}}}")
    assert (found.depth, found.workers, found.http.body, found.http.hits) == (100, 1, None, None)


@pytest.mark.parametrize("url", ["${ENGINE}", "${ENGINE}/help?a=b", "http://${HOST}:${PORT}/x"])
def test_an_address_may_hold_variables_anywhere(tmp_path, url):
    assert loaded(tmp_path, f"http: {{preset: vespa, url: '{url}'}}").http.url == url


REFUSED = [
    ("preset: solar, url: 'http://a'", "expected elasticsearch, opensearch, solr"),
    ("preset: solr", "candidate.http has no 'url'; add `url: http://localhost:9200`"),
    ("url: 'http://a?q={query}'", "expected `hits:`, the JMESPath of the hits in the answer, found none"),
    ("preset: vespa, url: 'ftp://a'", "expected an address such as http://localhost:9200/products, found 'ftp://a'"),
    ("preset: vespa, url: 'http://a:x'", "expected an address such as"),
    ("preset: vespa, url: 'http://me:swordfish@a'", "without user and password; send `Authorization: Basic ${NAME}`"),
    ("url: 'http://a/find', hits: h", "expected {query} in `url:`; this request would be the same"),
    (f"{SOLR}, body: {{query: '*:*'}}", "expected {query} in `body:`; this request would be the same"),
    ("preset: solr, url: 'http://a/solr/b?q=shoes'", "expected {query} in `url:`; this request would be the same"),
    (f"{SOLR}, hits: 'a['", "candidate.http.hits: expected a JMESPath expression, found 'a['"),
    (f"{SOLR}, hits: '{'[' * 3000}'", "candidate.http.hits: expected a JMESPath expression, found '[[["),
    (f"{SOLR}, headers: [a]", "candidate.http.headers: expected a mapping of headers, found a list"),
    (f"{SOLR}, headers: {{a: [b]}}", "candidate.http.headers: a: expected a text of ASCII characters, found a list"),
    (
        f"{SOLR}, headers: {{X-Api-Key: swordfish}}",
        "headers: X-Api-Key: a secret must not be in a file; write ${NAME_OF_A_VARIABLE}",
    ),
    (f"{SOLR}, headers: {{'a b': c}}", "headers: expected the name of a header, found 'a b'"),
    (f"{SOLR}, headers: {{a: 'é'}}", "headers: a: expected a text of ASCII characters, found 'é'"),
    (f"{SOLR}, headers: {{a: '${{swordfish B}}'}}", "expected the name of an environment variable, letters"),
    (
        "preset: vespa, url: 'http://a/?b=${swordfish-x}'",
        "url: expected the name of an environment variable",
    ),
    ("preset: vespa, url: 'me:swordfish@host:9200'", "expected an address such as http://localhost:9200"),
    ("preset: vespa, url: 'http://a/?api_key=swordfish'", "url: api_key: a secret must not be in a file"),
    (f"{SOLR}, hedaers: {{}}", "unknown key 'hedaers' in candidate.http; did you mean 'headers'?"),
    ("preset: typesense, url: 'http://a'}, depth: 300, metadata: {", "depth: Typesense returns at most 250 hits"),
]


@pytest.mark.parametrize(("http", "expected"), REFUSED)
def test_what_is_wrong_is_said_with_its_line_and_never_with_a_secret(tmp_path, http, expected):
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, f"http: {{{http}}}")
    said = "\n".join(map(str, caught.value.errors))
    assert expected in said
    assert "riskguard.yaml:1: " in said
    assert "swordfish" not in said
