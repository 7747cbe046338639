"""Names of measures as other tools write them, as ir-measures writes the same measure."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: Rows of averages have one of these in place of a topic.
AVERAGES = frozenset({"all", "amean", "mean"})
#: trec_eval, its Python bindings, and ranx: what stands before the cutoff.
_MEASURES: Mapping[str, str] = {
    **{"map": "AP", "P": "P", "recall": "R", "ndcg": "nDCG", "recip_rank": "RR", "Rprec": "Rprec", "bpref": "Bpref"},
    **{"infAP": "infAP", "success": "Success", "num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel"},
    **{"num_rel_ret": "NumRet(rel=1)", "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF", "set_map": "SetAP"},
    **{"mrr": "RR", "precision": "P", "hit_rate": "Success", "r-precision": "Rprec"},
}
#: With the cutoff, and in ranx the least grade that is relevant.
_NAME = re.compile(r"([A-Za-z_-]+?)(?:_cut)?(?:[_@](\d+))?(?:-l(\d+))?")
_RECALL_LEVEL = re.compile(r"iprec_at_recall_([01]\.\d+)")
#: Further names of trec_eval and ranx, which ir-measures has nothing for, or another definition.
_OTHERS = re.compile(
    r"runid|gm_\w+|Rprec_mult_[\d.]+|relative_P_\d+|set_relative_P|ndcg_rel|Rndcg|G|binG|11pt_avg|utility|relstring\w*"
    r"|num_nonrel_judged_ret|\w+_avgjg(_\d+)?|yaap|cg_\d+|dcg(_\d+)?|set_F_[\d.]+|(hits|f1|ndcg_burges|rbp)([@.-].*)?"
)
_OWN = re.compile(r"([A-Za-z_]\w*)(?:\([^()]*\))?(?:@[\d.]+)?")


def known(name: str) -> str | None:
    """ir-measures' name of a measure, whichever tool wrote it; the same name if it has none, None if no tool does.

    Parameters of ir-measures' own names are not checked.
    """
    from ir_measures.measures import registry

    own, match = _OWN.fullmatch(name), _NAME.fullmatch(name)
    if (own is not None and own[1] in registry) or _OTHERS.fullmatch(name):
        return name
    if (recall := _RECALL_LEVEL.fullmatch(name)) is not None:
        return f"IPrec@{float(recall[1]):g}"
    if match is None or match[1] not in _MEASURES:
        return None
    level = "" if match[3] in (None, "1") or match[1] == "ndcg" else f"(rel={match[3]})"
    return f"{_MEASURES[match[1]]}{level}{'' if match[2] is None else f'@{match[2]}'}"


def standard_name(name: str) -> str:
    """ir-measures' name of a measure, whichever tool wrote it; a name that no tool uses stays as it is."""
    return known(name) or name


def are_measures(*objects: Mapping[str, object]) -> bool:
    """Whether every key of every object names a measure, however a tool writes it."""
    names = {name for keys in objects for name in keys}
    return bool(names) and all(map(known, names))


#: How many ranks are searched for unjudged documents, and shown, where the measure has no cutoff.
DEFAULT_DEPTH = 10
#: The most ranks that are searched, whatever the cutoff: judges do not go deeper.
MAX_DEPTH = 100


def cutoff_of(measure: object) -> int | None:
    """How many ranks a measure looks at, by its text alone; None for all."""
    text = str(measure)
    last = text.rpartition("@")[2]
    return int(last) if last.isdecimal() and "judged_only=True" not in text else None
