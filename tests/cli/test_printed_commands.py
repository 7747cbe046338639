"""Every command that is printed runs as it is, in the folder where it was printed, and does what was said of it.

Each situation prints at 60 columns, and each command is taken from what was printed and run. A form, in capitals,
says what a reader has to fill in; it is filled in, and run as well.
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.plugin import world

pytestmark = pytest.mark.usefixtures("narrow")

#: A command on a line of its own, after a colon at the end of a line, or between backticks.
_COMMAND = re.compile(r"(?:^ {4}|^E +|: |`)((?:riskguard|pytest) [^`\n]+?)(?:`|$)", re.MULTILINE)
#: What a reader fills into a form.
_FILLED = {"RUN": "good.run", "NAME": "other", "WHY": "reviewed"}

COLLAPSES = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP]
candidate: 'my new.run'
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod, level: 0.9, tolerance: 0.01, on_churn: fail}
  - {name: tail, kind: no_topic_collapse, baseline: prod, max_loss: 0.3, allowed: 0.05}
"""
TWO_ENGINES = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP]
candidate: candidate.run
gates:
  - {name: no-risk, kind: not_significantly_risky, baselines: [prod, fts5]}
"""
LIVE = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP]
candidate: {retrieve: "MODULE:answers", depth: 20}
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod}
"""
OWN_CANDIDATE = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP]
candidate: prod.run
gates:
  - {name: first, kind: no_topic_collapse, baseline: prod, max_loss: 0.4}
  - {name: second, kind: not_significantly_risky, baseline: prod, candidate: good.run}
"""
BETTER = "--note 'significantly better: AP 0.5000 to 0.6361'"
BETTER_IN_PYTHON = """\
def test_file(riskguard):
    riskguard.assert_not_significantly_risky(riskguard.run("good.run"), "prod")
"""
#: The relevant document comes first or, for the first queries, nowhere near; everything else is unjudged.
SEARCH = """\
def answers(query):
    number = int(query.split()[-1])
    found = ["good", *(f"new{{rank}}" for rank in range(19))]
    return (found[::-1] if number {0} else found)[:20]
"""
IN_PYTHON = """\
from pytest_riskguard import assert_not_significantly_risky

def test_file(riskguard):
    riskguard.assert_not_significantly_risky(riskguard.run("my new.run"), "prod")

def test_memory(riskguard):
    scores = {f"t{n:02d}": 0.5 for n in range(1, 31)}
    riskguard.assert_not_significantly_risky({**scores, "t01": 0.0, "t02": 0.0, "t03": 0.1, "t04": 0.2}, scores)
