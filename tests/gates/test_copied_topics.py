"""The warning that topics with nearly the same text count as independent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.gates import warnings as module
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import json as report
from pytest_riskguard.reports.wording import worded
from tests.gates.conftest import pair, topic_scores
from tests.strict import gate_of

NEEDS = np.repeat(np.arange(25), 4)
LETTERS = [chr(97 + i) * 3 for i in range(26)]


def alike(seed: int = 4, *, shared: float = 0.7, needs: Any = NEEDS) -> np.ndarray:
    """Differences of 25 needs in four variants each, of whose variance a share belongs to the need."""
    rng = np.random.default_rng(seed)
    own, common = rng.normal(size=needs.size), rng.normal(size=needs.max() + 1)[needs]
    return np.asarray(0.1 * (np.sqrt(shared) * common + np.sqrt(1 - shared) * own))


def texts_of(needs: Any = NEEDS) -> list[str]:
    """A text for each need, its words in another order for each topic."""
    words = [[LETTERS[need], LETTERS[need % 7], f"size {need}"] for need in needs]
    return [" ".join(words[i] if i % 2 else words[i][::-1]) for i in range(len(words))]


def verdict_on(
    differences: np.ndarray, texts: list[str], *, clusters: dict[int, str] | None = None, **options: Any
) -> Verdict:
    """The verdict on topics with these texts, some of them with a cluster, by place."""
    candidate, baseline = pair(differences)
    names = candidate.topics
    tags = {names[i]: {"cluster": cluster} for i, cluster in (clusters or {}).items()}
    topics = Topics(dict(zip(names, texts, strict=True)), tags, path_name="topics.tsv")
    return judge(gate_of("g", **options), candidate, baseline, topics=topics)


def warned(verdict: Verdict) -> dict[str, Any] | None:
    """The figures of the warning; None without it."""
    found = [warning.parameters for warning in verdict.warnings if warning.code == "near_copies"]
    assert len(found) < 2
    return found[0] if found else None


def test_variants_of_needs_are_named_with_what_they_are_worth():
    figures = warned(verdict_on(alike(), texts_of()))
    assert figures is not None
    as_clusters = verdict_on(alike(), texts_of(), clusters={i: f"need {need}" for i, need in enumerate(NEEDS)})
    assert figures["effective"] == as_clusters.topics.effective
    assert (figures["topics"], figures["count"], len(figures["groups"])) == (100, 25, 3)
    assert figures["groups"][0] == ("size 0 aaa aaa", ("t00000", "t00001", "t00002", "t00003"))
    assert 0.5 < figures["likeness"] < 0.9
    assert (figures["file"], figures["has_clusters"]) == ("topics.tsv", False)
    assert warned(as_clusters) is None


def test_the_largest_groups_come_first():
    needs = np.repeat(np.arange(12), [1, 2, 5, 1, 3, 1, 4, 1, 1, 4, 2, 4])
    figures = warned(verdict_on(alike(needs=needs, shared=0.95), texts_of(needs)))
    assert figures is not None
    assert [len(names) for _, names in figures["groups"]] == [5, 4, 4]
    assert figures["groups"][1][1][0] < figures["groups"][2][1][0]
    assert (figures["topics"], figures["count"]) == (24, 7)


@pytest.mark.parametrize(("alpha", "shift"), [(0.0, -0.02), (1.0, 0.01), (5.0, 0.06)])
def test_the_answer_that_clusters_would_give_is_told_where_it_differs(alpha, shift):
    """A loss that is significant topic by topic, but not by need; the gate's answer with clusters is the one told."""
    told = 0
    for seed in range(40):
        d = alike(seed) + shift
        verdict = verdict_on(d, texts_of(), alpha=alpha)
        other = verdict_on(d, texts_of(), alpha=alpha, clusters={i: f"need {need}" for i, need in enumerate(NEEDS)})
        if (figures := warned(verdict)) is not None:
            assert figures["answer"] == (None if other.outcome == verdict.outcome else other.outcome)
            told += figures["answer"] is not None
    assert told


def test_a_pair_among_many_is_harmless():
    d = np.random.default_rng(1).normal(0, 0.1, 200)
    texts = [f"{LETTERS[i % 26]} {LETTERS[i // 26]}x" for i in range(200)]
    d[40], texts[40] = d[7], texts[7]
    assert warned(verdict_on(d, texts)) is None


def test_a_pair_that_is_half_of_all_changes_is_not():
    d, texts = np.zeros(200), [f"{LETTERS[i % 26]} {LETTERS[i // 26]}x" for i in range(200)]
    d[[7, 40, 90, 150]] = -0.4
    texts[40] = texts[7]
    verdict = verdict_on(d, texts, alpha=1)
    figures = warned(verdict)
    assert figures is not None
    # three bets, all lost, have a chance of 1/27, four of 1/81
    assert (verdict.outcome, figures["answer"]) == ("fail", "pass")
    assert figures["groups"] == [(texts[7], ("t00007", "t00040"))]


def test_copies_that_differ_independently_are_harmless():
    silent = [warned(verdict_on(alike(seed, shared=0.0), texts_of())) is None for seed in range(40)]
    assert sum(silent) >= 30  # by chance some look alike


