"""A baseline's name is a folder on every system."""

import pytest

from pytest_riskguard.baselines.manifest import name_problem


@pytest.mark.parametrize("name", ["prod", "release-7", "bm25_k1.2", "2024", "A.b", "console", "com10", "x" * 100])
def test_letters_digits_and_three_signs_make_a_name(name):
    assert name_problem(name) is None


@pytest.mark.parametrize(
    "name",
    [
        *[
            "",
            ".",
            "..",
            "../prod",
            "a/b",
            "a\\b",
            "/etc",
            "C:",
            "a..b",
            "a.",
            ".hidden",
            "-x",
            "_x",
            "a b",
            "a\n",
            "é",
        ],
        *["a\0b", "con", "NUL", "nul.txt", "Com1", "lpt9.tsv", "x" * 101, "a=b", "²"],
    ],
)
def test_anything_else_does_not(name):
    assert name_problem(name) is not None


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("a..b", "expected at most 100 letters, digits, '.', '_' and '-', beginning with a letter or digit, without "
         "'..' or a final '.'"),
        ("Com1", "Windows reserves 'Com1' for a device"),
        ("nul.tar.gz", "Windows reserves 'nul' for a device"),
    ],
)  # fmt: skip
def test_the_reason_is_told(name, problem):
    assert name_problem(name) == problem
