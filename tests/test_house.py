"""The house stays as small as was decided: what grows beyond these figures is said here."""

import pytest

from tests.house import CHECKOUT, code, extras, surface

#: At most so many; ``python -m tests.house`` prints today's.
SURFACE = {
    "docs: words": 28_500,
    "public names": 70,
    "public names: at the top": 12,
    "commands: core": 22,
    "options": 160,
    "options: compare": 16,
    "YAML keys": 62,
    "report properties": 180,
    "environment variables": 5,
    "warning codes": 20,
    "pytest options": 6,
    "ini keys": 3,
}
EXTRAS = {"report", "http", "arrow", "remote", "ltr", "test"}
#: Tokens and modules.
CODE = {"pytest_riskguard": (222_000, 185), "tests": (362_000, 410)}


@pytest.fixture(scope="module")
def today():
    return surface(CHECKOUT)


@pytest.mark.parametrize("what", SURFACE)
def test_users_meet_no_more_than_was_decided(today, what):
    assert today[what] <= SURFACE[what]


def test_extras_are_those_that_users_were_promised():
    assert set(extras(CHECKOUT)) == EXTRAS


@pytest.mark.slow
@pytest.mark.parametrize("folder", CODE)
def test_code_is_no_larger_than_was_decided(folder):
    tokens, modules, _ = code(CHECKOUT / folder)
    most_tokens, most_modules = CODE[folder]
    assert tokens <= most_tokens
    assert modules <= most_modules
