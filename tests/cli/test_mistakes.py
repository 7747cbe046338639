"""Wrong lines: each ends with its status and a message, prints nothing else and writes nothing."""

import re

import pytest

from tests.baselines.conftest import content
from tests.cli import mistakes

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LONG = "a" * 5000
#: What follows the beginning of a line, and a part of the message; status 2.
USAGE = {
    "compare good.run --baseline prod --measure AP -o -": {
        "--alpha nan": "expected a number from 0 to 1e+09, found the number nan",
        "--alpha 1e10": "expected a number from 0 to 1e+09, found the number 10000000000.0",
        "--gate no_topic_collapse --set allowed=1.5": "expected a share of the topics from 0 to below 1",
        "--set allowed=2": "allowed: without --gate the default gates are asked",
        "--set method=magic": "expected auto, student_t",
        "--set tolerance": "expected KEY=VALUE, such as",
        "--set alpha=1": "'alpha' cannot be set here; there are ",
        "--set tolerence=1": "'tolerence' cannot be set here; did you mean 'tolerance'?",
        "--set tolerance=1 --set tolerance=2": "tolerance given twice",
        "--gate magic": "'magic' is not",
        "--gate georisk_not_worse --set reference=bm25": "'bm25' is not a baseline of this gate; expected prod",
        "--gate georisk_not_worse --set weighted=true": "weighted has no meaning for georisk_not_worse",
        "--measure nDGC@10": "nDCG@10",
        "--baseline old=": "expected the name or path of a run",
        "--nonsense": "No such option",
        "-o nowhere/report.json": "cannot write",
        "--measure MAP": "--measure: AP given twice",
        "--alpha 1 --alpha 1.0": "--alpha: 1 given twice",
        "--baseline ./prod.run": "--baseline: prod given twice; NAME=RUN gives one of them another name",
        "--slice kind": "slice: no judged topic has tags",
    },
    "compare": {
        "": "Missing argument",
        "good.run --qrels qrels.txt": "no baseline: write it first, as in riskguard compare BASELINE CANDIDATE "
        "--qrels QRELS, or give --baseline; riskguard check --candidate RUN asks the gates of a riskguard.yaml",
        "prod.run good.run good.run --qrels qrels.txt": "CANDIDATE: good given twice",
    },
    "report": {
        "report.json": "nothing to write: give --output",
    },
    "power good.run --baseline prod --measure AP -o -": {
        "--effect inf": "expected a finite number, above 0, found the number inf",
        "--effect 0": "expected a finite number, above 0, found the number 0.0",
        "--power 1": "expected a number above 0 and below 1, found the number 1.0",
        "--correlation 0.5": "--correlation is only for plans without CANDIDATE",
        "churn.run": "give at most one run beside the baselines",
        "-o plan.xml": "expected .json or .html",
    },
    "power": {
        "": "riskguard power BASELINE CANDIDATE",
        **{f"--baseline loss.run --correlation={number}": "--correlation" for number in ("1", "-1", "nan", "2")},
    },
    "check": {
        "no-rsk": "there is no gate 'no-rsk'; did you mean 'no-risk'?",
        "--config nowhere.yaml": "nowhere.yaml:1: no such file",
        "--baseline prod.run": "--baseline prod.run: expected NAME=RUN",
        "--baseline prd=prod.run": "--baseline prod.run: expected NAME=RUN, found a name that no gate has; did you "
        "mean 'prod'?",
        "--baseline prod=prod.run --baseline prod=good.run": "--baseline: prod given twice",
    },
    "baseline": {
        "add new loss.run --measure nDGC@10": "nDCG@10",
        "update prod good.run": "a new run of a baseline needs --note: say why",
        "update prod good.run --note ' '": "a new run of a baseline needs --note: say why",
    },
    "init": {"-o .": "already exists"},
    f"comment --commit {COMMIT}": {
        "--commit x": "hexadecimal digits, found 'x'",
        "--run-url javascript:alert(1)": "an address that begins with https:// or http://",
        "--report-url 'https://x/>)![x'": "an address that begins with https:// or http://",
    },
    "comment": {"": "--commit", "--commit ''": "hexadecimal digits, found ''"},
    "judge-next": {
        "loss.run --qrels qrels.txt": "riskguard judge-next BASELINE CANDIDATE --qrels QRELS",
        "prod.run loss.run --budget 0": "--budget",
        "prod.run loss.run -o none/list.tsv --qrels qrels.txt": "none/list.tsv: cannot write",
        "prod.run loss.run --gate georisk_not_worse": "compares a pool",
        "prod.run loss.run --gate no_topic_collapse --set tolerance=1": "tolerance",
        "prod.run loss.run --qrels qrels.txt --measure nope": "no measure 'nope'",
        "prod.run loss.run --gate no-risk": "at most one run, its candidate",
        "--gate no-rsk": "did you mean 'no-risk'?",
        "--gate no_topic_colapse": "did you mean 'no_topic_collapse'?",
        "--gate no-risk --alpha 5": "the gate says all but its runs; leave out alphas",
        "--gate no-risk --qrels qrels.txt": "leave out qrels",
    },
    "retrieve": {"out.run": "riskguard.yaml:4: the candidate is not a live system: there is nothing to query"},
    "": {"": "Usage: riskguard", "comapre": "compare"},
}
#: Status 3: data that are not there.
DATA = {
    "baseline add prdo loss.run --replicate": "did you mean 'prod'?",
    "baseline add new loss.run --qrels nowhere.txt": "nowhere.txt",
    "baseline show prdo": "did you mean 'prod'?",
    "baseline update prod nowhere --note why": "nowhere: no such file",
    "judge-next none.run --baseline ./prod.run --qrels qrels.txt": "none.run: no such file",
    "power nowhere.run --baseline prod -o -": "nowhere.run: no such file",
    "power --baseline prdo": "did you mean 'prod'?",
    f"power {LONG} --baseline prod": f" {LONG[:200]}…{LONG[:200]}: cannot be read (File name too long",
    "show nowhere.json": "nowhere.json: no such file",
    "show .": "expected a regular file, found a folder",
}
LINES = [(f"{line} {more}", 2, said) for line, cases in USAGE.items() for more, said in cases.items()]


