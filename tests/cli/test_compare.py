"""``riskguard compare``: verdicts, exit statuses, what goes where."""

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest

from pytest_riskguard.cli.main import run
from pytest_riskguard.errors import InternalError
from tests.plugin import world
from tests.plugin.world import read_report
from tests.reports.schema import SCHEMA_FILE
from tests.strict import STRICT_LINE

QRELS = "--qrels qrels.txt --measure AP"
RISK, POOL = "--gate not_significantly_risky", "--gate georisk_not_worse"


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("good.run --baseline prod --set tolerance=0", 0, "URisk +0.12, 95% interval +0.03 to +0.22, must reach 0"),
        ("loss.run --baseline prod", 1, "FAIL the mean fell 0.50 -> 0.34; 12 of 30 queries lost, none gained"),
        (
            "churn.run --baseline prod --alpha 5 --set on_churn=fail",
            1,
            "FAIL losses counted 6 times outweigh gains; 15 of 30 queries lost",
        ),
        (
            "churn.run --baseline prod --alpha 5 --set on_churn=warn",
            0,
            "PASS WITH CARE losses counted 6 times outweigh gains; 15 of 30 queries lost",
        ),
        ("loss.run --baseline prod --set tolerance=0.5 --set family=none", 0, "PASS"),
        ("good.run --baseline prod --set max_mde=0.0001", 1, "INCONCLUSIVE"),
        ("good.run --baseline prod --set max_mde=0.0001 --set on_inconclusive=warn", 0, "INCONCLUSIVE"),
        ("nowhere.run --baseline prod", 3, "INCOMPARABLE nowhere.run: no such file (missing_input, AP)"),
        ("good.run --baseline prdo", 3, "did you mean 'prod'?"),
        (r"good.run --baseline 'no\where'", 3, r"no\where: no such file"),
        (
            f"loss.run --baseline prod --baseline good.run --alpha 5 {POOL}",
            1,
            "FAIL riskier than prod; 12 of 30 queries lost, none gained (AP)",
        ),
        (f"loss.run --baseline prod --baseline good.run --set reference=good {POOL}", 1, "FAIL riskier than good; "),
        (
            f"good.run --baseline prod --baseline loss.run {POOL}",
            0,
            "GeoRisk difference +0.04, 95% interval +0.01 to +0.07",
        ),
        (
            f"good.run --baseline prod --baseline nowhere.run {POOL}",
            3,
            "INCOMPARABLE baselines: no baseline 'nowhere.run'",
        ),
    ],
)
def test_each_outcome_has_its_status(command, line, status, said):
    ended = command(f"compare {RISK} {line} --measure AP")
    assert ended.status == status
    assert said in " ".join(ended.out.split())
    assert ended.err == ""


#: Ten queries rise to 1.0 and three fall to 0.1: the mean is up, and more than one query in 20 lost more than 0.3.
TAIL = dict.fromkeys(world.TOPICS[:10], 1) | dict.fromkeys(world.TOPICS[20:23], 10)
#: Judged by the command line alone, so that no riskguard.yaml says which gates there are.
ALONE = f"compare tail.run --baseline prod.run {QRELS}"


@pytest.fixture
def by_policy(command, folder):
    """The verdicts on ``TAIL``, and what was printed."""
    world.write_run(folder / "tail.run", TAIL)

    def verdicts(line=ALONE):
        ended = command(f"{line} -o report.json")
        return read_report(folder / "report.json")["verdicts"], ended

    return verdicts


def test_without_a_gate_it_asks_the_three_of_the_default_policy(by_policy):
    verdicts, ended = by_policy()
    assert ended.status == 1
    assert [(v["gate"], v["kind"], v["outcome"], v["reason"]) for v in verdicts] == [
        ("no-risk", "not_significantly_risky", "pass", None),
        ("tail", "no_topic_collapse", "fail", "collapse"),
        ("no-collapse", "no_topic_collapse", "pass", None),
    ]
    risk, tail, collapse = verdicts
    assert (risk["alpha"], risk["tolerance"], risk["options"]["on_churn"]) == (1, 0.005, "warn")
    assert (tail["options"]["max_loss"], tail["options"]["allowed"]) == (0.3, 0.05)
    assert (collapse["options"]["max_loss"], collapse["options"]["allowed"]) == (0.5, 0)
    text = " ".join(ended.out.split())
    assert "FAIL 3 of 30 queries lost more than 0.30; at most 1 may" in text
    assert "Don't ship: 1 of 3 gates failed" in text
    assert {topic["topic"] for topic in tail["responsible_topics"]} == {"t21", "t22", "t23"}
    assert all(re.search(rf"{topic} 0.50 -> 0.10", text) for topic in ("t21", "t22", "t23"))


