"""The runs that the papers' tables are about."""

import pytest

from tests.published import web2012


@pytest.fixture(scope="package")
def indri_casp(shared):
    """ERR@20 of the papers' baseline, topics 151 to 200."""
    return web2012.indri_casp(shared)


@pytest.fixture(scope="package")
def submitted(shared):
    """ERR@20 of the 48 submitted runs, topics 151 to 200."""
    return web2012.submitted(shared)


@pytest.fixture(scope="package")
def pool_of_49(submitted, indri_casp):
    """The pool of the papers: the submitted runs, then indriCASP."""
    return {**submitted, "indriCASP": indri_casp}


@pytest.fixture(scope="package")
def differences(submitted, indri_casp):
    """Candidate less indriCASP, by run."""
    return {run: scores - indri_casp for run, scores in submitted.items()}
