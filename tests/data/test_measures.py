import math
import re
import subprocess
import sys
from contextlib import suppress

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data.measures import (
    bounds,
    measure_name,
    out_of_range,
    parse_measure,
    provider_of,
    refuse_uninformative,
    span,
)
from pytest_riskguard.errors import UsageError

CANONICAL = {
    "nDCG@10": "nDCG@10",
    f" nDCG {' ' * 190} @ 10 ": "nDCG@10",
    "NDCG@10": "nDCG@10",
    "MAP": "AP",
    "AP(rel=2)": "AP(rel=2)",
    "AP(rel=1)": "AP",
    "AP(judged_only=True,rel=2)@100": "AP(rel=2,judged_only=True)@100",
    'nDCG(dcg="exp-log2")@20': "nDCG(dcg='exp-log2')@20",
    "nDCG(gains={2: 10, 1: 5, 3: 3})@10": "nDCG(gains={1:5,2:10})@10",
    "nDCG(gains={0:-1000})": "nDCG(gains={0:-1000})",
    "NumRelRet": "NumRet(rel=1)",
    "SetF(beta=2)": "SetF(beta=2.0)",
    "IPrec@0.1": "IPrec@0.1",
    "ERR": "ERR",
    "ERR(max_rel=4)@20": "ERR@20",
    "α_nDCG@5": "alpha_nDCG@5",
    "RBP(rel=1,p=0.5)": "RBP(p=0.5,rel=1)",
    "RBP(max_rel=3)": "RBP(max_rel=3)",
    " shop.measures:revenue ": "shop.measures:revenue",
    "measures:Shop.revenue@10": "measures:Shop.revenue@10",
}


@pytest.mark.parametrize("text", CANONICAL)
def test_a_measure_has_one_name_however_it_is_written(text):
    assert measure_name(text) == CANONICAL[text]
    assert measure_name(CANONICAL[text]) == CANONICAL[text]


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="this Python is too new for the parser of ir-measures: it warns, or fails"
)
@pytest.mark.parametrize("text", [t for t in CANONICAL if not re.search("max_rel|-1|^DCG|:[A-Za-z]", t)])
def test_a_measure_is_the_one_that_ir_measures_parses(text):
    try:
        theirs = ir_measures.parse_measure(text.strip())
        theirs.validate_params()
    except AssertionError:  # wants 2.0 where 2 is written
        return
    ours = parse_measure(text)
    assert (ours.NAME, dict(ours.params)) == (theirs.NAME, theirs.params)
    providers = [one.NAME for one in ir_measures.DefaultPipeline.providers if one.supports(theirs)]
    with suppress(UsageError):
        assert provider_of(ours).NAME in (*providers[:1], "riskguard")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("ndcg@10", "nDCG@10"),
        ("nDCG10", "nDCG"),
        ("ndcg_cut.10", "nDCG@10"),
        ("P_10", "P@10"),
        ("map", "AP"),
        ("set_F", "SetF"),
        ("hit_rate@5", "Success@5"),
        ("DGC@5", "DCG@5"),
        ("err(max_rel=5)@20", "ERR(max_rel=5)@20"),
    ],
)
def test_an_unknown_measure_names_the_nearest(text, near):
    with pytest.raises(UsageError, match=re.escape(f"did you mean {near!r}?")):
        parse_measure(text)
    assert parse_measure(near)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("zzz@3", "ir-measures knows no measure 'zzz'"),
        ("nDCG@", "'nDCG@' is not a measure: a measure is written Name(key=value, ...)@cutoff"),
        ("nDCG(10)", "is not a measure"),
        ("nDCG(cutoff=open('x'))", "is not a measure"),
        ("nDCG('\\q')", "is not a measure"),
        ("ir.nDCG", "is not a measure"),
        ("(" * 190, "is not a measure"),
        (f"nDCG{' ' * 194}@10", f"'nDCG{' ' * 194}@1' is not a measure"),
        ("shop:", "or package.module:function, a Python function"),
        ("shop measures:revenue", "is not a measure"),
        ("shop:revenue@0", "cutoff must be from 1 to"),
        ("P", "P needs cutoff, as in P@10"),
        ("IPrec", "IPrec needs recall, as in IPrec@0.1"),
        ("SDCG@10", "SDCG needs max_rel, as in SDCG(max_rel=4)"),
        ("nDCG(cutoff=5)@10", "cutoff is given twice"),
        ("nDCG(k=5)", "no parameter 'k'; it has cutoff, dcg, gains, judged_only"),
        ("NumQ(rel=1)", "no parameter 'rel'; it has none"),
        ("nDCG@0", "cutoff must be from 1 to 2147483647, got 0"),
        ("nDCG@10.0", "cutoff must be an integer, got 10.0"),
        ("AP(rel=0)", "rel must be from 1 to 1000, got 0"),
        ("nDCG(dcg='log10')@5", "dcg must be one of 'log2', 'exp-log2', got 'log10'"),
        ("nDCG(judged_only=1)@5", "judged_only must be True or False, got 1"),
        ("IPrec@0.123", "recall must be a number with two decimals at most, got 0.123"),
        ("nDCG(gains={1: -1001})", "gains must be a mapping of integers to integers, none beyond 1000"),
        ("SetF(beta=1e999)", "beta must be from 0 to 1.79"),
        ("alpha_nDCG(alpha=1.1)@5", "alpha must be from 0 to 1, got 1.1"),
        ("SDCG(min_rel=-1,max_rel=4)@5", "min_rel must be from 0 to 1000, got -1"),
        ("RBP(rel=1,p=-0.1)", "p must be from 0 to 1, got -0.1"),
        ("RBP(rel=1,max_rel=3)", "no parameter 'max_rel'"),
    ],
)
def test_a_text_that_names_no_measure_is_a_usage_error(text, problem):
    with pytest.raises(UsageError, match=re.escape(problem)):
        parse_measure(text)


