"""``--slice``: commands about the topics of a tag."""

import json

import pytest

from tests.plugin import world
from tests.strict import STRICT_LINE

BASE = "loss.run --baseline prod --measure AP --gate not_significantly_risky"


@pytest.fixture(autouse=True)
def tags(folder):
    """The 12 topics that ``loss.run`` loses are codes, 16 are words, 2 are names."""
    rows = ["topic\tquery\tkind\n"]
    for place, topic in enumerate(world.TOPICS):
        kind = "code" if place < 12 else "words" if place < 28 else "name"
        rows.append(f"{topic}\t{world.QUERIES[topic]}\t{kind}\n")
    (folder / "topics.tsv").write_text("".join(rows))


def test_each_slice_has_its_verdict_and_says_so(command):
    ended = command(f"compare {BASE} --slice kind=words --slice kind=code -q")
    first, second = (line for line in ended.out.splitlines() if not line.startswith(" "))
    assert ended.status == 1
    assert first.startswith("PASS loss against prod: ")
    assert "(AP, kind=words, 16 topics, alpha 1)" in first
    assert second.startswith(
        "FAIL loss against prod: kind=code queries got worse; 12 of 12 queries lost, none gained "
    )
    assert "(AP, kind=code, 12 topics, alpha 1)" in second


def test_slices_alphas_and_their_family(command):
    ended = command(f"compare {BASE} --slice kind=code --slice kind=words --alpha 0 --alpha 1 --set family=auto -o -")
    found = ended.verdicts
    assert [(v["alpha"], v["options"]["slice"], v["topics"]["count"]) for v in found] == [
        (0, "kind=code", 12),
        (0, "kind=words", 16),
        (1, "kind=code", 12),
        (1, "kind=words", 16),
    ]
    assert {verdict["family"]["size"] for verdict in found} == {4}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            "--slice kind",
            "no value of 'kind' has 25 judged topics (largest: words 16, code 12, name 2); name the slices",
        ),
        ("--slice kind=code --slice kind=code", "--slice: kind=code given twice"),
        ("--slice kind=code --qrels qrels.txt", "and there is none"),
    ],
)
def test_mistakes_are_wrong_questions(refused, options, said):
    refused(f"compare {BASE} {options}", said)


def test_a_file_that_is_missing_makes_the_verdict_incomparable(command, folder):
    (folder / "topics.tsv").unlink()
    ended = command(f"compare {BASE} --slice kind=code -o -")
    assert ended.status == 3
    assert [verdict["options"]["slice"] for verdict in ended.verdicts] == ["kind=code"]
    assert command(f"compare {BASE} --slice kind").status == 3


def test_tables_of_scores_have_slices_too(command, folder):
    for name, low in (("a", 0.5), ("b", 0.1)):
        rows = [f"{topic},{low if place < 12 else 0.5},0.5\n" for place, topic in enumerate(world.TOPICS)]
        (folder / f"{name}.csv").write_text("topic,m,n\n" + "".join(rows))
    line = "compare --scores b.csv --baseline a=a.csv --topics topics.tsv --slice kind=code --slice kind=words -q"
    ended = command(f"{line} {STRICT_LINE}")
    assert [line.split()[0] for line in ended.out.splitlines()] == ["FAIL", "PASS", "PASS", "PASS"]
    assert "(m, kind=code, 12 topics" in ended.out.splitlines()[0]


def test_plans_are_made_for_a_slice(command):
    ended = command("power loss.run --baseline prod --measure AP --slice kind=code --slice kind=words -o -")
    plan, _ = json.loads(ended.out)["plans"]
    assert (plan["slice"], plan["topics"], plan["changed"]) == ("kind=code", 12, 12)
    assert "AP, kind=code, 12 topics, 12 changed" in ended.err
    assert "AP, kind=words, " in ended.err
