"""Topics that lost, or won, together."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.by_tag import Tagged, groups
from pytest_riskguard.gates.findings import TopicGroup
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate, gate_of
from tests.gates.conftest import pair


def tagged(n: int, **columns: list[str]) -> Topics:
    names = [f"t{i:05d}" for i in range(n)]
    return Topics(
        dict.fromkeys(names, ""),
        {name: {tag: values[i] for tag, values in columns.items()} for i, name in enumerate(names)},
    )


def found(d: np.ndarray, topics: Topics, gate: Gate | None = None, **more) -> tuple[TopicGroup, ...]:
    verdict = judge(gate or gate_of("g", alpha=1), *pair(d), topics=topics, **more)
    return verdict.groups


def test_the_largest_part_comes_first_and_the_largest_topic_in_it():
    d = np.random.default_rng(5).normal(0, 0.2, 60)
    groups = found(d, tagged(60, kind=list("abc") * 20, half=["x", "y"] * 30))
    sizes = [abs(group.contribution) for group in groups]
    assert sizes == sorted(sizes, reverse=True)
    for group in groups:
        changes = [d[int(topic[1:])] for topic in group.topics]
        assert changes == sorted(changes, reverse=group.change == "win")


@pytest.mark.parametrize(
    ("values", "divides"),
    [
        ([f"v{i}" for i in range(120)], False),  # an identifier
        ([f"v{i // 2}" for i in range(120)], False),  # 60 values are too many
        ([f"v{i % 50}" for i in range(120)], True),
        ([f"v{i}" for i in range(40)] + [""] * 80, False),
        ([f"v{i // 2}" for i in range(40)] + [""] * 80, True),
    ],
)
def test_a_tag_that_names_topics_divides_nothing(values, divides):
    verdict = judge(gate_of("g"), *pair(np.full(120, -0.1)), topics=tagged(120, url=values))
    assert bool(verdict.groups) is bool(verdict.slices) is divides


NAMES = ("t0", "t1", "t2", "t3", "t4", "t5")


def places(tag: str, value: str, *indices: int) -> Tagged:
    return Tagged(tag, value, np.array(indices, dtype=np.intp))


def test_groups_by_hand():
    d = np.array([-0.4, -0.2, 0.1, 0.3, 0.0, -0.1])
    tags = (places("j", "z", 0, 5), places("k", "a", 0, 1, 2, 3), places("k", "b", 4, 5))
    found = groups(d, d, NAMES, tags)
    assert [(g.tag, g.value, g.change, g.topics, g.tagged) for g in found] == [
        ("k", "a", "loss", ("t0", "t1"), 4),
        ("j", "z", "loss", ("t0", "t5"), 2),
        ("k", "a", "win", ("t3", "t2"), 4),
    ]
    assert [group.contribution for group in found] == pytest.approx([-0.6 / 6, -0.5 / 6, 0.4 / 6])
    assert [group.share for group in found] == pytest.approx([6 / 7, 5 / 7, 1.0])


def test_losses_that_noise_outweighs_have_no_share():
    (group,) = groups(np.array([-0.1, -0.1]), np.array([0.05, 0.05]), ("t0", "t1"), (places("k", "a", 0, 1),))
    assert (group.contribution, group.share) == (0.05, None)
    (group,) = groups(np.array([-0.1, -0.1]), np.array([0.05, -0.05]), ("t0", "t1"), (places("k", "a", 0, 1),))
    assert (group.contribution, group.share, group.topics) == (0.0, 1.0, ("t1", "t0"))
    assert groups(np.array([-1e-13, -1e-13]), np.zeros(2), ("t0", "t1"), (places("k", "a", 0, 1),)) == ()
