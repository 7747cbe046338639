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


def test_the_fixture_asks_about_a_slice(tagged, pytester):
    pytester.makepyfile(
        """
        import pytest

        def test_slices(riskguard):
            run = riskguard.run("candidate.run")
            words = riskguard.assert_not_significantly_risky(run, "prod", slice="kind=words; rm -rf")
            assert (words.slice, words.topics.count) == ("kind=words; rm -rf", 18)
            code = riskguard.check("not_significantly_risky", run, "prod", slice="kind=code")
            assert (code.outcome, code.topics.count) == ("fail", 12)
            with pytest.raises(ValueError, match="slice: expected TAG=VALUE, found 'kind'"):
                riskguard.check("not_significantly_risky", run, "prod", slice="kind")
            with pytest.raises(Exception, match="slice: no judged topic has kind=codes; did you mean 'kind=code'"):
                riskguard.check("not_significantly_risky", run, "prod", slice="kind=codes")
        """
    )
    pytester.runpytest("--riskguard", "--riskguard-no-yaml").assert_outcomes(passed=1)
