"""Every table and figure of the five papers by the command that makes it, on the papers' runs and on Cranfield."""

import json

import numpy as np
import pytest
from scipy.special import ndtr

from pytest_riskguard.studies.overlap import rank_biased_overlap
from tests.published import test_airs2019 as airs
from tests.published import test_ecir2014 as ecir
from tests.published import test_sigir2014 as sigir
from tests.published import test_sigir2016 as multiple
from tests.published.studies import figures, printed, table
from tests.published.web2012 import TOPICS, minus

MEASURES = {"ap": "AP", "ndcg10": "nDCG@10", "rr": "RR"}


@pytest.fixture(scope="module")
def web(pool_of_49, tmp_path_factory):
    """The scores of the papers' pool, indriCASP as the baseline."""
    path = table(tmp_path_factory.mktemp("web") / "err20.csv", pool_of_49, TOPICS.tolist())
    return ("--scores", path, "--baseline", "indriCASP", "--measure", "ERR@20")


@pytest.fixture(scope="module")
def nine(pool_of_49, tmp_path_factory):
    """The runs of ECIR 2014."""
    scores = {run: pool_of_49[run] for run in ecir.POOL}
    path = table(tmp_path_factory.mktemp("nine") / "err20.csv", scores, TOPICS.tolist())
    return ("--scores", path, "--baseline", "indriCASP")


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The eight systems of SIGIR 2016."""
    scores = {f"s{place}": row for place, row in enumerate(multiple.EXAMPLE, 1)}
    return ("--scores", table(tmp_path_factory.mktemp("example") / "example.csv", scores, multiple.FIVE))


@pytest.fixture(scope="module")
def cranfield(shared):
    """The table of scores on Cranfield."""
    folder = shared / "data/cranfield_runs"

    def words(measure):
        return ("--scores", folder / f"scores_{measure}.csv", "--baseline", "bm25s_lucene")

    return words


# ---- SIGIR 2014


def test_risk_has_tables_1_and_2_of_sigir_2014(web):
    found = figures("risk", *web)
    for run, alpha, urisk, error, statistic, p_value in sigir.PUBLISHED:
        part = f"Risk, alpha {alpha:g}"
        assert round(found(part, run, "URisk"), 4) == urisk
        assert round(found(part, run, "SE"), 4) == round(found(part, run, "SE_J"), 4) == error
        assert found(part, run, "TRisk") == pytest.approx(statistic, abs=1.5e-4)
        assert round(found(part, run, "p"), 3) == p_value
        assert found("TRisk over alpha", run, alpha) == pytest.approx(statistic, abs=1.5e-4)  # Figure 1
    # Figure 1: beyond alpha 5 TRisk of all is negative, and of the last four significant
    for run in dict.fromkeys(line[0] for line in sigir.TABLES):
        assert all(found("TRisk over alpha", run, alpha / 2) < 0 for alpha in range(11, 31))


def test_risk_names_the_topics_of_section_5_2_and_draws_figure_2(web):
    found = figures("risk", *web, "uogTrA44xi", "qutwb")
    part = "Topics that stand out (TR_i, TJ_i), alpha 0"
    for run, topics in (("uogTrA44xi", "166 175"), ("qutwb", "166 175 191 172")):
        losses = found.texts[part, run, "losses"].split("), ")
        assert " ".join(loss.split(" (")[0] for loss in losses) == topics
    # "as alpha increases, the significance of that topic relatively doubles for uogTrA44xi", not for qutwb
    grown = {
        run: found(f"TJ_i of each topic: {run}", "alpha 10, topic 166", 16)
        / found(f"TJ_i of each topic: {run}", "alpha 0, topic 166", 16)
        for run in ("uogTrA44xi", "qutwb")
    }
    assert grown["uogTrA44xi"] == pytest.approx(1.56, abs=0.01)
    assert grown["qutwb"] == pytest.approx(1.18, abs=0.01)


# ---- ECIR 2014


def test_baselines_has_table_3_of_ecir_2014_and_its_ranks(nine):
    found = figures("baselines", *nine)
    for alpha in (5, 10):
        part = f"URisk against each baseline, alpha {alpha}"
        assert found.column(part, "R mean", ecir.POOL) == [*range(1, 10)]
        assert found.column(part, "R MAX", ecir.POOL) == [*range(1, 10)]  # as printed
        right = ecir.exchanged(ecir.MEAN[alpha], "srchvrs12c09", "DFalah121A")
        assert found.column(part, "MEAN", ecir.POOL) == pytest.approx(right, abs=0.012)
        right = ecir.exchanged(ecir.MEDIAN[alpha], "indriCASP", "qutwb")
        assert found.column(part, "MEDIAN", ecir.POOL) == pytest.approx(right, abs=0.012)


def test_order_under_mean_is_nearly_and_not_quite_that_of_effectiveness(nine, web):
    # section 4 has it that the order is the same
    few, many = figures("baselines", *nine), figures("baselines", *web)
    taus = {
        kind: [one("tau with the order of means", kind, f"alpha {a}") for one in (few, many) for a in (5, 10)]
        for kind in ("MEAN", "MEDIAN", "MAX")
    }
    assert [round(tau, 4) for tau in taus["MEAN"]] == [0.9444, 0.9444, 0.8807, 0.8705]
    assert [round(tau, 4) for tau in taus["MEDIAN"]] == [0.8889, 0.8333, 0.8399, 0.7905]
    assert taus["MAX"] == pytest.approx([1, 1, 1, 1])


def test_figure_2_of_ecir_2014_has_the_baselines_as_points(nine):
    found = figures("baselines", *nine)
    axes = {row: (float(x), found(part, row, x)) for part, row, x in found.cells if part.startswith("Systems on")}
    assert {"MEAN", "MEDIAN", "MAX"} < {*axes}
    assert max(axes, key=lambda name: axes[name][0]) == "MAX"
    # "the MEAN baseline is close to the origin with respect to the second principal axis"
    assert abs(axes["MEAN"][1]) < abs(axes["MEDIAN"][1]) < abs(axes["MAX"][1])
    page = printed("baselines", *nine, "--html")
    assert "MEAN, MEDIAN and MAX 73.58% and 6.72%" in page  # printed: 73.61 and 6.77


# ---- SIGIR 2016


def test_georisk_has_tables_3_to_5_of_sigir_2016(example):
    found = figures("georisk", *example, "--baseline", "s1", *(f"--alpha={alpha}" for alpha in multiple.ALPHAS))
    for number, (means, zrisk, georisk) in enumerate(
        zip(multiple.MEANS, multiple.ZRISK, multiple.GEORISK, strict=True), 1
    ):
        for alpha, z, geo in zip(multiple.ALPHAS, zrisk, georisk, strict=True):
            part, system = f"All measures, alpha {alpha}", f"s{number}"
            cells = [round(found(part, system, column), 3) for column in ("mean", "ZRisk", "GeoRisk")]
            assert cells == [*means, z, geo]
            assert round(found("GeoRisk over alpha", system, alpha), 3) == geo  # Figure 2
    for one, other, terms, total in multiple.ONE_BASELINE:
        if 1 in (one, other):
            row = f"s{one} against s{other}"
            cells = [round(found("z with one baseline", row, column), 4) for column in (*multiple.FIVE, "ZRisk")]
            assert cells == [*terms, total]
    assert found("Scores", "Mean", "t1") == pytest.approx(0.2683, abs=5.1e-5)  # Table 3; 0.26825


def test_georisk_has_the_ranks_of_table_6_side_by_side(web, pool_of_49):
    runs = [run for run in multiple.WEB_2012 if run != "indriCASP"]
    found = figures("georisk", *web, *runs)
    assert len(found.column("All measures, alpha 5", "mean")) == 9
    # R of URisk, TRisk and T* among the nine, as printed, but for T* of two runs, whose scores are others
    for measure, alpha, places in (
        ("URisk", 0, [1, 2, 3, 4, 5, 6, 7, 8]),
        ("TRisk", 0, [1, 3, 2, 4, 5, 6, 7, 8]),
        ("URisk", 5, [2, 1, 3, 4, 6, 5, 8, 7]),
        ("TRisk", 5, [2, 1, 3, 4, 6, 5, 7, 8]),
    ):
        assert found.column(f"All measures, alpha {alpha}", f"R {measure[0]}", runs) == places


def test_paired_tests_of_section_5_on_the_public_scores(web):
    # against srchvrs12c00 the paper has p 0.7592, 0.7003 and 0.0239; the first is of other scores
    found = figures("risk", "--baseline", "srchvrs12c00", *web[:2], "--alpha", 0)
    p = [round(value, 4) for value in found.column("Risk, alpha 0", "p", ["DFalah121A", "QUTparaBline", "indriCASP"])]
    assert p == [0.8781, 0.7003, 0.0238]


# ---- AIRS 2019


def test_smooth_has_table_2_of_airs_2019(web):
    found = figures("smooth", *web)
    pairs = (("l", "s"), ("URisk", "TRisk", "ZRisk"))
    for run, given in airs.PUBLISHED.items():
        ours, cells = list[float](), [*given[:6]]
        for measure in pairs[1]:
            part = f"{'ZRisk and GeoRisk' if measure == 'ZRisk' else 'URisk and TRisk'} with both trade-offs, alpha 1"
            ours += [round(minus(found(part, run, f"{measure} {kind}")), 2) for kind in pairs[0]]
        if run == "DFalah121A":  # its own fence is -0.24192, and not the paper's -0.241
            assert ours.pop(3) == cells.pop(3) + 0.01
        assert ours == cells


def test_system_risk_ordering_of_airs_2019(web, pool_of_49):
    found = figures("smooth", *web)
    part = "Overlap of the orders by l and by s, alpha 1"
    sizes = {
        measure: [int(size) for at, row, size in found.cells if (at, row) == (part, measure)] for measure in airs.RBO
    }
    assert sizes["URisk"] == [*range(1, 48, 5), 48]
    assert sizes["ZRisk"] == sizes["GeoRisk"] == [*range(1, 47, 5), 49]
    last = {measure: found.cells[part, measure, str(sizes[measure][-1])][0] for measure in airs.RBO}
    assert {measure: round(lower, 3) for measure, (lower, _, _) in last.items()} == airs.RBO
    assert all(high - low < 0.001 for _, low, high in last.values())  # "a negligible residual"
    # GeoRisk- as printed, where Eq. 8 counts more risk as safer, is the paper's 0.937
    mean = np.array([scores.mean() for scores in pool_of_49.values()])
    runs = [*pool_of_49]
    orders = []
    for kind in ("l", "s"):
        z = minus(np.array(found.column("ZRisk and GeoRisk with both trade-offs, alpha 1", f"ZRisk {kind}", runs)))
        orders.append(np.argsort(-np.sqrt(mean * ndtr(z / 50)), kind="stable").tolist())
    assert rank_biased_overlap(*orders)[0] == pytest.approx(0.938, abs=5e-4)


def test_figures_1_to_3_of_airs_2019(web):
    found = figures("smooth", *web)
    for x, y in ((-1.0, -2.0), (-0.24192, -0.05), (0.0, 0.0), (0.29224, 0.05), (1.0, 1.0)):
        ((at, value),) = [
            (float(column), cell[0][0])
            for (part, row, column), cell in found.cells.items()
            if (part, row) == ("The trade-offs, alpha 1", "fitted to") and abs(float(column) - x) < 1e-5
        ]
        assert at == pytest.approx(x, abs=6e-6)
        assert value == pytest.approx(y)
    # Figure 3: s bends away from the normal law at its ends, l and none do so less
    part = "Bootstrap means against the normal law, alpha 1: "
    bends: dict[str, float] = {}
    for (title, row, column), cell in found.cells.items():
        if title.startswith(part):
            bends[row] = max(bends.get(row, 0), abs(cell[0][0] - float(column)))
    assert bends["none"] < bends["l"] < bends["s"]


# ---- ADCS 2019


def test_more_topics_bring_student_t_and_bca_together(cranfield):
    found = figures("intervals", *cranfield("ap"))
    part = "Student-t and BCa apart"
    apart = [
        [round(found(part, f"alpha {alpha}, level 99.9%", topics), 2) for topics in ("45 topics", "225 topics")]
        for alpha in (0, 9)
    ]
    assert apart == [[0.91, 0.23], [1.59, 0.93]]


def test_the_w_that_rises_with_topics_is_that_of_bootstrap_means(cranfield):
    found = figures("intervals", *cranfield("ap"))
    part = "Shapiro-Wilk's W, medians over systems"
    w = {
        of: [[found(part, f"alpha {alpha}, {n} topics", of) for n in (45, 225)] for alpha in (0, 9)]
        for of in ("trade-off scores", "bootstrap means")
    }
    assert all(few < many for few, many in w["bootstrap means"])
    assert w["trade-off scores"][1][0] > w["trade-off scores"][1][1]


# ---- any runs


@pytest.mark.slow
@pytest.mark.parametrize("name", ["baselines", "risk", "georisk", "smooth", "intervals"])
def test_each_study_of_the_runs_on_cranfield(shared, name, cranfield):
    """Runs scored here have the figures of the scores of trec_eval."""
    folder = shared / "data/cranfield_runs"
    runs = sorted((folder / "runs").glob("*.run.gz"))
    assert len(runs) == 20
    given = ("--qrels", folder / "qrels.txt", "--measure", "AP", "--baseline", folder / "runs/bm25s_lucene.run.gz")
    ours, theirs = figures(name, *runs, *given), figures(name, *cranfield("ap"))
    tables = [key for key in ours.cells if key in theirs.cells]
    assert len(tables) > 50
    for key in tables:
        np.testing.assert_allclose(ours.cells[key], theirs.cells[key], atol=1e-5, rtol=1e-4)
    content = json.loads(printed(name, *runs, *given, "--json"))
    assert all(digest.startswith("sha256:") for digest in content["systems"].values())
