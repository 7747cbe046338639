"""Studies that judge nothing: a pool of systems as its own yardsticks, past releases, reports over time."""

from pytest_riskguard.studies.pool_report import pool_report
from pytest_riskguard.studies.pool_statistics import every_baseline

__all__ = ["every_baseline", "pool_report"]
