"""Which measures are computed by known code; a project may register measures and providers of its own."""

from __future__ import annotations

import re
import sys

from pytest_riskguard.errors import RiskguardError

#: The packages whose code and versions are part of every key.
_PACKAGES = frozenset({"ir_measures", "pytest_riskguard"})
#: The measures of ir-measures; a project may register others, whose code no key would cover.
_NAMES = """
AP AP_IA Accuracy BPM BPref Bpref Compat DCG ERR ERR_IA INSQ INST IPrec Judged MAP MAP_IA MRR NDCG
NERR10 NERR11 NERR8 NERR9 NRBP NumQ NumRel NumRelRet NumRet P P_IA Precision R RBP RPrec RR Recall
Rprec SDCG SetAP SetF SetP SetR SetRelP StRecall Success alpha_DCG alpha_nDCG infAP nDCG nERR_IA
nNRBP α_DCG α_nDCG
"""
MEASURES = frozenset(_NAMES.split())
_NAME = re.compile(r"\w+")


def is_known(measure: str) -> bool:
    """Whether a measure, and what computes it in this process, are those of ir-measures or riskguard."""
    from pytest_riskguard.evaluation.measures import parse_measure, provider_of

    try:
        parsed = parse_measure(measure)
        return all(type(part).__module__.partition(".")[0] in _PACKAGES for part in (parsed, provider_of(parsed)))
    except (RiskguardError, ValueError):
        return False


def may_be_registered() -> bool:
    """Whether anybody can have registered something: not where ir-measures was never imported."""
    return "ir_measures" in sys.modules


def may_be_of_project(measure: str) -> bool:
    """Whether the code of a project may decide what a measure is; ir-measures is not imported to find out."""
    name = _NAME.match(measure)
    return name is None or name.group() not in MEASURES or (may_be_registered() and not is_known(measure))