def test_what_no_gate_can_compare_is_said_once(by_policy):
    verdicts, ended = by_policy(f"compare nowhere.run --baseline prod.run {QRELS}")
    assert (ended.status, [verdict["outcome"] for verdict in verdicts]) == (3, ["incomparable"] * 3)
    assert ended.out.count("INCOMPARABLE nowhere.run: no such file (missing_input, AP)") == 1
    assert "\n  no-risk, tail, no-collapse: nowhere against prod\n" in ended.out


def test_an_option_is_one_of_every_gate_that_has_it(by_policy):
    line = "--alpha 5 --alpha 2 --set tolerance=0.2 --set level=0.9 --set method=student_t"
    verdicts, _ = by_policy(f"{ALONE} {line}")
    assert [(v["gate"], v["alpha"]) for v in verdicts] == [
        ("no-risk", 5),
        ("no-risk", 2),
        ("tail", 5),
        ("no-collapse", 5),
    ]
    assert {v["level"] for v in verdicts} == {0.9}
    assert [(v["tolerance"], v["method"]) for v in verdicts] == [(0.2, "student_t")] * 2 + [(0, "auto")] * 2
    assert [(v["options"]["max_loss"], v["options"]["allowed"]) for v in verdicts[2:]] == [(0.3, 0.05), (0.5, 0)]


def test_limits_of_single_queries_are_for_measures_with_a_greatest_value(by_policy):
    verdicts, ended = by_policy(f"{ALONE} --measure DCG@10")
    assert [(v["gate"], v["measure"]) for v in verdicts] == [
        *(("no-risk", measure) for measure in ("AP", "DCG@10")),
        ("tail", "AP"),
        ("no-collapse", "AP"),
    ]
    said = "single queries were not judged where the measure has no greatest value (DCG@10)"
    assert said in " ".join(ended.out.split())


def test_a_gate_that_is_asked_for_is_asked_alone(by_policy):
    (tail,) = (verdict for verdict in by_policy()[0] if verdict["gate"] == "tail")
    (verdict,), ended = by_policy(f"{ALONE} --gate no_topic_collapse --set max_loss=0.3 --set allowed=0.05")
    assert (verdict["gate"], ended.status) == ("no_topic_collapse", 1)
    assert verdict["responsible_topics"] == tail["responsible_topics"]
    (verdict,), ended = by_policy(f"{ALONE} --gate no_topic_collapse --set max_loss=0.3 --set allowed=3")
    assert (verdict["options"]["allowed"], verdict["outcome"], ended.status) == (3, "pass", 0)
    (verdict,), _ = by_policy(f"{ALONE} --gate no_drift")
    assert verdict["alpha"] == 0  # the default of its kind
    (verdict,), ended = by_policy(f"{ALONE} --gate not_significantly_risky")
    assert (verdict["gate"], verdict["tolerance"], ended.status) == ("not_significantly_risky", 0.005, 0)


def test_a_limit_that_only_the_default_policy_sets_is_no_reason_to_judge_nothing(by_policy, folder):
    """One query of thirty scores more than 0.3, so 5% of them may lose it: as a warning, since nobody chose 5%."""
    world.write_run(folder / "weak.run", dict.fromkeys(world.TOPICS[1:], 10))
    world.write_run(folder / "better.run", {})
    verdicts, ended = by_policy(f"compare better.run --baseline weak.run {QRELS}")
    assert (ended.status, [verdict["outcome"] for verdict in verdicts]) == (0, ["pass"] * 3)
    assert "cannot_fail" in {warning["code"] for warning in verdicts[1]["warnings"]}
    line = f"compare better.run --baseline weak.run {QRELS} --gate no_topic_collapse --set max_loss=0.3 --set allowed"
    assert by_policy(f"{line}=0.05")[1].status == 0
    (verdict,), ended = by_policy(f"{line}=2")
    assert (verdict["reason"], ended.status) == ("cannot_fail", 3)


