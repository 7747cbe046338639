"""Mistakes that look like a loss, or hide one: a run cut off, too few results a query, rankings upside down.

None of them decides a verdict. Ids of another collection are refused before anything is scored (``data.id_checks``).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pytest_riskguard.data.ids import IntArray
from pytest_riskguard.data.measures import cutoff_of, has_kernel
from pytest_riskguard.data.scoring import kernel_of
from pytest_riskguard.gates.unjudged import Labels
from pytest_riskguard.gates.verdict import Verdict, VerdictWarning, warning
from pytest_riskguard.text import counted

#: From this share of queries without a result on, a run may be cut off.
MUCH_MISSING = 0.25
#: Results are too few if a system never has more than this share of those that count; a baseline's, of half of them.
FEW_RESULTS, FEW_IN_BASELINE = 0.9, 0.5
#: Rankings are upside down if turning them round makes up for this share of the loss.
RESTORED = 0.75


def wanted_results(
    candidate: IntArray, baseline: IntArray, cutoff: int | None, share: float = FEW_RESULTS
) -> int | None:
    """How many results a query should have, if the candidate never has more than a share of what the baseline has.

    The arrays say how many results each query has, ``cutoff`` how many count, None for all.
    """
    usual = int(np.median(baseline))
    wanted = min(usual, cutoff or usual)
    return wanted if candidate.max() <= share * wanted else None


def cause_of(verdict: Verdict, labels: Labels | None) -> VerdictWarning | None:
    """The likeliest mistake behind a verdict; ``labels`` are None where there are no runs.

    Of one that passes only the baseline is at fault: where its lists were cut, nothing below can be lost.
    """
    topics, failed = verdict.topics, verdict.outcome != "pass"
    missing = len(topics.missing_in_candidate) + topics.left_out.get("missing_in_candidate", 0)
    if failed and missing >= MUCH_MISSING * topics.count:
        return warning("suspicious_run", about="cut_off", missing=missing, count=topics.count)
    if labels is None:
        return None
    ours, theirs = (run.run.retrieved for run in labels.runs)
    candidate, baseline = (float(np.mean(scores.values)) for scores in labels.scores)
    if failed and (reverse := _reverse(labels)) - candidate >= RESTORED * (baseline - candidate) > 0:
        return warning("suspicious_run", about="upside_down", mean=candidate, reverse=reverse)
    cutoff = cutoff_of(labels.measure)
    about, few, wanted = "few_results", ours, wanted_results(ours, theirs, cutoff) if failed else None
    if wanted is None:
        about, few, wanted = "few_in_baseline", theirs, wanted_results(theirs, ours, cutoff, FEW_IN_BASELINE)
        if theirs.max() > np.median(theirs):  # lists that were cut mostly end at one rank
            return None
    if wanted is None:
        return None
    return warning("suspicious_run", about=about, most=counted(int(few.max()), "result"), wanted=wanted)


def _reverse(labels: Labels) -> float:
    """The candidate's mean if its rankings were read from last to first; NaN for measures without a kernel."""
    run, qrels = labels.runs[0], labels.runs[0].qrels
    if not has_kernel(labels.measure):
        return math.nan
    rows = run.run.judged_rows(run.order, qrels)
    turned = np.where(rows.rank > 0, rows.retrieved[rows.topic] + 1 - rows.rank, 0)
    scores = kernel_of(labels.measure, qrels.rules).scores(replace(rows, rank=turned))
    return float(np.mean(scores[qrels.arrays.places_of(labels.scores[0].topics)]))
