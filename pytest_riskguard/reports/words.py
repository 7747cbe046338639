"""A verdict in words: the answer in a line, what happened to whom, why, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import ROUNDING_ERROR, ResponsibleTopic
from pytest_riskguard.gates.kinds import MIN_TOPICS, NoSurprise
from pytest_riskguard.gates.rankings import EMPTY, LIMITED, NEW, OTHER_FIRST, SHORTER
from pytest_riskguard.gates.verdict import Commands, Verdict, VerdictWarning
from pytest_riskguard.reports.card import MIN_FATE, MOST, Card, Fate, Tone
from pytest_riskguard.reports.numbers import (
    as_given,
    decimals,
    floored,
    from_to,
    limits,
    percent,
    plain,
    share,
    short,
    signed,
    size,
)
from pytest_riskguard.text import clean, columns, counted, fitted, listed, sentence

#: Columns of the answer; a name is never cut to fewer characters, and other facts leave it so many.
MAX_COLUMNS, _MIN_NAME, _NAME = 80, 8, 24
#: Longest name of a topic, a slice or a system in a sentence; how many one names.
MAX_NAME, _MAX_NAMED = 60, 3
#: What is wrong with data that cannot be compared is cut to this length.
MAX_PROBLEM = 2000
#: Names of intervals as people write them.
METHODS = {
    "student_t": "Student-t",
    "basic": "basic",
    "studentized": "studentized",
    "percentile": "percentile",
    "bca": "BCa",
}


# ---- names


def opponent(verdict: Verdict) -> str:
    """What the candidate's scores are compared with, short enough for a sentence."""
    return clean(verdict.baseline, limit=MAX_NAME)


def part_of_topics(verdict: Verdict) -> str:
    """``intent=code, 30 topics``; empty where it is about all topics."""
    if verdict.slice is None:
        return ""
    return f"{clean(verdict.slice, limit=MAX_NAME)}, {counted(verdict.topics.count, 'topic')}"


def risk_name(verdict: Verdict) -> str:
    """``excess weighted URisk``, ``GeoRisk difference``."""
    excess = "excess " * (verdict.estimates.noise_urisk is not None)
    return "GeoRisk difference" if verdict.asked.is_pool else f"{excess}{'weighted ' * verdict.weighted}URisk"


def required(verdict: Verdict) -> str:
    """What the gate asks of the candidate."""
    if most := Card(verdict).may_collapse:
        return f"at most {counted(most, 'topic collapses', 'topics collapse')}"
    return verdict.asked.requires


def times(verdict: Verdict) -> str:
    """How often a loss counts: ``twice``, ``6 times``."""
    return "twice" if verdict.alpha == 1 else f"{1 + verdict.alpha:.12g} times"


def extreme(verdict: Verdict) -> str:
    """What the first of the topics that a failure lists are: the worst, or the largest wins."""
    if verdict.asked.of_rankings:
        return "most changed"
    return "largest" if Card(verdict).explained_by_wins else "worst"


# ---- the answer in a line


@frozen
class _Line:
    """What happened, with a place for each name of other people's; facts follow as far as there is room for them."""

    text: str
    facts: Sequence[str] = ()
    names: tuple[str, ...] = ()


def line(verdict: Verdict, *, after_word: bool = False) -> str:
    """Who got worse, how much, and what may, without the name of a statistic, in at most 80 columns.

    ``after_word`` is for places where ``word`` stands before it.
    """
    if verdict.outcome == "incomparable" and after_word:
        return _composed(_Line("{}", names=(verdict.problem or "",)))
    return _composed(_answer(Card(verdict)))


