"""``riskguard study``: what it is asked, and the forms of its answer."""

import csv
import json
import re
from html import unescape
from importlib import import_module
from importlib.util import find_spec

import pytest

from pytest_riskguard.data import TopicScores
from pytest_riskguard.reports import Plot
from pytest_riskguard.studies.pool import Pool
from tests.plugin import world
from tests.studies.pools import LEVEL, RNG, SCORES, TOPICS, approx, write

STUDIES = {"baselines": (5, 10), "risk": (0, 1, 5, 10), "georisk": (0, 1, 5, 20), "smooth": (1,), "intervals": (0, 9)}
COLUMNS = ["part", "row", "column", "value", "low", "high"]


def test_the_list_has_a_line_for_each_study(done):
    lines = done("study list").splitlines()
    assert [line.split()[0] for line in lines] == [*STUDIES]
    assert re.fullmatch(r"smooth +does it matter if small losses count less\? +AIRS 2019", lines[3])


@pytest.mark.parametrize("name", STUDIES)
def test_every_form_has_the_same_figures(done, table, name):
    text, page, as_json, as_csv = (
        done(f"study {name} --scores pool.csv {form}") for form in ("", "--html", "--json", "--csv")
    )
    report, (head, *rows) = json.loads(as_json), csv.reader(as_csv.splitlines())
    assert (report["schema"], report["study"], report["measure"]) == ("riskguard-study/1", name, "scores")
    assert ([*report["systems"]], report["qrels"], head) == (sorted(SCORES), None, COLUMNS)
    figures = [[one[column] for column in COLUMNS] for one in report["values"]]
    for row, figure in zip(rows, figures, strict=True):
        for one, other in zip(row, figure, strict=True):
            if isinstance(other, float):
                assert float(one) == approx(other, rel=1e-11)
            else:
                assert one in ("" if other is None else str(other), "inf", "-inf")
    against = ", against kin0" if name in ("risk", "smooth", "intervals") else ""
    for answer in (f"riskguard study {name}: scores, 8 systems, 40 topics{against}", *report["answers"]):
        assert answer in " ".join(text.split())
        assert answer in unescape(page)
    alphas = {float(alpha) for alpha in re.findall(r"alpha ([\d.]+)", " ".join(report["answers"]))}
    assert alphas == {*STUDIES[name]}  # those of the paper
    # what a terminal has room for is in the page, and among the figures
    shown = re.findall(r"(?<!< )(?<=[ \[])[+-]?\d\.\d{3,4}(?=[ \],\n])", text)
    assert len(shown) > 15
    for cell in shown:
        assert cell in page
        gaps = (abs(float(cell) - one) for figure in figures for one in figure[3:] if isinstance(one, float))
        assert min(gaps) <= 0.51 * 10.0 ** (2 - len(cell.lstrip("+-")))


def test_a_table_is_left_out_of_a_terminal_that_has_no_room_for_it(done, folder):
    for systems, topics, *fits in ((59, 13, 1, 1), (60, 13, 1, 0), (61, 13, 0, 0), (9, 14, 1, 0)):
        write(folder / "odd.csv", {f"s{i}": LEVEL[:topics] + i / 1000 for i in range(systems)}, TOPICS[:topics])
        text = done("study georisk --scores odd.csv --alpha 1")
        assert ["\nAll measures" in text, "\nScores\n" in text] == fits
    assert text.endswith("--html also has 3 charts or larger tables; --csv has all figures.\n")


@pytest.mark.parametrize(
    ("line", "judged"),
    [
        ("--scores pool.csv", {*SCORES} - {"kin0"}),
        ("--scores pool.csv kin4 kin1 kin4 near", {"kin1", "near"}),
        ("--scores pool.csv kin4 kin1 --baseline near", {"kin4", "kin1"}),
        ("--scores pool.csv kin4 kin1 --baseline kin1", {"kin4"}),
        ("--scores pool.csv kin4 kin1 --baseline near --baseline kin4", {"kin4", "kin1"}),
        ("prod good.run other=loss.run --measure AP", {"good", "other"}),
        ("good.run loss.run --measure AP --baseline prod", {"good", "loss"}),
        # a file that is a baseline and a system as well is one system
        ("good.run prod.run loss.run --measure AP --baseline prod.run", {"good", "loss"}),
    ],
)
def test_the_first_system_is_the_baseline_unless_one_is_named(done, table, line, judged):
    found = json.loads(done(f"study risk {line} --alpha 0 --json"))
    risks = {one["row"]: one["value"] for one in found["values"] if one["column"] == "URisk"}
    assert {*risks} == judged
    assert len(found["systems"]) == 1 + len(judged)
    if "AP" in line:
        assert (found["measure"], found["qrels"][:7]) == ("AP", "sha256:")
        assert min(risks.values()) == approx(sum(1 / rank - 0.5 for rank in world.LOSS.values()) / 30)


