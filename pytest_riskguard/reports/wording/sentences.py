"""Numbers in sentences and headlines: as few decimals as tell the truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from pytest_riskguard.gates.findings import COUNTED, ROUNDING_ERROR, Explanation, ResponsibleTopic, TopicGroup
from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean, counted, percent, plain, probability, sentence, short, signed

#: Decimals that people read at a glance, and the most that reports print.
MIN_DECIMALS, MAX_DECIMALS = 2, 4


def decimals(values: Iterable[float], *, apart: Sequence[tuple[float, float]] = ()) -> int:
    """The least number of decimals at which no value looks like 0, and no pair looks equal, unless it is."""
    finite = [value for value in values if math.isfinite(value)]
    for digits in range(MIN_DECIMALS, MAX_DECIMALS):
        misleading = any(value and not round(value, digits) for value in finite)
        misleading |= any(one != other and round(one, digits) == round(other, digits) for one, other in apart)
        if not misleading:
            return digits
    return MAX_DECIMALS


def from_to(before: float, after: float) -> str:
    """``0.58 -> 0.65``, with enough decimals to show about how far it moved."""
    digits, moved = decimals((before, after), apart=[(before, after)]), after - before
    while digits < MAX_DECIMALS and abs(round(after, digits) - round(before, digits) - moved) > abs(moved) / 2:
        digits += 1
    return f"{plain(before, digits)} -> {plain(after, digits)}"


def size(value: float) -> str:
    """How large a number is, without its sign; in powers of ten where four decimals would not show it."""
    value = abs(value)
    if not math.isfinite(value):
        return "undefined"
    return f"{value:.1e}" if value >= 1e9 or 0 < value < 0.00005 else plain(value, decimals([value]))


def share(part: float) -> str:
    """A share in whole percent; 0% and 100% only where they are exact."""
    rounded = round(100 * part)
    if rounded == 100 and part < 1 - ROUNDING_ERROR:
        return "over 99%"
    return "under 1%" if rounded == 0 and part > 0 else f"{rounded}%"


def digits_of(verdict: Verdict) -> int:
    """The decimals of the risk and its limits: enough to tell them from 0 and from the bound."""
    risk, interval = Shown(verdict).risk or 0.0, verdict.decisive_interval
    if interval is None:
        return decimals([risk])
    limits = (interval.lower, interval.upper)
    bounds = (0.0 - verdict.tolerance, verdict.tolerance)[: 2 if verdict.asked.side == "both" else 1]
    apart = [(limit, bound) for limit in limits for bound in bounds]
    return decimals((risk, *limits, *bounds), apart=apart)


#: A group is worth a sentence when it has this share of the loss ...
MIN_GROUP_SHARE = 1 / 3
#: ... and exceeds by this much the share of all topics with the tag, which is what chance would give.
MIN_EXCESS_SHARE = 0.2
#: A topic is worth a sentence when it alone has this share of the loss, and the headline when it has most of it.
MIN_TOPIC_SHARE, MOST = 0.2, 0.5
#: The longest name, of a topic, a tag or a system, that a sentence repeats whole.
MAX_NAME = 60


def name(text: str) -> str:
    """Other people's text on one line, short enough for a sentence; reports escape it."""
    return clean(text, limit=MAX_NAME)


def lost_topics(verdict: Verdict) -> tuple[ResponsibleTopic, ...]:
    """The topics that an answer counts: those that lost, or for a gate on single topics those that collapsed.

    Where wins stand in the way of a pass, those that won.
    """
    if verdict.asked.by_topic:
        return Shown(verdict).collapsed
    sign = -1 if Shown(verdict).explained_by_wins else 1
    return tuple(topic for topic in verdict.responsible_topics if sign * topic.difference < -COUNTED)


def number_lost(verdict: Verdict) -> int:
    """How many ``lost_topics`` there are, with those that a verdict on very many topics does not name."""
    return len(lost_topics(verdict)) + Shown(verdict).more_losers


