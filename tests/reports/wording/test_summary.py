"""A verdict in words: every figure in it is a figure of the verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.gates.findings import MovedDocument, TopicDocuments
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.pool.judge import judge_pool
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.wording import worded
from tests.gates.conftest import pair, topic_scores
from tests.gates.test_groups import tagged
from tests.verdicts import altered


def judged(*given: Any, **options: Any) -> Verdict:
    return worded(judge(*given, **options))


def judged_pool(*given: Any, **options: Any) -> Verdict:
    return worded(judge_pool(*given, **options))


def told(verdict: Verdict) -> str:
    assert verdict.explanation is not None
    return verdict.explanation.summary


def has(verdict: Verdict, code: str) -> bool:
    return any(warning.code == code for warning in verdict.warnings)


def same(text: str, value: float | None) -> bool:
    """Whether a printed number is this one, as printed."""
    assert value is not None
    said = float(text)
    return abs(said - value) <= (0.0000501 if "e" not in text else 0.06 * abs(value))


@dataclass
class Reader:
    """Reads a summary claim by claim; what was read is struck out."""

    verdict: Verdict
    rest: str

    def claim(self, pattern: str, check: Callable[..., bool]) -> None:
        for found in re.finditer(pattern, self.rest, flags=re.IGNORECASE):
            assert check(*found.groups()), (found.group(), told(self.verdict))
        self.rest = re.sub(pattern, " ", self.rest, flags=re.IGNORECASE)


NUMBER = r"([-+]?\d+\.\d+(?:e[-+]\d+)?)"
TOPICS = r"(\d+) topics?"


def check(verdict: Verdict) -> None:
    """Every sentence says what the verdict's fields say, and no number is left that none of them says."""
    v, e, t = verdict, verdict.estimates, verdict.topics
    words = {"pass": "Passes", "fail": "Fails", "inconclusive": "Inconclusive"}
    assert told(v).startswith(words[v.outcome])
    assert told(v).startswith("Passes with a warning") == (v.outcome == "pass" and has(v, "churn"))
    assert "\n" not in told(v)
    assert v.explanation is not None
    pivots, groups = v.explanation.pivotal_topics, v.explanation.groups
    lost = [x for x in v.responsible_topics if (x.exceeds if v.kind == "no_topic_collapse" else x.difference < -1e-6)]
    reader = Reader(v, told(v))

    def group(members: str, all_lost: str | None, tag: str, value: str, percent: str | None) -> bool:
        (found,) = [g for g in groups if (g.tag, g.value, g.change) == (tag, value, "loss")]
        count = len({x.topic for x in lost} & {*found.topics})
        said = percent is None or abs(int(percent) - 100 * (found.share or 0)) <= 0.5 + 1e-9
        return int(members) == count and (all_lost is None or int(all_lost) == len(lost)) and said

    reader.claim(r"(\d+) of these (\d+) are tagged (\w+)=(\w+)(?:, worth (\d+)% of the loss)?", group)
    reader.claim(r"All (\d+)() are tagged (\w+)=(\w+)()", lambda n, _a, tag, value, _b: group(n, n, tag, value, None))
    reader.claim(r"Both are tagged (\w+)=(\w+)", lambda tag, value: group("2", "2", tag, value, None))
    reader.claim(
        r"Topic (t\d{5}) alone accounts for (\d+)% of the loss",
        lambda topic, percent: lost[0].topic == topic and abs(int(percent) - 100 * (lost[0].share or 0)) <= 0.5,
    )
    other = {"pass": "fail", "fail": "pass"}.get(v.outcome)
    reader.claim(
        r"Leaving out (?:topic|either of topics|any one of topics) ((?:t\d{5}|, | and )+) would make it (pass|fail)",
        lambda names, word: (*re.findall(r"t\d{5}", names),) == pivots and word == other,
    )
    reader.claim(
        r"Leaving out any one of (\d+) topics, (t\d{5}) above all, would make it (pass|fail)",
        lambda number, first, word: (word, int(number), first) == (other, len(pivots), pivots[0]),
    )
    risky = {f"{s.tag}={s.value}" for s in v.explanation.slices if s.risky}
    reader.claim(
        r"On their own, the topics of ([\w=, ]+?)(?: and (\d+) more slices)? are significantly risky",
        lambda names, more: (
            {*re.findall(r"\w+=\w+", names)} <= risky
            and len(re.findall("=", names)) + int(more or 0) == len(risky)
            and v.outcome == "pass"
        ),
    )
    reader.claim(rf"Only {TOPICS} changed", lambda n: int(n) == t.changed and has(v, "few_changed_topics"))
    difference = e.mean_difference or 0.0
    reader.claim(
        rf"The (weighted )?mean (rose|fell)( significantly,)? by {NUMBER}",
        lambda weighted, verb, better, by: (
            same(by, abs(difference))
            and (verb == "rose") == (difference > 0)
            and bool(weighted) == v.weighted
            and bool(better) == has(v, "refresh_baseline")
        ),
    )
    reader.claim(r"The (weighted )?mean (did not change|equals that of)", lambda *_: difference == 0)
    reader.claim(
        rf"The mean is {NUMBER} (above|below) that of (?:the )?(\w+)",
        lambda by, side, name: (
            same(by, abs(difference))
            and (side == "above") == (difference > 0)
            and v.pool is not None
            and v.pool.decided_by == name
        ),
    )
    _answer(reader, raw=(e.urisk or 0.0) + (e.noise_urisk or 0.0))
    assert not re.search(r"\d", reader.rest), (reader.rest, told(v))


