"""The runs that the papers' tables are about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.published import web2012


@pytest.fixture(scope="package")
def indri_casp(shared: Path) -> np.ndarray:
    """ERR@20 of the papers' baseline, topics 151 to 200."""
    return web2012.indri_casp(shared)


@pytest.fixture(scope="package")
def submitted(shared: Path) -> dict[str, np.ndarray]:
    """ERR@20 of the 48 submitted runs, topics 151 to 200."""
    return web2012.submitted(shared)


@pytest.fixture(scope="package")
def pool_of_49(submitted: dict[str, np.ndarray], indri_casp: np.ndarray) -> dict[str, np.ndarray]:
    """The pool of the papers: the submitted runs, then indriCASP."""
    return {**submitted, "indriCASP": indri_casp}


@pytest.fixture(scope="package")
def differences(submitted: dict[str, np.ndarray], indri_casp: np.ndarray) -> dict[str, np.ndarray]:
    """Candidate less indriCASP, by run."""
    return {run: scores - indri_casp for run, scores in submitted.items()}
