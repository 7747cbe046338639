"""The machine around a run: variables, locales, folders, options of Python, output that cannot be made or written."""

from __future__ import annotations

from typing import Any

from tests.sabotage.case import CLI, PYTEST, SERIAL, Case, Sabotage, harmless
from tests.sabotage.processes import CHECKOUT
from tests.sabotage.project import IMPROVED
from tests.sabotage.sabotages import append, link, make_folder, replace_text, riskguard, run_program, write

#: Surroundings in which the regression must be as red, and the improvement as green, as anywhere.
SURROUNDINGS: dict[str, dict[str, Any]] = {
    "locale-c": {"env": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}},
    "locale-missing": {"env": {"LC_ALL": "xx_YY.UTF-8", "LANG": "xx_YY", "PYTHONUTF8": None}},
    "locale-turkish": {"env": {"LC_ALL": "tr_TR.UTF-8"}},
    "ascii-output": {"env": {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}},
    "time-zone": {"env": {"TZ": "Pacific/Kiritimati"}},
    "time-zone-missing": {"env": {"TZ": "No/Where"}},
    "no-home": {"env": {"HOME": None}},
    "home-missing": {"env": {"HOME": "/nowhere"}},
    "no-path": {"env": {"PATH": ""}},
    "no-git": {"env": {"PATH": "/nowhere"}},
    "optimised": {"env": {"PYTHONOPTIMIZE": "2"}},
    "warnings-are-errors": {"env": {"PYTHONWARNINGS": "error"}, "ways": CLI},
    "hash-seed": {"env": {"PYTHONHASHSEED": "4711"}},
    "development-mode": {"env": {"PYTHONDEVMODE": "1"}},
    "narrow": {"env": {"COLUMNS": "20"}},
    "columns-0": {"env": {"COLUMNS": "0"}},
    "columns-a-word": {"env": {"COLUMNS": "wide"}},
    "dumb-terminal": {"env": {"TERM": "dumb"}},
    "colour": {"env": {"FORCE_COLOR": "1"}},
    "ci": {"env": {"CI": "true", "BUILD_NUMBER": "1"}},
    "github": {"env": {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "{project}"}},
    "one-thread": {"env": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}},
    "string-digits": {"env": {"PYTHONINTMAXSTRDIGITS": "640"}},
}
REPORT = "--riskguard-report="


def around(name: str) -> list[Case]:
    """Two cases of the same surroundings, red and green."""
    return [
        Case(f"{name}-red", **({"status": 1} | SURROUNDINGS[name])),
        harmless(f"{name}-green", **SURROUNDINGS[name]),
    ]


#: The report that an earlier run left is what a run that ends early must not leave: status 0 if it is still there.
EARLIER = riskguard("compare runs/candidate.run --baseline prod --json report.json")
#: A process that is killed as soon as it has judged.
KILLED = """import os
import pytest_riskguard.cli.compare as module

module.present = lambda *arguments, **options: os._exit(9)
"""


def no_earlier_report(name: str, breaks: Sabotage | list[Sabotage], line: str, **settings: Any) -> Case:
    """The project is green, and no report of its earlier run is left."""
    return Case(
        f"earlier-report-{name}",
        breaks,
        project=IMPROVED,
        line=f"{line}; if test -e report.json; then exit 0; else exit 3; fi",
        ways=CLI,
        writes=True,
        **settings,
    )


CASES = [
    no_earlier_report(
        "and-a-kill",
        [EARLIER, write("sitecustomize.py", KILLED)],
        "{} --json report.json",
        env={"PYTHONPATH": f"{CHECKOUT}:."},
    ),
    no_earlier_report(
        "and-a-full-disk", EARLIER, "ulimit -f 4; {} --json report.json", words=["report.json: cannot write"]
    ),
    no_earlier_report(
        "and-a-broken-file",
        [EARLIER, append("riskguard.yaml", "gates: [\n")],
        "{} --json report.json",
        command="check",
        words=["riskguard.yaml:"],
    ),
    Case("name-of-5000-letters", compare=f"{'a' * 5000} --baseline prod", words=["File name too long"], ways=CLI),
    Case(
        "hits-of-3000-brackets",
        replace_text(
            "riskguard.yaml",
            "candidate: runs/candidate.run",
            f"candidate: {{http: {{url: 'http://localhost:1/{{query}}', hits: '{'[' * 3000}'}}}}",
        ),
        command="check",
        status=2,
        words=["riskguard.yaml:4: candidate.http.hits: expected a JMESPath expression"],
    ),
    Case(
        "working-folder-gone",
        line='folder=$(mktemp -d) && cd "$folder" && rmdir "$folder" && {}',
        status=2,
        words=["the working folder is gone"],
        ways=CLI,
    ),
    *[case for name in SURROUNDINGS for case in around(name)],
    Case("deleted-temporary-folder", status=1, env={"TMPDIR": "/nowhere"}, words=["got worse"]),
    Case(
        "folder-above",
        run_program("git init -q"),
        cwd="runs",
        compare="candidate.run --baseline prod",
        status=1,
        words=["45 of 60 queries"],
        ways=CLI,
    ),
    # output
    Case("stdout-full", line="{} > /dev/full", status=3, in_pytest=3, words=["No space left"], ways=CLI),
    Case(
        "reader-gone",
        line="({}; echo ended with $? >&2) | true; exit 3",
        words=["ended with 3"],
        absent=["Broken pipe"],
        ways=CLI,
    ),
    Case("json-full", options="--json /dev/full", status=3, words=["No space left"], ways=CLI),
    Case("report-in-no-folder", options=f"{REPORT}no/report.json", in_pytest=4, words=["no"], ways=PYTEST),
    *[
        Case(
            f"report-is-a-link-{name}",
            [make_folder("reports"), write("precious", "old"), link("reports/x.json", target)],
            options=f"{REPORT}reports/x.json",
            in_pytest=1,
            words=["could not write the report reports/x.json", "leads out of its folder", "5 failed"],
            ways=SERIAL,
        )
        for name, target in [
            ("to-another-file", "../precious"),
            ("to-a-new-file", "../new"),
            ("to-a-device", "/dev/null"),
        ]
    ],
    Case(
        "json-is-a-link-to-the-store",
        [make_folder("reports"), link("reports/x.json", "../baselines/prod/scores.tsv")],
        options="--json reports/x.json",
        status=2,
        words=["would overwrite"],
        ways=CLI,
    ),
    harmless(
        "json-is-a-link-in-its-folder",
        [make_folder("reports"), write("reports/1.json", "old"), link("reports/x.json", "1.json")],
        line="{} --json reports/x.json && grep -q verdicts reports/1.json && test -L reports/x.json",
        ways=CLI,
    ),
    Case("report-of-no-format", options=f"{REPORT}report.docx", in_pytest=4, words=[".json"], ways=SERIAL),
    Case(
        "report-without-riskguard",
        options=f"{REPORT}report.json",
        riskguard="",
        in_pytest=4,
        words=["--riskguard"],
        ways=SERIAL,
        passes=5,
    ),
]
