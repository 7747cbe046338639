"""What a riskguard.yaml names and nothing has is said all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_riskguard.config.load import load_gates
from pytest_riskguard.config.lookups import all_errors
from pytest_riskguard.errors import ConfigError
from tests.plugin import world

#: Every value is right, and nothing that is named is there.
MISSING = """\
collection:
  qrels: qrel.txt
  topics: topic.tsv
store: baselines
measures: [nDCG@10, NDGC@10]
candidate: runs/cand.run
gates:
  - {name: one, kind: not_significantly_risky, baseline: prodd}
  - {name: two, kind: not_significantly_risky, baseline: 'mean(prod, bm25)'}
  - name: three
    kind: georisk_not_worse
    baselines: [prod, b]
    candidate: other.run
  - {name: four, kind: no_drift, baseline: old/oldest, measure: [P@5, Q@5]}
"""
SAID = [
    (2, "collection.qrels: qrel.txt: no such file"),
    (3, "collection.topics: topic.tsv: no such file"),
    (5, "measures: 'NDGC@10': ir-measures knows no measure 'NDGC'; did you mean 'nDCG@10'?"),
    (6, "candidate: runs/cand.run: no such file"),
    (8, "baseline of gate 'one': no baseline 'prodd' is stored; did you mean 'prod'?; store it with "),
    (9, "baseline of gate 'two': no baseline 'bm25' is stored; store it with `riskguard baseline add bm25 RUN`"),
    (12, "baselines of gate 'three': no baseline 'b' is stored"),
    (13, "candidate of gate 'three': other.run: no such file"),
    (14, "measure of gate 'four': 'Q@5': ir-measures knows no measure 'Q'"),
    (14, "baseline of gate 'four': no baseline 'old' is stored"),
]


@pytest.fixture
def project(tmp_path):
    """A folder with qrels, topics, a run ``candidate.run`` and the stored baseline ``prod``."""
    world.write_world(tmp_path, world.GOOD)
    world.write_run(tmp_path / "candidate.run", world.GOOD)
    return tmp_path


def errors_of(path: Path, text: str) -> list[tuple[int, str]]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_gates(path)
    return [(error.line, error.problem) for error in caught.value.errors]


def test_everything_that_is_missing_is_said_in_the_order_of_the_file(project):
    (project / "riskguard.yaml").write_text(MISSING, encoding="utf-8")
    found = all_errors(load_gates(project / "riskguard.yaml"))
    assert [error.line for error in found] == [line for line, _ in SAID]
    for error, (_, said) in zip(found, SAID, strict=True):
        assert error.problem.startswith(said)


def test_slices_and_protected_topics_are_looked_up_with_the_rest(project):
    found = errors_of(
        project / "riskguard.yaml",
        """\
collection: {qrels: qrels.txt, topics: topics.tsv}
measures: [AP]
candidate: no.run
gates:
  - {name: part, kind: not_significantly_risky, baseline: prod, slice: kind=poems}
  - {name: single, kind: no_topic_collapse, baseline: prod, protected: [t01, t99, kind=poems]}
""",
    )
    assert [line for line, _ in found] == [3, 5, 6, 6]
    assert "slice of gate 'part'" in found[1][1]
    assert found[2][1].startswith("protected of gate 'single': 't99' is neither a judged topic")


@pytest.mark.parametrize(
    "text",
    [
        "collection: 3\ngates: 4\n",
        "gates: [3, {name: a}, {kind: x}, []]\n",
        "collection: {qrels: 1}\nstore: [a]\nfamily: 3\nmeasures: 1\ncandidate: {retrieve: x}\n",
        "collection: {qrels: q, topics: {a: b}, x: y}\ngates: [{name: a, kind: [b], slice: {a: b}, protected: 1}]\n",
        "1: 2\n",
        "gates: {a: b}\n",
    ],
)
def test_whatever_is_wrong_is_said(tmp_path, text):
    assert errors_of(tmp_path / "riskguard.yaml", text)
