"""A baseline's name is a folder on every system."""

import pytest

from pytest_riskguard.baselines.manifest import MAX_NAME_LENGTH, name_problem


@pytest.mark.parametrize(
    "name", ["prod", "release-7", "bm25_k1.2", "2024", "A.b", "console", "com10", "x" * MAX_NAME_LENGTH]
)
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
        *["a\0b", "con", "NUL", "nul.txt", "Com1", "lpt9.tsv", "x" * (MAX_NAME_LENGTH + 1), "a=b", "²"],
    ],
)
def test_anything_else_does_not(name):
    assert name_problem(name) is not None
