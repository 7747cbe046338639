"""``budget:`` of riskguard.yaml and ``riskguard budget``: the ledger is the only state, and judging only reads it."""

import json

import pytest

from tests.plugin import world

YAML = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
measures: [AP]
candidate: good.run
budget: 10
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod}
  - {name: no-collapse, kind: no_topic_collapse, baseline: prod, max_loss: 0.9}
"""


@pytest.fixture(autouse=True)
def settings(folder):
    path = folder / "riskguard.yaml"
    path.write_text(YAML)
    return path


@pytest.fixture
def judged(command, folder):
    """The verdict of the first gate on a run, written to ``report.json``."""

    def judged(run="good.run"):
        ended = command(f"check --candidate {run} -o report.json")
        assert ended.status in (0, 1), ended.err
        return world.read_report(folder / "report.json")["verdicts"][0]

    return judged


def ledger(folder):
    path = folder / "looks.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_the_first_look_has_its_share_and_writes_nothing(judged, folder, command):
    verdict = judged()
    look = verdict["family"]["look"]
    assert (look["number"], look["share"], look["gates"]) == (1, 0.05, ["no-risk"])
    assert 1 - verdict["family"]["level"] == pytest.approx(0.05 * 0.05)
    assert (verdict["family"]["correction"], verdict["level"]) == ("none", 0.95)
    assert ledger(folder) == []
    assert "no look at this collection yet; about 10 are expected" in command("budget").out


def test_recorded_looks_are_spent_once_and_the_same_candidate_keeps_its_verdict(judged, folder, command):
    first = judged()
    assert "recorded 1 look; 0 looks known already" in command("budget --record report.json").out
    (line,) = ledger(folder)
    assert (line["number"], line["failed"], line["inputs"]) == (1, False, first["family"]["look"]["inputs"])
    assert judged() == first
    ended = command("budget --record report.json --record report.json")
    assert "recorded 0 looks; 2 looks known already" in ended.out
    assert "1 look, 1 without a failure, of about 10; 95.0% of the budget is left" in ended.out
    assert "  no-risk: 1 look\n" in ended.out
    second = judged("churn.run")
    assert second["family"]["look"]["number"] == 2
    assert judged() == first  # the ledger does not move what it has


def test_gates_outside_a_family_share_one_budget(judged, folder, command, settings):
    more = [
        f"  - {{name: {name}, kind: {kind}, baseline: prod, alpha: 0}}\n"
        for name, kind in (
            ("mean", "not_significantly_risky"),
            ("shown", "not_inferior"),
            ("again", "not_significantly_risky"),
        )
    ]
    settings.write_text(YAML + "".join(more))
    command("check -o report.json")
    looks = [
        each["family"] and each["family"]["look"] for each in world.read_report(folder / "report.json")["verdicts"]
    ]
    assert [look and look["number"] for look in looks] == [1, None, 2, None, 3]
    alone = command("check again -o other.json")
    assert world.read_report(folder / "other.json")["verdicts"][0]["family"]["look"] == looks[-1], alone.err
    command("budget --record report.json")
    assert "3 looks, 3 without a failure, of about 10; 85.0% of the budget is left" in command("budget").out
    command("check --candidate churn.run -o report.json")
    found = world.read_report(folder / "report.json")["verdicts"]
    assert [each["family"]["look"]["number"] for each in found if each["family"]] == [4, 5, 6]


def test_a_verdict_says_which_look_it_is_and_at_which_level(judged, command):
    said = " ".join(command("check -v").out.split())
    assert "judged at 99.75%; look 1 of about 10 at this collection" in said


def test_a_failed_look_costs_nothing(judged, folder, command):
    failed = judged("loss.run")
    assert failed["outcome"] == "fail"
    command("budget --record report.json")
    assert [line["failed"] for line in ledger(folder)] == [True]
    assert judged("good.run")["family"]["look"]["number"] == 1
    assert "1 look, 0 without a failure" in command("budget").out


@pytest.mark.parametrize("name", ["qrels.txt", "topics.tsv"])
def test_new_topics_or_judgements_begin_anew(judged, folder, command, name):
    judged()
    command("budget --record report.json")
    with (folder / name).open("a") as file:
        file.write("t01 0 bad7 0\n" if name == "qrels.txt" else "t99\tanother query\n")
    assert judged("churn.run")["family"]["look"]["number"] == 1
    assert "no look at this collection yet" in command("budget").out
    assert len(ledger(folder)) == 1


@pytest.mark.parametrize("name", ["qrels.txt", "topics.tsv"])
def test_another_order_of_rows_is_the_same_collection(judged, folder, command, name):
    first = judged()
    command("budget --record report.json")
    path = folder / name
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    assert judged()["family"]["look"] == first["family"]["look"]
    assert judged("churn.run")["family"]["look"]["number"] == 2
    assert "95.0% of the budget is left" in command("budget").out


def test_another_question_about_the_same_candidate_is_another_look(judged, folder, command, settings):
    first = judged()
    command("budget --record report.json")
    settings.write_text(YAML.replace("baseline: prod}", "baseline: prod, alpha: 2}", 1))
    second = judged()
    assert second["family"]["look"]["inputs"] != first["family"]["look"]["inputs"]
    assert second["family"]["look"]["number"] == 2


def test_a_family_is_one_look_and_fails_only_as_a_whole(judged, folder, command, settings):
    settings.write_text(
        YAML.replace("gates:", "family: auto\ngates:").replace("budget: 10", "budget: 2")
        + "  - {name: tolerant, kind: not_significantly_risky, baseline: prod, tolerance: 0.9}\n"
    )
    command("check --candidate loss.run -o report.json")
    verdicts = world.read_report(folder / "report.json")["verdicts"]
    with_look = [verdict for verdict in verdicts if verdict["family"]]
    assert [verdict["outcome"] for verdict in with_look] == ["fail", "pass"]
    assert with_look[0]["family"]["look"] == with_look[1]["family"]["look"]
    assert with_look[0]["family"]["look"]["gates"] == ["no-risk", "tolerant"]
    command("budget --record report.json")
    assert [line["failed"] for line in ledger(folder)] == [False]


def test_gates_without_an_answer_and_the_same_run_take_no_look(folder, command):
    command("check --candidate prod.run -o report.json")
    assert "recorded 0 looks" in command("budget --record report.json").out
    (folder / "broken.run").write_text("not a run\n")
    command("check --candidate broken.run -o report.json")
    assert world.read_report(folder / "report.json")["verdicts"][0]["outcome"] == "incomparable"
    assert "recorded 0 looks" in command("budget --record report.json").out


def test_a_budget_that_is_used_up_stops_the_gate(folder, command, judged, settings):
    look = judged()["family"]["look"]
    lines = [
        {
            **{name: look[name] for name in ("collection", "gates")},
            "inputs": f"i{n}",
            "number": n + 1,
            "failed": False,
            "share": 0.001,
            "looks": 10,
        }
        for n in range(80)
    ]
    (folder / "looks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert judged()["family"]["look"]["number"] == 81
    more = [{**line, "inputs": f"j{place}"} for place, line in enumerate(lines)]
    (folder / "looks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [*lines, *more]))
    ended = command("check")
    assert ended.status == 2
    assert "after 160 looks at this collection" in ended.err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("budget: 10", "budget: 0"), "budget: expected a whole number, from 1 to 10000"),
        (
            ("gates:", "family: auto\ngates:\n  - {name: pool, kind: georisk_not_worse, baselines: [prod]}"),
            "family: pool (georisk_not_worse) cannot have a budget",
        ),
    ],
)
def test_what_cannot_be_a_budget_is_refused(settings, command, change, words):
    settings.write_text(YAML.replace(*change))
    ended = command("check")
    assert ended.status == 2
    assert words in " ".join(ended.err.split())


@pytest.mark.parametrize(
    "line", ["{", '{"collection": 1}', "[]", '{"collection": "c", "gates": ["g"]}', "[" * 100_000, '{"a":' * 40]
)
def test_a_ledger_that_is_not_one_is_named_with_its_line(folder, command, line):
    (folder / "looks.jsonl").write_text(f"\n{line}\n")
    for asked in ("check", "budget"):
        ended = command(asked)
        assert ended.status == 2
        assert "looks.jsonl:2: expected a look that budget --record wrote" in ended.err


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_look_is_added_on_a_line_of_its_own_whatever_the_last_line_ends_with(folder, judged, command, end):
    judged()
    command("budget --record report.json")
    path = folder / "looks.jsonl"
    path.write_bytes(path.read_bytes().rstrip() + end.encode())
    judged("churn.run")
    assert "recorded 1 look" in command("budget --record report.json").out
    assert [line["number"] for line in ledger(folder)] == [1, 2]


def test_without_a_budget_there_is_none(settings, command, judged):
    settings.write_text(YAML.replace("budget: 10\n", ""))
    assert judged()["family"] is None
    ended = command("budget")
    assert ended.status == 2
    assert "has no budget; add `budget: 50`" in ended.err