def test_without_qrels_or_scores_it_is_a_usage_error(refused, folder):
    folder.joinpath("riskguard.yaml").unlink()
    for name in "ab":
        folder.joinpath(f"{name}.csv").write_text("topic,AP\n" + "".join(f"{t},0.5\n" for t in world.TOPICS))
    for line, said in (("good.run --baseline prod.run", "--qrels"), ("a.csv b.csv", "need --scores")):
        refused(f"compare {line}", said)


def test_a_broken_riskguard_yaml_is_a_usage_error_unless_it_is_not_needed(done, refused, folder):
    folder.joinpath("riskguard.yaml").write_text("colection: {}\n")
    for line in (f"--baseline prod {QRELS}", "--baseline ./prod.run --measure AP", "--baseline prod"):
        refused(f"compare good.run {line}", "riskguard.yaml:1: ")
    for baseline in ("./prod.run", "old=prod.run", "prod.run"):
        done(f"compare good.run --baseline {baseline} {QRELS}")
    folder.joinpath("a.csv").write_text("topic,AP\n" + "".join(f"{t},0.5\n" for t in world.TOPICS))
    shutil.copy("a.csv", "b.csv")
    done("compare --scores a.csv --baseline b.csv")


def test_json_on_stdout_is_json_and_nothing_else(command):
    line = f"compare loss.run --baseline prod --baseline nowhere.run --measure AP {RISK} -o -"
    ended = command(line)
    assert ended.status == 3
    report = json.loads(ended.out)
    jsonschema.validate(report, read_report(SCHEMA_FILE), cls=jsonschema.Draft202012Validator)
    assert [verdict["outcome"] for verdict in report["verdicts"]] == ["fail", "incomparable"]
    assert report["verdicts"][1]["reason"] == "missing_input"
    assert "the mean fell" in ended.err


def test_verdicts_come_by_measure_then_alpha_then_baseline(command):
    ended = command(
        "compare good.run --baseline prod --baseline old=loss.run --measure P@5 --measure AP --alpha 5 --alpha 0 "
        f"{RISK} -o -"
    )
    verdicts = ended.verdicts
    assert [(v["measure"], v["alpha"], *v["baselines"]) for v in verdicts] == [
        (measure, alpha, baseline) for measure in ("P@5", "AP") for alpha in (5, 0) for baseline in ("prod", "old")
    ]


def test_only_a_valid_name_is_split_off_a_path(command, folder):
    folder.joinpath("d=1").mkdir()
    shutil.copy("prod.run", "d=1/prod.run")
    line = f"compare good.run --baseline ./d=1/prod.run --baseline old-1.0=d=1/prod.run {QRELS} {STRICT_LINE} -o -"
    verdicts = command(line).verdicts
    assert [verdict["baselines"] for verdict in verdicts] == [["prod"], ["old-1.0"]]
    assert {verdict["outcome"] for verdict in verdicts} == {"pass"}


def test_a_file_comes_before_a_stored_baseline_of_its_name(command):
    shutil.copy("good.run", "prod")
    assert "identical" in command("compare good.run --baseline prod --measure AP").out


def test_other_qrels_do_not_take_the_yamls_topics(command, done, folder):
    shutil.move("topics.tsv", "other.tsv")
    folder.joinpath("topics.tsv").write_text("broken")
    shutil.copy("qrels.txt", "other.txt")
    for baseline in ("prod.run", "prod"):  # for the second one riskguard.yaml is read, which says where the store is
        done(f"compare good.run --baseline {baseline} --qrels other.txt --measure AP")
    assert command("compare good.run --baseline prod.run --measure AP").status == 3
    done("compare good.run --baseline prod.run --measure AP --topics other.tsv")


@pytest.mark.parametrize(
    ("option", "of_file", "status"), [("", "", 0), ("", "fail", 3), ("warn", "fail", 0), ("fail", "warn", 3)]
)
def test_an_option_counts_before_riskguard_yaml_and_that_before_the_default(command, folder, option, of_file, status):
    with folder.joinpath("qrels.txt").open("a") as file:
        file.write("t30 0 bad2 0\n")
    with folder.joinpath("riskguard.yaml").open("a") as file:
        file.write(f"on_changed_inputs: {of_file}\n" if of_file else "")
    asked = f" --set on_changed_inputs={option}" if option else ""
    assert command(f"compare good.run --baseline prod{asked}").status == status


