"""The matrix, area by area: a third of the cases by the command, and a tenth of those by pytest, which take longer.

``RISKGUARD_ROTATION`` says which; CI takes it from the commit. The nightly tests run all of them, or those that
``RISKGUARD_SABOTAGE`` names.
"""

import os
import sys
import zlib

import pytest

from tests.sabotage import project, runner
from tests.sabotage.case import Case, Way
from tests.sabotage.cases import every_case
from tests.sabotage.prepared import Prepared

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="this system has no wait4, pipes or process groups")

NAMED = os.environ.get("RISKGUARD_SABOTAGE", "")
RUNS = [(case, way) for case in every_case() if NAMED in case.name for way in case.ways]
AREAS = sorted({case.name.split("/")[0] for case, _ in RUNS})
#: Of the runs in each way one in so many is made each time.
SHARE = {Way.CLI: 3, Way.SERIAL: 10, Way.XDIST: 10}
ROTATION = int(os.environ.get("RISKGUARD_ROTATION", "0"))


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sabotage")
    project.write(folder)
    return folder


@pytest.fixture(scope="session")
def prepared():
    with Prepared() as processes:
        yield processes


def turn(case: Case, way: Way) -> int:
    """When a run is made; drawn from its name, so that a new case moves no other."""
    return zlib.crc32(f"{case.name}-{way.name}".encode()) % SHARE[way]


#: Those whose turn it is.
RUNS_OF_TURN = [(case, way) for case, way in RUNS if turn(case, way) == ROTATION % SHARE[way]]


def problems(area, runs, template, prepared, scratch) -> list[str]:
    """What is wrong with the runs of an area, with what they printed."""
    found = []
    for case, way in runs:
        if case.name.startswith(f"{area}/"):
            ended = runner.run(case, way, template, scratch, prepared)
            found += [f"{ended}\n{ended.ended.output}"] if ended.problems else []
    return found


@pytest.mark.slow
@pytest.mark.parametrize("area", AREAS)
def test_what_is_broken_is_not_green_and_honest_use_is(area, template, prepared, tmp_path):
    assert problems(area, RUNS_OF_TURN, template, prepared, tmp_path) == []


@pytest.mark.nightly
@pytest.mark.parametrize("area", AREAS)
def test_no_case_is_green_in_any_way(area, template, prepared, tmp_path):
    assert problems(area, RUNS, template, prepared, tmp_path) == []


def test_every_share_has_every_way():
    assert {(way, turn(case, way)) for case, way in RUNS} == {(way, n) for way in Way for n in range(SHARE[way])}
