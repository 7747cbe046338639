"""The simulations behind docs/explanation/calibration.md, by the names of their tables."""

from __future__ import annotations

from tests.benchmarks.calibration import (
    family_study,
    few_changes,
    interval_study,
    plain_cases,
)
from tests.benchmarks.calibration.tables import Study

MODULES = few_changes, plain_cases, family_study, interval_study
STUDIES: dict[str, Study] = {name: study for module in MODULES for name, study in module.STUDIES.items()}
