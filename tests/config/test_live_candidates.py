"""``candidate: {http: ...}`` and ``{command: [...]}``: what they may hold, and what is said of anything else."""

from typing import Any

import pytest

from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError

REST = "collection: {qrels: qrels.txt}\ngates: [{name: a, kind: not_significantly_risky, baseline: p, measure: AP}]\n"
SOLR = "preset: solr, url: 'http://localhost:8983/solr/help'"


@pytest.fixture
def loaded(tmp_path):
    """The candidate that a file says, which can be a key."""

    def loaded(candidate: str) -> Any:
        path = tmp_path / "riskguard.yaml"
        path.write_text(f"candidate: {{{candidate}}}\n{REST}", encoding="utf-8")
        found = load_config(path).candidate
        assert hash(found) == hash(load_config(path).candidate)
        return found

    return loaded


def test_an_engine_with_everything(loaded):
    found = loaded(
        "http: {preset: elasticsearch, url: 'https://${HOST}:9200/a?routing=7&api_key=${KEY}', body: {a: [é]}, "
        "headers: {X-Id: 7, X-Api-Key: 'k ${KEY}'}, hits: 'hits.hits[].{id: _source.sku}'}, "
        "depth: 100000, workers: 256, timeout: 86400",
    )
    assert (found.depth, found.workers, found.timeout) == (100_000, 256, 86_400)
    assert found.http.body == '{"a": ["é"]}'
    assert found.http.headers == (("X-Id", "7"), ("X-Api-Key", "k ${KEY}"))
    assert found.http.url.startswith("https://${HOST}:9200/a?")


def test_defaults(loaded):
    found = loaded(f"http: {{{SOLR}}}")
    assert (found.depth, found.workers, found.http.body, found.http.hits) == (100, 1, None, None)
    assert (found.timeout, found.ties) == (30, "as_returned")


@pytest.mark.parametrize("url", ["${ENGINE}", "${ENGINE}/help?a=b", "http://${HOST}:${PORT}/x"])
def test_an_address_may_hold_variables_anywhere(loaded, url):
    assert loaded(f"http: {{preset: vespa, url: '{url}'}}").http.url == url


OF_HTTP = [
    ("preset: solar, url: 'http://a'", "expected elasticsearch, opensearch, solr"),
    ("preset: solr", "candidate.http has no 'url'; add `url: ...`"),
    ("url: 'http://a?q={query}'", "expected `hits:`, the JMESPath of the hits in the answer, found none"),
    ("preset: vespa, url: 'ftp://a'", "expected an address such as http://localhost:9200/products, found 'ftp://a'"),
    *(
        (f"preset: vespa, url: 'http://{address}'", "expected an address such as")
        for address in ("a:x", ":80", "a b")
    ),
    ("preset: vespa, url: 'http://me:swordfish@a'", "without user and password; send `Authorization: Basic ${NAME}`"),
    (f"{SOLR}, body: {{query: '{{query}}'}}", "solr takes no `body:`; put its parameters into `url:`"),
    ("preset: vespa, url: 'http://a', body: q.json", "expected the JSON of a request, a mapping, found 'q.json'"),
    (f"{SOLR}, hits: 3", "candidate.http.hits: expected a JMESPath expression, found the number 3"),
    (f"{SOLR}, headers: [a]", "candidate.http.headers: expected a mapping of headers, found a list"),
    (f"{SOLR}, headers: {{a: [b]}}", "candidate.http.headers: a: expected a text of ASCII characters, found a list"),
    (f"{SOLR}, headers: {{a: true}}", "headers: a: expected a text of ASCII characters, found true"),
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
    ("preset: vespa, url: 'http://a/?api_key='", "url: api_key: a secret must not be in a file"),
    (f"{SOLR}, hedaers: {{}}", "unknown key 'hedaers' in candidate.http; did you mean 'headers'?"),
]
OF_COMMANDS = [
    ("command: ./search --size 10", "expected a list of a program and its arguments, such as [./search, --size"),
    ("command: []", "expected a list of a program and its arguments"),
    ("command: [a, {b: c}]", "expected a list of a program and its arguments"),
    ("command: ['']", "expected a list of a program and its arguments"),
    ('command: [a, "b\\0c"]', "expected a list of a program and its arguments"),
    ("command: [a], workers: 2", "expected `workers: 1`: one process is asked everything"),
    ("command: [a], depth: 100001", "depth: expected a whole number, from 1 to 100000, found the number 100001"),
    ("command: [a], depth: true", "depth: expected a whole number, from 1 to 100000, found true"),
    ("command: [a], workers: 257", "workers: expected a whole number, from 1 to 256, found the number 257"),
    (
        "command: [a], timeout: 0",
        "timeout: expected a number of seconds above 0, at most 86400, or none for no limit",
    ),
    ("command: [a], timeout: 86401", "timeout: expected a number of seconds above 0, at most 86400, or none"),
    (
        "run: a, retrieve: 'a:b'",
        "unknown key 'run' in candidate; known keys: depth, workers, timeout, ties, retrieve",
    ),
    ("scores: a, run: b", "unknown key 'scores' in candidate; known keys: format, columns, run, ties"),
    ("command: [a], ties: rank", "candidate.ties: expected as_returned or docid, found 'rank'"),
]


@pytest.mark.parametrize(
    ("candidate", "expected"), [*((f"http: {{{http}}}", said) for http, said in OF_HTTP), *OF_COMMANDS]
)
def test_what_is_wrong_is_said_with_its_line_and_never_with_a_secret(loaded, candidate, expected):
    with pytest.raises(ConfigError) as caught:
        loaded(candidate)
    said = "\n".join(map(str, caught.value.errors))
    assert expected in said
    assert "riskguard.yaml:1: " in said
    assert "swordfish" not in said


def test_a_command_with_everything(loaded):
    found = loaded("command: [./search, --size, 10], depth: 50, timeout: none, ties: docid")
    assert found.command == ("./search", "--size", "10")
    assert (found.depth, found.workers, found.timeout, found.ties) == (50, 1, None, "docid")
