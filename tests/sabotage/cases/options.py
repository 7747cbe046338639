"""Options of pytest and of the command that are wrong, or under which a regression must stay red."""

from __future__ import annotations

from typing import Any

from tests.sabotage.case import CLI, PYTEST, SERIAL, XDIST, Case, harmless
from tests.sabotage.sabotages import CONFIG, delete, rename, write


def ini(text: str) -> Any:
    """Another pytest.ini."""
    return write("pytest.ini", f"[pytest]\n{text}\n")


def stays(name: str, options: str, **settings: Any) -> Case:
    """Options of pytest which leave each gate red."""
    defaults: dict[str, Any] = {"status": 1, "ways": SERIAL, "words": ["5 failed"]}
    return Case(name, options=options, **(defaults | settings))


def usage(name: str, options: str, *words: str, **settings: Any) -> Case:
    """Options of the command that are a usage error."""
    return Case(name, options=options, status=2, words=words, ways=CLI, **settings)


CASES = [
    # pytest
    stays("very-quiet", "-qqq", words=[]),
    stays("no-summary", "--no-summary --tb=no"),
    stays("no-terminal", "-p no:terminal", words=[]),
    stays("colour", "--color=yes", words=["failed"]),
    stays("maxfail", "--maxfail=2", words=["2 failed"]),
    stays("one-gate", "riskguard.yaml::no-risk", words=["1 failed"]),
    stays("one-test", "test_ranking.py::test_ranking", words=["1 failed"]),
    stays("warnings-are-errors", "-W error"),
    stays("importlib", "--import-mode=importlib"),
    stays("no-assertion-rewriting", "--assert=plain"),
    stays("junit", "--junitxml=reports/junit.xml"),
    stays("strict", "--strict-config --strict-markers"),
    stays("config-elsewhere", "-c /dev/null --rootdir=."),
    stays("last-failed", "--lf", words=[]),
    stays("riskguard-strict", "--riskguard-strict"),
    stays("no-yaml", "--riskguard-no-yaml", words=["1 failed"]),
    stays("rerun", "--reruns 2", words=["5 failed", "10 rerun"]),
    stays("loadscope", "--dist loadscope", ways=XDIST),
    stays("each", "--dist each", ways=XDIST, words=["10 failed"]),
    stays("first-only-workers", "-x", ways=XDIST, words=["failed"], in_pytest=2),
    # what a pull request can write into pytest.ini
    Case("ini-off", ini("riskguard = false"), status=1, ways=PYTEST, words=["5 failed"]),
    Case("ini-addopts-off", ini("addopts = --no-riskguard"), status=1, ways=SERIAL, words=["5 failed"]),
    Case("ini-addopts-no-yaml", [ini("addopts = --riskguard-no-yaml")], status=1, ways=SERIAL, words=["failed"]),
    Case("ini-testpaths-elsewhere", ini("testpaths = runs"), status=1, ways=SERIAL, words=["4 failed"]),
    Case("ini-unknown", ini("riskgard = true"), status=1, ways=SERIAL, words=["5 failed"]),
    Case("ini-config-missing", ini("riskguard_config = no.yaml"), in_pytest=4, ways=PYTEST, words=["no.yaml"]),
    Case("ini-config-a-folder", ini("riskguard_config = runs"), in_pytest=4, ways=SERIAL, words=["runs"]),
    Case("ini-turns-on", ini("riskguard = true"), riskguard="", status=1, ways=PYTEST, words=["5 failed"]),
    Case("ini-broken", write("pytest.ini", "[pytest\n"), in_pytest=4, ways=SERIAL, words=["pytest.ini"]),
    Case("nothing-to-judge", [delete(CONFIG), delete("test_ranking.py")], status=1, ways=PYTEST, in_pytest=1),
    Case("test-renamed-away", [rename("test_ranking.py", "ranking.py")], status=1, ways=SERIAL, words=["4 failed"]),
    Case("test-broken", write("test_ranking.py", "def broken(:\n"), in_pytest=2, ways=SERIAL, words=["test_ranking"]),
    Case("unknown-option", options="--riskgard", in_pytest=4, ways=SERIAL, words=["--riskgard"]),
    Case(
        "strict-without-riskguard",
        options="--riskguard-strict",
        riskguard="",
        in_pytest=4,
        ways=SERIAL,
        words=["--riskguard"],
        passes=5,
    ),
    # the command
    usage("alpha-a-word", "--alpha high", "--alpha"),
    usage("tolerance-inf", "--tolerance inf", "tolerance"),
    usage("on-churn-unknown", "--on-churn ignore", "--on-churn"),
    usage("reference-unknown", "--gate georisk_not_worse --baseline bm25 --set reference=x", "reference"),
    usage("second-candidate", "runs/candidate.run", "candidate given twice"),
    Case(
        "baseline-of-the-file", command="compare runs/candidate.run", status=1, words=["gate no-risk: baseline prod"]
    ),
    Case("candidate-a-stored-name", command="compare bm25 --baseline prod", words=["bm25"]),
    Case("qrels-missing", options="--qrels no.txt", ways=CLI, words=["no.txt", "no such file"]),
    Case("topics-missing", options="--topics no.tsv", ways=CLI, words=["no.tsv", "no such file"]),
    Case("on-churn-warn", options="--on-churn warn", status=1, ways=CLI, words=["got worse"]),
    Case("alpha-0", options="--alpha 0", status=1, ways=CLI, words=["got worse"]),
    Case("smooth", options="--set tradeoff=smooth", status=1, ways=CLI, words=["got worse"]),
    *[
        Case(f"method-{method}", options=f"--set method={method}", status=1, ways=CLI, words=["got worse"])
        for method in ("student_t", "basic", "studentized", "percentile", "bca")
    ],
    *[
        Case(f"measure-{name}", options=f"--measure '{measure}'", status=1, ways=CLI, words=["the mean fell"])
        for name, measure in [
            ("AP", "AP"),
            ("RR", "RR"),
            ("P", "P@5"),
            ("err", "ERR@10"),
            ("judged", "nDCG(judged_only=True)@10"),
        ]
    ],
    *[
        Case(f"{command}-candidate-missing", command=f"{command} runs/no.run --baseline prod", words=["no.run"])
        for command in ("power", "judge-next")
    ],
    Case(
        "power-qrels-broken",
        write("qrels.txt", "x\n"),
        command="power runs/candidate.run --baseline prod",
        words=["qrels.txt:1"],
    ),
    Case(
        "init-twice",
        command="init --topics topics.tsv --candidate runs/candidate.run",
        status=2,
        words=["riskguard.yaml"],
    ),
    *[
        Case(
            f"show-{name}",
            write("report.json", text),
            command="show report.json",
            words=["report.json"],
            status=3,
        )
        for name, text in [
            ("empty", ""),
            ("not-json", "x"),
            ("no-verdicts", '{"schema": "riskguard-report/1"}'),
            ("verdict-empty", '{"schema": "riskguard-report/1", "verdicts": [{}]}'),
            (
                "integer-of-2-to-the-64",
                '{"schema": "riskguard-report/1", "verdicts": [{"alpha": 18446744073709551616}]}',
            ),
            ("deep", "[" * 100_000),
            ("key-twice", '{"a": 1, "a": 2}'),
        ]
    ],
    *[
        Case(f"init-{option}-{value}", delete(CONFIG), command=f"init --{option} {value}", status=2, words=[option])
        for option, value in [("alpha", "-0.5"), ("alpha", "nan")]
    ],
    Case(
        "report-over-its-input",
        write("report.json", '{"schema": "riskguard-report/1", "verdicts": []}'),
        command="report report.json --markdown ./report.json",
        status=2,
        words=["--markdown report.json would overwrite the file that this command reads"],
    ),
    usage("json-over-the-candidate", "--json runs/candidate.run", "would overwrite the file that this command reads"),
    usage("json-over-markdown", "--json runs/x --markdown runs/x", "would overwrite the file that --json writes"),
    Case("show-folder", command="show runs", words=["runs"]),
    Case("report-missing", command="report no.json --html runs/x.html", words=["no.json"]),
    # honest selections
    harmless("collect-only", options="--collect-only -q", ways=SERIAL, words=["riskguard.yaml::no-risk"]),
    harmless("off", riskguard="", ways=PYTEST, words=["1 skipped"], in_pytest=0),
    harmless("help", riskguard="--help", ways=SERIAL, words=["--riskguard"]),
]