def test_copies_that_go_opposite_ways_are_harmless():
    d = np.tile([0.1, -0.1, 0.2, -0.2], 25)
    assert warned(verdict_on(d, texts_of())) is None


@pytest.mark.parametrize("blank", ["", "!?"])
def test_topics_without_text_are_no_copies(blank):
    assert warned(verdict_on(alike(), [blank] * 100)) is None


def test_nothing_is_looked_for_without_texts_or_changes(monkeypatch):
    monkeypatch.setattr("pytest_riskguard.evaluation.topics.near_copies", lambda _: pytest.fail("looked"))
    candidate, baseline = pair(alike())
    assert judge(gate_of("g"), candidate, baseline).warnings is not None
    assert judge(gate_of("g"), candidate, baseline, topics=Topics({})).warnings is not None
    assert verdict_on(np.zeros(100), texts_of()).warnings
    assert verdict_on(alike()[:8], texts_of()[:8]).reason == "too_few_topics"
    assert verdict_on(alike(), texts_of(), kind="no_topic_collapse", max_loss=0.5).warnings is not None


def test_the_answer_does_not_look_for_copies(monkeypatch):
    monkeypatch.setattr("pytest_riskguard.evaluation.topics.near_copies", lambda _: pytest.fail("looked"))
    assert verdict_on(alike(seed=9), texts_of()).outcome in ("pass", "fail")


def test_clusters_of_the_file_are_believed():
    """Copies with a value of their own stay silent; those without join the cluster of their text."""
    own = {i: f"own {i}" for i in range(100)}
    assert warned(verdict_on(alike(), texts_of(), clusters=own)) is None
    half = {i: f"need {NEEDS[i]}" for i in range(0, 100, 2)}
    figures = warned(verdict_on(alike(), texts_of(), clusters=half))
    assert figures is not None
    assert figures["has_clusters"]
    as_clusters = verdict_on(alike(), texts_of(), clusters={i: f"need {need}" for i, need in enumerate(NEEDS)})
    assert figures["effective"] == as_clusters.topics.effective
    # of two clusters with the same text a topic without one joins the first
    split = {i: f"own {i}" for i in range(100) if i % 4 != 3}
    figures = warned(verdict_on(alike(shared=0.95), texts_of(), clusters=split))
    assert figures is not None
    assert figures["groups"][0][1] == ("t00000", "t00003")


def test_the_largest_clusters_that_copies_leave_may_be_too_few():
    needs = np.repeat(np.arange(6), 8)
    figures = warned(verdict_on(alike(needs=needs, shared=0.9), texts_of(needs)))
    assert figures is not None
    assert figures["answer"] == "inconclusive"


@pytest.mark.parametrize("weighted", [False, True])
def test_likeness_is_the_mean_product_of_pairs_over_their_mean_square(weighted):
    rng = np.random.default_rng(3)
    d, groups = rng.normal(size=40), np.append(rng.integers(0, 10, 30), np.arange(10, 20))
    groups = np.unique(groups, return_inverse=True)[1]
    evidence = Evidence(d, np.zeros((0, 40)), rng.uniform(0.5, 2, 40) if weighted else None)
    off = evidence.scores(1.0) - evidence.scores(1.0).mean()
    pairs = [(i, j) for i in range(40) for j in range(i) if groups[i] == groups[j]]
    products = sum(off[i] * off[j] for i, j in pairs)
    squares = sum((off[i] ** 2 + off[j] ** 2) / 2 for i, j in pairs)
    assert evidence.likeness(1.0, joined=groups) == pytest.approx(products / squares, rel=1e-12)
    assert Evidence.of(np.full(40, -0.1)).likeness(1.0, joined=groups) == 0.0
    assert evidence.likeness(1.0, joined=np.arange(40)) == 0.0


def test_a_report_with_the_warning_is_the_same_to_the_byte():
    texts = texts_of()
    reports = {report.dumps([worded(verdict_on(alike(), [*texts]))]) for _ in range(3)}
    assert len(reports) == 1
    assert '"near_copies"' in reports.pop()


def test_topics_of_a_pool_are_not_asked_about():
    """Gates over a pool do not know clusters, so there would be no remedy."""
    from pytest_riskguard.gates.pool.judge import judge_pool

    candidate, baseline = pair(alike())
    other = topic_scores("other", 0.5 + alike(8))
    topics = Topics(dict(zip(candidate.topics, texts_of(), strict=True)))
    gate = gate_of("g", kind="georisk_not_worse", reference="baseline")
    assert warned(judge_pool(gate, candidate, [baseline, other], topics=topics)) is None


def test_very_many_texts_are_not_compared(monkeypatch):
    assert warned(verdict_on(alike(), texts_of()))
    with monkeypatch.context() as few:
        few.setattr(module, "MAX_READ", 99)
        assert warned(verdict_on(alike(), texts_of())) is None
    length = sum(map(len, texts_of()))
    monkeypatch.setattr(module, "MAX_CHARACTERS", length)
    assert warned(verdict_on(alike(), texts_of()))
    monkeypatch.setattr(module, "MAX_CHARACTERS", length - 1)
    assert warned(verdict_on(alike(), texts_of())) is None
