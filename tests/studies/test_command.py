"""``riskguard study``: what it is asked, and the forms of its answer."""

import csv
import json
import re
from html import unescape
from importlib.util import find_spec

import numpy as np
import pytest

from tests.plugin import world
from tests.studies.pools import LEVEL, SCORES, TOPICS, write

STUDIES = {"baselines": (5, 10), "risk": (0, 1, 5, 10), "georisk": (0, 1, 5, 20), "smooth": (1,), "intervals": (0, 9)}


def values(text):
    """Every figure of a study as JSON."""
    return [tuple(one[key] for key in ("part", "row", "column", "value", "low", "high")) for one in text["values"]]


def systems_of(ended):
    assert (ended.status, ended.err) == (0, "")
    return [*json.loads(ended.out)["systems"]]


def test_the_list_has_a_line_for_each_study(done):
    head, *lines = done("study list").splitlines()
    assert head.split() == ["study", "question", "paper"]
    assert [line.split()[0] for line in lines] == [*STUDIES]
    assert re.fullmatch(r"smooth +does it matter if small losses count less\? +AIRS 2019", lines[3])


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("name", STUDIES)
def test_every_form_has_the_same_figures(done, name):
    line = f"study {name} --scores pool.csv"
    text, page, as_json = done(line), unescape(done(f"{line} --html")), json.loads(done(f"{line} --json"))
    assert (as_json["schema"], as_json["study"], as_json["measure"]) == ("riskguard-study/1", name, "scores")
    assert ([*as_json["systems"]], as_json["qrels"]) == (sorted(SCORES), None)
    head, *rows = csv.reader(done(f"{line} --csv").splitlines())
    assert head == ["part", "row", "column", "value", "low", "high"]
    for row, figure in zip(rows, values(as_json), strict=True):
        for one, other in zip(row, figure, strict=True):
            if isinstance(other, float):
                assert float(one) == pytest.approx(other, rel=1e-11)
            else:
                assert one in ("" if other is None else str(other), "inf", "-inf")
    said, title = " ".join(text.split()), f"riskguard study {name}: scores, 8 systems, 40 topics"
    assert (title in said, title in page) == (True, True)
    assert all(answer in said and answer in page for answer in as_json["answers"])
    alphas = {float(alpha) for alpha in re.findall(r"alpha ([\d.]+)", " ".join(as_json["answers"]))}
    assert alphas == {*STUDIES[name]}  # those of the paper
    # what a terminal has room for is in the page, and among the figures
    figures = [one for figure in values(as_json) for one in figure[3:] if isinstance(one, float)]
    shown = re.findall(r"(?<!< )(?<=[ \[])[+-]?\d\.\d{3,4}(?=[ \],\n])", text)
    assert len(shown) > 15
    for cell in shown:
        assert cell in page
        assert min(abs(float(cell) - one) for one in figures) <= 0.51 * 10.0 ** (2 - len(cell.lstrip("+-")))


@pytest.mark.usefixtures("table")
def test_a_table_is_left_out_of_a_terminal_that_has_no_room_for_it(done, folder):
    text = done("study georisk --scores pool.csv --alpha 1")
    assert "\nScores\n" not in text
    assert text.endswith("--html has 3 charts or larger tables more, --csv all figures.\n")
    for systems, topics, measures, scores in (
        (59, 13, True, True),
        (60, 13, True, False),
        (61, 13, False, False),
        (59, 14, True, False),
    ):
        write(folder / "odd.csv", {f"s{i}": LEVEL[:topics] + i / 1000 for i in range(systems)}, TOPICS[:topics])
        text = done("study georisk --scores odd.csv --alpha 1")
        assert ("\nAll measures" in text, "\nScores\n" in text) == (measures, scores)


@pytest.mark.usefixtures("table")
def test_columns_of_a_table_are_systems(command, refused):
    line = "study risk --scores pool.csv --json"
    assert systems_of(command(line)) == [*SCORES]
    assert systems_of(command(f"{line} kin3 kin1 kin3")) == ["kin1", "kin3"]
    assert systems_of(command(f"{line} kin3 kin1 --baseline near")) == ["kin1", "kin3", "near"]
    assert json.loads(command(f"{line} --measure AP").out)["measure"] == "AP"
    refused("study risk --scores pool.csv kin1 gone", "pool.csv: expected a measure 'gone', found 'kin0'", status=3)
    refused("study risk --scores pool.csv kin1", "a study is of 2 to 200 systems; found 1")
    refused("study risk --scores nowhere.csv", "nowhere.csv: no such file", status=3)


