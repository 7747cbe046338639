"""The same data give the same report, to the byte: with any number of threads, in any order, again and again."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.json import dumps
from tests.gates import same_bytes
from tests.house import CHECKOUT
from tests.strict import check

#: What libraries under numpy take for the number of threads.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def process(threads: int, *, order: int) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= dict.fromkeys(THREADS, str(threads)) | {"PYTHONPATH": str(CHECKOUT)}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.gates.same_bytes", str(order)],
        cwd=CHECKOUT,
        env=environment,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def verdicts():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTEST_CURRENT_TEST")  # it would name the gates
        return list(same_bytes.verdicts())


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_repetition_and_order_of_topics_change_no_byte(verdicts, threads):
    with process(threads, order=threads) as other:
        assert other.communicate()[0] == dumps(Report(verdicts))


@pytest.mark.parametrize(("pair", "kind", "options"), same_bytes.QUESTIONS)
def test_names_of_topics_decide_nothing(pair, kind, options):
    # sorted by name, the values come in another order: what does not name a topic must be the same
    candidate, baseline = same_bytes.systems()[pair]
    order = np.random.default_rng(2).permutation(candidate.size)
    one, other = (
        check(kind, same_bytes.named(candidate[o], None), same_bytes.named(baseline[o], None), **options).to_dict()
        for o in (np.arange(candidate.size), order)
    )
    for verdict in (one, other):
        del verdict["warnings"]  # equal losses go by name
        verdict["estimates"]["flip_set"] = len(verdict["estimates"]["flip_set"] or ())
        verdict["summary"] = re.sub(r"\bt\d{3}\b", "t", verdict["summary"])
        verdict["responsible_topics"] = [topic["contribution"] for topic in verdict["responsible_topics"]]
    assert other == one
