"""A verdict in words: every figure in it is a figure of the verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.findings import RankedDocument, TopicDocuments
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.pool.judge import judge_pool
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.wording import worded
from pytest_riskguard.reports.wording.paragraph import lost_documents
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
QUERIES = r"(\d+) (?:\w+=\w+ )?quer(?:y|ies)"


def deciding(verdict: Verdict) -> tuple[float, float]:
    """The limits of the interval that decided; 0 without one."""
    interval = verdict.decisive_interval
    return (0.0, 0.0) if interval is None else (interval.lower, interval.upper)


def check(verdict: Verdict) -> None:
    """Every sentence says what the verdict's fields say, and no number is left that none of them says."""
    v, e, t = verdict, verdict.estimates, verdict.topics
    assert "\n" not in told(v)
    assert v.explanation is not None
    pivots, groups = v.explanation.pivotal_topics, v.explanation.groups
    by_topic = v.kind == "no_topic_collapse"
    by_wins = v.kind == "equivalent" and max(deciding(v), key=abs) > 0
    change, verb, whole, number = (
        ("win", "improved", "gain", t.wins) if by_wins else ("loss", "got worse", "loss", t.losses)
    )
    lost = [x for x in v.responsible_topics if (x.exceeds if by_topic else x.difference * (1, -1)[by_wins] < -1e-6)]
    churn = v.reason == "churn" or has(v, "churn")
    significant = (v.outcome == "fail" and v.kind not in ("not_inferior", "equivalent")) or churn
    reader = Reader(v, told(v))

    def group(
        members: str, tagged: str, tag: str, value: str, over: str | None = None, percent: str | None = None
    ) -> bool:
        (found,) = [g for g in groups if (g.tag, g.value, g.change) == (tag, value, change)]
        count = len({x.topic for x in lost} & {*found.topics})
        rounded = (1 if over else 0.5) + 1e-9
        said = count == len(lost) if percent is None else abs(int(percent) - 100 * (found.share or 0)) <= rounded
        return (int(members), int(tagged)) == (count, found.tagged) and said and (significant or v.kind != "x")

    share = rf", and (?:no others|they make up (over )?(\d+)% of the {whole})"
    reader.claim(rf"(\d+) of (\d+) (\w+)=(\w+) queries {verb}{share}", group)
    reader.claim(
        rf"All (\d+) (\w+)=(\w+) queries {verb}{share}",
        lambda n, tag, value, over, percent: group(n, n, tag, value, over, percent),
    )

    def collapsed(members: str, tag: str, value: str, of: str | None = None) -> bool:
        (found,) = [g for g in groups if (g.tag, g.value, g.change) == (tag, value, "loss")]
        count = len({x.topic for x in lost} & {*found.topics})
        return int(members) == count and int(of or members) == len(lost) and by_topic

    reader.claim(r"(\d+) of these (\d+) are (\w+)=(\w+)\.", lambda k, n, tag, value: collapsed(k, tag, value, n))
    reader.claim(r"All (\d+) are (\w+)=(\w+)\.", collapsed)
    reader.claim(r"Both are (\w+)=(\w+)\.", lambda tag, value: collapsed("2", tag, value))
    reader.claim(
        rf"(?:(\d+) of|All) {QUERIES} {verb}; (t\d{{5}}) alone makes up (over )?(\d+)% of the {whole}",
        lambda k, n, topic, over, percent: (
            (int(k or n), int(n), topic) == (number, t.count, lost[0].topic)
            and abs(int(percent) - 100 * (lost[0].share or 0)) <= (1 if over else 0.5 + 1e-9)
        ),
    )
    reader.claim(
        rf"Only (t\d{{5}}) of {QUERIES} {verb}",
        lambda name, n: (name, int(n), 1) == (lost[0].topic, t.count, number),
    )
    reader.claim(
        rf"(\d+) of {QUERIES} improved and (\d+) got worse",
        lambda won, n, lost: (int(won), int(n), int(lost)) == (t.wins, t.count, t.losses),
    )
    reader.claim(rf"None of {QUERIES} got worse", lambda n: int(n) == t.count and t.losses == 0)
    reader.claim(rf"(?:(\d+) of|All) {QUERIES} {verb}", lambda k, n: (int(k or n), int(n)) == (number, t.count))
    other = {"pass": "fail", "fail": "pass"}.get(v.outcome)
    reader.claim(
        r"Without any one of (\d+) queries, (t\d{5}) above all, it would (pass|fail)",
        lambda number, first, word: (word, int(number), first) == (other, len(pivots), pivots[0]),
    )
    reader.claim(
        r"Without (?:either |any one of )?((?:t\d{5}|, | and | or )+) it would (pass|fail)",
        lambda names, word: (*re.findall(r"t\d{5}", names),) == pivots and word == other,
    )
    tested = [s for s in v.explanation.slices if s.risky is not None]
    risky = {f"{s.tag}={s.value}" for s in tested if s.risky}
    reader.claim(
        r"On their own, the queries of ([\w=, ]+?)(?: and (\d+) more slices)? are significantly risky",
        lambda names, more: (
            {*re.findall(r"\w+=\w+", names)} <= risky
            and len(re.findall("=", names)) + int(more or 0) == len(risky)
            and v.outcome == "pass"
        ),
    )
    reader.claim(
        r"Each of the (\d+) slices( with at least 10 queries)? is significantly risky",
        lambda n, large: (
            int(n) == len(tested) == len(risky) > 1 and bool(large) == (len(tested) < len(v.explanation.slices))
        ),
    )
    reader.claim(rf"Only {QUERIES} changed", lambda n: int(n) == t.changed and has(v, "few_changed_topics"))
    _mean(reader)
    _answer(reader, raw=(e.urisk or 0.0) + (e.noise_urisk or 0.0), significant=significant, churn=churn)
    assert not re.search(r"\d", reader.rest), (reader.rest, told(v))


