"""What a report of a plugin is made of: figures as texts, tables that fit a screen, sections in three formats."""

import itertools
import math
from pathlib import Path

import pytest

from pytest_riskguard.reports import Plot, Section, Table, document
from pytest_riskguard.reports.parts import GLOSSARY, at_most, wrapped
from pytest_riskguard.text import columns
from tests.reports.hostile import STRINGS
from tests.reports.test_hostile import Page, assert_plain


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        *[(".4f", 0.51234, "0.5123"), (".4f", math.inf, "∞"), (".4f", None, "-"), (".0f", 43.0, "43")],
        *[("+.4f", -0.00001, "-1.0e-05"), ("+.4f", 0.0, "+0.0000"), ("+.2f", 2.345, "+2.35")],
        *[("+.4f", (-0.03, 0.0104), "[-0.0300, +0.0104]"), ("+.4f", (None, 0.1), "-"), (".1%", 0.057, "5.7%")],
        *[("p", 0.0213, "0.0213"), ("p", 1e-9, "< 0.0001"), ("g", 0.5, "0.5"), ("g", "any", "any"), ("d", 7, "7")],
        *[("text", True, "yes"), ("text", 3, "3")],
    ],
)
def test_a_cell_is_written_by_the_format_of_its_column(form, value, text):
    assert Table("", {"x": form}, [[value]], none="-").cells == [[text]]


def rows(names: tuple[str, ...], **more: str) -> Table:
    return Table(
        "t", {"model": "name", "mean": ".4f", "why": "text"}, [(n, 0.5, more.get("why", "ok")) for n in names]
    )


def test_names_give_way_in_the_middle_and_keep_their_ends():
    lines = rows(tuple(f"ltr-ucro-alpha{number}-seed42-final{number}" for number in range(4))).lines(30)
    assert max(map(len, lines)) <= 30
    assert len({line.split()[0] for line in lines[1:]}) == 4
    wide = rows(("検索結果の順位が大きく" * 3, "n" * 40)).lines(30)
    assert {columns(line.partition("0.5")[0]) for line in wide[1:]} == {columns(wide[1].partition("0.5")[0])}
    assert max(map(columns, wide)) <= 30
    assert [line.split()[1:] for line in lines[1:]] == [["0.5000", "ok"]] * 4
    two = Table("", {"a": "name", "b": "name"}, [("n" * 30, "m" * 30)])  # those on the right give way first
    assert two.lines(40)[1].split() == ["nnnnnnnnnnnnnn…nnnnnnnnnnnnn", "mmmm…mmm"]


def test_long_words_are_broken_where_they_may_be_and_commands_never_are():
    text = f"one two `do this now` three {'x' * 15}"
    lines = wrapped([text], width=12, breaks_words=True)
    assert lines == ["  one two", "    `do this now`", "    three", "    xxxxxxxx", "    xxxxxxx"]
    assert at_most(2, lines, text, 12) == ["  one two", "    `do thi…", "    do this now"]
    assert at_most(5, lines, text, 12) == lines
    assert len(Section("x " * 40).to_text(10).splitlines()[0]) == 59


def test_gaps_give_way_before_lines_are_too_long():
    matrix = Table("", {str(place): ".2f" for place in range(10)}, [[0.5] * 10])
    assert [max(map(len, matrix.lines(width))) for width in (60, 52)] == [60, 51]


def test_of_a_long_table_the_first_rows_are_shown_and_the_others_counted():
    section = Section("s", parts=[Table("", {"n": "d"}, [[number] for number in range(5)])])
    assert section.lines(60, most=5)[-1].strip() == "4"
    assert [line.strip() for line in section.lines(60, most=3)[-2:]] == ["2", "and 2 more"]


def test_columns_without_values_are_left_out():
    table = Table("", {"a": "text", "b": ".1f", "c": "name"}, [("x", None, ""), ("y", None, "z")])
    assert list(table.filled.columns) == ["a", "c"]
    assert Table("", {"a": "text"}, []).filled.columns == {"a": "text"}


def report(text: str = "x") -> Section:
    plot = Plot(f"p{text}", text, text, description=text, caption=text)
    plot.point(1.0, 2.0, text, means=text)
    plot.point(2.0, 3.0, text)
    table = Table(f"t{text}", {f"a{text}": "name", "b": ".2f"}, [(f"a{text}", 0.5)], note=text)
    inner = Section(f"s{text}", [text], [plot, table], warnings=[text], notes=[text])
    return Section(f"r{text}", [text, text], [inner, Section(text)], warnings=[text], notes=[text])


def test_a_report_says_the_same_in_every_format():
    made = report("w0rd")
    text, page = made.to_text(80), Page(made.to_page())
    assert text.count("w0rd") == 14
    parts = [tag for tag, _ in page.tags if tag in ("h1", "h2", "h4", "table", "svg", "details")]
    assert parts == ["h1", "h2", "h4", "svg", "details", "table", "h2", "h2"]
    assert page.data.count("0.50") == 1
    assert text.splitlines()[:4] == ["rw0rd", "  w0rd", "  w0rd", ""]


@pytest.mark.slow
def test_text_of_others_is_data():
    harmless = Page(report().to_page())
    for name, text in STRINGS.items():
        page = Page(report(text).to_page())
        assert_plain(report(text).to_text(80))
        assert_plain(page.data)
        assert len(page.tags) <= len(harmless.tags) + 20, name  # labels take the lines that they need
        assert not {"script", "img", "iframe"} & {tag for tag, _ in page.tags}, name
        assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on")], name
        links = [attributes["href"] or "" for tag, attributes in page.tags if tag == "a"]
        assert all(link.startswith(("http://", "https://", "#")) for link in links), name


def test_json_has_12_digits_no_infinity_and_no_command_of_ci():
    text = document("x/1", {"b": math.inf, "a": 0.1 + 0.2, "c": "##vso[x]"})
    assert '"b": null,\n  "a": 0.3,' in text
    assert "##" not in text
    assert list(itertools.islice(text.splitlines(), 2)) == ["{", '  "schema": "x/1",']


def test_the_glossary_is_a_page_of_the_documentation():
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'Documentation = "{GLOSSARY.replace("glossary", "README")}"' in project
