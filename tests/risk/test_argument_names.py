"""An error about an array names the argument that holds it."""

import math

import numpy as np
import pytest

from pytest_riskguard import risk
from pytest_riskguard.risk.checks import between_0_and_1, per_topic, systems_by_topics

NAN = [0.1, math.nan]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: risk.standard_error([0.1]), "^x must hold at least 2 topics, got 1$"),
        (lambda: per_topic([[0.1]], name="d"), r"^d must have one axis \(topics\), got shape \(1, 1\)$"),
        (lambda: systems_by_topics([0.1]), r"^scores must have two axes \(systems, topics\), got shape \(1,\)$"),
        (lambda: systems_by_topics(np.zeros((2, 0)), name="p"), "^p must hold at least 1 topics, got 0$"),
        (
            lambda: systems_by_topics([[0.1, 0.2], [0.3, math.inf]]),
            r"^scores must be finite, got inf for system 1, topic 1 \(counted from 0\)$",
        ),
        (
            lambda: risk.zrisk([[0.1, -0.1], [0.0, 0.0]], alpha=1),
            "^scores must be at least 0 for ZRisk and GeoRisk, got -0.1",
        ),
        (lambda: between_0_and_1(1.0, name="level"), "^level must be between 0 and 1, got 1.0$"),
    ],
)
def test_an_error_is_a_whole_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