def dominant_group(verdict: Verdict) -> TopicGroup | None:
    """The most telling group of losses: its share of the loss is far above its share of the topics."""
    best, largest_excess = None, MIN_EXCESS_SHARE
    change = "win" if Shown(verdict).explained_by_wins else "loss"
    for group in (verdict.explanation or Explanation()).groups:
        if group.change != change or number_of_members(verdict, group) < 2:
            continue
        expected = group.tagged / verdict.topics.count
        share = _share(verdict, group)
        if share is not None and share >= MIN_GROUP_SHARE and share - expected > largest_excess:
            best, largest_excess = group, share - expected
    return best


def _share(verdict: Verdict, group: TopicGroup) -> float | None:
    """The group's share of the loss; where each topic has its own limit, of the topics that exceed it."""
    if not verdict.asked.by_topic:
        return group.share
    return number_of_members(verdict, group) / max(number_lost(verdict), 1)


def number_of_members(verdict: Verdict, group: TopicGroup) -> int:
    """How many topics of the group the answer counts; at most so many, if the verdict does not name all that lost.

    0 where single topics decide and the verdict does not name enough of them to say it.
    """
    if Shown(verdict).more_losers:
        return 0 if verdict.asked.by_topic else min(len(group.topics), number_lost(verdict))
    return len({topic.topic for topic in lost_topics(verdict)}.intersection(group.topics))


def tagged(group: TopicGroup) -> str:
    """``kind=code``."""
    return f"{name(group.tag)}={name(group.value)}"


def heaviest(verdict: Verdict, *, least: float = MIN_TOPIC_SHARE) -> ResponsibleTopic | None:
    """The topic with the largest share of the loss, if that is large and other topics lost too."""
    topics = lost_topics(verdict)
    if verdict.asked.by_topic or len(topics) < 2:
        return None
    share = topics[0].share
    return topics[0] if share is not None and share >= least else None


_REMEDIES = {
    "missing_input": "Write or mend the file, or correct its path",
    "bad_run": "Fix the run, or the search that made it",
    "bad_qrels": "Correct the file of judgements",
    "bad_topics": "Correct the topics file; each line is a topic, a tab and its query text",
    "bad_scores": "Correct the scores: one finite number for each topic",
    "bad_baseline": "Find out what is wrong in the store",
    "no_common_topic": "Use the same topic ids in every file, and a slice that has topics; "
    "give the topics file if a file knows queries by their texts",
    "inputs_changed": "Judge again once nothing is writing to the inputs",
}
#: Words of problems that say themselves what to do.
_SAYS_WHAT_TO_DO = (
    "`riskguard ",
    "`collection:",
    "set the environment variable",
    "rename its columns",
    "; save it as",
    ": unpack it",
    "; give every judged topic",
    "Use a whole run",
    "would be compared with itself",
)


def remedy(verdict: Verdict) -> str | None:
    """What to do; None where the problem says it."""
    reason, problem = verdict.reason or "", verdict.problem or ""
    says_it = any(words in problem for words in _SAYS_WHAT_TO_DO)
    if verdict.outcome != "incomparable" or reason not in _REMEDIES or says_it:
        return None
    return _REMEDIES[reason]


#: How many collapsed topics are named; the others are counted.
MAX_NAMED = 3
#: A pass is weak if it would fail at a level of 50 % already (a risk is then three times as likely as a gain), or if
#: it could miss a loss of that share of the baseline's mean.
MAX_WEAK_P_VALUE, MAX_UNSEEN_SHARE = 0.5, 0.25
#: Next to nothing improved if all gains together are at most this share of all losses.
MAX_GAINED = 0.1


def queries(verdict: Verdict, number: int | None = None) -> str:
    """``135 queries``, of a gate on a slice ``36 kind=code queries``: all of them, if no number is given."""
    number = verdict.topics.count if number is None else number
    part = "" if verdict.slice is None else f"{name(verdict.slice)} "
    return f"{number} {part}{'query' if number == 1 else 'queries'}"


