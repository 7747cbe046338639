"""Gates on slices in pytest: items, their family, and the fixture's option."""

import json

import pytest

from tests.plugin import world

YAML = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
measures: [AP]
candidate: candidate.run
gates:
  - {name: kinds, kind: not_significantly_risky, baseline: prod, slice: [kind=code, 'kind=words; rm -rf']}
"""


@pytest.fixture
def tagged(project, pytester):
    """The losing candidate: the 12 topics that lose are codes."""
    folder = project("loss")
    rows = ["topic\tquery\tkind\n"]
    for place, topic in enumerate(world.TOPICS):
        rows.append(f"{topic}\t{world.QUERIES[topic]}\t{'code' if place < 12 else 'words; rm -rf'}\n")
    (folder / "topics.tsv").write_text("".join(rows))
    (folder / "riskguard.yaml").write_text(YAML)
    return folder


def test_each_value_is_an_item_and_all_are_a_family(tagged, pytester):
    result = pytester.runpytest("--riskguard", "--riskguard-report=r.json")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["kind=code queries got worse; 12 of 12 queries lost, none gained (AP)"])
    result.stdout.fnmatch_lines(["*riskguard.yaml::kinds[[]code]*"])
    found = json.loads((tagged / "r.json").read_text())["verdicts"]
    assert [(v["gate"], v["options"]["slice"]) for v in found] == [
        ("kinds[code]", "kind=code"),
        ("kinds[words__rm_-rf]", "kind=words; rm -rf"),
    ]
    assert [verdict["family"]["size"] for verdict in found] == [2, 2]
