"""The simulations behind docs/explanation/calibration.md, by the names of their tables."""

from tests.benchmarks.calibration import (
    cluster_study,
    drift_study,
    family_study,
    few_changes,
    interval_study,
    plain_cases,
    pool_study,
)
from tests.benchmarks.calibration.tables import Study

MODULES = few_changes, plain_cases, family_study, pool_study, cluster_study, drift_study, interval_study
STUDIES: dict[str, Study] = {name: study for module in MODULES for name, study in module.STUDIES.items()}