def happened(verdict: Verdict) -> str:
    """How many queries got worse, and which; where wins stand in the way of a pass, which improved."""
    if verdict.asked.by_topic:
        return _collapsed(verdict)
    moved, loss = ("improved", "gain") if Shown(verdict).explained_by_wins else ("got worse", "loss")
    topics, group = lost_topics(verdict), dominant_group(verdict)
    if Shown(verdict).explains_topics and group is not None:
        return _group(verdict, group, number_lost(verdict))
    if not topics:
        return tally(verdict)
    if len(topics) == 1:
        return f"Only {name(topics[0].topic)} of {queries(verdict)} {moved}."
    lost = number_lost(verdict)
    which = "All" if lost == verdict.topics.count else f"{lost} of"
    worse = f"{which} {queries(verdict)} {moved}"
    worst = heaviest(verdict) if Shown(verdict).explains_topics else None
    if worst is None:
        return f"{worse}."
    return f"{worse}; {name(worst.topic)} alone makes up {share(worst.share or 0.0)} of the {loss}."


def _group(verdict: Verdict, group: TopicGroup, all_lost: int) -> str:
    moved, loss = ("improved", "gain") if Shown(verdict).explained_by_wins else ("got worse", "loss")
    members = number_of_members(verdict, group)
    which = "All" if members == group.tagged else f"{members} of"
    within = "" if verdict.slice is None else f"Of {queries(verdict)}, "
    text = f"{within}{which if not within else which.lower()} {group.tagged} {tagged(group)} queries {moved}"
    if members == all_lost:
        return f"{text}, and no others."
    return f"{text}, and they make up {share(group.share or 0.0)} of the {loss}."


def tally(verdict: Verdict) -> str:
    """Wins and losses, without comment."""
    topics = verdict.topics
    if topics.wins == topics.losses == 0:
        return "No score changed by more than 0.000001." if topics.changed else "No score changed."
    return f"{topics.wins} of {queries(verdict)} improved and {topics.losses} got worse."


def _collapsed(verdict: Verdict) -> str:
    collapsed = lost_topics(verdict)
    if not collapsed:
        if not verdict.topics.losses:
            return f"None of {queries(verdict)} got worse."
        worst = min(verdict.responsible_topics, key=lambda topic: round(topic.difference, 12))
        losses = verdict.topics.losses
        which = "the only loss" if losses == 1 else f"the largest of {losses} losses"
        return (
            f"None of {queries(verdict)} lost {more_than(verdict, limits_of(verdict), 1)}; {which} is {_fall(worst)}."
        )
    number = number_lost(verdict)
    falls, more = [_fall(topic) for topic in collapsed[:MAX_NAMED]], number - MAX_NAMED
    named = row(falls) if more <= 0 else f"{', '.join(falls)} and {counted(more, 'other')}"
    exceeded = {limit for topic in collapsed for limit in topic.exceeds}
    text = f"{number} of {queries(verdict)} lost {more_than(verdict, exceeded, number)}: {named}."
    if allowed := Shown(verdict).may_collapse:
        text += f" {'At most ' * (verdict.outcome == 'fail')}{allowed} may."
    group = dominant_group(verdict)
    if group is None:
        return text
    members = number_of_members(verdict, group)
    everyone = "Both" if members == 2 else f"All {members}"
    whose = everyone if members == number else f"{members} of these {number}"
    return f"{text} {whose} are {tagged(group)}."


def limits_of(verdict: Verdict) -> set[str]:
    """The limits that a gate on single queries has."""
    limits = {"max_loss": verdict.max_loss, "max_share": verdict.max_share, "protected": verdict.protected or None}
    return {name for name, limit in limits.items() if limit is not None}


def more_than(verdict: Verdict, limits: set[str], number: int = 2) -> str:
    """``more than 0.30``, or in words where several limits apply; said of so many queries."""
    if limits == {"max_loss"}:
        return f"more than {as_given(verdict.max_loss or 0.0)}"
    if limits == {"max_share"}:
        return f"more than {percent(verdict.max_share or 0.0)} of {'its' if number == 1 else 'their'} score"
    return f"more than {'it' if number == 1 else 'they'} may"


def as_given(loss: float) -> str:
    """As a person gave it, with at least two decimals: ``0.50``, ``0.125``."""
    return plain(loss, 2) if loss == round(loss, 2) else short(loss)


def _fall(topic: ResponsibleTopic) -> str:
    return f"{name(topic.topic)} by {size(topic.difference)}"


