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
    },
    "inconclusive": {
        "too_few_changes": "`not_inferior`, `equivalent`: the intervals show it, but too few topics changed.",
        "too_few_topics": "Fewer than 10, or fewer than 10 effective topics by their weights, clusters or strata.",
        "too_weak": "It could not have detected a loss of `max_mde`, or GeoRisk vanishes.",
    },
    "incomparable": {
        "bad_run": "A run is malformed, or a live search failed.",
        "bad_qrels": "The judgements are malformed, or have grades above a measure's scale.",
        "bad_topics": "The topics file is malformed.",
        "bad_strata": (
            "A topic is in no stratum with a share, a stratum has fewer than two topics or clusters, or a cluster "
            "lies in two."
        ),
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
        "cannot_fail": "Not even a candidate that scores 0 everywhere could fail.",
    },
}
REASONS = tuple(code for codes in REASONS_OF.values() for code in codes)

#: What a verdict warns of.
WARNINGS: Mapping[str, str] = {
    "churn": "Churn that passes because of `on_churn: warn`.",
    "few_changed_topics": "So few topics changed that only Student-t could fail the gate, or nothing could.",
    "few_topics": (
        "Fewer than 25 topics (for `georisk_not_worse` at an alpha above 1, 50), or weights, strata or clusters that "
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
    "missing_topics": (
        "Topics that are judged and not answered, answered and not judged, or judged by documents no longer in "
        "`documents`."
    ),
    "free_wins": "A baseline did not answer topics that the candidate answered, which somebody accepted.",
    "order_as_written": (
        "The order as written scores differently; or the rank column or the order contradicts the scores."
    ),
    "unstable_answers": (
        "Asked twice, a live candidate answered some topics differently; the message says with what effect."
    ),
    "rests_on_unjudged": "It might pass if unjudged documents were judged: `riskguard judge-next` lists them.",
    "rests_on_judges": "The answer is not the same under each of several judges alone.",
    "changed_inputs": (
        "Judgements, topics or the scoring library changed since a baseline was stored, and its run was scored "
        "again, or this was allowed."
    ),
    "unbacked_scores": "A baseline was stored with `--no-run`, so its scores cannot be checked.",
    "significantly_better": "The mean is significantly up.",
}