def _answer(reader: Reader, *, raw: float) -> None:
    v, e, t = reader.verdict, reader.verdict.estimates, reader.verdict.topics
    sign = -1 if v.convention == "minus" else 1
    counts = r"(?:, each counted (twice|[\d.e+]+ times),?)?(, larger ones counted more,?)?"

    def times(often: str | None, larger: str | None) -> bool:
        if v.tradeoff == "smooth":
            return bool(larger) and often is None
        said = {None: 1.0, "twice": 2.0}.get(often) or float(str(often).split()[0])
        return larger is None and said == pytest.approx(1 + v.alpha, rel=1e-9)

    def outweighed(weight: str | None, lost: str, n: str, often: str | None, larger: str | None, won: str) -> bool:
        right = (int(lost), int(won), int(n)) == (t.losses, t.wins, t.count) and bool(weight) == v.weighted
        return right and times(often, larger) and raw < 0

    weight = r"(by weight, )?"
    reader.claim(rf"{weight}losses on (\d+) of {TOPICS}{counts} outweigh wins on (\d+)", outweighed)
    reader.claim(
        rf"{weight}wins on (\d+) of {TOPICS} outweigh losses on (\d+){counts}",
        lambda weight, won, n, lost, often, larger: (
            (int(lost), int(won), int(n)) == (t.losses, t.wins, t.count)
            and times(often, larger)
            and raw > 0
            and bool(weight) == v.weighted
        ),
    )
    reader.claim(
        rf"{weight}losses on (\d+) of {TOPICS}{counts} balance wins on (\d+)",
        lambda _, lost, n, often, larger, won: (
            (int(lost), int(won), int(n)) == (t.losses, t.wins, t.count) and times(often, larger) and abs(raw) < 1e-12
        ),
    )
    reader.claim(
        rf"(losses|wins) on (\d+) of {TOPICS}, and no (loss|win)",
        lambda which, number, n, none: (
            int(n) == t.count
            and (int(number), 0) == ((t.losses, t.wins) if which.lower() == "losses" else (t.wins, t.losses))
            and (which.lower(), none) in {("losses", "win"), ("wins", "loss")}
        ),
    )
    reader.claim(r"No score changed by more than 0.000001", lambda: t.wins == t.losses == 0 < t.changed)
    reader.claim(r"No score changed", lambda: t.wins == t.losses == t.changed == 0)
    reader.claim(
        rf"(\d+) of {TOPICS} lost and (\d+) won(?: against (?:the )?(\w+))?",
        lambda lost, n, won, name: (
            (int(lost), int(n), int(won)) == (t.losses, t.count, t.wins)
            and (name is None if v.pool is None else v.pool.decided_by == name)
        ),
    )
    reader.claim(rf"more than the tolerated {NUMBER}", lambda by: same(by, v.tolerance) and v.tolerance > 0)
    churn = v.reason == "churn" or has(v, "churn")
    reader.claim(
        r"if losses counted (?:once|no more than wins), it would (?:also )?(pass|fail)",
        lambda word: (word == "pass") == churn and (word == "fail") == (v.reason == "loss"),
    )
    significant = (v.outcome == "fail" and v.kind != "not_inferior") or churn
    reader.claim(r", not significantly|but the risk is not significant", lambda: not significant)
    reader.claim(r", significantly|by significantly", lambda: significant)
    reader.claim(
        rf"but URisk-? is {NUMBER}, which is significantly risky",
        lambda value: same(value, sign * raw) and t.losses == 0 and v.outcome == "fail",
    )
    reader.claim(
        rf"URisk-? is {NUMBER}, against {NUMBER} for the baseline's own (\d+) replicates?: "
        rf"(worse|better) by {NUMBER}",
        lambda ours, own, number, side, by: (
            same(ours, sign * raw)
            and int(number) == v.replicates
            and same(own, sign * (e.noise_urisk or 0.0))
            and (side == "worse") == ((e.urisk or 0.0) < 0)
            and same(by, abs(e.urisk or 0.0))
        ),
    )
    interval = v.decisive_interval
    reader.claim(
        rf"(URisk-?|The (?:weighted )?mean difference) is (not )?shown to be (above|below) {NUMBER}: "
        rf"it (?:is at (?:most|least)|may be as (?:high|low) as) {NUMBER}",
        lambda what, no, side, bound, limit: (
            bool(no) == (v.outcome == "fail")
            and abs(s := sign if what.startswith("URisk") else 1) == 1
            and (side == "below") == (s < 0)
            and same(bound, -s * v.tolerance)
            and interval is not None
            and same(limit, s * interval.lower)
            and v.kind == "not_inferior"
        ),
    )
    falls = sorted(round(-x.difference, 4) for x in v.responsible_topics)
    guilty = [x for x in v.responsible_topics if x.exceeds]
    by = {x.topic: -x.difference for x in v.responsible_topics}
    reader.claim(
        rf"(\d+) of {TOPICS} lost more than allowed",
        lambda k, n: (int(k), int(n), v.reason) == (len(guilty), t.count, "collapse"),
    )
    reader.claim(
        rf"None of {TOPICS} lost more than allowed; the largest of (\d+) loss(?:es)? is (t\d+) by {NUMBER}",
        lambda n, k, name, size: (
            (int(n), int(k)) == (t.count, t.losses) and same(size, by[name]) and same(size, falls[-1]) and not guilty
        ),
    )
    reader.claim(rf"None of {TOPICS} lost", lambda n: int(n) == t.count and t.losses == 0)
    reader.claim(r"and (\d+) others?", lambda more: int(more) == len(guilty) - 3)
    reader.claim(rf"(t\d{{5}}) by {NUMBER}", lambda name, size: same(size, by[name]))
    gap = e.georisk_difference
    reader.claim(
        rf"By GeoRisk the candidate is {NUMBER} (riskier|less risky) than (?:the )?(\w+)",
        lambda size, side, name: (
            gap is not None
            and same(size, abs(gap))
            and (side == "riskier") == (gap < 0)
            and v.pool is not None
            and v.pool.decided_by == name
        ),
    )
    reader.claim(
        r"riskier than (\d+) of (\d+) references",
        lambda k, n: (
            v.pool is not None
            and (int(k), int(n)) == (sum(not r.passes for r in v.pool.references), len(v.pool.references))
        ),
    )
    reader.claim(
        rf"the smallest detectable loss at 80% power is {NUMBER}",
        lambda size: same(size, v.power.minimum_detectable_effect) and v.reason == "too_weak",
    )
    reader.claim(
        rf"{TOPICS} (?:is|are) too few; at least 10 are needed",
        lambda n: int(n) == t.count < 10 and v.reason == "too_few_topics",
    )
    reader.claim(r"less evidence than 10 topics", lambda: v.weighted and v.reason == "too_few_topics")


