"""The page of trained models: the Pareto curve, and the page in a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from markupsafe import escape

from pytest_riskguard.ltr.report import JudgedAgainst, TrainReport
from pytest_riskguard.ltr.report_page import _cross, pareto_curve
from pytest_riskguard.ltr.report_page import page as render
from pytest_riskguard.ltr.report_tables import conclusions
from pytest_riskguard.reports.html.charts.axes import Box
from pytest_riskguard.reports.html.charts.drawing import Chart
from tests.ltr.trained import MODELS, PROD, model, report_of
from tests.reports.hostile import EACH, STRINGS
from tests.reports.html.browsers import Open
from tests.reports.html.drawings import labels, marks, points, root_of, tooltips
from tests.reports.test_hostile import Page, assert_plain
from tests.verdicts import altered

#: What the mark of a model looks like, by its outcome.
TAGS = {"pass": "circle", "fail": "path"}


def many(number: int) -> dict[str, Any]:
    rng = np.random.default_rng(number)
    return {
        f"model-{place}": model(gain, 0.02 + 0.2 * churn, seed=place)
        for place, (gain, churn) in enumerate(rng.random((number, 2)) * [0.1, 1])
    }


ONE = {"prod": PROD}
CASES: dict[str, Any] = {
    "1 model": lambda: report_of({"only": MODELS["u-cro-1"]}, {"prod": PROD}),
    "no risk at all": lambda: report_of({"up": PROD + 0.1, "same": PROD}, {"prod": PROD}),
    "equal models": lambda: report_of(dict.fromkeys("abc", MODELS["u-cro-1"]), {"prod": PROD}),
    "four models": lambda: report_of(alphas=(8.0,)),
    "40 models": lambda: report_of(many(40), {"prod": PROD}),
    "long names": lambda: report_of({f"{STRINGS['long words']}{name}": values for name, values in MODELS.items()}),
    "ideographs": lambda: report_of({f"検索結果の順位が大きく{name}": values for name, values in MODELS.items()}),
    "tiny": lambda: report_of({name: 1e-9 * values for name, values in MODELS.items()}, {"prod": 1e-9 * PROD}),
    "large": lambda: report_of(
        {name: 1e6 * values for name, values in MODELS.items()}, {"prod": 1e6 * PROD}, measure="gain"
    ),
}


def one_baseline(table: JudgedAgainst) -> bool:
    return len(table.baselines) == 1


def charts(report: TrainReport) -> list[Chart]:
    (measured,) = report.measures
    return [pareto_curve(table, key=str(place), measure="nDCG@10") for place, table in enumerate(measured.tables)]


@pytest.mark.parametrize("name", CASES)
def test_no_two_labels_share_room_and_nothing_leaves_the_picture(name: str):
    for chart in charts(CASES[name]()):
        root = root_of(chart)
        left, top, width, height = map(float, root.attrib["viewBox"].split())
        picture, shown = Box(left, top, left + width, top + height), labels(root)
        assert len(shown) > 4
        assert not [label.text for label in shown if not label.room.within(picture)]
        assert not [(a.text, b.text) for a, b in combinations(shown, 2) if a.room.overlaps(b.room)]
        assert not [(x, y) for x, y in points(root) if not (0 <= x <= width and 0 <= y <= height)]
        assert "nan" not in chart.svg


@pytest.mark.parametrize("name", CASES)
def test_every_model_is_a_mark_that_says_its_figures(name: str):
    report = CASES[name]()
    for chart, table in zip(charts(report), report.measures[0].tables, strict=True):
        said = tooltips(root_of(chart))
        assert [text.startswith("baseline ") for text in said[len(table.models) :]] == [True] * one_baseline(table)
        said = said[: len(table.models)]
        assert len(said) == len(table.models)
        for text, row in zip(said, table.models, strict=True):
            assert text.endswith(": passes" if row.passes else ": fails")
            assert re.search(r"mean \S+, risk \S+", text)


def test_marks_stand_where_mean_and_risk_are_and_differ_by_shape():
    report = report_of(alphas=(8.0,))
    for chart, table in zip(charts(report), report.measures[0].tables, strict=True):
        root = root_of(chart)
        drawn = marks(root)[: len(table.models)]
        for one, row in zip(drawn, table.models, strict=True):
            shape = next(element for element in one.iter() if element.get("fill", "none").startswith("var("))
            assert shape.tag == TAGS[row.outcome]
            circles = [element for element in one.iter("circle") if element.get("fill") == "none"]
            assert len(circles) == row.figures.on_front
        centres = [centre(one) for one in drawn]
        for (here, mine), (there, theirs) in combinations(zip(centres, table.models, strict=True), 2):
            if abs(mine.figures.risk - theirs.figures.risk) > 1e-6:
                assert (here[0] < there[0]) == (mine.figures.risk < theirs.figures.risk)
            if abs(mine.figures.mean - theirs.figures.mean) > 1e-6:
                assert (here[1] > there[1]) == (mine.figures.mean < theirs.figures.mean)


def centre(mark: Any) -> tuple[float, float]:
    """The middle of a mark."""
    corners = list(points(mark))
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


def line_of(chart: Chart) -> list[tuple[float, float]]:
    """The corners of the line along the front."""
    (line,) = (element for element in root_of(chart).iter("path") if element.get("stroke-linejoin"))
    pairs = (pair.split(",") for pair in line.attrib["d"].removeprefix("M").split("L"))
    return [(float(x), float(y)) for x, y in pairs]


@pytest.mark.parametrize("name", ["four models", "40 models"])
def test_no_model_lies_beyond_the_line_and_the_line_beyond_no_model(name: str):
    report = CASES[name]()
    for chart in charts(report):
        corners = line_of(chart)
        models = [centre(one) for one in marks(root_of(chart))[: len(report.models)]]
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(corners))
        for x, y in models:
            assert y >= min(height for place, height in corners if place <= x + 0.1) - 0.1
        for x, y in corners:
            assert any(place <= x + 0.1 and height <= y + 0.1 for place, height in models)


@pytest.mark.parametrize("name", ["four models", "40 models"])
def test_the_line_runs_through_the_front_alone_and_its_words_name_the_front_alone(name: str):
    report = CASES[name]()
    for chart, table in zip(charts(report), report.measures[0].tables, strict=True):
        corners = line_of(chart)
        assert all(a[0] <= b[0] and a[1] >= b[1] for a, b in pairwise(corners))
        front = sorted((row.figures for row in table.models if row.figures.on_front), key=lambda row: row.risk)
        assert len(corners) == 2 * len(front) + 2
        shown = ", ".join(f"{row.model}: mean {row.mean:.4f}, risk {row.risk:.4f}" for row in front[:12])
        more = f" and {len(front) - 12} more" if len(front) > 12 else ""
        assert f"On the Pareto front, least risk first: {shown}{more}." in chart.description


def test_a_chart_says_what_its_axes_are_and_explains_the_marks_that_it_has():
    average, chart, _ = charts(report_of(alphas=(8.0,)))
    for shown, marked in ((average, set()), (chart, {"baseline"})):
        texts = [label.text for label in labels(root_of(shown))]
        assert {"risk: mean loss, less is better", "mean nDCG@10, more is better"} <= {*texts}
        explained = {"passes", "fails", "on the front", "no model beyond", *marked}
        assert explained == {*texts} & {*explained, "baseline", "inconclusive", "cannot be compared"}
    (table, *_) = report_of(measure=None).measures[0].tables
    texts = [label.text for label in labels(root_of(pareto_curve(table, key="1", measure=None)))]
    assert "mean score, more is better" in texts


def test_no_mark_lies_on_the_end_of_an_axis_and_every_shape_is_drawn_in_a_colour():
    for chart in charts(report_of(alphas=(8.0,))):
        root = root_of(chart)
        shapes = [element for one in marks(root) for element in one.iter() if element.tag in ("path", "circle")]
        assert all(element.get("stroke") or element.get("fill", "none") != "none" for element in shapes)
        left, bottom = line_of(chart)[0][0], line_of(chart)[0][1]  # where the line begins, at the lower edge
        right = line_of(chart)[-1][0]
        xs, ys = zip(*(centre(one) for one in marks(root)), strict=True)
        assert left < max(xs) < right - 5
        assert max(ys) < bottom - 5
        # and they make use of the room
        assert max(xs) - min(xs) > 0.9 * (right - min(xs))
        assert max(ys) - min(ys) > 0.9 * (bottom - min(ys))


@pytest.mark.parametrize("name", ["four models", "40 models"])
def test_no_name_covers_the_line(name: str):
    named = 0
    for chart in charts(CASES[name]()):
        names = [label for label in labels(root_of(chart)) if re.match(r"model|lambda|u-cro|broken", label.text)]
        named += len(names)
        for label in names:
            for (x1, y1), (x2, y2) in pairwise(line_of(chart)):
                stroke = Box(min(x1, x2) - 0.1, min(y1, y2) - 0.1, max(x1, x2) + 0.1, max(y1, y2) + 0.1)
                assert not label.room.overlaps(stroke), label.text
    assert named >= 5


@pytest.mark.parametrize("name", ["four models", "40 models"])
def test_no_name_covers_a_mark(name: str):
    for chart in charts(CASES[name]()):
        root = root_of(chart)
        names = [label for label in labels(root) if re.match(r"model-|lambda|u-cro|broken", label.text)]
        assert names
        for x, y in (centre(one) for one in marks(root)):
            assert not [label.text for label in names if label.room.overlaps(Box(x - 4, y - 4, x + 4, y + 4))]


def test_a_cross_is_two_lines_through_its_middle():
    drawn = ElementTree.fromstring(_cross(10.0, 20.0, 4.0, "black"))  # noqa: S314 - our own
    assert sorted(points(drawn)) == [(6, 16), (6, 24), (14, 16), (14, 24)]
    assert drawn.get("stroke") == "black"


def test_a_single_baseline_is_a_cross_at_risk_0_and_its_own_mean_and_never_on_the_front():
    report = report_of({"worse": PROD - 0.1, "worst": PROD - 0.15})
    for chart, table in zip(charts(report), report.measures[0].tables, strict=True):
        root = root_of(chart)
        texts = [label.text for label in labels(root)]
        if not one_baseline(table):
            assert not [text for text in texts if "baseline" in text]
            continue
        *models, own = marks(root)
        (name,) = table.baselines
        assert (own.tag, own.get("fill"), len(models)) == ("path", None, 2)
        assert {"baseline", f"baseline {name}"} <= {*texts}
        assert tooltips(root)[-1] == f"baseline {name}: mean {table.baseline_mean:.4f}, risk 0.0000"
        # it stands on the line through the models: their risk is what they lose
        x, y = centre(own)
        for one, row in zip(models, table.models, strict=True):
            here, figures = centre(one), row.figures
            assert here[0] > x
            assert (here[1] > y) == (figures.mean < table.baseline_mean)
        first, second = (centre(one) for one in models)
        risks, means = zip(*((row.figures.risk, row.figures.mean) for row in table.models), strict=True)
        assert (x - first[0]) / (second[0] - first[0]) == pytest.approx(-risks[0] / (risks[1] - risks[0]), abs=0.01)
        assert (y - first[1]) / (second[1] - first[1]) == pytest.approx(
            (table.baseline_mean - means[0]) / (means[1] - means[0]), abs=0.01
        )


def test_models_at_one_point_share_a_label_that_names_or_counts_them():
    (chart,) = charts(report_of({"a": MODELS["u-cro-1"], "b": MODELS["u-cro-1"], "c": MODELS["broken"]}, ONE))
    texts = [label.text for label in labels(root_of(chart))]
    assert texts.count("a, b") == 1
    assert "c" in texts
    assert not {"a", "b"} & {*texts}
    assert "a: mean 0.5313, risk 0.0180 (same as b): passes" in tooltips(root_of(chart))
    equal = {f"of-week-{place}": MODELS["u-cro-1"] for place in range(5)}
    (chart,) = charts(report_of(equal, ONE))
    assert "of-week-0 and 4 more" in [label.text for label in labels(root_of(chart))]


def test_names_that_are_cut_stay_different():
    names = [f"lambdamart-trained-with-ucro-alpha{number}-seed42-final-of-the-week" for number in range(4)]
    report = report_of(dict(zip(names, MODELS.values(), strict=True)))
    for chart in charts(report):
        shown = [label.text for label in labels(root_of(chart)) if "…" in label.text]
        assert len(set(shown)) == len(shown) >= 3
        assert all(re.search(r"alpha[0-3]", text) for text in shown)


def test_a_chart_for_every_baseline_and_one_on_average_and_tables_behind_them():
    shown = Page(render(report_of()))
    assert sum(tag == "svg" for tag, _ in shown.tags) == 3
    assert sum(tag == "table" for tag, _ in shown.tags) == 5
    names = [attributes["aria-label"] for tag, attributes in shown.tags if tag == "svg"]
    assert names == [
        "Mean and risk on average against 2 baselines",
        "Mean and risk against prod",
        "Mean and risk against bm25",
    ]
    assert sum(tag == "desc" for tag, _ in shown.tags) == 3
    shown = Page(render(report_of(baselines={"prod": PROD})))
    assert sum(tag == "svg" for tag, _ in shown.tags) == 1


def test_the_words_of_a_chart_name_the_front_and_what_does_not_pass():
    chart = charts(report_of(baselines={"prod": PROD}, alphas=(8.0,)))[0]
    assert chart.description.startswith(
        f"4 models against prod, 2 of which pass the gate. The baseline prod has mean {PROD.mean():.4f} and risk 0; "
        "1 model has a lower mean."
    )
    assert "On the Pareto front, least risk first: u-cro-5: mean 0." in chart.description
    assert chart.description.endswith("Not passing: lambdamart (fails), broken (fails).")
    assert "The cross is the baseline: " in chart.caption
    assert "cross" not in charts(report_of())[0].caption
    # one model, none below the baseline, more that fail than are named
    (chart,) = charts(report_of({"same": PROD}, ONE))
    assert chart.description.startswith("1 model against prod, which passes the gate. The baseline prod has mean ")
    assert "; 0 models have a lower mean." in chart.description
    (chart,) = charts(report_of({f"m{place}": PROD - 0.1 for place in range(13)}, ONE))
    assert chart.description.startswith("13 models against prod, 0 of which pass the gate.")
    assert chart.description.endswith(", m10 (fails), m11 (fails) and 1 more.")
    (chart,) = charts(report_of({f"m{place}": PROD - 0.1 for place in range(12)}, ONE))
    assert chart.description.endswith(", m10 (fails), m11 (fails).")


def test_models_without_an_answer_are_drawn_as_such():
    def change(verdict: Any) -> Any:
        outcome = {"u-cro-1": "inconclusive", "u-cro-5": "incomparable"}.get(verdict.candidate)
        return verdict if outcome is None else altered(verdict, outcome=outcome, problem="p")

    (chart,) = charts(report_of(baselines={"prod": PROD}, change=change))
    said = [text.rpartition(": ")[2] for text in tooltips(root_of(chart))[:4]]
    assert said == ["passes", "inconclusive", "cannot be compared", "fails"]
    for word in ("passes", "fails", "inconclusive", "cannot be compared"):
        assert word in [label.text for label in labels(root_of(chart))]


@pytest.mark.parametrize("text", EACH)
def test_text_of_others_is_data(text: str):
    models = {f"{number}{text}": values for number, values in enumerate(list(MODELS.values())[:2])}

    def hostile(verdict: Any) -> Any:
        return altered(verdict, outcome="incomparable", problem=f"{text}:3: {text}")

    report = report_of(models, {f"x{text}": PROD}, measure=f"z{text}", change=hostile)
    shown, harmless = (
        Page(render(one))
        for one in (report, report_of(dict(zip("ab", models.values(), strict=True)), {"x": PROD}, change=hostile))
    )
    assert [tag for tag, _ in shown.tags if tag not in ("text", "desc", "g", "title")] == [
        tag for tag, _ in harmless.tags if tag not in ("text", "desc", "g", "title")
    ]
    assert not [name for _, attributes in shown.tags for name in attributes if name.startswith("on")]
    assert_plain(shown.data)


def test_the_title_is_the_answer_which_is_not_said_twice():
    report = report_of(baselines={"prod": PROD}, alphas=(8.0,))
    said, page = conclusions(report.measures[0]), render(report)
    assert len(said) > 1
    said = [escape(line) for line in said]
    assert re.findall(r'class="lead">(.*?)</p>', page) == said[:1]
    assert re.findall(r'class="answer">(.*?)</p>', page) == said[1:]
    two = render(replace(report, measures=report.measures * 2))
    assert re.findall(r'class="lead">(.*?)</p>', two) == ["4 models by 2 measures"]
    assert re.findall(r'class="answer">(.*?)</p>', two) == 2 * said


@pytest.mark.parametrize(("baselines", "expected"), [(1, [1]), (2, [1, 1, 1]), (3, [1, 0, 0, 0])])
def test_of_many_baselines_the_average_alone_is_open(baselines: int, expected: list[bool]):
    shown = Page(render(report_of(baselines={f"b{place}": PROD - place / 100 for place in range(baselines)})))
    parts = [attributes for tag, attributes in shown.tags if tag == "details" and attributes.get("class") == "fold"]
    assert ["open" in attributes for attributes in parts] == expected


def test_several_measures_share_a_page():
    report = report_of()
    report = replace(report, measures=(*report.measures, replace(report.measures[0], measure="RR")))
    page = render(report)
    assert "4 models by 2 measures" in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert page == render(report)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_it_fits_the_screen_asks_for_nothing_and_has_no_serious_barrier(opened: Open, width: int, scheme: str):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    shown = opened(render(report_of(alphas=(8.0,))), width=width, color_scheme=scheme, bypass_csp=True)
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.page.locator(".fold svg:visible").count() == 3
    found = axe.Axe().run(shown.page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in {"serious", "critical"}] == []
    assert shown.faults == []


@pytest.mark.slow
def test_it_can_be_read_with_scripts_blocked_and_its_policy_allows_its_style(opened: Open):
    shown = opened(render(report_of(alphas=(8.0,))), java_script_enabled=False)
    assert shown.faults == []
    assert "models pass the gate" in shown.page.locator(".lead").inner_text()
    shown.page.locator(".fold summary").first.click()
    assert not shown.page.locator(".fold svg").first.is_visible()
