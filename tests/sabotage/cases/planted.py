"""Nothing is broken: the planted regression is red by every way, the improvement is green."""

from tests.sabotage.case import CLI, EVERY, PYTEST, Case, harmless
from tests.sabotage.sabotages import make_folder

CASES = [
    Case(
        "as-it-is",
        status=1,
        words=["got worse", "t02"],
        pytest_words=["5 failed"],
        ways=EVERY,
    ),
    Case("json", status=1, options="--json -", words=['"outcome": "fail"', '"reason": "loss"'], ways=CLI),
    Case("not-inferior", status=1, options="--gate not_inferior", words=["not shown"], ways=CLI),
    Case(
        "no-collapse",
        status=1,
        options="--gate no_topic_collapse",
        words=["queries lost more than 0.50"],
        ways=CLI,
    ),
    Case(
        "pool",
        status=1,
        options="--baseline bm25 --gate georisk_not_worse --set reference=prod",
        ways=CLI,
        words=["riskier than"],
    ),
    Case(
        "report",
        make_folder("reports"),
        status=1,
        options="--riskguard-report=reports/report.json",
        ways=PYTEST,
        words=["5 failed"],
    ),
    harmless("improvement", ways=EVERY, pytest_words=["5 passed"]),
]
