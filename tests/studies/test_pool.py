"""``riskguard study pool``: every system as the baseline of all the others."""

import json
from pathlib import Path

import numpy as np
import pytest

from pytest_riskguard.risk import trisk
from tests.plugin.world import read_report
from tests.snapshots import golden

TOPICS = [f"q{number:02d}" for number in range(40)]
RNG = np.random.default_rng(7)
LEVEL = RNG.random(40)
#: Five systems that follow one another, and one that goes its own way.
KIN = 0.7 * LEVEL + 0.3 * RNG.random((5, 40)) - 0.02 * np.arange(5)[:, None]
KIN -= KIN.min()
SCORES = {f"kin{i}": values for i, values in enumerate(KIN)} | {"stranger": RNG.random(40)}
FILES = " ".join(f"{name}.csv" for name in SCORES)


def write(folder, name, values, *, topics=TOPICS, measure="gain"):
    rows = [f"{topic},{value!r}\n" for topic, value in zip(topics, map(float, values), strict=True)]
    folder.joinpath(f"{name}.csv").write_text(f"topic,{measure}\n" + "".join(rows))


@pytest.fixture
def pool(folder):
    for name, values in SCORES.items():
        write(folder, name, values)
    return folder


def report(ended):
    assert ended.status == 0, ended.err
    return json.loads(ended.out)


@pytest.mark.usefixtures("pool")
def test_every_system_is_judged_against_every_other(command):
    found = report(command(f"study pool --scores {FILES} --alpha 0 --alpha 5 -o -"))
    assert found["schema"] == "riskguard-pool/1"
    assert found["systems"] == list(SCORES)
    (at,) = found["measures"]
    assert (at["measure"], at["topics"], len(at["centred"]["coordinates"][0])) == ("gain", 40, 5)
    assert [member["mean"] for member in at["members"]] == pytest.approx([v.mean() for v in SCORES.values()])
    np.testing.assert_allclose(at["correlations"], np.corrcoef(list(SCORES.values())), atol=1e-11)
    for one, alpha in zip(at["alphas"], (0, 5), strict=True):
        assert one["alpha"] == alpha
        for i, ours in enumerate(SCORES.values()):
            for j, theirs in enumerate(SCORES.values()):
                pair = trisk(ours - theirs, alpha=alpha)
                assert one["urisk"][i][j] == pytest.approx(pair.estimate, abs=1e-11)
                assert one["trisk"][i][j] == (None if i == j else pytest.approx(pair.statistic))
    # at alpha 0 the order is that of the means, whatever the baseline
    plain, risky = (one["rankings"][0] for one in at["alphas"])
    assert (plain["pairs"], plain["pairs_changing"], plain["durbin"]["concordance"]) == (15, 0, pytest.approx(1))
    firsts = sorted(standing["firsts"] for standing in at["alphas"][0]["standings"])
    assert firsts == [0, 0, 0, 0, 1, 5]  # the best is first, under its own baseline the second best
    assert risky["pairs_changing"] > 0
    assert risky["durbin"]["concordance"] < 1
    agreement = found["agreements"][0]
    assert agreement["first"] == {"measure": "gain", "alpha": None}
    assert (agreement["second"]["alpha"], agreement["overlap_lower"] > 0.3) == (0, True)


