"""The manifest is read back as written, and refused when anything in it is not as written."""

import json
from dataclasses import replace

import pytest

from pytest_riskguard.baselines.manifest import Digests, GitState, Manifest, StoredTopics
from pytest_riskguard.serialization import JsonError

DIGEST = "sha256:" + "0123456789abcdef" * 4
OTHER = "sha256:" + "f" * 64
MANIFEST = Manifest(
    name="prod",
    created="2025-11-21T10:00:00Z",
    digests=Digests(run=DIGEST, qrels=DIGEST, scores=DIGEST, topics=DIGEST, queries=DIGEST),
    measures=("nDCG@10", "Compat"),
    topics=StoredTopics(scored=2, without_relevant=1, unanswered=("7",), unknown=(), judged=0.25),
    run_kept=True,
    versions={"ir-measures": "0.4.3"},
    git=GitState("a" * 40, dirty=False),
    note="release 7, größer",
)
MOVED = replace(MANIFEST, number=2, predecessor=OTHER)
NOISY = replace(MANIFEST, replicates={"1": OTHER, "12": "sha256:" + "0" * 64})
NAMED = replace(MANIFEST, allow_unanswered=True)
BARE = replace(
    MANIFEST,
    git=None,
    note="",
    digests=Digests(run=DIGEST, qrels=None, scores=DIGEST, topics=None, queries=None),
    topics=replace(MANIFEST.topics, judged=None),
    run_kept=False,
)


@pytest.mark.parametrize("manifest", [MANIFEST, MOVED, NOISY, NAMED, BARE])
def test_it_is_read_back_as_written(manifest):
    assert Manifest.from_bytes(manifest.to_bytes()) == manifest


def changed(*path, value, manifest=MANIFEST):
    data = json.loads(manifest.to_bytes())
    *way, last = path
    place = data
    for step in way:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "line 1: not JSON .Expecting value.*, found ''"),
        (b"[" * 30 + b"]" * 30, "expected an object, found a list"),
        (MANIFEST.to_bytes()[:-40], "not JSON"),
        (b"version https://git-lfs.github.com/spec/v1\n", "found 'version https://git-lfs"),
        (
            MANIFEST.to_bytes().replace(b'  "note"', b'<<<<<<< HEAD\n  "note"'),
            "line 21: not JSON .*, found '<<<<<<< HEAD'",
        ),
        (changed("format", value=...), "format: expected 2, found null"),
        (changed("format", value=1), "format: expected 2, found 1; store the run again"),
        (changed("format", value=2.0), "format: expected 2, found 2.0"),
        (changed("note", value=...), "missing key 'note'"),
        (changed("host", value="x"), "unknown key 'host'"),
        (changed("digests", "run", value=None), "digests.run: expected text, found null"),
        (changed("topics", "scored", value=2.0), "topics.scored: expected a whole number, found a number"),
        (changed("created", value="yesterday"), "'yesterday'"),
        (changed("number", value=2), "number: expected 1, or a larger one with a predecessor"),
        (changed("number", value=0, manifest=MOVED), "number: expected 1"),
        (changed("predecessor", value=OTHER), "number: expected 1"),
        (changed("replicates", value={"x": OTHER}), "replicates: expected numbers, found x"),
    ],
)
def test_anything_else_is_refused(content, problem):
    with pytest.raises(JsonError, match=problem):
        Manifest.from_bytes(content)


def test_the_text_of_a_manifest():
    digest = f'"{DIGEST}"'
    assert MANIFEST.to_bytes().decode() == (
        '{\n  "allow_unanswered": false,\n  "created": "2025-11-21T10:00:00Z",\n  "digests": {\n'
        f'    "qrels": {digest},\n    "queries": {digest},\n    "run": {digest},\n    "scores": {digest},\n'
        f'    "topics": {digest}\n  }},\n'
        '  "format": 2,\n  "git": {\n    "commit": "' + "a" * 40 + '",\n    "dirty": false\n  },\n'
        '  "measures": [\n    "nDCG@10",\n    "Compat"\n  ],\n'
        '  "name": "prod",\n  "note": "release 7, größer",\n  "number": 1,\n  "predecessor": null,\n'
        '  "replicates": {},\n  "run_kept": true,\n  "topics": {\n    "judged": 0.25,\n    "scored": 2,\n'
        '    "unanswered": [\n      "7"\n    ],\n    "unknown": [],\n    "without_relevant": 1\n  },\n'
        '  "versions": {\n    "ir-measures": "0.4.3"\n  }\n}\n'
    )