def reasons(verdict: Verdict) -> Iterator[str]:
    """Why that passes, fails or says nothing."""
    shown = Shown(verdict)
    if verdict.outcome == "inconclusive":
        yield _undecided(verdict)
    elif verdict.kind == "not_inferior":
        yield from _not_inferior(verdict)
    elif verdict.kind == "equivalent":
        yield from _equivalent(verdict)
    elif not verdict.asked.by_topic and not shown.is_identical:
        yield from _georisk(verdict) if verdict.asked.is_pool else _urisk(verdict)
        yield from _since(verdict)
        if shown.is_churn:
            yield _churn(verdict)
        elif verdict.reason == "loss" and verdict.alpha > 0:
            nothing = " and nothing tolerated" if verdict.tolerance > 0 else ""
            yield f"With losses counted {_once(verdict)}{nothing}, it fails as well."


def _since(verdict: Verdict) -> Iterator[str]:
    """How many changes were accepted since what a gate that looks back compares with, where the store knows it."""
    if verdict.asked.looks_back and verdict.lineage is not None:
        number = counted(verdict.lineage.accepted + 1, "change")
        yield f"That is what {number} since {name(verdict.baselines[0])} did together, this one included."


def _undecided(verdict: Verdict) -> str:
    if verdict.reason == "too_few_topics":
        if verdict.topics.count < MIN_TOPICS:
            verb = "is" if verdict.topics.count == 1 else "are"
            return f"{queries(verdict)} {verb} too few; at least {MIN_TOPICS} are needed."
        if verdict.topics.strata:
            return f"Too few queries are drawn from the strata that count most: they say less than {MIN_TOPICS}."
        if verdict.topics.clusters:
            clusters = counted(verdict.topics.clusters, "cluster")
            return f"{queries(verdict)} in {clusters} say less than {MIN_TOPICS} clusters of equal size."
        return f"The weights leave less evidence than {MIN_TOPICS} queries of equal weight."
    if verdict.reason == "too_few_changes":
        changed = counted(verdict.topics.changed, "changed query", "changed queries")
        return (
            f"The interval lies above the bound, but {changed} cannot show it: among so few, large losses that are "
            "rare may be missing."
        )
    if Shown(verdict).has("georisk_vanishes"):
        return "At this alpha too little GeoRisk is left to compare."
    seen = verdict.power.minimum_detectable_effect
    if seen is None:
        return "No significant risk was found, but this gate could not have detected any loss."
    if verdict.asked.is_pool:
        what = "difference of GeoRisk"
    else:
        what = "loss of the mean" if verdict.on_churn == "warn" or verdict.alpha == 0 else "fall of URisk"
    return (
        f"No significant risk was found, but the smallest detectable {what} at 80% power is {size(seen)}, more than "
        "max_mde allows."
    )


def _urisk(verdict: Verdict) -> Iterator[str]:
    """What the mean does not say: noise, a tolerance, an estimate above 0 whose interval is below."""
    shown, estimate, noise = Shown(verdict), verdict.estimates.urisk or 0.0, verdict.estimates.noise_urisk
    significantly = verdict.outcome == "fail" or shown.is_churn
    if noise is not None:
        yield _beyond_noise(verdict, estimate, noise)
    elif significantly and (estimate >= 0 or not verdict.topics.losses):
        but = "but its interval still lies" if estimate >= 0 else "and its interval lies"
        yield f"URisk is {signed(estimate, decimals([estimate]))}, {but} below the bound."
    elif verdict.outcome == "fail" and verdict.tolerance > 0 and not shown.is_churn:
        text = f"the loss is significantly more than the tolerated {short(verdict.tolerance)}"
        yield sentence(f"{weighed(verdict)}, {text}" if verdict.alpha > 0 else text)


def _beyond_noise(verdict: Verdict, excess: float, noise: float) -> str:
    """URisk compared with that of the baseline's replicates."""
    shown, total = Shown(verdict), round(excess + noise, 12)  # what rounding leaves is not a risk
    replicates = f"the baseline's own {counted(verdict.replicates, 'replicate')}"
    digits = decimals((total, noise), apart=[(total, noise)])
    side = "the same" if total == noise else "worse" if excess < 0 else "better"
    text = f"URisk is {signed(total, digits)}, against {signed(noise, digits)} for {replicates}"
    text += f": {side}"
    if side == "worse":
        text += ", significantly" if verdict.outcome == "fail" or shown.is_churn else ", not significantly"
    return f"{text}."