#: Half of them are enough before a commit.
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))]
LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "dense": lambda rng, n: rng.normal(rng.choice([-0.05, 0.0, 0.03]), 0.12, n),
    "grid": lambda rng, n: np.round(rng.normal(rng.choice([-0.1, 0.0]), 0.2, n), 1),
    "few": lambda rng, n: np.where(np.arange(n) < 5, rng.normal(-0.1, 0.2, n), 0.0),
    "better": lambda rng, n: rng.normal(0.06, 0.1, n),
    "lost": lambda rng, n: -np.abs(rng.normal(0, 0.1, n)),
    "won": lambda rng, n: np.abs(rng.normal(0, 0.1, n)),
    "nothing": lambda _, n: np.zeros(n),
    "tiny": lambda rng, n: rng.normal(-1e-8, 1e-8, n),
}


def questions(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    alpha = float(rng.choice([0, 0.5, 1, 5]))
    yield {"alpha": alpha, "level": float(rng.choice([0.8, 0.95]))}
    yield {"alpha": alpha, "convention": "minus", "tolerance": 0.01}
    yield {"alpha": 5, "on_churn": "warn"}
    yield {"alpha": alpha, "weighted": True}
    yield {"tradeoff": "smooth"}
    yield {"alpha": alpha, "max_mde": 0.01}
    yield {"kind": "not_inferior", "alpha": 0, "tolerance": 0.03}
    yield {"kind": "not_inferior", "alpha": 1, "tolerance": 0.03, "convention": "minus"}
    yield {"kind": "not_inferior", "alpha": 0, "weighted": True, "convention": "minus"}
    for max_loss in (0.15, 0.9):
        yield {"kind": "no_topic_collapse", "max_loss": max_loss}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_summary_is_true(law, seed):
    rng = np.random.default_rng([seed, *law.encode()])
    n = int(rng.choice([1, 7, 13, 30]))
    topics = tagged(n, kind=rng.choice(["a", "b", ""], n).tolist(), size=rng.choice(list("xyz"), n).tolist())
    topics = replace(topics, weights=dict(zip(topics.queries, rng.uniform(1, 9, n).tolist(), strict=True)))
    candidate, baseline = pair(LAWS[law](rng, n))
    again = [topic_scores("again", baseline.values + rng.normal(0.01, 0.05, n)) for _ in range(int(rng.integers(3)))]
    for options in questions(rng):
        gate = gate_of("g", **options)
        verdict = judged(gate, candidate, baseline, topics=topics)
        check(verdict)
        if again and n > 1 and gate.kind != "no_topic_collapse":
            check(judged(gate, candidate, baseline, replicates=again, topics=topics))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_summary_of_a_pool_is_true(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([8, 30]))
    scores = np.clip(rng.beta(2, 2, n) + rng.normal(0, 0.1, (4, n)), 0, 1)
    scores[0] = np.clip(scores[0] - (0.0, 0.06, 0.2)[seed % 3], 0, 1)
    systems = [topic_scores(name, row) for name, row in zip(("ours", "b", "c", "d"), scores, strict=True)]
    topics = tagged(n, size=rng.choice(list("xyz"), n).tolist())
    for options in (
        {"alpha": 1},
        {"alpha": 5, "reference": "any", "convention": "minus"},
        {"alpha": 5, "reference": "median", "on_churn": "warn", "tolerance": 0.01},
    ):
        check(judged_pool(gate_of("g", kind="georisk_not_worse", **options), systems[0], systems[1:], topics=topics))


#: Cases that say everything between them.
TELLING = {"grid": 2, "few": 1, "better": 3, "lost": 0, "won": 3, "nothing": 0, "tiny": 2}


def test_the_cases_cover_what_a_verdict_can_say():
    said = []
    for law, seed in TELLING.items():
        rng = np.random.default_rng([seed, *law.encode()])
        n = int(rng.choice([1, 7, 13, 30]))
        topics = replace(tagged(n), weights={f"t{i:05d}": 1.0 + i for i in range(n)})
        candidate, baseline = pair(LAWS[law](rng, n))
        said += [
            told(judged(gate_of("g", **options), candidate, baseline, topics=topics)) for options in questions(rng)
        ]
    everything = "\n".join(said)
    for words in (
        "Passes with a warning",
        "outweigh wins",
        "outweigh losses",
        "and no win",
        "and no loss",
        "No score changed.",
        "by more than 0.000001",
        "but the risk is not significant.",
        "but the risk is not significantly more than the tolerated",
        "if losses counted once, it would pass",
        "if losses counted once, it would also fail",
        "if losses counted no more than wins",
        "is not shown to be",
        "is shown to be",
        "lost more than allowed: ",
        "lost more than allowed; ",
        "too few; at least 10",
        "smallest detectable loss",
        "too few for one interval",
        "did not change",
        "The weighted mean",
    ):
        assert words in everything, words


EXAMPLE = np.concatenate([np.full(4, -0.6), [-0.1, -0.15], np.linspace(0.005, 0.02, 31), np.zeros(83)])
CODES = replace(tagged(120, intent=["code"] * 8 + ["words"] * 112))


def example() -> Verdict:
    return judged(gate_of("g", alpha=1), *pair(EXAMPLE, level=0.7), topics=CODES)


def test_the_summary_in_full():
    assert told(example()) == (
        "Fails. Losses on 6 of 120 topics, each counted twice, outweigh wins on 31; if losses counted once, it would "
        "also fail. All 6 are tagged intent=code. The mean fell by 0.0189."
    )


def test_a_gate_on_a_slice_says_which():
    verdict = worded(altered(example(), slice="intent=code"))
    assert told(verdict).startswith("Fails on intent=code. Losses on 6 of 120 topics")


def moved(topic: str, before: int, after: int | None, *, depth: int = 10) -> TopicDocuments:
    document = MovedDocument("d", 1, before, after, -0.6)
    return TopicDocuments(topic, depth, exact=True, moved=(document,), replacements=())


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        (
            [moved(f"t0000{i}", 1, 40) for i in range(4)],
            "In all 4 topics examined, the costliest relevant document dropped from rank 1 out of the top 10.",
        ),
        (
            [moved("t00000", 1, None), moved("t00001", 3, 11), moved("t00002", 2, 5)],
            "In all 3 topics examined, the costliest relevant document dropped from ranks 1-3: out of the top 10 in "
            "2, to rank 5 in 1.",
        ),
        (
            [moved("t00000", 1, 4), moved("t00001", 2, 9), moved("t00002", 1, 30)],
            "In all 3 topics examined, the costliest relevant document dropped from ranks 1-2: out of the top 10 in "
            "1, to ranks 4-9 in 2.",
        ),
        ([moved("t00003", 1, 7)], "In t00003, the costliest relevant document dropped from rank 1 to rank 7."),
        (
            [moved("t00003", 1, None, depth=0)],
            "In t00003, the costliest relevant document dropped from rank 1 out of the results.",
        ),
        ([moved("t00050", 1, None)], ""),  # a topic that did not lose
        ([], ""),
    ],
)
def test_documents_are_told_of_once_they_are_known(documents, sentence):
    verdict = example()
    whole = told(verdict)
    with_documents = told(worded(replace(verdict, documents=tuple(documents))))
    assert with_documents == whole.replace(
        "intent=code. The mean", f"intent=code. {sentence} The mean" if sentence else "intent=code. The mean"
    )


def test_other_peoples_text_stays_on_one_line_and_short():
    topics = Topics({}, {f"t{i:05d}": {"in\ntent": "co\u2028de " * 30 if i < 8 else "w"} for i in range(120)})
    text = told(judged(gate_of("g", alpha=1), *pair(EXAMPLE, level=0.7), topics=topics))
    assert "tagged in tent=co de co de" in text
    assert len(text.splitlines()) == 1
    assert len(text) < 400


def test_an_incomparable_verdict_has_no_explanation():
    candidate, baseline = pair(EXAMPLE)
    other = replace(baseline, topics=tuple(f"u{i:03d}" for i in range(120)))
    verdict = judged(gate_of("g"), candidate, other)
    assert verdict.outcome == "incomparable"
    assert verdict.explanation is None
    assert worded(verdict) == verdict


def test_two_of_two_are_both():
    n = 30
    d = np.full(n, 0.001)
    d[[3, 7]] = [-0.4, -0.3]
    topics = tagged(n, intent=["code" if i in (3, 7, 11) else "words" for i in range(n)])
    verdict = judged(gate_of("g", kind="not_inferior", alpha=0.0), *pair(d), topics=topics)
    check(verdict)
    assert "Both are tagged intent=code." in told(verdict)
