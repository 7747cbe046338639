"""YAML 1.2 values with the line each stands on, and what is refused."""

import pytest

from pytest_riskguard.config import yaml_lines
from pytest_riskguard.config.yaml_lines import MAX_DEPTH, Document, YamlError
from pytest_riskguard.config.yaml_lines import parse as parse_bytes


def parse(text: str) -> Document:
    return parse_bytes(text.encode())


@pytest.mark.parametrize(
    ("text", "value"),
    [  # YAML 1.2.2, section 10.3.2 (core schema), and what is text here or is read otherwise by YAML 1.1
        ("1e-3", 0.001),
        ("-2E+05", -200000.0),
        (".5", 0.5),
        ("+12.3", 12.3),
        ("-19", -19),
        ("0123", 123),
        ("0o7", "0o7"),
        ("0x3A", "0x3A"),
        ("-.Inf", "-.Inf"),
        (".nan", ".nan"),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("NO", "NO"),
        ("y", "y"),
        ("tRUE", "tRUE"),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("2024-01-31", "2024-01-31"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("nDCG@10", "nDCG@10"),
    ],
)
def test_plain_scalars_mean_what_the_core_schema_of_yaml_1_2_says(text, value):
    read = parse(f"key: {text}\n").data["key"]
    assert read == value
    assert type(read) is type(value)


def test_every_value_knows_its_line():
    document = parse("a: 1\n\nb:\n  # a comment\n  - x: 1\n    y: [1,\n        2]\n  - {z: 3}\n")
    assert document.data == {"a": 1, "b": [{"x": 1, "y": [1, 2]}, {"z": 3}]}
    lines = {("a",): 1, ("b",): 3, ("b", 0): 5, ("b", 0, "y"): 6, ("b", 0, "y", 1): 7, ("b", 1, "z"): 8}
    assert {path: document.line(path) for path in lines} == lines


def test_windows_line_endings_count_once():
    assert parse("a: 1\r\nb: 2\r\n").line(("b",)) == 2


def test_a_path_that_is_not_there_has_the_line_of_what_is_around_it():
    document = parse("a: 1\nb:\n  c: 2\n")
    assert document.line(("b", "missing", 0)) == 2


REFUSED = r"anchors \(&\), aliases \(\*\) and tags \(!\) are not allowed; write the value out, or quote it"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "the file is empty"),
        ("# only a comment\n", 1, "the file is empty"),
        ("a: 1\nb: &x 2\n", 2, REFUSED),
        ("a: 1\nb: *x\n", 2, REFUSED),
        ("a: 1\n&x b: 2\n", 2, REFUSED),
        ("a: 1\n!!str b: 2\n", 2, REFUSED),
        ("a: 1\nb: !!python/object:os.system x\n", 2, REFUSED),
        ("a: ! x\n", 1, REFUSED),
        ("a: 1\n---\nb: 2\n", 2, "a second document"),
        ("a: [1\nb: 2\n", 2, "not YAML: while parsing a flow sequence"),
        ("a: 1\n\tb: 2\n", 2, "not YAML: .*cannot start any token"),
        ("a: 1\n? [b]\n: 2\n", 2, r"expected a key \(a name\)"),
        ('a: 1\nb: "\\ud800"\n', 2, "half of a character pair"),
        ('a: 1\nb: "\\UFFFFFFFF"\n', 2, "not YAML"),
        ("a: 1\nb: " + "9" * 5000, 2, "not YAML: Exceeds the limit"),
        pytest.param("[" * 200_000, 1, f"nested more than {MAX_DEPTH} levels deep", marks=pytest.mark.slow),
        ("a: 1\nb: {c: 1,\n c: 2}\n", 3, "key 'c' appears twice, first on line 2; remove one"),
        ("a: " * 3, 1, "not YAML: mapping values are not allowed here"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text, line, problem):
    with pytest.raises(YamlError, match=problem) as caught:
        parse(text)
    assert caught.value.line == line


def test_the_deepest_value_is_read_and_one_below_it_refused():
    deepest = "[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH
    assert str(parse(deepest).data) == deepest
    with pytest.raises(YamlError, match=f"nested more than {MAX_DEPTH} levels deep"):
        parse(f"[{deepest}]")


def test_as_many_values_are_read_as_there_may_be(monkeypatch):
    monkeypatch.setattr(yaml_lines, "MAX_VALUES", 3)
    assert parse("- a\n- b\n").data == ["a", "b"]
    with pytest.raises(YamlError, match="more than 3 values"):
        parse("- a\n" * 3)


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"a: 1\nb: \xff\n", 2, "not UTF-8: byte 0xff"),
        ("a: 1\n".encode("utf-16"), 1, "save the file as UTF-8"),
        (b"a: 1\nb: \0\n", 2, r"character U\+0000 is not allowed"),
        (b"a: 1\n# \x1b[31m\n", 2, r"character U\+001B is not allowed"),
        (b"a: 1\n<<<<<<< HEAD\nb: 2\n=======\n>>>>>>> main\n", 3, "not YAML"),
    ],
)
def test_bytes_that_are_not_settings_are_refused_with_their_line(content, line, problem):
    with pytest.raises(YamlError, match=problem) as caught:
        parse_bytes(content)
    assert caught.value.line == line


def test_a_byte_order_mark_is_no_text():
    assert parse_bytes(b"\xef\xbb\xbfa: 1\n").data == {"a": 1}


def test_any_script_is_text():
    assert parse("a: 検索 🔍 é\n").data == {"a": "検索 🔍 é"}