def _composed(said: _Line) -> str:
    """The line with the facts that it has room for."""
    names = [clean(name) for name in said.names]
    text, joint = said.text.format(*(fitted(name, _NAME) for name in names)), "; "
    facts = ""
    for fact in filter(None, said.facts):
        if columns(f"{text}{facts}{joint}{fact}") <= MAX_COLUMNS:
            facts, joint = f"{facts}{joint}{fact}", ", "
    bare = columns(said.text.format(*[""] * len(names)))
    each = max((MAX_COLUMNS - bare - columns(facts)) // max(len(names), 1), _MIN_NAME)
    return said.text.format(*(fitted(name, each) for name in names)) + facts


def _answer(card: Card) -> _Line:
    verdict = card.verdict
    if verdict.outcome == "incomparable":
        return _Line("cannot be compared: {}", names=(verdict.problem or "",))
    if verdict.outcome == "inconclusive":
        return _undecided(card)
    if card.is_identical:
        return _Line("identical to {}", names=(verdict.baseline,))
    if verdict.asked.of_rankings:
        return _surprise(verdict)
    if verdict.asked.by_topic:
        return _collapse(card)
    if verdict.asked.must_show:
        return _must_show(card)
    if verdict.outcome == "pass" and not card.is_churn:
        return _passed(card)
    return _lost(card)


def _undecided(card: Card) -> _Line:
    verdict, topics = card.verdict, card.verdict.topics
    if verdict.reason == "too_few_topics":
        few = f"{counted(topics.count, 'judged query is', 'judged queries are')} too few"
        return _Line(few, [f"at least {MIN_TOPICS}{' of equal weight' * (topics.count >= MIN_TOPICS)} are needed"])
    if verdict.reason == "too_few_changes":
        return _Line("too few queries changed to show anything", [f"{topics.changed} of {topics.count}"])
    if card.has("georisk_vanishes"):
        return _Line("at this alpha too little is left to compare")
    seen, most = verdict.power.minimum_detectable_effect, verdict.max_mde
    if seen is None or most is None:
        return _Line("too weak to judge", ["no loss could be detected"])
    return _Line("too weak to judge", [f"a fall below {size(seen)} goes unseen", f"max_mde is {short(most)}"])


def _collapse(card: Card) -> _Line:
    verdict, lost, count, allowed = card.verdict, card.lost, card.count, card.may_collapse
    may = f"{'at most ' * (verdict.outcome == 'fail')}{allowed} may" if allowed else "none may"
    if not lost:
        worst = card.largest_loss
        loss = "" if worst is None else f"the largest loss is {size(worst.difference)}"
        return _Line(f"no query lost {more_than(verdict)}", [loss])
    if count == 1 and not allowed:
        return _Line("query {} lost {}", [_fall(lost[0]), may], (lost[0].topic, size(lost[0].difference)))
    if guarded := sum("protected" in topic.exceeds for topic in lost):
        return _Line(f"{counted(guarded, 'protected query', 'protected queries')} lost", ["none may"])
    what = f"lost {more_than(verdict)}"
    if (group := card.group) is not None:
        members = len(card.members(group))
        which = f"all {count} queries" if members == count else f"{members} of {count} queries"
        return _Line(f"{which} that {what} are {{}}={{}}", [may], (group.tag, group.value))
    return _Line(f"{count} of {_all(verdict)} {what}", [may])


#: What happened to the rankings of queries, in a sentence.
HAPPENED = {
    EMPTY: "found nothing any more",
    SHORTER: "found fewer results",
    OTHER_FIRST: "got another first result",
    NEW: "got results for the first time",
}


def _surprises(verdict: Verdict) -> list[tuple[str, str, bool]]:
    """What is beyond each limit of ``no_surprise``, how much may be, and whether that is too much; failures first."""
    gate, said = verdict.asked, []
    assert isinstance(gate, NoSurprise)
    for limit, number in (verdict.estimates.surprises or {}).items():
        most = gate.most(limit, verdict.topics.count) or 0
        what = HAPPENED.get(LIMITED[limit], f"kept less than {gate.min_overlap:.4g} of the top 10")
        may = f"at most {most} may" if most else "none may"
        said += [(f"{number} of {_all(verdict)} {what}", may, number > most)] if number else []
    return sorted(said, key=lambda one: not one[2])


def _surprise(verdict: Verdict) -> _Line:
    broken = [(text, may) for text, may, is_broken in _surprises(verdict) if is_broken]
    if broken:
        return _Line(broken[0][0], [broken[0][1], *(text for text, _ in broken[1:])])
    changed = f"{verdict.topics.changed or 'none'} of {_all(verdict)} changed in the top 10"
    return _Line("no surprise", [changed, f"mean RBO {plain(verdict.estimates.candidate_mean, 2)}"])


def more_than(verdict: Verdict) -> str:
    """``more than 0.30``, or in words where several limits apply."""
    match verdict.max_loss, verdict.max_share, bool(verdict.protected):
        case float() as loss, None, False:
            return f"more than {as_given(loss)}"
        case None, float() as part, False:
            return f"more than {percent(part)} of the score"
    return "more than allowed"


def _all(verdict: Verdict) -> str:
    return counted(verdict.topics.count, "query", "queries")


def _counts(verdict: Verdict) -> list[str]:
    """``12 of 30 queries lost``, ``none gained``."""
    topics = verdict.topics
    return [f"{topics.losses or 'none'} of {_all(verdict)} lost", f"{topics.wins or 'none'} gained"]


def means(verdict: Verdict) -> str:
    """``0.58 -> 0.65``; empty where there are none."""
    before, after = verdict.estimates.baseline_mean, verdict.estimates.candidate_mean
    return "" if before is None or after is None else from_to(before, after)


def _mean(verdict: Verdict) -> str:
    """``the mean rose 0.58 -> 0.65``; it stayed where two decimals show no change."""
    before, difference = verdict.estimates.baseline_mean, verdict.estimates.mean_difference
    if before is None or difference is None or not means(verdict):
        return ""
    name = _mean_name(verdict)
    if _stays(verdict):
        return f"{name} stayed at {plain(before, 2)}"
    return f"{name} {'rose' if difference > 0 else 'fell'} {means(verdict)}"


def _stays(verdict: Verdict) -> bool:
    """Whether two decimals show no change of the mean."""
    before, difference = verdict.estimates.baseline_mean or 0.0, verdict.estimates.mean_difference or 0.0
    return not round(difference, 2) and plain(before, 2) == plain(before + difference, 2)


def _mean_name(verdict: Verdict) -> str:
    return f"the {'weighted ' * verdict.weighted}mean"


def _must_show(card: Card) -> _Line:
    """A gate for which the candidate bears the burden of proof."""
    verdict, interval, same = card.verdict, card.verdict.decisive_interval, card.verdict.asked.side == "both"
    passed, most = verdict.outcome == "pass", verdict.tolerance
    text = f"{'not ' * (not passed)}shown to be {'equivalent' if same else 'good enough'}"
    if interval is None:
        return _Line(text)
    loss, gain = max(-interval.lower, 0.0), max(interval.upper, 0.0)
    what, beyond = ("gain", gain) if same and gain > loss else ("loss", loss)
    if passed:
        return _Line(text, [f"the {what} is at most {size(beyond)}", f"{short(most)} is allowed"])
    if beyond < most - ROUNDING_ERROR:
        return _Line(text, ["so few changes could look this good by chance"])
    allowed = short(most) if most else "none"
    return _Line(text, [f"a {what} of {size(beyond)} cannot be excluded", f"{allowed} is allowed"])


def _passed(card: Card) -> _Line:
    verdict, difference = card.verdict, card.verdict.estimates.mean_difference or 0.0
    name, counts, mean = _mean_name(verdict), _counts(verdict), _mean(verdict)
    if verdict.topics.wins == verdict.topics.losses == 0:
        return _Line("nothing changed", [f"{_all(verdict)} score as before"])
    if card.has("significantly_better"):
        gained = f"{verdict.topics.wins} of {_all(verdict)} gained"
        return _Line(f"{name} rose {means(verdict)}, more than chance explains", [gained])
    upper, tolerance = card.deciding_limit, verdict.tolerance
    is_down = difference < 0 and upper is not None and upper < -ROUNDING_ERROR
    if tolerance > 0 and is_down and not verdict.asked.is_pool:
        within = "less than" if -difference < tolerance else "not shown to be more than"
        return _Line(f"{name} fell by {size(difference)}, {within} the tolerated {short(tolerance)}", counts)
    if verdict.asked.is_pool:
        than = "no riskier than {}" if (card.risk or 0.0) >= 0 else "not shown to be riskier than {}"
        return _Line(than, [*counts, mean], (verdict.baseline,))
    if card.leans_down and difference < 0:
        return _Line(f"{name} fell {means(verdict)}, as much as chance may explain", counts)
    if card.leans_down:
        return _Line(f"{_weighed(verdict)} outweigh gains, but not beyond chance", counts)
    if (loss := card.unseen_loss) is not None:
        return _Line(f"no harm shown, but a loss of {size(loss)} may go unseen", counts)
    return _Line("no sign of harm", [*counts, mean])


def _lost(card: Card) -> _Line:
    """A failure, or churn that is allowed."""
    verdict, lost, difference = card.verdict, card.lost, card.verdict.estimates.mean_difference or 0.0
    counts, mean, tolerance = _counts(verdict), _mean(verdict), verdict.tolerance
    tolerated = f"{short(tolerance)} tolerated" if tolerance > 0 else ""
    if verdict.asked.looks_back:
        return _Line("drifted since {}", [mean, *counts, tolerated], (verdict.baselines[0],))
    if card.is_churn and not verdict.topics.wins:
        return _Line("too few changes to show a lower mean", counts)
    if (group := card.group) is not None and verdict.slice is None:  # figures of a slice are about all its topics
        of_group = f"{len(card.members(group))} of {group.count} lost"
        of_all = mean.replace("the mean", "the mean of all", 1)
        return _Line("{}={} queries got worse", [of_group, of_all, tolerated], (group.tag, group.value))
    if len(lost) == 1 or (lost and (lost[0].share or 0.0) >= MOST):
        return _Line("query {} got worse", [_fall(lost[0]), *counts], (lost[0].topic,))
    if verdict.slice is not None and lost:
        return _Line("{} queries got worse", [*counts, mean], (verdict.slice,))
    if verdict.asked.is_pool:
        return _Line("riskier than {}", [*counts, mean], (verdict.baseline,))
    if verdict.estimates.noise_urisk is not None:
        return _Line("worse than the baseline's own noise", [mean, *counts])
    if verdict.reason == "loss":
        fell = f"{_mean_name(verdict)} fell by {size(difference)}" if not mean or _stays(verdict) else mean
        return _Line(fell, [*counts, tolerated])
    return _Line(f"{_weighed(verdict)} outweigh gains", [*counts, mean])


def _fall(topic: ResponsibleTopic) -> str:
    return from_to(topic.baseline, topic.candidate)


def _weighed(verdict: Verdict) -> str:
    return f"losses counted {times(verdict)}" if verdict.tradeoff == "linear" else "larger losses"


# ---- what follows it


def paragraph(verdict: Verdict) -> str:
    """What the line does not say: what became of the queries, the mean, why it passes or fails, what hangs on few."""
    card = Card(verdict)
    if verdict.outcome == "incomparable":
        return f"Nothing was compared: {clean(verdict.problem or '', limit=MAX_PROBLEM).rstrip('.')}."
    if card.is_identical:
        names = ", ".join(clean(name, limit=MAX_NAME) for name in verdict.identical_to)
        return f"The candidate is the same run as {names}: no ranking changed."
    if verdict.asked.of_rankings:
        every = [f"{text} ({may})" for text, may, _ in _surprises(verdict)]
        mistake = "" if card.suspicion is None else card.suspicion.message
        about = "This measures change, not harm: no judgement says which ranking is better"
        return " ".join([sentence(one) for one in (mistake, "; ".join(every), about) if one])
    said = [cause(verdict), _tally(card), *_reasons(card), weakness(verdict)]
    if card.unanswered and not (said[0] and card.fates["empty"]):
        said.append(f"The candidate returned nothing for {counted(card.unanswered, 'query', 'queries')}.")
    said += [f"Without {clean(topic, limit=MAX_NAME)} it would pass." for topic in card.decisive_topics]
    risky = tuple(f"{part.tag}={part.value}" for part in card.slices if part.risky)
    if risky and verdict.outcome == "pass":
        said.append(f"By themselves, {listed(risky, most=_MAX_NAMED)} are significantly risky.")
    return " ".join(filter(None, said))


def fault(verdict: Verdict) -> str:
    """What is wrong with data that cannot be compared, and what to do; empty for any other verdict."""
    return clean("; ".join(filter(None, (verdict.problem, verdict.remedy))), limit=MAX_PROBLEM)


#: What became of queries, and where that points.
_FATES: dict[Fate, tuple[str, str]] = {
    "empty": ("{} found nothing", "how such queries are parsed"),
    "gone": ("{} lost the best document", "query parsing, filters and the index"),
    "lower": ("in {} the best document ranks lower", "the ranking"),
}


def cause(verdict: Verdict) -> str:
    """What became of the queries that lost, and where to look, or the mistake behind it; empty where nobody knows."""
    card = Card(verdict)
    if (suspicion := card.suspicion) is not None:
        return sentence(suspicion.message)
    fates = card.fates if card.explains_topics or verdict.asked.by_topic else {}
    if verdict.passed or not fates:
        return ""
    examined, fell = sum(fates.values()), [fate for fate in _FATES if fates[fate]]
    gravest = next(fate for fate in fell if fates[fate] >= MIN_FATE * examined)
    if fell == [gravest]:
        who = {1: "the one query", 2: "both queries"}.get(examined, f"all {examined} queries")
        told = _FATES[gravest][0].format("this query" if card.count == 1 else f"{who} examined")
    else:
        told = f"of {examined} queries examined, {', '.join(_FATES[fate][0].format(fates[fate]) for fate in fell)}"
    return sentence(f"{told}: look at {_FATES[gravest][1]} first")


def _tally(card: Card) -> str:
    """Wins, losses and the mean; empty where the line has all of it."""
    verdict, topics, estimates = card.verdict, card.verdict.topics, card.verdict.estimates
    if topics.wins == topics.losses == 0:
        return "No score changed by more than 0.000001." if topics.changed else "No score changed."
    mean, told, counts = _mean(verdict), line(verdict), _counts(verdict)
    if all(fact in told for fact in (mean, *counts)):
        return ""
    # of a pool, and with noise, other things were compared
    beyond = verdict.reason == "loss" and not verdict.asked.is_pool and estimates.noise_urisk is None
    mean += ", more than chance explains" * (beyond and bool(mean))
    return sentence("; ".join(filter(None, (", ".join(counts), mean))))


def _reasons(card: Card) -> Iterator[str]:
    """What was tested, where the line does not say it."""
    verdict, estimates = card.verdict, card.verdict.estimates
    if verdict.outcome not in ("pass", "fail") or verdict.asked.by_topic:
        return
    if verdict.asked.must_show:
        if verdict.outcome == "fail" and (needed := verdict.power.topics_for_tolerance) is not None:
            yield f"About {needed} queries like these would show it."
        return
    if (noise := estimates.noise_urisk) is not None:
        noise = round(noise, 12)  # what rounding leaves is not a risk
        total, own = signed((estimates.urisk or 0.0) + noise), counted(verdict.replicates, "replicate")
        yield f"URisk is {total}, and that of the baseline's own {own} {signed(noise)}."
    if card.is_churn:
        yield _churn(card)
    elif verdict.reason == "loss" and verdict.alpha > 0:
        yield f"With losses counted no more than gains{_and_nothing(verdict)}, it fails as well."


def _and_nothing(verdict: Verdict) -> str:
    return " and nothing tolerated" * (verdict.tolerance > 0)


def _churn(card: Card) -> str:
    """What was tested: the mean itself is not down, weighted losses are; and how often a harmless change fails."""
    verdict = card.verdict
    if verdict.asked.is_pool:
        text = f"With losses counted no more than gains{_and_nothing(verdict)}, it would not be riskier"
    else:
        beyond = "beyond chance" + (f" and the tolerated {short(verdict.tolerance)}" if verdict.tolerance > 0 else "")
        weighed = _weighed(verdict) + " counted more" * (verdict.tradeoff != "linear")
        text = f"the mean itself is not significantly down, but with {weighed} the loss is {beyond}"
    if verdict.outcome == "pass":
        return sentence(f"{text}; on_churn: fail would stop it")
    said = sentence(f"{text}; on_churn: warn would let it pass")
    if (rate := verdict.power.churn_failure_rate) is not None:
        said += f" A change like this that leaves the mean alone would fail in {share(rate)} of cases."
    return said


def weakness(verdict: Verdict) -> str:
    """Why a gate that passes says little: the estimate is on the wrong side, or a large loss would go unseen."""
    card, said = Card(verdict), []
    if card.leans_down:
        said.append(f"This pass is weak: {risk_name(verdict)} is {signed(card.risk or 0.0, digits_of(verdict))}.")
    if (loss := card.unseen_loss) is not None:
        said.append(f"A loss of up to {size(loss)} in the mean may go unseen: the gate has little power.")
    return " ".join(said)


# ---- the figures in a line


def digits_of(verdict: Verdict) -> int:
    """The decimals of the risk and its limits: enough to tell them from 0 and from the bound."""
    risk, interval = Card(verdict).risk or 0.0, verdict.decisive_interval
    if interval is None:
        return decimals([risk])
    ends = (interval.lower, interval.upper)
    bounds = (0.0 - verdict.tolerance, verdict.tolerance)[: 2 if verdict.asked.side == "both" else 1]
    return decimals((risk, *ends, *bounds), apart=[(end, bound) for end in ends for bound in bounds])


def estimate(verdict: Verdict) -> str:
    """``URisk -0.39 [-0.65, -0.20]``; of a gate on single topics the worst fall, or how many lost more than they may.

    Empty where there are none.
    """
    card, interval, digits = Card(verdict), verdict.decisive_interval, digits_of(verdict)
    if verdict.outcome == "incomparable" or card.is_identical:
        return ""
    if verdict.asked.of_rankings:
        found = (verdict.estimates.surprises or {}).items()
        return ", ".join(f"{number} {LIMITED[limit]}" for limit, number in found if number) or "no surprise"
    if verdict.asked.by_topic:
        return _largest(card)
    if card.risk is None:
        return ""
    name = risk_name(verdict).replace("weighted ", "")  # which a table has no room for
    name = "drift" if verdict.asked.looks_back and verdict.alpha == 0 else name
    between = "" if interval is None else limits(interval.lower, interval.upper, digits)
    return f"{name} {signed(card.risk, digits)} {between}".rstrip()


def _largest(card: Card) -> str:
    verdict, worst = card.verdict, card.largest_loss
    if worst is None:
        return ""
    if may := card.may_collapse:
        return f"{verdict.estimates.collapsed} lost {more_than(verdict)}, {may} may"
    if not worst.exceeds:
        return f"largest loss {size(worst.difference)}"
    allowed = {
        "max_loss": f"limit {as_given(verdict.max_loss or 0.0)}",
        "max_share": f"limit {percent(verdict.max_share or 0.0)}",
        "protected": "protected",
    }
    return f"{_fall(worst)} ({allowed[worst.exceeds[0]]})"


def why(verdict: Verdict) -> str:
    """The statistics in one line of words; what single queries may lose."""
    card, interval = Card(verdict), verdict.decisive_interval
    if verdict.asked.by_topic:
        return _allowed(verdict)
    if verdict.outcome == "incomparable" or card.risk is None or card.is_identical:
        return ""
    digits, at = digits_of(verdict), short(verdict.tolerance)
    risk = f"{risk_name(verdict)} {signed(card.risk, digits)}"
    if interval is None:
        return risk
    must = f"must {'stay above' if verdict.asked.must_show else 'reach'} {f'-{at}' if verdict.tolerance else 0}"
    if verdict.asked.side == "both":
        must = f"must stay between -{at} and +{at}"
    remarks = "; ".join(filter(None, (_weight(verdict), _star(card))))
    return (
        f"{risk}, {100 * interval.level:.4g}% interval {signed(interval.lower, digits)} to "
        f"{signed(interval.upper, digits)}, {must}" + (f" ({remarks})" if remarks else "")
    )


def _allowed(verdict: Verdict) -> str:
    """What a topic may lose, where the line does not say it."""
    most = [] if verdict.max_loss is None else [short(verdict.max_loss)]
    most += [] if verdict.max_share is None else [f"{percent(verdict.max_share)} of the baseline's score"]
    if len(most) + bool(verdict.protected) < 2:
        return ""
    said = f"a query may lose at most {' and at most '.join(most)}"
    protected = (
        f"; {counted(len(verdict.protected), 'entry is', 'entries are')} protected" if verdict.protected else ""
    )
    return said + protected


def _weight(verdict: Verdict) -> str:
    if verdict.tradeoff == "smooth":
        return "larger losses count more"
    return f"at alpha {verdict.alpha:.6g} losses count {times(verdict)}" if verdict.alpha > 0 else ""


def _star(card: Card) -> str:
    """The alpha up to which the gate would pass."""
    star, passes = card.verdict.estimates.alpha_star, card.verdict.outcome == "pass"
    if star == "any" and passes and not card.is_churn:
        return "it passes at any alpha"
    if not isinstance(star, float) or not (passes or card.is_churn):
        return ""
    return f"it {'would pass' if card.is_churn else 'passes'} up to alpha {floored(star)}"


# ---- what to do

_ADVICE = {"fail": "Don't ship", "none": "No verdict", "caution": "Ship with care", "go": "Ship"}
#: Of gates that measure change, not harm.
_OF_CHANGE = {"fail": "Look before you ship", "caution": "Look before you ship", "go": "No surprise"}


def word(verdict: Verdict) -> str:
    """How a gate ended: the outcome, or ``pass with care``."""
    return "pass with care" if verdict.outcome == "pass" and Card(verdict).tone == "caution" else verdict.outcome


def advice(verdicts: Sequence[Verdict], *, complete: bool = True) -> tuple[Tone, str]:
    """What to do with a change, by all that was asked about it."""
    tones = {Card(verdict).tone for verdict in verdicts}
    said = _ADVICE | (_OF_CHANGE if all(verdict.asked.of_rankings for verdict in verdicts) else {})
    if "stop" in tones:
        return "stop", said["fail" if any(verdict.outcome == "fail" for verdict in verdicts) else "none"]
    if not (tones and complete) or all(verdict.outcome == "inconclusive" for verdict in verdicts):
        return "caution", said["none"]
    tone: Tone = "caution" if "caution" in tones else "go"
    return tone, said[tone]


def own_advice(verdict: Verdict, run: Sequence[Verdict] = (), *, complete: bool = True) -> str:
    """What to do by this verdict; only how it ended where the whole run says something else."""
    tone, own = advice([verdict])
    if verdict.outcome != "pass" or own == advice(_same_change(verdict, run), complete=complete)[1]:
        return own
    return "Passes with care" if tone == "caution" else "Passes"


def _same_change(verdict: Verdict, run: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of a run on this candidate of this service."""
    change = (verdict.service, verdict.candidate)
    return [one for one in run if (one.service, one.candidate) == change] or [verdict]


@frozen
class Step:
    """What to do next: in words, and the shell command for it; empty if there is none."""

    text: str
    command: str = ""


#: What to do about data that cannot be compared, where their error does not say it.
_REMEDIES = {
    "missing_input": "Write or mend the file, or correct its path",
    "bad_run": "Correct what is named here, in the file or in the search that wrote it",
    "bad_qrels": "Correct the file of judgements",
    "bad_topics": "Correct the topics file; each line is a topic, a tab and its query text",
    "bad_scores": "Correct the scores: one finite number for each topic",
    "bad_baseline": "Find out what is wrong in the store",
    "no_common_topic": "Use the same topic ids in every file, and a slice that has topics; "
    "give the topics file if a file knows queries by their texts",
    "inputs_changed": "Judge again once nothing is writing to the inputs",
}


def remedy(verdict: Verdict, commands: Commands | None = None) -> str:
    """What to do about data that cannot be compared; empty for any other verdict."""
    known = (commands or Commands()).remedy or verdict.remedy
    return known or _REMEDIES.get(verdict.reason or "", "")


def unjudged(verdict: Verdict) -> str:
    """That the verdict rests on unjudged documents; empty where it does not."""
    if (known := verdict.judgements) is None or not known.depends:
        return ""
    ranks = f"top-{Card(verdict).ranks_searched}"
    documents = counted(known.documents, f"{ranks} document is", f"{ranks} documents are")
    return f"{documents} unjudged; judge-next lists those to judge first"


def steps(
    verdict: Verdict,
    run: Sequence[Verdict] = (),
    *,
    complete: bool = True,
    reproduce: str | None = None,
    report: str | None = None,
    commands: Commands | None = None,
) -> Iterator[Step]:
    """What to do next, the likeliest remedy first.

    ``run`` are all verdicts of the run, which is ``complete`` if every gate has one. ``reproduce`` is the command
    that judges the gate again, ``report`` the file of a longer report. ``commands`` are known where it was judged.
    """
    known = commands or Commands()
    if said := remedy(verdict, known):
        yield Step(said, known.verify if verdict.reason == "bad_baseline" and not verdict.remedy else "")
    if said := unjudged(verdict):
        yield Step(said, known.judge_next)
    if known.explain:
        yield Step("Look into the worst query", known.explain)
    if verdict.asked.of_rankings and not verdict.passed:
        yield Step("riskguard diff shows both rankings, and what to judge first", known.judge_next)
    if not verdict.passed and reproduce:
        yield Step("Reproduce", reproduce)
    if report:
        yield Step(f"Report: {clean(report)}")
    if (promote := promotion(verdict, run, complete=complete, commands=commands)) is not None:
        yield promote


def promotion(
    verdict: Verdict, run: Sequence[Verdict] = (), *, complete: bool = True, commands: Commands | None = None
) -> Step | None:
    """That a significantly better candidate may become the baseline, if every gate of the run lets it pass.

    Nothing is advised where the run has several baselines, of which it would replace one, or its own is not stored.
    """
    if not Card(verdict).has("significantly_better"):
        return None
    same = _same_change(verdict, run)
    baselines = {name.partition("/")[0] for one in same for name in one.baselines}
    if not complete or len(baselines) > 1 or any(one.outcome != "pass" for one in same):
        return None
    if commands is None or commands.update is None:
        return Step("Once it is released, it can become the baseline")
    return Step("Once it is released, store it as the baseline", commands.update) if commands.update else None


# ---- warnings

#: Warnings whose fact the line and the paragraph state.
_STATED = ("churn", "significantly_better", "rests_on_unjudged")


def unsaid(verdict: Verdict, *, with_paragraph: bool) -> list[VerdictWarning]:
    """The warnings that the line, and the paragraph where it is shown, do not state in other words."""
    said = (*_STATED, *["suspicious_run"] * with_paragraph)
    left = [warning for warning in verdict.warnings if warning.code not in said]
    if with_paragraph and Card(verdict).unanswered:  # the first of these is about the candidate
        stated = next((warning for warning in left if warning.code == "missing_topics"), None)
        left = [warning for warning in left if warning is not stated]
    return sorted(left, key=lambda warning: warning.code == "few_changed_topics")  # which says least
