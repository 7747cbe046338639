"""What a riskguard.yaml names and nothing has is said all at once, with every other error of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_riskguard.config.load import load_config, load_gates
from pytest_riskguard.config.lookups import all_errors
from pytest_riskguard.errors import ConfigError
from tests.plugin import world

WRONG = """\
collection:
  qrels: qrel.txt
  topics: topic.tsv
  shrnk: 3
store: baselines
measures: [nDCG@10, NDGC@10]
candidate: runs/cand.run
gates:
  - name: one
    kind: not_significantly_risky
    baseline: prodd
    alpah: 1
  - name: two
    kind: not_significantly_risky
    baseline: 'mean(prod, bm25)'
    level: 95
    reference: c
  - name: three
    kind: georisk_not_worse
    baselines: [prod, b]
    reference: c
    candidate: other.run
  - {kind: not_significantly_risky, baseline: prod}
  - name: five
    kind: no_topic_collapse
    baseline: prod
    measure: [P@5, Q@5]
    max_mde: 3
family: {correction: holm, gates: [one, two, six]}
"""
SAID = [
    (2, "collection.qrels: qrel.txt: no such file"),
    (3, "collection.topics: topic.tsv: no such file"),
    (4, "unknown key 'shrnk' in 'collection'; did you mean 'shrink'?"),
    (6, "measures: 'NDGC@10': ir-measures knows no measure 'NDGC'; did you mean 'nDCG@10'?"),
    (7, "candidate: runs/cand.run: no such file"),
    (11, "baseline of gate 'one': no baseline 'prodd' is stored; did you mean 'prod'?; store it with "),
    (12, "unknown key 'alpah' in gate 'one'; did you mean 'alpha'?"),
    (15, "baseline of gate 'two': no baseline 'bm25' is stored; store it with `riskguard baseline add bm25 RUN`"),
    (16, "level of gate 'two': expected a number between"),
    (17, "reference of gate 'two' has no meaning for not_significantly_risky; leave it out"),
    (20, "baselines of gate 'three': no baseline 'b' is stored"),
    (21, "reference of gate 'three': 'c' is not one of its baselines; expected prod, b, any, median"),
    (22, "candidate of gate 'three': other.run: no such file"),
    (23, "gate 4 has no 'name'"),
    (27, "measure of gate 'five': 'Q@5': ir-measures knows no measure 'Q'"),
    (28, "max_mde of gate 'five' has no meaning for no_topic_collapse; leave it out"),
    (29, "family.gates: there is no gate 'six'"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with qrels, topics, a run ``candidate.run`` and the stored baseline ``prod``."""
    world.write_world(tmp_path, world.GOOD)
    world.write_run(tmp_path / "candidate.run", world.GOOD)
    return tmp_path


def errors_of(path: Path, text: str) -> list[tuple[int, str]]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_gates(path)
    return [(error.line, error.problem) for error in caught.value.errors]


def test_errors_of_every_class_are_said_at_once_in_the_order_of_the_file(project):
    found = errors_of(project / "riskguard.yaml", WRONG)
    assert [line for line, _ in found] == [line for line, _ in SAID]
    for (_, problem), (_, said) in zip(found, SAID, strict=True):
        assert problem.startswith(said)


@pytest.mark.parametrize("place", range(len(SAID)))
def test_no_error_hides_another(project, place):
    """Repairing one line leaves every other error as it was."""
    line = SAID[place][0]
    lines = WRONG.splitlines()
    lines[line - 1] = RIGHT.get(line, "")
    found = errors_of(project / "riskguard.yaml", "\n".join(lines))
    left = [(number, said) for number, said in SAID if number != line]
    assert [number for number, _ in found] == [number for number, _ in left]


RIGHT = {
    2: "  qrels: qrels.txt",
    3: "  topics: topics.tsv",
    6: "measures: [nDCG@10]",
    7: "candidate: candidate.run",
    11: "    baseline: prod",
    15: "    baseline: 'mean(prod)'",
    20: "    baselines: [prod]",
    23: "  - {name: four, kind: not_significantly_risky, baseline: prod}",
    27: "    measure: [P@5]",
    29: "family: {correction: holm, gates: [one, two]}",
}


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
  - {name: typo, kind: not_significantly_risky, baseline: prod, alpah: 1}
""",
    )
    assert [line for line, _ in found] == [3, 5, 6, 6, 7]
    assert "slice of gate 'part'" in found[1][1]
    assert found[2][1].startswith("protected of gate 'single': 't99' is neither a judged topic")


def test_without_any_other_error_missing_files_are_left_to_the_verdicts(project):
    path = project / "riskguard.yaml"
    path.write_text(
        "collection: {qrels: no.txt}\nmeasures: [AP]\ncandidate: no.run\n"
        "gates: [{name: g, kind: not_significantly_risky, baseline: nobody}]\n",
        encoding="utf-8",
    )
    config = load_gates(path)
    assert [error.line for error in all_errors(config)] == [1, 3, 4]


def test_only_where_gates_are_judged_is_anything_looked_up(project):
    path = project / "riskguard.yaml"
    path.write_text(WRONG, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert [error.line for error in caught.value.errors] == [4, 12, 16, 17, 21, 23, 28, 29]


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