def test_scores_are_compared_as_they_are(command, folder):
    for name, ranks in (("a", world.LOSS), ("b", {})):
        rows = [f"{t},{1 / ranks.get(t, 2)},1{',2' * (name == 'b')}\n" for t in world.TOPICS]
        folder.joinpath(f"{name}.csv").write_text(f"topic,AP,own{',more' * (name == 'b')}\n" + "".join(rows))
    ended = command(f"compare --scores a.csv --baseline old=b.csv {STRICT_LINE} -o -")
    assert ended.status == 1
    verdicts = ended.verdicts
    assert [(v["measure"], v["outcome"], v["candidate"], v["baselines"]) for v in verdicts] == [
        ("AP", "fail", "a", ["old"]),
        ("own", "pass", "a", ["old"]),
    ]
    assert "PASS tail: a against old: " in command("compare --scores a.csv --baseline old=b.csv --measure own -q").out
    folder.joinpath("b.csv").write_text("topic,AP,own\nt01,0.5,1\n")
    ended = command("compare --scores a.csv --baseline old=b.csv --measure AP -o -")
    verdict, *_ = ended.verdicts
    assert (ended.status, verdict["reason"]) == (3, "topics_differ")
    assert verdict["inputs"]["candidate"] is not None  # what could be read has its digest
    assert command("compare --scores a.csv --baseline old=b.csv --measure AP --set missing=zero").status != 3


def test_hostile_text_reaches_the_terminal_as_text(command, folder):
    queries = dict.fromkeys(world.TOPICS, "\x1b[31m::error::\u202e[red]")
    folder.joinpath("topics.tsv").write_text("".join(f"{t}\t{q}\n" for t, q in queries.items()))
    ended = command("compare loss.run --baseline prod.run --measure AP")
    assert ended.status == 1
    assert "[31m::error::[red]" in ended.out
    assert "\x1b" not in ended.out.replace("\x1b[31m\x1b[1mFAIL\x1b[0m", "")
    assert "\u202e" not in ended.out
    assert not [line for line in ended.out.splitlines() if line.startswith(("::", "##["))]


def test_outcomes_have_colours(command, monkeypatch):
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_, **__: False)
    for name, word in (
        ("good", "32mPASS"),
        ("churn", "33mPASS WITH CARE"),
        ("loss", "31mFAIL"),
        ("nowhere", "31mINCOMPARABLE"),
    ):
        said = command(f"compare {name}.run --baseline prod {RISK} -q").out.replace("\x1b[1m", "")
        assert said.startswith(f"\x1b[{word}\x1b[0m ")


@pytest.mark.parametrize("error", [ZeroDivisionError, AssertionError])
def test_an_internal_error_is_status_70_without_a_traceback(command, monkeypatch, error):
    def broken(*_: object, **__: object) -> None:
        raise error("some detail")

    monkeypatch.setattr("pytest_riskguard.engine.judging.Engine._sure", broken)
    ended = command("compare good.run --baseline prod --measure AP -o -")
    assert (ended.status, ended.out) == (70, "")
    assert f"{error.__name__}: some detail" in ended.err
    assert "Traceback" not in ended.err
    monkeypatch.setenv("RISKGUARD_TRACEBACK", "1")
    with pytest.raises((ZeroDivisionError, InternalError)):
        run(["compare", "good.run", "--baseline", "prod"])