@given(st.text(alphabet="nDCGAP@10()=,.'\"relcutoff{}:-_ \\\t", max_size=40))
def test_no_text_raises_anything_but_a_usage_error(text):
    try:
        name = measure_name(text)
    except UsageError:
        return
    assert measure_name(name) == name


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "SDCG(max_rel=4)@10",
            "computed by cwl_eval, which is not installed; run `pip install 'ir-measures[cwl-eval]'`",
        ),
        ("infAP", "computed by pytrec_eval, which is not installed; run `pip install 'ir-measures[pytrec-eval]'`"),
        ("NumRel(rel=2)", "no provider that computes this combination"),
        ("RBP", "no provider that computes this combination"),
        *((f"nDCG(dcg='exp-log2',{more})", "no provider that") for more in ("judged_only=True", "gains={1: 2}")),
        ("alpha_nDCG@10", "needs judgements per subtopic"),
    ],
)
def test_a_measure_that_cannot_be_computed_here_says_why(monkeypatch, text, problem):
    for name in ("cwl_eval", "pytrec_eval"):
        monkeypatch.setattr(ir_measures.providers.registry[name], "_is_available", False)
    assert provider_of(parse_measure("RR")).NAME == "pytrec_eval"  # a kernel computes it, ties included
    with pytest.raises(UsageError, match=re.escape(problem)):
        provider_of(parse_measure(text))


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("nDCG@10", (0.0, 1.0)),
        ("shop:revenue", (0.0, 1.0)),
        ("NumRet", (0.0, math.inf)),
        ("DCG", (0.0, math.inf)),
        ("SDCG(max_rel=4)@10", (-math.inf, math.inf)),
    ],
)
def test_the_range_of_a_measure_is_known_and_rounding_is_no_reason_to_refuse_a_value(text, limits):
    measure = parse_measure(text)
    low, high = limits
    assert bounds(measure) == limits
    assert span(text) == high - low
    for value in (low - 1e-12, 0.5, min(high, 1e6) + 1e-12):
        assert (out_of_range(measure, limits, "q", value) is None) == math.isfinite(value)
    for value in (low - 0.001, high + 0.001, math.nan):
        assert out_of_range(measure, limits, "q", value) is not None
    assert span("any column of a table") == math.inf


def test_a_count_in_which_no_ranking_is_better_is_refused():
    for text, counted in (("NumQ", "topics"), (" NumRel", "judgements"), ("NumRet", "documents")):
        with pytest.raises(
            UsageError, match=f"^'{text}' counts {counted}: no ranking is better or worse, so no gate"
        ):
            refuse_uninformative(text)
    refuse_uninformative("NumRet(rel=1)")


def test_ir_measures_is_not_loaded_for_a_measure_with_a_kernel():
    code = "from pytest_riskguard.data.measures import *; provider_of(parse_measure('nDCG@10'))"
    code = f"{code}; import sys; sys.exit('ir_measures' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
