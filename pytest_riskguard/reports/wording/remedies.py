"""What to do about data that cannot be compared, where the problem itself does not say it."""

from __future__ import annotations

from pytest_riskguard.gates.verdict import Verdict

_REMEDIES = {
    "missing_input": "Write the missing file, or correct its path",
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
    "max_latency_p95_ms:",
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
