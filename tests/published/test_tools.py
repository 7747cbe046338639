"""What two tools of the field compute otherwise than the papers do."""

import gzip
import math

import numpy as np
import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.risk import trisk, urisk
from tests.published import web2012
from tests.published.web2012 import TOPICS

RUNS = ("ql-cata", "ql-cata-filtered", "ql-catb", "ql-catb-filtered", "rm-cata", "rm-catb", "rm-catb-filtered")


@pytest.mark.parametrize("run", RUNS)
def test_rmit_ir_trisk_divides_by_n(shared, indri_casp, run):
    # rmit-ir/trisk, commit 08883e6: four decimals of URisk and TRisk from gdeval's five
    printed = web2012.rows(
        shared / f"data/web2012_runs/gdeval/{run}.vs-rm-cata-filtered.trisk_tool.err20.csv",
    )
    assert len(printed) == 11
    for row in printed:
        ours = trisk(web2012.gdeval(shared, run) - indri_casp, alpha=float(row["alpha"]))
        assert ours.estimate == pytest.approx(float(row["urisk"]), abs=5.1e-5)
        assert ours.statistic * math.sqrt(50 / 49) == pytest.approx(float(row["trisk"]), abs=5.1e-5)
        assert abs(ours.statistic - float(row["trisk"])) > 0.004  # 1 %


def test_without_c_gdeval_rewards_a_run_that_leaves_out_its_worst_topic(shared, indri_casp, tmp_path):
    folder = shared / "data/web2012_runs"
    d = web2012.gdeval(shared, "rm-catb-filtered") - indri_casp
    worst = int(np.argmin(d))
    left_out = tmp_path / "left-out.run"
    with gzip.open(folder / "runs/rm-catb-filtered.run.gz", "rt") as lines:
        left_out.write_text("".join(line for line in lines if line.split()[0] != str(TOPICS[worst])))
    (scores,) = score_run(left_out, read_qrels(folder / "qrels.adhoc.txt.gz"), ["ERR@20"])
    assert scores.unanswered == (str(TOPICS[worst]),)
    answered = np.delete(d, worst)  # the topics that gdeval without -c would average
    judged = np.array(scores.values) - indri_casp
    assert judged.size == 50
    figures = {
        name: round(urisk(x, alpha=5), 4) for name, x in (("all", d), ("answered", answered), ("judged", judged))
    }
    assert figures == {"all": -0.0936, "answered": -0.063, "judged": -0.1186}