def _mean(reader: Reader) -> None:
    v, e, t = reader.verdict, reader.verdict.estimates, reader.verdict.topics
    difference = e.mean_difference or 0.0
    lost = v.reason == "loss" and e.noise_urisk is None and difference < 0

    def moved(weighted: str | None, verb: str, significantly: str | None, before: str, after: str, rest: str) -> bool:
        wins = re.search(r"\d+", rest)
        told = t.losses if "worse" in rest else t.wins
        return (
            rounded(before, e.baseline_mean)
            and rounded(after, e.candidate_mean)
            and (verb == "rose") == (difference > 0)
            and bool(weighted) == v.weighted
            and bool(significantly) == (e.noise_urisk is None and (has(v, "significantly_better") or lost))
            and (wins is None or int(wins.group()) == told)
            and ("worse" not in rest or (v.kind == "equivalent" and max(deciding(v), key=abs) > 0))
            and ("because" not in rest or (difference > 0 and t.losses > 0))
        )

    rest = (
        r"((?: because \d+ other quer\w+ improved|, although \d+ quer\w+ (?:improved|got worse)"
        r"|; \d+ quer\w+ (?:improved|got worse))?)"
    )
    reader.claim(rf"The (weighted )?mean (rose|fell)( significantly)? \({NUMBER} -> {NUMBER}\){rest}", moved)
    reader.claim(
        rf"The (weighted )?mean (rose|fell)( significantly)? by {NUMBER}{rest}",
        lambda _, verb, __, by, ___: same(by, abs(difference)) and (verb == "rose") == (difference > 0),
    )
    reader.claim(r"The (weighted )?mean (did not change|equals that of)", lambda *_: difference == 0)
    reader.claim(
        rf"The mean is {NUMBER} (above|below) that of (?:the )?(\w+)",
        lambda by, side, _: same(by, abs(difference)) and (side == "above") == (difference > 0),
    )
    reader.claim(
        rf"The mean is (above|below) that of (?:the )?(\w+)(?: baseline)? \({NUMBER} -> {NUMBER}\)",
        lambda side, name, before, after: (
            rounded(before, e.baseline_mean)
            and rounded(after, e.candidate_mean)
            and (side == "above") == (difference > 0)
            and v.pool is not None
            and v.pool.decided_by == name
        ),
    )