@pytest.mark.usefixtures("table")
def test_the_first_system_is_the_baseline_unless_one_is_named(command):
    def judged(line):
        found = json.loads(command(f"study risk --scores pool.csv --alpha 1 {line} --json").out)
        return {row for part, row, *_ in values(found) if part == "Risk, alpha 1"}

    assert judged("") == {*SCORES} - {"kin0"}
    assert judged("kin4 kin1 near") == {"kin1", "near"}
    assert judged("kin4 kin1 --baseline near") == {"kin4", "kin1"}
    assert judged("kin4 kin1 --baseline kin1") == {"kin4"}
    # a study of many baselines has one that is named alone
    columns = command("study baselines --scores pool.csv --alpha 1 --baseline kin1 --baseline kin1").out
    assert re.search(r"MAX +R MAX +kin1 +R kin1\n", columns)
    assert "TRisk" not in command("study georisk --scores pool.csv --csv").out
    assert "against" not in command("study georisk --scores pool.csv --csv").out


def test_runs_and_stored_baselines_are_scored(command, done):
    found = json.loads(done("study risk prod good.run other=loss.run --measure AP --json"))
    assert [*found["systems"]] == ["good", "other", "prod"]
    assert found["measure"] == "AP"
    assert all(digest.startswith("sha256:") for digest in (found["qrels"], *found["systems"].values()))
    risks = {row: value for part, row, what, value, *_ in values(found) if (part, what) == ("Risk, alpha 0", "URisk")}
    change = sum(1 / rank - 0.5 for rank in world.LOSS.values()) / 30
    assert risks["other"] == pytest.approx(change)
    # a file that is a baseline and a system as well is one system
    line = "good.run prod.run loss.run --measure AP --json"
    assert systems_of(command(f"study risk {line} --baseline prod.run")) == ["good", "loss", "prod"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("risk", "expected systems: runs, stored baselines, or a table of scores with --scores TABLE"),
        ("risk good.run --measure AP", "a study is of 2 to 200 systems; found 1"),
        ("risk good.run good.run --measure AP", "SYSTEM: good given twice; NAME=RUN gives one of them another name"),
        ("risk good.run --baseline good=loss.run --measure AP", "two systems are called 'good'; NAME=RUN gives"),
        ("risk good.run loss.run --measure AP --measure P@5", "name it with --measure; found AP, P@5"),
        ("risk good.run loss.run --alpha 1 --alpha 1.0", "--alpha: 1 given twice"),
        ("pool good.run loss.run", "'pool' is not one of 'list', 'baselines', 'risk'"),
    ],
)
def test_a_wrong_question_is_a_usage_error(refused, line, words):
    refused(f"study {line}", words)


def test_a_topic_without_an_answer_scores_0_with_a_warning(command, folder):
    world.write_run(folder / "short.run", world.GOOD, topics=world.TOPICS[2:])
    out = command("study risk prod.run good.run short.run --measure AP --set missing=zero").out
    assert "short did not answer 2 topics; they score 0." in " ".join(out.split())
    assert "did not answer" not in command("study risk prod.run good.run --measure AP").out
    write(folder / "one.csv", {"a": [0.5], "b": [0.4]}, ["1"])
    assert "needs at least 2 topics" in command("study risk --scores one.csv").err


@pytest.mark.usefixtures("table")
def test_without_the_extra_the_message_names_it(refused, done, monkeypatch):
    monkeypatch.setattr(
        "pytest_riskguard.reports.html.find_spec", lambda name: None if name == "jinja2" else find_spec(name)
    )
    refused("study risk --scores pool.csv --html", "needs jinja2: pip install 'pytest-riskguard[report]'")
    done("study risk --scores pool.csv --csv")


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_a_study_of_fifty_systems_has_an_answer(done, folder, name):
    rng = np.random.default_rng(3)
    level = 0.3 + 0.4 * rng.random(250)
    scores = {f"s{i}": level + 0.2 * rng.random(250) for i in range(50)}
    write(folder / "large.csv", scores, map(str, range(1, 251)))
    assert "<svg" in done(f"study {name} --scores large.csv --html")
