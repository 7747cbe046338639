"""``riskguard check``: the gates of riskguard.yaml judged as pytest judges them."""

import json
import sys

import pytest

from pytest_riskguard.cli.main import run
from tests.plugin import world
from tests.plugin.world import edit, read_report
from tests.strict import STRICT_LINE

SEVERAL = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP, nDCG@10]
candidate: loss.run
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod, alpha: [1, 5]}
  - {name: no-collapse, kind: no_topic_collapse, baseline: prod, measure: AP, max_loss: 0.6}
  - {name: typical, kind: not_significantly_risky, baseline: other, measure: AP}
  - {name: pool, kind: georisk_not_worse, baselines: [prod, other], measure: AP}
"""
LIVE = """\
import world_answers


def answer(query):
    print("searching", query)
    return world_answers.ANSWERS[query]
"""


@pytest.fixture
def several(folder):
    """A second baseline, and gates of several kinds on both."""
    world.store(folder, "other", {"t01": 1, "t02": 3})
    for name in ("prod", "other"):
        assert run(["baseline", "rescore", name, "--measure", "AP", "--measure", "nDCG@10"]) == 0
    (folder / "riskguard.yaml").write_text(SEVERAL, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("candidate", "status", "said"),
    [
        ("good", 0, "PASS the mean rose 0.50 -> 0.64, more than chance explains; 9 of 30 queries gained"),
        ("loss", 1, "FAIL the mean fell 0.50 -> 0.34; 12 of 30 queries lost, none gained"),
        ("nowhere", 3, "INCOMPARABLE nowhere.run: no such file (missing_input, AP)"),
    ],
)
def test_each_outcome_has_the_status_of_compare(command, folder, candidate, status, said):
    edit(folder / "riskguard.yaml", "candidate.run", f"{candidate}.run")
    ended = command("check")
    assert ended.status == status
    assert said in ended.out
    assert f"  no-risk: {candidate} against prod" in ended.out
    assert ended.err == ""


def test_gates_and_their_items_can_be_named(command, several):
    ended = command("check no-collapse no-risk[AP-5] -q -o report.json")
    assert [line.split()[0] for line in ended.out.splitlines()] == ["FAIL", "PASS"]
    report = read_report(several / "report.json")
    assert [verdict["gate"] for verdict in report["verdicts"]] == ["no-risk[AP-5]", "no-collapse"]
    became = {gate["id"]: gate["became"] for gate in report["gates"]}
    assert became["riskguard.yaml::no-risk[AP-5]"] == became["riskguard.yaml::no-collapse"] == "judged"
    assert set(became.values()) == {"judged", "deselected"}
    assert len(became) == 7
    assert "ship:" not in command("show report.json").out  # nothing is known of the others
    assert command("check no-risk -q").out.count("no-risk[") == 4


def test_without_riskguard_yaml_it_says_how_to_get_one(command, folder):
    folder.joinpath("riskguard.yaml").unlink()
    ended = command("check")
    assert ended.status == 2
    assert ended.err == f"Error: no riskguard.yaml in {folder}; `riskguard init` writes one\n"


def test_it_is_found_above_and_by_its_path(done, folder, monkeypatch, tmp_path):
    folder.joinpath(".git").mkdir()
    below = folder / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    done("check")
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("riskguard.yaml").touch()
    done(f"check --config {folder}/riskguard.yaml")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("tolerance: 2", "tolerance: 2 is at least the most that can be lost (2), so the gate could never fail"),
        ("measure: NumQ", "'NumQ' counts topics: no ranking is better or worse"),
        ("measure: NDGC@10", "'NDGC@10': ir-measures knows no measure 'NDGC'; did you mean 'nDCG@10'?"),
        ("candidate: baselines/prod/run.gz", "run.gz is the stored prod/run.gz, so a baseline would be compared"),
    ],
)
def test_a_question_that_has_no_answer_is_refused_at_the_line_of_its_gate(refused, folder, keys, problem):
    text = folder.joinpath("riskguard.yaml").read_text().replace("tolerance: 0, on_churn: fail", keys)
    folder.joinpath("riskguard.yaml").write_text(text)
    refused("check", "riskguard.yaml:6: gate 'no-risk': ", problem)


def test_a_bad_file_is_said_with_the_setting_that_names_it(command, folder, monkeypatch):
    folder.joinpath("qrels.txt").write_text("t01 0 good\n")
    ended = command("check")
    assert ended.status == 3
    assert "qrels.txt:1: expected 4 columns" in ended.out
    assert str(folder) not in ended.out
    assert "(the qrels named in riskguard.yaml:1)" in " ".join(ended.out.split())
    monkeypatch.chdir(folder / "baselines")
    ended = command("check --config ../riskguard.yaml")
    assert f"{folder}/riskguard.yaml:1" in "".join(ended.out.split())


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        ("no.run", "(the candidate named in riskguard.yaml:{})"),
        ("{retrieve: 'os:getcwd'}", "riskguard.yaml:{}: candidate.retrieve: "),
    ],
)
def test_a_candidate_that_cannot_be_had_is_said_with_its_line_in_the_file_or_in_a_gate(
    command, folder, candidate, said
):
    text = folder.joinpath("riskguard.yaml").read_text()
    for line, old in ((4, "candidate: candidate.run"), (7, "tolerance: 0, on_churn: fail")):
        folder.joinpath("riskguard.yaml").write_text(
            text.replace(old, "\n    " * (line > 4) + f"candidate: {candidate}")
        )
        ended = command("check")
        assert said.format(line) in " ".join((ended.out + ended.err).split())


def test_a_run_can_take_the_place_of_the_candidate_and_of_a_stored_baseline(command, folder):
    assert command("check --candidate new=loss.run -q").out.startswith("FAIL no-risk: new against prod: ")
    line = "check --candidate good.run --baseline prod=churn.run -o report.json"
    assert command(line).status in (0, 1)
    (verdict,) = read_report(folder / "report.json")["verdicts"]
    assert (verdict["candidate"], verdict["baselines"]) == ("good", ["prod"])
    line = "compare good.run --baseline prod=churn.run --qrels qrels.txt --measure AP --alpha 1"
    command(f"{line} {STRICT_LINE} -o compared.json")
    (compared,) = read_report(folder / "compared.json")["verdicts"]
    assert verdict["estimates"] == compared["estimates"]


def test_reports_name_the_command_that_judges_the_same_candidate_again(command, done, folder):
    """`pytest --riskguard` would judge the candidate of the file, which is another one."""
    line = "check --candidate loss.run -o report.html -o report.json"
    assert command(line).status == 1
    assert f"<code>riskguard {line}</code>" in (folder / "report.html").read_text()
    (gate,) = json.loads((folder / "report.json").read_text())["gates"]
    assert (gate["command"], gate["line"]) == (f"riskguard {line}", world.GATE_LINE)
    done("report report.json -o again.html")
    assert f"<code>riskguard {line}</code>" in (folder / "again.html").read_text()
    assert "pytest --riskguard" not in (folder / "again.html").read_text()


@pytest.fixture
def live_project(folder, monkeypatch):
    """The candidate of the world as a function, whose answers are those of ``loss.run``."""
    monkeypatch.setattr(sys, "path", [str(folder.parent), *sys.path])
    folder.parent.joinpath("asked.py").write_text("1 / 0")  # the folder of riskguard.yaml comes first
    answers: dict[str, list[tuple[str, float]]] = {}
    for line in folder.joinpath("loss.run").read_text().splitlines():
        topic, _, document, _, score, _ = line.split()
        answers.setdefault(world.QUERIES[topic], []).append((document, float(score)))
    folder.joinpath("world_answers.py").write_text(f"ANSWERS = {answers!r}\n")
    folder.joinpath("asked.py").write_text(LIVE)
    candidate = {"retrieve": "asked:answer", "depth": 20}
    edit(folder / "riskguard.yaml", "candidate: candidate.run", f"candidate: {json.dumps(candidate)}")
    yield
    for name in ("asked", "world_answers"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("live_project")
def test_what_a_live_system_answers_is_written_as_a_run(command):
    ended = command("retrieve answers.run")
    assert ended.status == 0, ended.err
    assert ended.out.startswith("wrote answers.run: answers for 30 topics\n")
    assert command("baseline add live answers.run").status == 0
    ended = command("check --baseline prod=answers.run -o -")
    assert ended.status == 0
    assert ended.verdicts[0]["topics"]["changed"] == 0


@pytest.mark.usefixtures("live_project")
def test_answers_replace_no_file_that_is_read_and_need_no_gate(command, refused, folder):
    settings = folder / "riskguard.yaml"
    settings.write_text(settings.read_text().partition("gates:")[0])
    refused("retrieve qrels.txt", "would overwrite the file that this command reads")
    assert "none/a.run: cannot write (No such file or directory)" in command("retrieve none/a.run").err


@pytest.mark.usefixtures("live_project")
def test_a_live_system_that_fails_is_incomparable(command, folder):
    folder.joinpath("asked.py").write_text("def answer(query):\n    raise OSError('no route to host')\n")
    ended = command("check")
    assert ended.status == 3
    assert "no route to host" in " ".join(ended.out.split())
    assert str(folder) not in sys.path
