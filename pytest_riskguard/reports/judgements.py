"""Whether a verdict rests on documents that nobody judged, as text."""

from __future__ import annotations

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.detail import Detail
from pytest_riskguard.reports.figures import shown
from pytest_riskguard.reports.text import counted

_IF = {
    "irrelevant": "if none of them is relevant",
    "relevant": "if they have their topic's highest grade",
    "candidate_relevant": "if only the candidate's are relevant",
    "baseline_relevant": "if only the baseline's are relevant",
}
_WOULD = {"pass": "passes", "fail": "fails", "inconclusive": "is inconclusive"}


def paragraphs(verdict: Verdict, detail: Detail) -> list[str]:
    """A paragraph where the outcome depends on unjudged documents; with ``-vv`` also where it does not."""
    holes = verdict.judgements
    if holes is None or not holes.documents:
        return []
    everything = detail.topics is None
    where = (
        f"{counted(holes.documents, 'document')} in the first {holes.depth} ranks that nobody judged "
        f"({holes.candidate} of the candidate, {holes.baseline} of the baseline)"
    )
    if not holes.depends:
        return [f"judgements: the outcome does not depend on {where}"] if everything else []
    told = [case for case in holes.cases if everything or case.outcome != verdict.outcome]
    cases = (f"it {_WOULD[case.outcome]} {_IF[case.case]} (URisk {shown(verdict, case.urisk)})" for case in told)
    return [f"judgements: this verdict rests on {where}: {'; '.join(cases)}"]  # a warning says what to do