def _equivalence(reader: Reader) -> None:
    v = reader.verdict
    lower, upper = deciding(v)
    what = r"The (?:weighted )?mean difference (?:beyond the baseline's noise )?is (not )?shown to lie between "
    what += rf"{NUMBER} and {NUMBER}: it "

    def asked(no: str | None, below: str, above: str) -> bool:
        within = rounded(below, -v.tolerance) and rounded(above, v.tolerance)
        return v.kind == "equivalent" and within and bool(no) == (v.outcome == "fail")

    reader.claim(
        rf"{what}is from {NUMBER} to {NUMBER}",
        lambda no, below, above, low, high: asked(no, below, above) and rounded(low, lower) and rounded(high, upper),
    )
    reader.claim(
        rf"{what}may be as (high|low) as {NUMBER}",
        lambda no, below, above, way, far: (
            asked(no, below, above)
            and rounded(far, upper if way == "high" else lower)
            and (way == "high") == (upper > -lower)
        ),
    )


def rounded(text: str, value: float | None) -> bool:
    """Whether a printed number is this one, rounded to as many decimals as are printed."""
    assert value is not None
    if "e" in text:
        return same(text, value)
    return abs(float(text) - value) <= 0.500001 * 10 ** -len(text.partition(".")[2])


def gained(verdict: Verdict) -> float:
    """All gains together as a share of all losses, by the topics that a verdict on few topics names."""
    lost = -sum(topic.difference for topic in verdict.responsible_topics) / verdict.topics.count
    return ((verdict.estimates.mean_difference or 0.0) + lost) / lost


