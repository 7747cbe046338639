"""Codes of a verdict, and what they mean: why it is not a pass, and what it warns of. The reference lists them."""

from __future__ import annotations

from collections.abc import Mapping

#: Why a verdict is not a pass, by its outcome.
REASONS_OF: Mapping[str, Mapping[str, str]] = {
    "fail": {
        "loss": "The mean itself (or GeoRisk at alpha 0) is significantly down.",
        "churn": "It fails only because losses weigh more.",
        "not_shown": "`not_inferior`, `equivalent`: not enough evidence that URisk lies where it must.",
        "collapse": "More topics than are allowed lost more than they may.",
        "surprise": "`no_surprise`: more rankings changed than may.",
    },
    "inconclusive": {
        "too_few_changes": "`not_inferior`, `equivalent`: the intervals show it, but too few topics changed.",
        "too_few_topics": "Fewer than 10, or fewer than 10 effective topics by their weights or clusters.",
        "too_weak": "It could not have detected a loss of `max_mde`, or GeoRisk vanishes.",
    },
    "incomparable": {
        "bad_run": "A run is malformed, or a live search failed.",
        "bad_qrels": "The judgements are malformed, or have grades above a measure's scale.",
        "bad_topics": "The topics file is malformed.",
        "bad_scores": (
            "Scores are malformed, or a value lies outside the measure's range; a score of a pool is below 0."
        ),
        "bad_baseline": "A stored baseline is damaged, or its replicates or unanswered topics cannot be accepted.",
        "missing_input": (
            "A file, a stored name, a topic's text or weight, or a baseline's measure and run is missing."
        ),
        "topics_differ": (
            "Two tables of scores, or the clusters, name different topics; or a pass rests on topics judged later "
            "that the baseline's run does not answer."
        ),
        "no_common_topic": "No topic in common, or no judged topic answered.",
        "ids_do_not_match": (
            "A run's document ids are not those of the judgements: in most topics they are judged nowhere, written "
            "differently, or they are judged for other topics as often as for their own, as in a run on another "
            "index."
        ),
        "stale_labels": "The outcome rests on topics whose relevant documents are no longer in `documents`.",
        "order_as_written": "In the order as written, which ties hide, the gate would have another outcome.",
        "inputs_changed": (
            "Judgements changed and the baseline's run was not kept; topics that it was scored on are gone or "
            "changed; or the two sides were scored with different judgements."
        ),
        "cannot_fail": (
            "Not even a candidate that scores 0 everywhere could fail; or the topics that lost have under a "
            "hundredth of the weight."
        ),
    },
}
REASONS = tuple(code for codes in REASONS_OF.values() for code in codes)