@pytest.mark.parametrize(("line", "status", "said"), [*LINES, *((line, 3, said) for line, said in DATA.items())])
def test_a_mistake_has_its_status_and_a_message_and_writes_nothing(command, folder, line, status, said):
    before = content(folder)
    ended = command(line)
    assert (ended.status, ended.out) == (status, "")
    assert said in " ".join(ended.err.split())
    assert "Traceback" not in ended.err
    assert content(folder) == before


@pytest.mark.parametrize(
    "line",
    [f"compare {LONG} --baseline prod", f"compare loss.run --baseline b={LONG}", f"check --candidate {LONG}"],
)
def test_a_name_that_no_file_can_have_makes_a_verdict_incomparable(command, line):
    ended = command(line)
    assert ended.status == 3
    assert "File name too long" in " ".join((ended.out + ended.err).split())


#: A command that a message names, with the options that it gives.
NAMED = re.compile(r"(?<!that )\briskguard ((?:(?:baseline )?[a-z-]+)(?: [^\s`;]+)*)")


def message(ended):
    """What a person reads of the mistake: the error, why nothing was compared, or why a gate failed."""
    _, failed, why = ended.out.partition(" against prod\n")
    if ended.status == 1 and failed:
        return why.splitlines()[0].strip()
    _, found, why = ended.out.partition("Nothing was compared: ")
    text = re.split(r"\n(?=\S)", why)[0] if found else ended.out + ended.err.rpartition("Error: ")[2]
    return text.strip()


@pytest.fixture
def first_hour(command, folder, monkeypatch):
    """Does something wrong, and looks at what every message has: it is short, and its commands are there."""
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    mistakes.write(folder)

    def checked(line, status, said):
        before = content(folder)
        ended = command(line)
        text = message(ended)
        assert ended.status == status, text
        assert [part for part in said if part not in text] == []
        assert text.count("\n") < 3
        assert len(text) < 500
        assert "Traceback" not in text
        assert content(folder) == before
        for named in NAMED.findall(text):
            words, options = [word for word in named.split() if word[0] != "-"], re.findall("--[a-z-]+", named)
            name = " ".join(words[: 1 + (words[0] == "baseline")])
            helped = command(f"{name} --help")
            assert helped.status == 0, named
            assert [option for option in options if option not in helped.out] == [], named

    return checked


@pytest.mark.parametrize(("line", "status", "said"), list(mistakes.every()), ids=str)
def test_a_mistake_of_the_first_hour_is_explained(first_hour, line, status, said):
    first_hour(line, status, said)


@pytest.mark.parametrize(("part", "other", "status", "said"), list(mistakes.in_yaml()))
def test_a_mistake_in_riskguard_yaml_is_explained(first_hour, folder, part, other, status, said):
    text = (folder / "riskguard.yaml").read_text(encoding="utf-8")
    assert part in text
    (folder / "riskguard.yaml").write_text(text.replace(part, other), encoding="utf-8")
    (folder / "helpdesk.py").write_text(mistakes.ENGINE, encoding="utf-8")
    first_hour("check", status, said)