def _answer(reader: Reader, *, raw: float, significant: bool, churn: bool) -> None:
    v, e, t = reader.verdict, reader.verdict.estimates, reader.verdict.topics
    once = r"(once|no more than wins)"
    linear = v.tradeoff == "linear"

    def times(often: str) -> bool:
        return linear and float("2" if often == "twice" else often.split()[0]) == pytest.approx(1 + v.alpha, rel=1e-9)

    weighed = r"counting (?:losses (twice|[\d.e+]+ times)|larger losses more)"
    nothing = r"( and nothing tolerated)?"

    def allows(word: str) -> bool:
        return churn and (word == "fail would stop it") == (v.outcome == "pass")

    reader.claim(
        r"(Too few changes to show a lower mean: )?the mean itself(, noise allowed for,)? is not significantly "
        rf"down, but {weighed} the loss is beyond chance(?: and the tolerated {NUMBER})?; "
        r"on_churn: (fail would stop it|warn would let it pass)",
        lambda few, noise, often, tolerated, word: (
            allows(word)
            and (times(often) if often else not linear)
            and bool(noise) == (e.noise_urisk is not None)
            and (v.tolerance == 0 if tolerated is None else float(tolerated) == v.tolerance)
            and (few is None or t.wins == 0 or gained(v) <= 0.1)
        ),
    )
    reader.claim(
        rf"With losses counted no more than wins{nothing}, it would not be riskier; "
        r"on_churn: (fail would stop it|warn would let it pass)",
        lambda tolerated, word: allows(word) and v.pool is not None and bool(tolerated) == (v.tolerance > 0),
    )
    reader.claim(
        r"A change like this that leaves the mean alone would fail in (under |over |about )(\d+)% of cases",
        lambda _, percent: (
            v.power.churn_failure_rate is not None
            and abs(int(percent) - 100 * v.power.churn_failure_rate) <= 1
            and v.reason == "churn"
        ),
    )
    reader.claim(
        rf"With losses counted {once}{nothing}, it fails as well",
        lambda word, tolerated: (
            v.reason == "loss"
            and (word == "once") == (linear and v.pool is None)
            and bool(tolerated) == (v.tolerance > 0)
        ),
    )
    reader.claim(r"No score changed by more than 0.000001", lambda: t.wins == t.losses == 0 < t.changed)
    reader.claim(r"No score changed", lambda: t.wins == t.losses == t.changed == 0)
    reader.claim(
        rf"(?:{weighed}, )?the loss is significantly more than the tolerated {NUMBER}",
        lambda often, by: (
            float(by) == v.tolerance > 0
            and v.reason == "loss"
            and (times(often) if often else not (linear and v.alpha))
        ),
    )
    reader.claim(
        rf"URisk is {NUMBER}, (but its interval still|and its interval) lies below the bound",
        lambda value, word: (
            rounded(value, raw)
            and significant
            and (t.losses == 0 or raw >= 0)
            and (word.startswith("but") == (raw >= 0))
        ),
    )
    reader.claim(
        rf"URisk is {NUMBER}, against {NUMBER} for the baseline's own (\d+) replicates?: "
        r"(worse|better|the same)(, significantly|, not significantly)?",
        lambda ours, own, number, side, much: (
            rounded(ours, raw)
            and int(number) == v.replicates
            and rounded(own, (e.noise_urisk or 0.0))
            and (side == "worse") == ((e.urisk or 0.0) < 0)
            and (side != "worse" or (much == ", significantly") == significant)
        ),
    )
    interval = v.decisive_interval
    reader.claim(
        rf"(URisk|The (?:weighted )?mean difference) is (not )?shown to be above (0|[-+][\d.]+): "
        rf"it (?:is at least|may be as low as) {NUMBER}",
        lambda _, no, bound, limit: (
            bool(no) == (v.outcome == "fail")
            and rounded(bound, -v.tolerance)
            and interval is not None
            and rounded(limit, interval.lower)
            and v.kind == "not_inferior"
        ),
    )
    reader.claim(
        rf"About {QUERIES} like these would show it", lambda n: int(n) == v.power.topics_for_tolerance is not None
    )
    _equivalence(reader)
    guilty = [x for x in v.responsible_topics if x.exceeds]
    more_than = rf"more than (?:{NUMBER}|([\d.]+)% of (?:its|their) score|(?:it|they) may)"

    def limited(most: str | None, share: str | None) -> bool:
        only = most is None or (v.max_loss is not None and float(most) == v.max_loss)
        return only and (
            share is None or (v.max_share is not None and float(share) == pytest.approx(100 * v.max_share))
        )

    by = {x.topic: -x.difference for x in v.responsible_topics}
    reader.claim(
        rf"(\d+) of {QUERIES} lost {more_than}",
        lambda k, n, most, share: (int(k), int(n)) == (len(guilty), t.count) and limited(most, share),
    )
    reader.claim(
        r"(At most )?(\d+) may\.",
        lambda most, allowed: (
            e.collapsed is not None
            and (int(allowed), len(guilty)) == (cast(Any, v.asked).most(t.count), e.collapsed)
            and bool(most) == (v.reason == "collapse") == (len(guilty) > int(allowed))
        ),
    )
    reader.claim(
        rf"None of {QUERIES} lost {more_than}; the (?:only loss|largest of (\d+) losses) is (t\d+) by {NUMBER}",
        lambda n, most, share, k, name, size: (
            limited(most, share)
            and (int(n), int(k or 1)) == (t.count, t.losses)
            and rounded(size, by[name])
            and by[name] == pytest.approx(max(by.values()))
            and not guilty
        ),
    )
    reader.claim(r"and (\d+) others?", lambda more: int(more) == len(guilty) - 3)
    reader.claim(rf"(t\d{{5}}) by {NUMBER}", lambda name, size: rounded(size, by[name]))
    gap = e.georisk_difference
    reader.claim(
        rf"By GeoRisk the candidate is {NUMBER} (riskier|less risky) than (?:the )?(\w+)(?: baseline)?"
        rf"(, significantly|, not significantly)?(?: more than the tolerated {NUMBER})?",
        lambda size, side, name, much, tolerated: (
            gap is not None
            and rounded(size, abs(gap))
            and (side == "riskier") == (gap < 0)
            and v.pool is not None
            and v.pool.decided_by == name
            and (side != "riskier" or (much == ", significantly") == significant)
            and (tolerated is None or rounded(tolerated, v.tolerance))
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
        r"This pass is weak: the candidate has an? ([\d.]+)% chance of ranking below (?:the )?(\w+)",
        lambda percent, name: (
            v.pool is not None
            and v.outcome == "pass"
            and (gap or 0.0) < 0
            and rounded(percent, 100 * v.pool.probability_below[name])
        ),
    )
    reader.claim(
        rf"This pass is weak: (the excess of )?URisk is {NUMBER}",
        lambda excess, value: (
            rounded(value, (e.urisk or 0.0))
            and (e.urisk or 0.0) < 0
            and v.outcome == "pass"
            and bool(excess) == (e.noise_urisk is not None)
        ),
    )
    smallest = v.power.minimum_detectable_effect
    reader.claim(
        rf"A loss of up to {NUMBER} in the mean may go unseen",
        lambda size: (
            smallest is not None
            and rounded(size, smallest if v.on_churn == "warn" else smallest / (1 + v.alpha))
            and v.outcome == "pass"
        ),
    )
    reader.claim(
        rf"the smallest detectable (loss of the mean|fall of URisk|difference of GeoRisk) at 80% power is {NUMBER}",
        lambda what, size: (
            rounded(size, smallest)
            and v.reason == "too_weak"
            and (what == "difference of GeoRisk") == (v.pool is not None)
            and (what != "fall of URisk" or (v.alpha > 0 and v.on_churn == "fail"))
        ),
    )
    reader.claim(
        rf"{QUERIES} (?:is|are) too few; at least 10 are needed",
        lambda n: int(n) == t.count < 10 and v.reason == "too_few_topics",
    )
    reader.claim(r"less evidence than 10 queries", lambda: v.weighted and v.reason == "too_few_topics")


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
    yield {"alpha": alpha, "tolerance": 0.01}
    yield {"alpha": 5, "on_churn": "warn"}
    yield {"alpha": 5, "tolerance": 0.005, "on_churn": "fail"}
    yield {"alpha": alpha, "weighted": True}
    yield {"tradeoff": "smooth", "on_churn": "fail"}
    yield {"alpha": alpha, "max_mde": 0.01}
    yield {"alpha": 1, "max_mde": 0.01, "on_churn": "fail"}
    yield {"kind": "not_inferior", "alpha": 0, "tolerance": 0.03}
    yield {"kind": "not_inferior", "alpha": 1, "tolerance": 0.03}
    yield {"kind": "not_inferior", "alpha": 0, "weighted": True}
    yield {"kind": "equivalent", "tolerance": float(rng.choice([0.02, 0.05, 0.15]))}
    yield {"kind": "equivalent", "tolerance": 0.03, "weighted": True}
    for max_loss in (0.15, 0.9):
        yield {"kind": "no_topic_collapse", "max_loss": max_loss}
        yield {"kind": "no_topic_collapse", "max_loss": max_loss, "allowed": 0.1}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_summary_is_true(law, seed):
    rng = np.random.default_rng([seed, *law.encode()])
    n = int(rng.choice([1, 7, 13, 30]))
    topics = tagged(n, kind=rng.choice(["a", "b", ""], n).tolist(), size=rng.choice(list("xyz"), n).tolist())
    topics = replace(topics, weighting=rng.uniform(1, 9, n).tolist())
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
        {"alpha": 5, "reference": "any"},
        {"alpha": 5, "reference": "median", "on_churn": "warn", "tolerance": 0.01},
    ):
        check(judged_pool(gate_of("g", kind="georisk_not_worse", **options), systems[0], systems[1:], topics=topics))