#: What a verdict warns of.
WARNINGS: Mapping[str, str] = {
    "churn": "Churn that passes because of `on_churn: warn`.",
    "suspicious_run": (
        "A failure that the run itself seems to cause: no result for a quarter of the queries, rankings upside down, "
        "or fewer results than the measure looks at; or a baseline that has so few."
    ),
    "few_changed_topics": "So few topics changed that only Student-t could fail the gate, or nothing could.",
    "few_topics": (
        "Fewer than 25 topics (for `georisk_not_worse` at an alpha above 1, 50), or weights or clusters that "
        "count like fewer than 50; or losses that no topic shows could overturn the pass."
    ),
    "georisk_vanishes": "At this alpha GeoRisk nearly vanishes: inconclusive unless it fails.",
    "slow_slide": (
        "It passes, but the mean is significantly down against the oldest run of the baseline's history; or that "
        "history cannot be read."
    ),
    "loss_excused": "It passes only because replicates excuse a loss of the mean: are they the baseline's own?",
    "cannot_fail": "The baseline has too little to lose for any candidate to fail.",
    "outweighed": (
        "Without weights it would be significantly risky, but the topics that lost have under a tenth of the weight."
    ),
    "no_variation": "No topic changed, or all changed by the same amount.",
    "methods_disagree": "Student-t says the opposite of the gate's own method.",
    "missing_topics": "Topics that are judged and not answered, or answered and not judged.",
    "free_wins": (
        "A baseline did not answer topics that the candidate answered, which somebody accepted; or far fewer of its "
        "first documents are judged than of the candidate's, as where some ids are wrong."
    ),
    "order_as_written": (
        "The order as written scores differently; or the rank column or the order contradicts the scores."
    ),
    "rests_on_unjudged": "It might pass if unjudged documents were judged: `riskguard judge-next` lists them.",
    "stale_labels": "Relevant documents are no longer in `documents`; the outcome does not depend on them.",
    "changed_inputs": (
        "Judgements, topics or the scoring library changed since a baseline was stored, and its run was scored "
        "again, or this was allowed."
    ),
    "unbacked_scores": "A baseline was stored with `--no-run`, so its scores cannot be checked.",
    "significantly_better": "The mean is significantly up.",
}
#: What warnings say, by the code, or by what a code of several is about. Of a list of topics ``{topics}`` are the
#: names, ``{topics_number}`` and ``{topics_counted}`` say how many; ``{verdict}`` is the verdict, ``{units}`` what
#: varies in it independently, topics or clusters of them.
SAID: Mapping[str, str] = {
    "churn": (
        "the mean itself (alpha 0, tolerance 0) is not significantly down; the gate would fail at this alpha only "
        "because losses weigh more, and on_churn: warn lets it pass"
    ),
    "significantly_better": "the candidate is significantly better (mean {mean_difference:+.4f})",
    "cut_off": (
        "the candidate has no result for {missing} of {count} queries: its run may be cut off, or such queries fail"
    ),
    "upside_down": (
        "the candidate's rankings seem upside down: they score {mean:.2f}, and {reverse:.2f} from last to first; a "
        "better document must have a higher score, so write distances with a minus sign"
    ),
    "few_results": (
        "the candidate has at most {most} a query, where the baseline has more and {wanted} count: ask the "
        "search for {wanted}"
    ),
    "few_in_baseline": (
        "the baseline has at most {most} a query, where the candidate has more and {wanted} count: a loss below them "
        "is not seen, so make the baseline's run again with {wanted}"
    ),
    "order_as_written": (
        "{system} has equal scores (trec_eval compares 32 bits), which are ranked by document id: {topics} topics "
        "score differently in the order as written, where the mean is {mean_as_written:.4f} instead of {mean:.4f}; "
        "give each rank its own score"
    ),
    "history_unusable": "the earlier runs of {baseline} cannot be read: {problem}",
    "missing_topics": "{system} did not answer {topics_counted} (each scores 0): {topics}",
    "free_wins": (
        "{system} did not answer {topics_number} of {count} topics that the candidate answered, so any answer counts "
        "as a win there: {topics}"
    ),
    "little_judged": (
        "only {share:.0%} of the first 10 documents of {system} are judged, and {of_candidate:.0%} of the "
        "candidate's; check that all document ids of {system} are those of the judgements"
    ),
    "unknown_topics": "the candidate answers {topics_counted} without judgements: {topics}",
    "rank_contradicts_score": (
        "the scores of {system} do not fall with the rank in {topics_counted} ({topics}): run files are ranked by "
        "score, answers of a live search in the order returned"
    ),
    "unbacked_scores": "{systems}: stored without the run (--no-run), so nothing backs the stored scores",
    "stale_labels": (
        "relevant documents that are no longer in {file}: {documents}, in {topics_counted} ({topics}); the outcome "
        "does not depend on them"
    ),
    "outweighed": (
        "without weights the candidate would be significantly risky: the {topics_counted} that lost have {share:.2%} "
        "of the weight ({topics})"
    ),
    "loss_excused": (
        "without the replicates the mean would be significantly down; a loss as large as theirs counts as noise "
        "(mean {baseline_mean:.4f} for the baseline, {mean:.4f} for {replicate}): make sure that each is a run of "
        "the baseline's own system"
    ),
    "georisk_vanishes": (
        "the largest GeoRisk of the pool is {largest:.2g} at this alpha and {largest_at_0:.2g} at alpha 0: losses "
        "weigh so much that too little is left to compare, so the gate does not pass; choose a smaller alpha"
    ),
    "rests_on_unjudged": "this answer rests on {documents} unjudged documents; judge-next lists those to judge first",
    "rescored": (
        "the judgements or the scoring library changed since the baseline was stored, so its run was scored again"
    ),
    "topics_changed": (
        "the topics file has changed since {systems} was stored, and this gate is about a slice by its tags; once "
        "they are reviewed, rescore the baseline"
    ),
    "few_topics": "only {units}: with so few, intervals cover less, and gates fail more often, than their level says",
    "few_effective_topics": "weights or clusters make {units} count like {effective:.3g} of equal weight",
    "few_changed_topics": "only {topics_number} of {verdict.topics.count} topics changed ({topics})",
    "no_variation": "no topic changed, or all of them by the same amount: the mean alone decides",
    "unseen_changes": (
        "no {change} is as large as {size:.2g}, but a {change} as large in up to {share:.1%} of queries cannot be "
        "excluded, and would overturn this pass"
    ),
    "cannot_fail": (
        "no candidate can fail this gate, not even one that scores 0 on every topic: {verdict.baselines[0]} scores "
        "above 0 on {above} of {verdict.topics.count} topics, {mean:.4g} on average and {most:.4g} at most; choose "
        "another measure, or a smaller tolerance, level or limit"
    ),
    "methods_disagree": (
        "Student-t (limit {student_t_limit:+.3g}) and {method} (limit {limit:+.3g}) disagree; {decisive} decided"
    ),
    "slow_slide": (
        "passes against {verdict.baselines[0]}, but the mean is significantly below that of "
        "{verdict.lineage.runs[0].run}: {verdict.lineage.in_total:+.4f} in total, with {verdict.lineage.accepted} "
        "accepted changes between; store that run as a baseline of its own and compare with both (baselines: [...])"
    ),
}
#: What some parameters add to what a warning says.
ADDED: Mapping[str, str] = {
    "needs_student_t": ": Student-t must agree with the gate's own method",
    "cannot_fail": "; with so few changes it cannot fail",
    "needed": "; at least {needed} are needed",
    "reference": " (against {reference})",
}