def _georisk(verdict: Verdict) -> Iterator[str]:
    if verdict.pool is None:
        return
    shown, difference = Shown(verdict), verdict.estimates.georisk_difference or 0.0
    if difference == 0:
        yield f"By GeoRisk the candidate is as risky as {opponent(verdict)}."
        return
    side = "riskier" if difference < 0 else "less risky"
    digits = digits_of(verdict)
    much = plain(abs(difference), digits) if round(difference, digits) else size(difference)
    text = f"By GeoRisk the candidate is {much} {side} than {opponent(verdict)}"
    if difference < 0:
        text += ", significantly" if verdict.outcome == "fail" or shown.is_churn else ", not significantly"
        if verdict.tolerance > 0:
            text += f" more than the tolerated {short(verdict.tolerance)}"
    references = verdict.pool.references
    if verdict.outcome == "fail" and len(references) > 1:
        failed = sum(not comparison.passes for comparison in references)
        text += f" (riskier than {failed} of {len(references)} references)"
    yield f"{text}."


def _churn(verdict: Verdict) -> str:
    """What was tested: the mean itself is not down, weighted losses are; and how often a harmless change fails."""
    beyond = "beyond chance" + (f" and the tolerated {short(verdict.tolerance)}" if verdict.tolerance > 0 else "")
    if verdict.asked.is_pool:
        nothing = " and nothing tolerated" if verdict.tolerance > 0 else ""
        text = f"With losses counted {_once(verdict)}{nothing}, it would not be riskier"
    else:
        few = "too few changes to show a lower mean: " if too_few_to_show(verdict) else ""
        whose = "the mean itself" if verdict.estimates.noise_urisk is None else "the mean itself, noise allowed for,"
        text = sentence(f"{few}{whose} is not significantly down, but {weighed(verdict)} the loss is {beyond}")[:-1]
    if verdict.outcome == "pass":
        return f"{text}; on_churn: fail would stop it."
    text += "; on_churn: warn would let it pass."
    if (rate := verdict.power.churn_failure_rate) is not None:
        cases = part if (part := share(rate)).startswith(("over", "under")) else f"about {part}"
        text += f" A change like this that leaves the mean alone would fail in {cases} of cases."
    return text


def weighed(verdict: Verdict) -> str:
    """How losses are counted: ``counting losses twice``."""
    return f"counting losses {times(verdict)}" if verdict.tradeoff == "linear" else "counting larger losses more"


def too_few_to_show(verdict: Verdict) -> bool:
    """Whether churn has next to no gains: then no weight of losses but the number of changes lets the mean pass."""
    mean, urisk = verdict.estimates.mean_difference, verdict.estimates.urisk
    if verdict.asked.is_pool or verdict.estimates.noise_urisk is not None:
        return False
    if not verdict.topics.wins or verdict.tradeoff != "linear" or not verdict.alpha or mean is None or urisk is None:
        return not verdict.topics.wins
    lost = (mean - urisk) / verdict.alpha
    return mean + lost <= MAX_GAINED * lost


def _once(verdict: Verdict) -> str:
    # Only such gates say how many times a loss counts.
    return "once" if verdict.tradeoff == "linear" and not verdict.asked.is_pool else "no more than wins"


def times(verdict: Verdict) -> str:
    """How often a loss counts: ``twice``, ``6 times``."""
    return "twice" if verdict.alpha == 1 else f"{1 + verdict.alpha:.12g} times"


def _not_inferior(verdict: Verdict) -> Iterator[str]:
    interval = verdict.decisive_interval
    if interval is None:
        return
    is_mean = verdict.alpha == 0 and verdict.estimates.noise_urisk is None
    what = f"the {'weighted ' * verdict.weighted}mean difference" if is_mean else "URisk"
    bound, lowest = 0.0 - verdict.tolerance, interval.lower
    digits = decimals((bound, lowest), apart=[(bound, lowest)])
    limit, found = (signed(v, digits) for v in (bound, lowest))
    limit = limit if bound else "0"
    if verdict.outcome == "pass":
        yield sentence(f"{what} is shown to be above {limit}: it is at least {found}")
        return
    chance = verdict.estimates.break_even_p_value
    if lowest > bound and chance is not None:
        text = f"{what} is not shown to be above {limit}: its interval is, but wins and losses by chance"
        yield sentence(f"{text} alone look this good with probability {probability(chance)}")
        return
    text = sentence(f"{what} is not shown to be above {limit}: it may be as low as {found}")
    needed = verdict.power.topics_for_tolerance
    yield text if needed is None else f"{text} About {needed} queries like these would show it."