#: Cases that say everything between them.
TELLING = {"grid": 2, "few": 1, "better": 3, "lost": 0, "won": 3, "nothing": 0, "tiny": 2}


@pytest.mark.slow
def test_the_cases_cover_what_a_verdict_can_say():
    said = []
    for law, seed in TELLING.items():
        rng = np.random.default_rng([seed, *law.encode()])
        n = int(rng.choice([1, 7, 13, 30]))
        topics = replace(tagged(n), weighting=[1.0 + i for i in range(n)])
        candidate, baseline = pair(LAWS[law](rng, n))
        said += [
            told(judged(gate_of("g", **options), candidate, baseline, topics=topics)) for options in questions(rng)
        ]
    everything = "\n".join(said)
    for words in (
        "on_churn: fail would stop it",
        "improved and 0 got worse",
        "queries got worse.",
        "alone makes up",
        "because",
        "although",
        "No score changed.",
        "by more than 0.000001",
        "significantly more than the tolerated",
        "is shown to lie between",
        "is not shown to lie between",
        "of the gain",
        "on_churn: warn would let it pass",
        "but counting larger losses more the loss is beyond chance",
        "With losses counted once and nothing tolerated, it fails as well",
        "is not shown to be",
        "is shown to be",
        "queries lost more than 0.",
        "too few; at least 10",
        "smallest detectable fall of URisk",
        "smallest detectable loss of the mean",
        "too few for one interval",
        "The weighted mean",
    ):
        assert words in everything, words


