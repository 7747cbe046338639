"""Errors that people can correct say the same in the process that asked for the work."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from pytest_riskguard.errors import (
    BaselineError,
    ConfigError,
    DataError,
    MissingFileError,
    RunFormatError,
    UsageError,
)


@pytest.mark.parametrize(
    "error",
    [
        UsageError("no such measure"),
        DataError("no topic", reason="no_common_topic", problem="none"),
        BaselineError("prod: damaged"),
        RunFormatError(Path("a/run.txt"), 3, "expected 6 columns"),
        MissingFileError(Path("a/run.txt"), None, "no such file"),
        ConfigError(Path("riskguard.yaml"), 1, "unknown key", gate="no-risk"),
    ],
)
def test_an_error_is_the_same_after_being_sent(error):
    sent = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(sent) is type(error)
    assert str(sent) == str(error)
    assert {name: str(value) for name, value in vars(sent).items()} == {n: str(v) for n, v in vars(error).items()}
