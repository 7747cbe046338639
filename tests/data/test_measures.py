from __future__ import annotations

import math
import re
import subprocess
import sys

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data.measures import (
    bounds,
    ensure_available,
    measure_name,
    parse_measure,
    provider_of,
    within_bounds,
)
from pytest_riskguard.errors import UsageError

CANONICAL = {
    "nDCG@10": "nDCG@10",
    " nDCG @ 10 ": "nDCG@10",
    "NDCG@10": "nDCG@10",
    "MAP": "AP",
    "AP(rel=2)": "AP(rel=2)",
    "AP(rel=1)": "AP",
    "AP(judged_only=True,rel=2)@100": "AP(rel=2,judged_only=True)@100",
    "nDCG(cutoff=5)": "nDCG@5",
    'nDCG(dcg="exp-log2")@20': "nDCG(dcg='exp-log2')@20",
    "nDCG(gains={2: 10, 1: 5, 3: 3})@10": "nDCG(gains={1:5,2:10})@10",
    "nDCG(gains={0:-1})": "nDCG(gains={0:-1})",
    "SetRelP": "SetP(relative=True)",
    "NumRelRet": "NumRet(rel=1)",
    "SetF(beta=2)": "SetF(beta=2.0)",
    "IPrec@0.1": "IPrec@0.1",
    "IPrec@1": "IPrec@1.0",
    "ERR@20": "ERR@20",
    "ERR(max_rel=4)@20": "ERR@20",
    "ERR(max_rel=5)@20": "ERR(max_rel=5)@20",
    "ERR": "ERR",
    "α_nDCG@5": "alpha_nDCG@5",
    "RBP(rel=1,p=0.5)": "RBP(p=0.5,rel=1)",
}