EXAMPLE = np.concatenate([np.full(5, -0.6), [-0.1, -0.15], np.linspace(0.005, 0.02, 31), np.zeros(82)])
CODES = replace(tagged(120, intent=["code"] * 8 + ["words"] * 112))


def example() -> Verdict:
    return judged(gate_of("g", alpha=1), *pair(EXAMPLE, level=0.7), topics=CODES)


def test_the_summary_in_full():
    assert told(example()) == (
        "7 of 8 intent=code queries got worse, and no others. The mean fell significantly (0.70 -> 0.68), although "
        "31 queries improved. Counting losses twice, the loss is significantly more than the tolerated 0.005. With "
        "losses counted once and nothing tolerated, it fails as well. Without any one of 5 queries, t00000 above "
        "all, it would pass."
    )


def test_a_gate_on_a_slice_says_which():
    verdict = worded(altered(example(), slice="lang=en"))
    assert told(verdict).startswith("Of 120 lang=en queries, 7 of 8 intent=code queries got worse, and no others.")


def moved(topic: str, before: int, after: int | None, *, depth: int = 10) -> TopicDocuments:
    document = RankedDocument("d", 1, before, after, -0.6)
    return TopicDocuments(topic, True, (document,), (), depth=depth)


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        (
            [moved(f"t0000{i}", 1, 40) for i in range(4)],
            "Of 4 queries examined, the costliest relevant document left the top 10 in 4.",
        ),
        (
            [moved("t00000", 1, None), moved("t00001", 3, 11), moved("t00002", 2, 5)],
            "Of 3 queries examined, the costliest relevant document left the top 10 in 2 and fell to rank 5 in 1.",
        ),
        (
            [moved("t00000", 1, 4), moved("t00001", 2, 9), moved("t00002", 1, 30)],
            "Of 3 queries examined, the costliest relevant document left the top 10 in 1 and fell to ranks 4-9 in 2.",
        ),
        ([moved("t00003", 1, 7)], "In t00003 the costliest relevant document fell to rank 7."),
        ([moved("t00003", 1, None, depth=0)], "In t00003 the costliest relevant document left the results."),
        ([moved("t00050", 1, None)], ""),  # a topic that did not lose
        ([], ""),
    ],
)
def test_where_the_costliest_documents_went_is_one_sentence(documents, sentence):
    assert lost_documents(replace(example(), documents=tuple(documents))) == sentence


def test_other_peoples_text_stays_on_one_line_and_short():
    topics = Topics.of({}, {f"t{i:05d}": {"in\ntent": "co\u2028de " * 30 if i < 8 else "w"} for i in range(120)})
    text = told(judged(gate_of("g", alpha=1), *pair(EXAMPLE, level=0.7), topics=topics))
    assert "7 of 8 in tent=co de co de" in text
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
    verdict = judged(gate_of("g", kind="no_topic_collapse", max_loss=0.2), *pair(d), topics=topics)
    check(verdict)
    assert "Both are intent=code." in told(verdict)
