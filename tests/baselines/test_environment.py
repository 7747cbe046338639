"""What is recorded about the origin of a baseline."""

import time
from datetime import datetime, timedelta
from importlib.metadata import version

import pytest

from pytest_riskguard.baselines import environment


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system cannot change the time zone of a process")
def test_the_time_is_utc_wherever_the_process_runs(monkeypatch):
    monkeypatch.setenv("TZ", "UTC-14")
    time.tzset()
    try:
        recorded = datetime.strptime(environment.now(), "%Y-%m-%dT%H:%M:%S%z")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert abs(recorded.timestamp() - time.time()) < timedelta(hours=1).total_seconds()


def test_providers_without_a_distribution_of_their_own_have_the_version_of_ir_measures():
    assert environment.provider_version("judged") == version("ir-measures")
    assert environment.provider_version("pytrec_eval") == version("pytrec-eval-terrier")
