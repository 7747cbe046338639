"""The manifest is read back as written, and refused when anything in it is not as written."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.baselines.manifest import (
    Digests,
    EarlierRun,
    GitState,
    Manifest,
    StoredJudged,
    StoredMeasure,
    StoredReplicate,
    StoredTopics,
)
from pytest_riskguard.serialization import JsonError

DIGEST = "sha256:" + "0123456789abcdef" * 4
OTHER = "sha256:" + "f" * 64
MANIFEST = Manifest(
    name="prod",
    created="2025-11-21T10:00:00Z",
    digests=Digests(run=DIGEST, qrels=DIGEST, scores=DIGEST, topics=DIGEST),
    queries=None,
    measures=(StoredMeasure("nDCG@10", "pytrec_eval", "0.5.11"), StoredMeasure("Compat", "compat", None)),
    topics=StoredTopics(scored=2, without_relevant=1, unanswered=("7",), unknown=()),
    judged=None,
    run_kept=True,
    versions={"ir-measures": "0.4.3"},
    git=GitState("a" * 40, dirty=False),
    note="release 7, größer",
    replicates=(),
    kind="fixed",
    history=(),
)

EARLIER = EarlierRun(1, OTHER, "2024-01-01T00:00:00Z", None, "first", {"nDCG@10": 0.25})
MOVED = replace(MANIFEST, kind="previous", history=(EARLIER,))
NAMED = replace(MANIFEST, name="prod", queries=OTHER, judged=StoredJudged(1, 0.25))


@pytest.mark.parametrize(
    "manifest",
    [
        MANIFEST,
        MOVED,
        NAMED,
        replace(NAMED, queries=None, judged=None),
        replace(MOVED, name="prod"),
        replace(MOVED, kind="fixed", replicates=(StoredReplicate(1, OTHER),)),
        replace(MANIFEST, kind="best"),
        replace(MOVED, history=(EARLIER, replace(EARLIER, number=2, git=GitState("b" * 40, dirty=True), means={}))),
        replace(MANIFEST, replicates=(StoredReplicate(1, OTHER), StoredReplicate(12, "sha256:" + "0" * 64))),
        replace(MANIFEST, git=None, note="", digests=replace(MANIFEST.digests, topics=None), run_kept=False),
    ],
)
def test_it_is_read_back_as_written(manifest):
    assert Manifest.from_bytes(manifest.to_bytes()) == manifest


def test_line_ends_of_windows_do_no_harm():
    assert Manifest.from_bytes(MANIFEST.to_bytes().replace(b"\n", b"\r\n")) == MANIFEST


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
        (b"", "empty"),
        (b"{", "line 1: not JSON"),
        (MANIFEST.to_bytes()[:-40], "not JSON"),
        (b"\xff", "not UTF-8: byte 0xff"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"format": ' + b"9" * 5000 + b"}", "9{30} is a whole number of more than 64 bits"),
        (b"[]", "expected an object, found a list"),
        (b"version https://git-lfs.github.com/spec/v1\n", r"Git LFS pointer .*git lfs pull"),
        (
            MANIFEST.to_bytes().replace(b'  "note"', b'<<<<<<< HEAD\n  "note"'),
            r"line \d+: a merge conflict is left",
        ),
        (b'{"format": 1, "note": "", "note": ""}', "key 'note' appears twice"),
        (b'{"format": NaN}', "NaN is not a number"),
        (changed("format", value=...), "format: expected 1, found null"),
        (changed("format", value=True), "format: expected 1, found true"),
        (changed("format", value=2), "format: expected 1, found 2"),
        (changed("note", value=...), "missing key 'note'"),
        (changed("host", value="x"), "unknown key 'host'"),
        (changed("digests", "run", value=...), "missing key 'digests.run'"),
        (changed("digests", "run", value=None), "digests.run: expected text, found null"),
        (
            changed("measures", 0, "name", value=3),
            r"measures\[0\]\.name: expected text, found a whole number",
        ),
        (changed("topics", "scored", value=2.0), "topics.scored: expected a whole number, found a number"),
        (
            changed("topics", "scored", value=True),
            "topics.scored: expected a whole number, found true or false",
        ),
        (changed("run_kept", value=1), "run_kept: expected true or false, found a whole number"),
        (changed("versions", "ir-measures", value=1), "versions.ir-measures: expected text"),
        (changed("created", value="yesterday"), "created: expected a date and time, found 'yesterday'"),
    ],
)
def test_anything_else_is_refused(content, problem):
    with pytest.raises(JsonError, match=problem):
        Manifest.from_bytes(content)


NOISY = replace(MANIFEST, replicates=(StoredReplicate(1, OTHER), StoredReplicate(2, "sha256:" + "0" * 64)))
CHAIN = replace(MOVED, history=(EARLIER, replace(EARLIER, number=2)))


@pytest.mark.parametrize(
    ("manifest", "path", "value", "problem"),
    [
        (NOISY, ["replicates"], {}, "replicates: expected a list, found an object"),
        (NOISY, ["replicates", 0, "number"], "1", r"replicates\[0\]\.number: expected a whole number, found text"),
        (NOISY, ["replicates", 0, "run"], DIGEST, "replicates: the same run appears twice"),
        (NOISY, ["replicates", 0, "note"], "x", r"unknown key 'replicates\[0\]\.note'"),
        (CHAIN, ["kind"], "newest", "kind: expected one of fixed, previous, release, best, found 'newest'"),
        (CHAIN, ["history", 0, "number"], 9, r"history: expected every number from 1, found \[9, 2\]"),
        (CHAIN, ["history", 1, "number"], 1, r"history: expected every number from 1, found \[1, 1\]"),
        (CHAIN, ["history", 0, "means", "nDCG@10"], True, r"means\.nDCG@10: expected a number, found true or false"),
        (CHAIN, ["history", 0, "created"], "today", "created: expected a date and time, found 'today'"),
        (CHAIN, ["history", 0, "note"], ..., r"missing key 'history\[0\]\.note'"),
    ],
)
def test_what_is_listed_is_read_as_strictly(manifest, path, value, problem):
    assert Manifest.from_bytes(manifest.to_bytes()) == manifest
    with pytest.raises(JsonError, match=problem):
        Manifest.from_bytes(changed(*path, value=value, manifest=manifest))


def test_the_text_of_a_manifest():
    manifest = replace(
        MANIFEST, name="prod", measures=(StoredMeasure("AP", "pytrec_eval", "0.5.11"),), git=None, note="größer"
    )
    digest = f'"{DIGEST}"'
    assert manifest.to_bytes().decode() == (
        '{\n  "allow_unanswered": false,\n  "created": "2025-11-21T10:00:00Z",\n  "digests": {\n'
        f'    "qrels": {digest},\n    "run": {digest},\n    "scores": {digest},\n    "topics": {digest}\n  }},\n'
        '  "format": 1,\n  "git": null,\n  "history": [],\n  "judged": null,\n  "kind": "fixed",\n'
        '  "latency": null,\n'
        '  "measures": [\n    {\n      "name": "AP",\n      "provider": "pytrec_eval",\n'
        '      "version": "0.5.11"\n    }\n  ],\n  "metadata": {},\n  "name": "prod",\n  "note": "größer",\n'
        '  "predecessor": null,\n'
        '  "queries": null,\n'
        '  "replicates": [],\n  "run_kept": true,\n  "source": "run",\n  "topics": {\n    "scored": 2,\n'
        '    "unanswered": [\n'
        '      "7"\n    ],\n    "unknown": [],\n    "without_relevant": 1\n  },\n'
        '  "versions": {\n    "ir-measures": "0.4.3"\n  }\n}\n'
    )


def test_a_mean_may_be_a_whole_number():
    content = MOVED.to_bytes().replace(b"0.25", b"1")
    assert Manifest.from_bytes(content).history[0].means == {"nDCG@10": 1.0}


def test_a_mean_is_finite():
    content = MOVED.to_bytes().replace(b"0.25", b"1e999")
    with pytest.raises(JsonError, match="1e999 is larger than any number of 64 bits"):
        Manifest.from_bytes(content)


@given(st.data())
def test_a_changed_byte_is_refused_or_gives_a_manifest(data):
    content = bytearray(data.draw(st.sampled_from([MANIFEST, NOISY, MOVED, NAMED])).to_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255))
    try:
        read = Manifest.from_bytes(bytes(content))
    except JsonError:
        return
    assert isinstance(read, Manifest)
