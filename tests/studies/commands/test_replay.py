"""``riskguard study replay``: runs on disk, stored baselines and their histories."""

import json

import pytest

from pytest_riskguard.baselines.store import Store
from tests.plugin import world

RUNS = "./prod.run good=./good.run churn.run loss.run"


def test_releases_are_judged_each_against_the_one_before(command):
    ended = command(f"study replay {RUNS} --measure AP --regretted churn -o -")
    assert ended.status == 0, ended.err
    report = json.loads(ended.out)
    assert report["schema"] == "riskguard-replay/1"
    (made,) = report["replays"]
    assert [(r["name"], r["against"], r["regretted"]) for r in made["releases"]] == [
        ("good", "prod", False),
        ("churn", "good", True),
        ("loss", "churn", False),
    ]
    assert [answer["alpha"] for answer in made["releases"][0]["answers"]] == [0, 1, 2, 5, 10]
    assert "stops of the regretted" in ended.err
    again = command(f"study replay {RUNS} --measure AP --regretted churn")
    assert (again.status, again.err) == (0, "")
    assert again.out == ended.err


def test_answers_are_those_of_compare(command):
    asked = "--baseline prod --measure AP --alpha 0 --alpha 5 --set tolerance=0 -o -"
    made = json.loads(command(f"study replay churn.run loss.run {asked}").out)
    for release in made["replays"][0]["releases"]:
        compared = command(f"compare {release['name']}.run {asked}")
        verdicts = json.loads(compared.out)["verdicts"]
        assert [a["outcome"] for a in release["answers"]] == [verdict["outcome"] for verdict in verdicts]
        assert [a["reason"] for a in release["answers"]] == [verdict["reason"] for verdict in verdicts]
        assert release["alpha_star"] == verdicts[1]["estimates"]["alpha_star"]
        assert release["against"] == "prod"


def test_a_stored_baseline_stands_for_all_runs_that_it_held(command, folder):
    store = Store(folder / "baselines")
    collection = {"qrels": folder / "qrels.txt", "topics": folder / "topics.tsv", "measures": ["AP"]}
    for name in ("good", "loss"):
        store.update("prod", folder / f"{name}.run", **collection)
    made = json.loads(command("study replay prod --measure AP --regretted prod -o -").out)["replays"][0]
    assert [(r["name"], r["against"]) for r in made["releases"]] == [("0002", "0001"), ("prod", "0002")]
    assert made["releases"][1]["answers"][0]["reason"] == "loss"
    made = json.loads(command("study replay prod churn.run --measure AP -o -").out)["replays"][0]
    assert [(r["name"], r["against"]) for r in made["releases"]] == [("churn", "prod")]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("study replay ./good.run --measure AP", "one run has no release before it"),
        (
            "study replay good.run loss.run --measure AP --regretted nobody",
            "expected one of loss, found 'nobody'",
        ),
        ("study replay good.run loss.run --measure AP --alpha 1 --alpha 1", "--alpha: 1 given twice"),
        ("study replay good.run good.run --measure AP", "RUN: good given twice"),
        ("study replay ./prod.run good.run --measure AP --set tolerance=5", "could never fail"),
        ("study replay ./prod.run good.run --measure AP --set max_loss=2", "could never fail"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(command, line, words):
    ended = command(line)
    assert (ended.status, ended.out) == (2, "")
    assert words in ended.err


def test_a_tolerance_that_no_loss_of_these_runs_could_exceed_has_no_answer_as_in_compare(command):
    asked = "--measure AP --set tolerance=1.5 --alpha 2"
    ended = command(f"study replay ./prod.run good.run {asked}")
    assert (ended.status, command(f"compare ./prod.run good.run {asked}").status) == (3, 3)
    assert "choose a smaller tolerance" in " ".join(ended.out.split())


def test_runs_that_cannot_be_compared_end_with_a_status(command, folder):
    for name, topics in (("a", world.TOPICS), ("b", world.TOPICS[:20]), ("c", world.TOPICS[:20])):
        (folder / f"{name}.csv").write_text("topic,AP\n" + "".join(f"{topic},0.5\n" for topic in topics))
    ended = command("study replay a.csv b.csv c.csv --scores")
    assert ended.status == 3
    assert "b cannot be compared" in ended.out
    assert "1 release cannot be compared" in ended.err