def _equivalent(verdict: Verdict) -> Iterator[str]:
    interval = verdict.decisive_interval
    if interval is None or Shown(verdict).is_identical:
        return
    mean = f"the {'weighted ' * verdict.weighted}mean difference"
    what = mean if verdict.estimates.noise_urisk is None else f"{mean} beyond the baseline's noise"
    lower, upper, most = interval.lower, interval.upper, verdict.tolerance
    digits = decimals((lower, upper, most), apart=[(lower, -most), (upper, most)])
    low, high, below, above = (signed(value, digits) for value in (lower, upper, 0.0 - most, most))
    bounds = f"between {below} and {above}"
    if verdict.outcome == "pass":
        yield sentence(f"{what} is shown to lie {bounds}: it is from {low} to {high}")
        return
    chance = verdict.estimates.break_even_p_value
    if max(-lower, upper) < most and chance is not None:
        text = f"{what} is not shown to lie {bounds}: its interval does, but wins and losses by chance"
        yield sentence(f"{text} alone look like this with probability {probability(chance)}")
        return
    far = f"high as {high}" if Shown(verdict).explained_by_wins else f"low as {low}"
    text = sentence(f"{what} is not shown to lie {bounds}: it may be as {far}")
    needed = verdict.power.topics_for_tolerance
    yield text if needed is None else f"{text} About {needed} queries like these would show it."


def leans_down(verdict: Verdict) -> bool:
    """Whether a gate passes though the estimate is on the wrong side, so far that a risk is likelier than none."""
    shown, p_value = Shown(verdict), verdict.estimates.decision_p_value
    risk, smallest = shown.risk or 0.0, verdict.power.minimum_detectable_effect
    if not _is_tested_pass(verdict) or shown.is_churn:
        return False
    likely = risk < 0 and p_value is not None and p_value <= MAX_WEAK_P_VALUE
    return likely or (smallest is None and risk < 0.0 - verdict.tolerance)  # None: it cannot fail


def _is_tested_pass(verdict: Verdict) -> bool:
    return verdict.outcome == "pass" and verdict.asked.is_tested and not Shown(verdict).is_identical


def weakness(verdict: Verdict) -> Iterator[str]:
    """Why a gate that passes says little: the estimate is on the wrong side, or a large loss would go unseen."""
    shown = Shown(verdict)
    if leans_down(verdict):
        what = "URisk" if verdict.pool is None else "the difference of GeoRisk"
        excess = "the excess of " if verdict.estimates.noise_urisk is not None else ""
        yield f"This pass is weak: {excess}{what} is {signed(shown.risk or 0.0, digits_of(verdict))}."
    if _is_tested_pass(verdict) and not shown.is_churn and (loss := unseen(verdict)) is not None:
        yield f"A loss of up to {size(loss)} in the mean may go unseen: the gate has little power."


def unseen(verdict: Verdict) -> float | None:
    """The smallest loss of the mean that the gate detects at 80 % power, if that is a large part of the mean.

    None where the mean is significantly up: there is no loss to see.
    """
    smallest, mean = verdict.power.minimum_detectable_effect, verdict.estimates.baseline_mean
    if smallest is None or mean is None or verdict.pool is not None or verdict.tradeoff != "linear":
        return None
    if Shown(verdict).has("significantly_better"):
        return None
    loss = smallest if verdict.on_churn == "warn" else smallest / (1 + verdict.alpha)
    return loss if math.isfinite(loss) and loss > MAX_UNSEEN_SHARE * abs(mean) else None


def row(names: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *others, final = names
    return f"{', '.join(others)} and {final}" if others else final


def opponent(verdict: Verdict) -> str:
    """What the candidate of a pool was compared with."""
    named = verdict.baselines[0] if verdict.pool is None else verdict.pool.decided_by
    return name(named) if named in verdict.baselines else f"the {name(named)} baseline"