"""


@pytest.fixture
def narrow(monkeypatch, folder):
    monkeypatch.setenv("COLUMNS", "60")
    write_unjudged(folder / "my new.run")


def write_unjudged(path: Path) -> None:
    """A run that loses as ``world.LOSS`` does, and returns documents that nobody judged."""
    rows = []
    for topic in world.TOPICS:
        found = {world.LOSS.get(topic, 2): "good"}
        rows += [f"{topic} Q0 {found.get(rank, f'new{rank}')} {rank} {100 - rank} x\n" for rank in range(1, 21)]
    path.write_text("".join(rows), encoding="utf-8")


@dataclass(frozen=True)
class Situation:
    """A command that prints others: what to write before, where to stand, and what must be printed, in order."""

    line: str
    printed: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    where: str = "."
    #: What is typed before.
    before: str | None = None
    #: There is no riskguard.yaml and no store yet.
    fresh: bool = False


SITUATIONS = {
    "compare, options of the gate": Situation(
        "riskguard compare old=prod.run 'new=my new.run' --qrels qrels.txt --topics topics.tsv --measure AP "
        "--set level=0.9 --alpha 5 --set tolerance=0.01 --set on_churn=fail --gate not_significantly_risky",
        (),
    ),
    "compare, the default policy": Situation(
        "riskguard compare prod.run 'my new.run' --qrels qrels.txt --measure AP",
        ("riskguard judge-next prod.run 'my new.run' --qrels qrels.txt --measure AP",),
    ),
    "compare, a stored baseline and a better run": Situation(
        "riskguard compare prod good.run",
        ("riskguard baseline update prod good.run --note 'significantly better: AP 0.5000 to 0.6361'",),
    ),
    "compare, a stored baseline and a loss with unjudged documents": Situation(
        "riskguard compare prod 'my new.run'", ("riskguard judge-next prod 'my new.run' --measure AP",)
    ),
    "compare, a baseline that is a file, and a better run": Situation(
        "riskguard compare old=prod.run good.run --qrels qrels.txt --measure AP", ()
    ),
    "compare, a stored baseline from another folder": Situation(
        "riskguard compare prod ../good.run --config ../riskguard.yaml",
        (
            "riskguard baseline update prod ../good.run --note 'significantly better: AP 0.5000 to 0.6361' "
            "--config ../riskguard.yaml",
        ),
        where="elsewhere",
    ),
    "compare, scores": Situation(
        "riskguard compare old.csv new.csv --scores",
        (),
        (
            ("old.csv", "topic,AP\n" + "".join(f"{t},0.5\n" for t in world.TOPICS)),
            ("new.csv", "topic,AP\n" + "".join(f"{t},{0.1 if t < 't12' else 0.5}\n" for t in world.TOPICS)),
        ),
    ),
    "check, a loss with unjudged documents": Situation(
        "riskguard check",
        (
            "riskguard judge-next --gate no-risk",
            "riskguard explain t07",
        ),
        (("riskguard.yaml", COLLAPSES),),
    ),
    "check, a loss in a report": Situation(
        "riskguard check no-risk -o 'a report.json'",
        ("riskguard judge-next --gate no-risk", "riskguard explain t07 'a report.json'"),
        (("riskguard.yaml", COLLAPSES),),
    ),
    "check, another candidate": Situation(
        "riskguard check no-risk --candidate 'my new.run' --baseline prod=prod.run",
        (
            "riskguard judge-next 'my new.run' --gate no-risk --baseline prod=prod.run",
            "riskguard explain t07 --candidate 'my new.run' --baseline prod=prod.run",
        ),
    ),
    "check, from another folder": Situation(
        "riskguard check tail --config ../riskguard.yaml",
        (
            "riskguard judge-next --gate tail --config ../riskguard.yaml",
            "riskguard explain t07 --config ../riskguard.yaml",
        ),
        (("riskguard.yaml", COLLAPSES),),
        where="elsewhere",
    ),
    "check, a better run": Situation(
        "riskguard check",
        ("riskguard baseline update prod candidate.run --note 'significantly better: AP 0.5000 to 0.6361'",),
    ),
    "check, a better run than two engines": Situation(
        "riskguard check", (), (("riskguard.yaml", TWO_ENGINES),), before="baseline add fts5 prod.run"
    ),
    "check, a better live system": Situation(
        "riskguard check",
        ("riskguard baseline update prod --note 'significantly better: AP 0.5000 to 1.0000'",),
        (("riskguard.yaml", LIVE.replace("MODULE", "better")), ("better.py", SEARCH.format("< 0"))),
    ),
    "check, a worse live system": Situation(
        "riskguard check",
        ("riskguard judge-next --gate no-risk", "riskguard explain t01"),
        (
            ("riskguard.yaml", LIVE.replace("MODULE", "worse").replace("prod}", "prod, on_churn: fail}")),
            ("worse.py", SEARCH.format("< 20")),
        ),
    ),
    "check, a better live system of one gate alone": Situation(
        "riskguard check",
        (),
        (
            (
                "riskguard.yaml",
                LIVE.replace("MODULE", "worse").replace("prod}", 'prod, candidate: {retrieve: "better:answers"}}'),
            ),
            ("better.py", SEARCH.format("< 0")),
            ("worse.py", SEARCH.format("< 20")),
        ),
    ),
    "compare, a run read by a rule that its path does not say": Situation(
        "riskguard compare prod good.run --set ties=as_returned", ()
    ),
    "check, a damaged store": Situation(
        "riskguard check --config ../riskguard.yaml",
        (
            "riskguard baseline remove prod --config ../riskguard.yaml",
            "riskguard baseline add prod RUN --config ../riskguard.yaml",
        ),
        (("baselines/prod/scores.tsv", "topic\tAP\nt01\t0.5\n"),),
        where="elsewhere",
    ),
    "check, changed judgements": Situation(
        "riskguard check",
        ("riskguard baseline rescore prod",),
        (("qrels.txt", "".join(f"{t} 0 good 1\n{t} 0 bad1 0\n" for t in world.TOPICS[:29])),),
    ),
    "check, no such baseline": Situation(
        "riskguard check",
        ("riskguard baseline add pord RUN",),
        (("riskguard.yaml", world.YAML.replace("prod", "pord") % 1),),
    ),
    "baseline show, of a run that is not stored": Situation(
        "riskguard baseline show loss", ("riskguard baseline add loss RUN",)
    ),
    "init": Situation("riskguard init", ("riskguard baseline add prod prod.run", "riskguard check"), fresh=True),
    "init, in another folder": Situation(
        "riskguard init --output ci/riskguard.yaml --qrels ../qrels.txt --candidate ../good.run",
        ("riskguard baseline add prod RUN --config ci/riskguard.yaml", "riskguard check --config ci/riskguard.yaml"),
        (("ci/.keep", ""),),
        fresh=True,
    ),
    "baseline list, of nothing": Situation(
        "riskguard baseline list",
        ("riskguard baseline add NAME RUN",),
        (("riskguard.yaml", world.YAML.replace("store: baselines", "store: none") % 1),),
    ),
    "baseline add, twice": Situation(
        "riskguard baseline add prod 'my new.run'", ("riskguard baseline update prod 'my new.run' --note WHY",)
    ),
    "baseline update, of nothing": Situation(
        "riskguard baseline update other good.run --note better", ("riskguard baseline add other RUN",)
    ),
    "judge-next without a riskguard.yaml": Situation(
        "riskguard judge-next --gate no-risk", ("riskguard init",), fresh=True
    ),
    "pytest, a loss with unjudged documents": Situation(
        "pytest --riskguard",
        (
            "riskguard judge-next --gate no-risk",
            "riskguard explain t07",
            "pytest --riskguard riskguard.yaml::no-risk",
            "riskguard judge-next --gate tail",
            "riskguard explain t07",
            "pytest --riskguard riskguard.yaml::tail",
        ),
        (("riskguard.yaml", COLLAPSES),),
    ),
    "pytest, from another folder": Situation(
        "pytest --riskguard ../riskguard.yaml::tail",
        (
            "riskguard judge-next --gate tail --config ../riskguard.yaml",
            "riskguard explain t07 --config ../riskguard.yaml",
            "pytest --riskguard ../riskguard.yaml::tail",
        ),
        (("riskguard.yaml", COLLAPSES), ("pytest.ini", "[pytest]\n")),
        where="elsewhere",
    ),
    "pytest, a better run": Situation(
        "pytest --riskguard",
        ("riskguard baseline update prod candidate.run --note 'significantly better: AP 0.5000 to 0.6361'",),
    ),
    "check, a better run and a report, from another folder": Situation(
        "riskguard check --config ../riskguard.yaml -o r.json",
        (f"riskguard accept r.json prod {BETTER} --config ../riskguard.yaml",),
        where="elsewhere",
    ),
    "compare, a better run among several, and a report": Situation(
        "riskguard compare prod good.run churn.run --measure AP -o r.json -q", ()
    ),
    "pytest, a better run that one gate names, and a report, from another folder": Situation(
        "pytest --riskguard .. --riskguard-report=r.json",
        (f"riskguard accept r.json second {BETTER} --config ../riskguard.yaml",),
        (("riskguard.yaml", OWN_CANDIDATE), ("pytest.ini", "[pytest]\n")),
        where="elsewhere",
    ),
    "pytest, a better run in Python, and a report": Situation(
        "pytest --riskguard test_better.py --riskguard-report=r.json",
        (f"riskguard accept r.json no-risk {BETTER}", f"riskguard accept r.json test_better.py::test_file {BETTER}"),
        (("test_better.py", BETTER_IN_PYTHON),),
    ),
    "pytest, changed judgements, from another folder": Situation(
        "pytest --riskguard ..",
        (
            "riskguard baseline rescore prod --config ../riskguard.yaml",
            "pytest --riskguard ../riskguard.yaml::no-risk",
        ),
        (
            ("qrels.txt", "".join(f"{t} 0 good 1\n{t} 0 bad1 0\n" for t in world.TOPICS[:29])),
            ("pytest.ini", "[pytest]\n"),
        ),
        where="elsewhere",
    ),
    "pytest, tests in Python": Situation(
        "pytest --riskguard test_gates.py",
        (
            "riskguard judge-next prod 'my new.run' --measure AP",
            "pytest --riskguard test_gates.py::test_file",
            "pytest --riskguard test_gates.py::test_memory",
        ),
        (("test_gates.py", IN_PYTHON),),
    ),
    "pytest, with an ini file of its own": Situation(
        "pytest --riskguard -c ci.ini riskguard.yaml",
        (
            "riskguard judge-next --gate tail",
            "riskguard explain t07",
            "pytest --riskguard -c ci.ini riskguard.yaml::tail",
        ),
        (
            ("riskguard.yaml", COLLAPSES.replace("  - {name: no-risk", "  #")),
            ("ci.ini", "[pytest]\n"),
            ("pytest.ini", "[pytest]\naddopts = --no-such-option\n"),
        ),
    ),
}


def ended(line: str, folder: Path, run_riskguard: Callable[[str], tuple[int, str]]) -> tuple[int, str]:
    """Status and output of a command line."""
    program, *arguments = shlex.split(line)
    if program == "riskguard":
        return run_riskguard(shlex.join(arguments))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def printed_commands_run(command, folder, monkeypatch):
    """Prints as a situation says, and runs what was printed."""

    def in_this_process(line: str) -> tuple[int, str]:
        done: Any = command(line)
        return done.status, done.out + done.err

    def checked(name: str) -> None:
        situation = SITUATIONS[name]
        if situation.fresh:
            shutil.rmtree(folder / "baselines")
            folder.joinpath("riskguard.yaml").unlink()
        for path, content in situation.files:
            folder.joinpath(path).parent.mkdir(exist_ok=True)
            folder.joinpath(path).write_text(content, encoding="utf-8")
        if situation.before is not None:
            assert in_this_process(situation.before)[0] == 0
        here = folder / situation.where
        here.mkdir(exist_ok=True)
        monkeypatch.chdir(here)
        status, text = ended(situation.line, here, in_this_process)
        assert status != 70, text
        printed = _COMMAND.findall(text)
        assert printed == list(situation.printed), text
        for line in printed:
            filled = re.sub(r"\b(RUN|NAME|WHY)\b", lambda form: _FILLED[form[0]], line)
            if situation.where != ".":
                filled = re.sub(r"(?<!/)good\.run", "../good.run", filled)
            status, said = ended(filled, here, in_this_process)
            assert status in ((0,) if re.search(" (baseline|accept) ", line) else (0, 1, 3)), (filled, said)
            if " judge-next " in line:
                assert "to judge; the verdict could change" in " ".join(said.split()), (filled, said)

    return checked


#: Those that start pytest.
SLOW = [name for name in SITUATIONS if name.startswith("pytest")]


@pytest.mark.parametrize("name", [name for name in SITUATIONS if name not in SLOW])
def test_every_command_that_a_command_prints_runs(printed_commands_run, name):
    printed_commands_run(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_every_command_that_pytest_prints_runs(printed_commands_run, name):
    printed_commands_run(name)


def test_what_is_stored_as_advised_is_what_was_judged(command):
    advised = _COMMAND.findall(command("check").out)[0]
    assert command(advised.removeprefix("riskguard ")).status == 0
    again = command("check")
    assert again.out.startswith("PASS identical to prod")
    assert "significantly better: AP 0.5000 to 0.6361" in command("baseline show prod").out