def test_a_study_of_many_baselines_has_one_that_is_named_alone(done, table):
    named = done("study baselines --scores pool.csv --alpha 1 --baseline kin1 --baseline kin1")
    assert re.search(r"MAX +R MAX +kin1 +R kin1\n", named)
    assert "against" not in done("study georisk --scores pool.csv --csv")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("risk", "expected systems: runs, stored baselines, or a table of scores with --scores TABLE"),
        ("risk good.run --measure AP", "a study is of 2 to 200 systems; found 1"),
        ("risk --scores pool.csv kin1", "a study is of 2 to 200 systems; found 1"),
        ("risk good.run good.run --measure AP", "SYSTEM: good given twice; NAME=RUN gives one of them another name"),
        ("risk good.run --baseline good=loss.run --measure AP", "two systems are called 'good'; NAME=RUN gives"),
        ("risk good.run loss.run --measure AP --measure P@5", "name it with --measure; found AP, P@5"),
        ("risk good.run loss.run --alpha 1 --alpha 1.0", "--alpha: 1 given twice"),
        ("risk --scores one.csv", "a study needs at least 2 topics; found 1"),
        ("pool good.run loss.run", "'pool' is not one of 'list', 'baselines', 'risk'"),
    ],
)
def test_a_wrong_question_is_a_usage_error(refused, folder, table, line, words):
    write(folder / "one.csv", {"a": [0.5], "b": [0.4]}, ["1"])
    refused(f"study {line}", words)


def test_a_column_that_is_not_there_cannot_be_compared(refused, table):
    refused("study risk --scores pool.csv kin1 gone", "pool.csv: expected a measure 'gone', found 'kin0',", status=3)


def test_a_topic_without_an_answer_scores_0_with_a_warning(done, folder):
    world.write_run(folder / "short.run", world.GOOD, topics=world.TOPICS[2:])
    out = done("study risk prod.run good.run short.run --measure AP")
    assert "short did not answer 2 topics; they score 0." in " ".join(out.split())
    assert out.count("did not answer") == 1


def test_without_the_extra_the_message_names_it(refused, table, monkeypatch):
    monkeypatch.setattr(
        "pytest_riskguard.reports.html.find_spec", lambda name: None if name == "jinja2" else find_spec(name)
    )
    refused("study risk --scores pool.csv --html", "needs jinja2: pip install 'pytest-riskguard[report]'")


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_a_study_of_fifty_systems_has_an_answer(done, folder, name):
    scores = 0.3 + 0.4 * RNG.random(250) + 0.2 * RNG.random((50, 250))
    write(folder / "large.csv", {f"s{i}": row for i, row in enumerate(scores)}, map(str, range(250)))
    assert "<svg" in done(f"study {name} --scores large.csv --html")


@pytest.mark.parametrize("name", ["smooth", "intervals"])
def test_marks_stand_in_the_row_of_their_name(name):
    topics = tuple(map(str, range(130)))
    systems = [TopicScores(f"s{i}", None, topics, 0.3 * RNG.random(130)) for i in range(4)]
    pool = Pool("AP", systems, baselines=["s0"], alphas=(1.0,))
    drawn = import_module(f"pytest_riskguard.studies.{name}").study(pool).parts
    for plot in (part for part in drawn if isinstance(part, Plot) and part.rows):
        marks = [(line.text, line.points[0][1]) for line in plot.lines] + [(mark.text, mark.y) for mark in plot.marks]
        assert all(text.startswith(f"{plot.rows[int(row)]}") for text, row in marks)
        assert {row for _, row in marks} == {*range(len(plot.rows))}


def test_columns_of_a_table_may_have_other_names(figures):
    found = figures("risk new=kin1 kin2 --baseline old=near --alpha 1")
    assert [*found["Risk, alpha 1"]] == ["new", "kin2"]
    assert [*figures("risk old=near new=kin1 --alpha 1")["Risk, alpha 1"]] == ["new"]