def test_an_interrupt_is_status_130(refused, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_riskguard.engine.Engine.verdicts", interrupted)
    refused("compare good.run --baseline prod --measure AP", "interrupted", status=130)


def test_a_store_that_cannot_be_read_is_a_verdict(command, folder):
    shutil.rmtree("baselines")
    folder.joinpath("baselines").write_text("a file")
    ended = command(f"compare good.run --baseline prod --measure AP {RISK} -o -")
    assert ended.status == 3
    (verdict,) = ended.verdicts
    assert (verdict["outcome"], verdict["reason"]) == ("incomparable", "missing_input")


def test_a_report_names_a_file_by_its_path_in_the_project_and_others_by_their_name_alone(command, folder):
    ended = command("compare runs/nowhere.run --baseline prod --measure AP -o -")
    assert "Nothing was compared: runs/nowhere.run: no such file" in ended.err
    assert ended.verdicts[0]["problem"].startswith("runs/nowhere.run: ")
    other = command(f"compare {folder.parent}/nowhere.run --baseline prod --measure AP -o -")
    assert f"{folder.parent}/nowhere.run:nosuchfile" in "".join(other.err.split())  # a long path is wrapped
    assert json.loads(other.out)["verdicts"][0]["problem"].startswith("nowhere.run: ")
    (folder / "runs").mkdir()
    (folder / "runs" / "bad.run").write_text("t01 Q0 d 1\n")
    bad = command(f"compare {folder}/runs/../runs/bad.run --baseline prod --measure AP -o - -o r.md")
    assert json.loads(bad.out)["verdicts"][0]["problem"].startswith("runs/bad.run:1: expected 6 columns")
    assert str(folder) not in bad.out + Path("r.md").read_text()


def test_hostile_file_names_reach_no_terminal_and_begin_no_line(command, folder):
    name = "a\n::error::\x1b[31m"
    for line in (f"loss.run --baseline '{name}'=x", f"'{name}' --baseline ./prod.run", "loss.run --baseline prod"):
        path = folder / "riskguard.yaml"
        if line.endswith("prod"):
            path.write_text("colection: {}\n")
        ended = command(f"compare {line} --measure AP --topics '{name}' --nonsense")
        assert ended.status == 2
        ended = command(f"compare {line} --measure AP --topics '{name}'")
        said = ended.out + ended.err
        assert ended.status != 0
        assert not [line for line in said.splitlines() if line.startswith("::error")]
        assert "\x1b[31m\n" not in said
        assert "::error::\x1b" not in said


def test_a_file_of_the_store_is_refused_as_candidate(command, done, refused, folder):
    stored = folder / "baselines" / "prod"
    folder.joinpath("link.run").symlink_to(stored / "run.gz")
    folder.joinpath("hard.run").hardlink_to(stored / "run.gz")
    for path in ("baselines/prod/run.gz", "./baselines/../baselines/prod/run.gz", "link.run", "hard.run"):
        refused(f"compare {path} --baseline prod --measure AP", f"{Path(path).name} is the stored prod/run.gz")
    assert command(f"compare baselines/prod/run.gz --baseline good.run {QRELS}").status == 1  # two systems
    shutil.copy("good.run", "baselines/good.run")  # no baseline, but a run that is kept beside them
    done("compare baselines/good.run --baseline prod --measure AP")


def test_a_file_is_not_compared_with_itself(refused, folder):
    folder.joinpath("same.run").hardlink_to("loss.run")
    for line in (
        "--baseline loss.run",
        "--baseline a=./loss.run",
        "--baseline same.run",
    ):
        refused(f"compare loss.run {line} {QRELS}", "loss.run is both the candidate and the baseline")


def outcomes(folder: Path) -> list[tuple[str, list[str], str]]:
    return [(v["candidate"], v["baselines"], v["outcome"]) for v in read_report(folder / "r.json")["verdicts"]]


ALONE_OF = f"{RISK} -o r.json"


def test_the_baseline_comes_first_and_the_first_line_says_so(command, done, folder):
    ended = command(f"compare prod.run loss.run {QRELS} {ALONE_OF}")
    assert (ended.status, ended.out.splitlines()[0]) == (1, "loss against prod (baseline)")
    assert outcomes(folder) == [("loss", ["prod"], "fail")]
    same = command(f"compare loss.run --baseline prod.run {QRELS} {ALONE_OF}")
    assert same.out == ended.out
    done(f"compare loss.run prod.run {QRELS} {ALONE_OF}")


def test_each_of_several_candidates_is_judged_against_the_baseline(command, folder):
    ended = command(f"compare prod.run good.run loss.run {QRELS} {ALONE_OF}")
    assert (ended.status, ended.out.splitlines()[0]) == (1, "good, loss against prod (baseline)")
    assert "1 of 2 candidates may ship" in ended.out
    assert outcomes(folder) == [("good", ["prod"], "pass"), ("loss", ["prod"], "fail")]
    command(f"compare good.run loss.run --baseline prod.run --baseline old=churn.run {QRELS} {ALONE_OF}")
    assert [(candidate, *baselines) for candidate, baselines, _ in outcomes(folder)] == [
        ("good", "prod"),
        ("good", "old"),
        ("loss", "prod"),
        ("loss", "old"),
    ]


def test_of_many_systems_the_first_line_names_five(command):
    of_baselines = " ".join(f"--baseline ./{name}" for name in "ghijkl")
    ended = command(f"compare a b c d e f {of_baselines} {QRELS} {RISK}")
    said = "a, b, c, d, e and 1 more against g, h, i, j, k and 1 more (baselines)"
    assert (ended.status, ended.out.splitlines()[0]) == (3, said)


def test_a_pool_is_judged_in_a_family_too(command):
    ended = command(f"compare good.run --baseline prod --baseline loss.run {QRELS} {POOL} --set family=auto -o -")
    (verdict,) = ended.verdicts
    assert (verdict["outcome"], verdict["family"]["size"]) == ("pass", 1)


def test_roles_go_to_stderr_beside_json_and_are_not_said_with_q(command):
    ended = command(f"compare prod.run good.run {QRELS} -o -")
    assert ended.err.startswith("good against prod (baseline)\n")
    assert ended.out.startswith("{")
    assert command(f"compare prod.run good.run {QRELS} -q").out.startswith("PASS no-risk: good against prod: ")


def test_runs_can_be_named_stored_or_scores(command, done, folder):
    assert command(f"compare old=prod.run new=loss.run {QRELS} {ALONE_OF}").status == 1
    assert outcomes(folder) == [("new", ["old"], "fail")]
    done(f"compare prod good.run {ALONE_OF}")
    assert outcomes(folder) == [("good", ["prod"], "pass")]
    assert read_report(folder / "r.json")["verdicts"][0]["measure"] == "AP"  # of riskguard.yaml
    for name, score in (("a", 0.5), ("b", 0.1)):
        folder.joinpath(f"{name}.csv").write_text("topic,AP\n" + "".join(f"{t},{score}\n" for t in world.TOPICS))
    assert command(f"compare --scores a.csv b.csv {ALONE_OF}").status == 1
    assert outcomes(folder) == [("b", ["a"], "fail")]
    shutil.copy(folder / "loss.run", folder / "k=5.run")
    assert command(f"compare prod.run k=5.run {QRELS} {ALONE_OF}").status == 1
    assert outcomes(folder)[0][0] == "k=5"


def test_several_candidates_are_ranked_first_and_a_beir_folder_is_named_last(command, folder):
    home = folder / "beir/help"
    (home / "qrels").mkdir(parents=True)
    rows = "".join(f"{topic}\tgood\t1\n" for topic in world.TOPICS)
    (home / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    ended = command("compare prod.run loss.run good.run churn.run --qrels beir/help --measure AP")
    roles, answer, head, *ranked = ended.out.splitlines()[:6]
    assert (roles, head.split()[:3]) == ("loss, good, churn against prod (baseline)", ["candidate", "answer", "mean"])
    assert answer == "1 of 3 candidates may ship: 3 of 9 gates failed"
    assert [row.split()[0] for row in ranked] == ["good", "churn", "loss"]
    assert ended.out.splitlines()[-1] == "  judged by help/qrels/test.tsv"


def test_too_few_results_are_the_cause_and_no_fault_of_the_baseline(command, folder):
    rows = (folder / "prod.run").read_text().splitlines()
    (folder / "short.run").write_text("\n".join(row for row in rows if int(row.split()[3]) <= 1))
    (folder / "qrels.txt").write_text(
        "".join(f"{topic} 0 {d} 1\n" for topic in world.TOPICS for d in ("good", "bad1"))
    )
    ended = command("compare prod.run short.run --qrels qrels.txt --measure nDCG@10 --gate not_significantly_risky")
    assert ended.out.splitlines()[3].startswith(
        "  The candidate has at most 1 result a query, where the baseline has"
    )
    assert "are judged" not in " ".join(ended.out.split())