@pytest.mark.parametrize("text", CANONICAL)
def test_a_measure_has_one_name_however_it_is_written(text):
    assert measure_name(text) == CANONICAL[text]
    assert measure_name(CANONICAL[text]) == CANONICAL[text]


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="this Python is too new for the parser of ir-measures: it warns, or fails"
)
@pytest.mark.parametrize("text", [text for text in CANONICAL if "max_rel" not in text and "-1" not in text])
def test_a_measure_is_the_one_that_ir_measures_parses(text):
    try:
        theirs = ir_measures.parse_measure(text.strip())
        theirs.validate_params()
    except AssertionError:  # wants 2.0 where 2 is written
        return
    ours = parse_measure(text)
    assert {key: ours[key] for key in theirs.SUPPORTED_PARAMS} == {
        key: theirs[key] for key in theirs.SUPPORTED_PARAMS
    }
    assert ours.NAME == theirs.NAME


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("ndcg@10", "nDCG@10"),
        ("nDGC@10", "nDCG@10"),
        ("nDCG10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("P_10", "P@10"),
        ("map", "AP"),
        ("mrr@10", "MRR@10"),
        ("recip_rank", "RR"),
        ("recall_100", "R@100"),
        ("f1", "SetF"),
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
        ("", "a measure is written Name(key=value, ...)@cutoff"),
        ("nDCG@", "is not a measure"),
        ("nDCG@10@20", "is not a measure"),
        ("nDCG@None", "is not a measure"),
        ("nDCG(10)", "is not a measure"),
        ("nDCG(**{})", "is not a measure"),
        ("nDCG(cutoff=open('x'))", "is not a measure"),
        ("nDCG@10\0", "is not a measure"),
        ("nDCG('\\q')", "is not a measure"),
        ("ir.nDCG", "is not a measure"),
        ("nDCG@10, AP", "is not a measure"),
        ("(" * 190, "is not a measure"),
        ("x" * 3000, "is not a measure"),
        ("P", "P needs cutoff, as in P@10"),
        ("IPrec", "IPrec needs recall, as in IPrec@0.1"),
        ("SDCG@10", "SDCG needs max_rel, as in SDCG(max_rel=4)"),
        ("nDCG(cutoff=5)@10", "cutoff is given twice"),
        ("nDCG(k=5)", "no parameter 'k'; it has cutoff, dcg, gains, judged_only"),
        ("NumQ(rel=1)", "no parameter 'rel'; it has none"),
        ("nDCG@0", "cutoff must be from 1 to 2147483647, got 0"),
        ("nDCG@-1", "cutoff must be from 1 to 2147483647, got -1"),
        ("R@99999999999", "cutoff must be from 1 to"),
        ("nDCG@10.0", "cutoff must be an integer, got 10.0"),
        ("nDCG@True", "cutoff must be an integer, got True"),
        ("AP(rel=0)", "rel must be from 1 to 1000, got 0"),
        ("AP(rel='x')", "rel must be an integer, got 'x'"),
        ("nDCG(dcg='log10')@5", "dcg must be one of 'log2', 'exp-log2', got 'log10'"),
        ("nDCG(judged_only=1)@5", "judged_only must be True or False, got 1"),
        ("nDCG(gains={1: 2.5})", "gains must be a mapping of integers to integers"),
        ("nDCG(gains={1: 100000000})", "gains must be a mapping of integers to integers, none beyond 1000"),
        ("IPrec@0.123", "recall must be from 0 to 1, with two decimals at most, got 0.123"),
        ("IPrec@1.5", "recall must be from 0 to 1"),
        ("Compat(p=2.0)", "p must be from 0 to 1, got 2.0"),
        ("SetF(beta=1e999)", "beta must be a finite number, at least 0, got inf"),
        ("SDCG(max_rel=2,min_rel=2)@5", "min_rel must be below max_rel"),
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


def test_a_measure_without_its_provider_says_how_to_install_it(monkeypatch):
    cwl = ir_measures.providers.registry["cwl_eval"]
    monkeypatch.setattr(cwl, "_is_available", False)
    with pytest.raises(UsageError, match=re.escape("run `pip install 'ir-measures[cwl-eval]'`")):
        ensure_available(parse_measure("SDCG(max_rel=4)@10"))


def test_no_other_provider_steps_in_for_one_that_is_missing(monkeypatch):
    trec_eval = ir_measures.providers.registry["pytrec_eval"]
    monkeypatch.setattr(trec_eval, "_is_available", False)
    assert ir_measures.providers.registry["msmarco"].supports(ir_measures.RR)  # and breaks ties otherwise
    with pytest.raises(UsageError, match="computed by pytrec_eval, which is not installed; run `pip install"):
        ensure_available(parse_measure("RR"))


def test_a_combination_that_nothing_computes_is_a_usage_error():
    with pytest.raises(UsageError, match="no provider that computes this combination"):
        ensure_available(parse_measure("NumRel(rel=2)"))


def test_measures_of_subtopics_are_refused():
    with pytest.raises(UsageError, match=r"needs judgements per subtopic.*'ir-measures\[pyndeval\]'"):
        ensure_available(parse_measure("alpha_nDCG@10"))


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("nDCG@10", (0.0, 1.0)),
        ("RR@10", (0.0, 1.0)),
        ("RBP(rel=1)", (0.0, 1.0)),
        ("NumRet", (0.0, math.inf)),
        ("alpha_DCG@10", (0.0, math.inf)),
        ("SDCG(max_rel=4)@10", None),
        ("INST(max_rel=4)", None),
    ],
)
def test_the_range_of_a_measure_is_known(text, limits):
    assert bounds(parse_measure(text)) == limits


def test_rounding_is_no_reason_to_refuse_a_value():
    ndcg = parse_measure("nDCG@10")
    assert within_bounds(ndcg, 1 + 1e-12)
    assert within_bounds(ndcg, -1e-12)
    for value in (1.001, -0.001, math.nan, math.inf):
        assert not within_bounds(ndcg, value)
    assert within_bounds(parse_measure("NumRet"), 1e6)
    assert within_bounds(parse_measure("SDCG(max_rel=4)@10"), -3.0)
    assert not within_bounds(parse_measure("SDCG(max_rel=4)@10"), math.nan)


def test_ir_measures_keeps_its_own_pipeline():
    err = parse_measure("ERR@20")
    assert provider_of(err).NAME == "riskguard"
    names = [provider.NAME for provider in ir_measures.DefaultPipeline.providers]
    assert "riskguard" not in names
    assert "gdeval" in names
    assert "max_rel" not in type(ir_measures.ERR).SUPPORTED_PARAMS
    assert ir_measures.measures.registry["ERR"] is ir_measures.ERR
    assert ir_measures.providers.registry["riskguard"] is provider_of(err)


def test_importing_the_subpackage_loads_no_ir_measures():
    heavy = "{'ir_measures', 'pytest', 'scipy'}"
    code = f"import sys, pytest_riskguard.data; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
