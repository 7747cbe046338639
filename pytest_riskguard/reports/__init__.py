"""Shows verdicts; computes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_riskguard.gates import SHOWN

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict


def _text(verdict: Verdict) -> str:
    from pytest_riskguard.reports.in_print import text

    return text(verdict)


def _page(verdict: Verdict) -> str:
    from pytest_riskguard.reports.in_print import page

    return page(verdict)


SHOWN |= {"text": _text, "html": _page}