@pytest.mark.usefixtures("pool")
def test_on_a_terminal_it_is_tables_and_words(done, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = done(f"study pool --scores {FILES} --alpha 0 --alpha 1")
    assert max(map(len, out.splitlines())) <= 80
    golden(Path(__file__).parent / "golden" / "pool.txt", out)


@pytest.mark.usefixtures("pool")
def test_kin_alone_have_a_fair_yardstick(command):
    text = " ".join(command("study pool --scores kin0.csv kin1.csv kin2.csv --alpha 0").out.split())
    assert "every baseline gives the same order: any of them is a fair yardstick here" in text
    assert "do not rank" in command(f"study pool --scores {FILES} --alpha 0").out  # by TRisk


def test_runs_and_stored_baselines_by_measure_and_alpha(command):
    found = report(command("study pool prod good.run other=loss.run --measure AP --measure P@5 --alpha 1 -o -"))
    assert found["systems"] == ["prod", "good", "other"]
    assert [at["measure"] for at in found["measures"]] == ["AP", "P@5"]
    assert found["qrels"].startswith("sha256:")
    assert all(digest.startswith("sha256:") for digest in found["digests"])
    orders = {(a["first"]["measure"], a["first"]["alpha"], a["second"]["measure"], a["second"]["alpha"]) for a in
              found["agreements"]}  # fmt: skip
    assert orders == {
        ("AP", None, "AP", 1),
        ("P@5", None, "P@5", 1),
        ("AP", None, "P@5", None),
        ("AP", 1, "P@5", 1),
    }
    # prod scores the same on every topic
    assert found["measures"][0]["members"][0]["correlation_median"] is None
    text = " ".join(command("study pool prod good.run other=loss.run --measure AP").out.split())
    assert "prod has no correlation" in text


def test_two_systems_are_compared_but_not_ranked(command, folder):
    for name, value in (("a", 0.4), ("b", 0.3)):
        write(folder, name, [value], topics=["q1"])
    golden(Path(__file__).parent / "golden" / "two.txt", command("study pool --scores a.csv b.csv").out)
    found = report(ended := command("study pool good.run loss.run --measure AP -o -"))
    assert "closest" not in ended.err
    assert found["agreements"] == []
    (one,) = found["measures"][0]["alphas"]
    assert one["rankings"] == []
    assert one["standings"][0]["place_mean"] is None
    assert one["urisk"][0][1] > 0 > one["urisk"][1][0]


def test_negative_scores_are_welcome(command, folder):
    for name, values in SCORES.items():
        write(folder, name, values - 3)
    shifted = report(command(f"study pool --scores {FILES} -o -"))["measures"][0]
    for name, values in SCORES.items():
        write(folder, name, values)
    plain = report(command(f"study pool --scores {FILES} -o -"))["measures"][0]
    np.testing.assert_allclose(shifted["alphas"][0]["urisk"], plain["alphas"][0]["urisk"], atol=1e-9)
    np.testing.assert_allclose(shifted["correlations"], plain["correlations"], atol=1e-9)


@pytest.mark.usefixtures("pool")
def test_the_bytes_do_not_depend_on_the_order_of_topics(command, folder):
    first = command(f"study pool --scores {FILES} -o -").out
    for path in folder.glob("*.csv"):
        head, *rows = path.read_text().splitlines(keepends=True)
        path.write_text(head + "".join(rows[::-1]))
    second = json.loads(command(f"study pool --scores {FILES} -o -").out)
    second["digests"] = json.loads(first)["digests"]  # of files that are others now
    assert json.dumps(second, indent=2) + "\n" == first
    assert (
        command(f"study pool --scores {FILES} -o pool.json").out == command(f"study pool --scores {FILES} -o -").err
    )
    assert read_report(folder / "pool.json")["measures"] == second["measures"]
    assert str(folder) not in first


def test_systems_that_are_equal_share_their_places(command, folder):
    for name in ("a", "b", "c"):
        write(folder, name, SCORES["kin0"])
    write(folder, "d", SCORES["kin4"])
    ended = command("study pool --scores a.csv b.csv c.csv d.csv --alpha 1")
    golden(Path(__file__).parent / "golden" / "equal.txt", ended.out)
    write(folder, "d", SCORES["kin0"])
    ended = command("study pool --scores a.csv b.csv c.csv d.csv --alpha 1 -o -")
    assert report(ended)["measures"][0]["alphas"][0]["rankings"][0]["durbin"] is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("good.run", "a pool has 2 to 200 systems; found 1"),
        ("good.run good.run", "SYSTEM: good given twice; NAME=RUN gives one of them another name"),
        ("good.run loss.run --alpha 1 --alpha 1.0", "--alpha: 1 given twice"),
    ],
)
def test_a_wrong_question_is_a_usage_error_and_prints_no_json(refused, line, message):
    refused(f"study pool {line} -o -", message)


@pytest.mark.usefixtures("pool")
def test_bad_data_is_status_3_and_prints_no_json(refused, folder):
    refused("study pool good.run ./nowhere.run --measure AP -o -", "nowhere.run: no such file", status=3)
    write(folder, "short", SCORES["kin0"][:-1], topics=TOPICS[:-1])
    refused(
        "study pool --scores kin0.csv kin1.csv short.csv -o -",
        "the topics differ: short lacks 1 topic: q39",
        status=3,
    )


def test_missing_topics_can_score_0(command, done, folder):
    write(folder, "a", [0.5, 0.2, 0.1], topics=["q1", "q2", "q3"])
    write(folder, "b", [0.5, 0.2, 0.1], topics=["q2", "q3", "q4"])
    write(folder, "c", [0.9], topics=["q2"])
    out = done("study pool --scores a.csv b.csv c.csv --set missing=zero")
    assert "gain: 3 systems, 4 topics" in out
    assert "b did not answer 1 topic; they score 0. c did not answer 3 topics; they" in " ".join(out.split())
    found = report(command("study pool --scores a.csv b.csv c.csv --set missing=zero -o -"))
    members = found["measures"][0]["members"]
    assert [member["missing"] for member in members] == [["q4"], ["q1"], ["q1", "q3", "q4"]]
    assert [member["mean"] for member in members] == pytest.approx([0.2, 0.2, 0.225])
