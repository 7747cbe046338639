"""Names of measures as other tools write them, as ir-measures writes the same measure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

#: Rows of averages have one of these in place of a topic.
AVERAGES = frozenset({"all", "amean", "mean"})
#: trec_eval and its Python bindings; ``{}`` is the cutoff.
_TREC_EVAL: Mapping[str, str] = {
    **{"map": "AP", "map_cut_{}": "AP@{}", "P_{}": "P@{}", "recall_{}": "R@{}", "ndcg": "nDCG"},
    **{"ndcg_cut_{}": "nDCG@{}", "recip_rank": "RR", "Rprec": "Rprec", "bpref": "Bpref", "infAP": "infAP"},
    **{"success_{}": "Success@{}", "num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel"},
    **{"num_rel_ret": "NumRet(rel=1)", "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF", "set_map": "SetAP"},
}
#: Further names of trec_eval's, which ir-measures has nothing for.
_ONLY_TREC_EVAL = re.compile(
    r"runid|gm_\w+|Rprec_mult_[\d.]+|relative_P_\d+|set_relative_P|ndcg_rel|Rndcg|G|binG|11pt_avg|utility|relstring\w*"
    r"|num_nonrel_judged_ret|\w+_avgjg(_\d+)?|yaap|cg_\d+|dcg(_\d+)?|set_F_[\d.]+"
)
_RECALL_LEVEL = re.compile(r"iprec_at_recall_([01]\.\d+)")
#: ranx: ``name@cutoff-l<least grade that is relevant>``.
_RANX: Mapping[str, str] = {
    **{"ndcg": "nDCG", "map": "AP", "mrr": "RR", "precision": "P", "recall": "R", "hit_rate": "Success"},
    **{"r-precision": "Rprec", "bpref": "Bpref"},
}
_RANX_NAME = re.compile(r"([a-z_-]+?)(?:@(\d+))?(?:-l(\d+))?")
#: What ranx computes and ir-measures does not have, or has with another definition.
_ONLY_RANX = frozenset({"hits", "f1", "ndcg_burges", "rbp"})
_OWN = re.compile(r"([A-Za-z_]\w*)(?:\([^()]*\))?(?:@[\d.]+)?")


def from_trec_eval(name: str) -> str | None:
    """ir-measures' name of a measure that trec_eval computes; the same name if it has none, None if neither does."""
    if (level := _RECALL_LEVEL.fullmatch(name)) is not None:
        return f"IPrec@{float(level[1]):g}"
    pattern = re.sub(r"_\d+$", "_{}", name)
    if pattern in _TREC_EVAL:
        return _TREC_EVAL[pattern].format(name.rpartition("_")[2])
    return name if _ONLY_TREC_EVAL.fullmatch(name) else None


def from_ranx(name: str) -> str | None:
    """ir-measures' name of a measure of ranx; the same name if it has none, None if ranx does not know it either."""
    match = _RANX_NAME.fullmatch(name)
    if match is None or match[1] not in _RANX:
        plain = re.split(r"[@.]|-l\d", name)[0]
        return name if plain in _ONLY_RANX else None
    level = "" if match[3] in (None, "1") or match[1] == "ndcg" else f"(rel={match[3]})"
    return f"{_RANX[match[1]]}{level}{'' if match[2] is None else f'@{match[2]}'}"


def from_ir_measures(name: str) -> str | None:
    """The name itself if ir-measures has such a measure, else None; its parameters are not checked."""
    from ir_measures.measures import registry

    match = _OWN.fullmatch(name)
    return name if match is not None and match[1] in registry else None


def known(name: str, *readers: Callable[[str], str | None]) -> str | None:
    """What the first of the readers that knows the name makes of it; None if none does."""
    return next((standard for reader in readers if (standard := reader(name)) is not None), None)


def standard_name(name: str) -> str:
    """ir-measures' name of a measure, whichever tool wrote it; a name that no tool uses stays as it is."""
    return known(name, from_ir_measures, from_trec_eval, from_ranx) or name


def are_measures(*objects: Mapping[str, object]) -> bool:
    """Whether every key of every object names a measure, however a tool writes it."""
    names = {name for keys in objects for name in keys}
    return bool(names) and all(known(name, from_ir_measures, from_trec_eval, from_ranx) for name in names)


#: How many ranks are searched for unjudged documents, and shown, where the measure has no cutoff.
DEFAULT_DEPTH = 10
#: The most ranks that are searched, whatever the cutoff: judges do not go deeper.
MAX_DEPTH = 100


def cutoff_in(measure: str | None) -> int | None:
    """How many ranks a measure looks at, by its name alone; None for all."""
    _, _, last = (measure or "").rpartition("@")
    return int(last) if last.isdecimal() and "judged_only=True" not in (measure or "") else None
