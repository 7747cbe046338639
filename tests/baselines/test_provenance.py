"""What is recorded about the origin of a baseline."""

from __future__ import annotations

import pytest

from pytest_riskguard.baselines import provenance
from pytest_riskguard.baselines.provenance import ci_variable


@pytest.mark.parametrize(
    ("environment", "variable"),
    [
        ({}, None),
        ({"CI": "true"}, "CI"),
        ({"CI": ""}, None),
        ({"CI": "0"}, None),
        ({"CI": "False"}, None),
        ({"CI": "false", "GITHUB_ACTIONS": "true"}, "GITHUB_ACTIONS"),
        ({"JENKINS_URL": "https://ci.example/"}, "JENKINS_URL"),
        ({"TF_BUILD": "True"}, "TF_BUILD"),
        ({"CIRCLE": "true"}, None),
    ],
)
def test_ci_is_told_by_its_variables(environment, variable, monkeypatch):
    for name in provenance._CI_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ci_variable() == variable
