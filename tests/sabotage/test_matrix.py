"""Every case in each of its ways: a sample with every run of the tests, all of them as slow tests.

The sample starts each run afresh; the others are forks of a process that has loaded libraries, where they can be.
"""

from __future__ import annotations

import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.sabotage import project, runner
from tests.sabotage.case import Case, Way
from tests.sabotage.cases import every_case
from tests.sabotage.prepared import Prepared

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="this system has no wait4, pipes or process groups")

RUNS = [(case, way) for case in every_case() for way in case.ways]
#: One run in this many is in the sample. Chosen by name, so that a new case does not exchange the whole sample.
SAMPLE = 40


def _name(run: tuple[Case, Way]) -> str:
    return f"{run[0].name}-{run[1].name.lower()}"


def _is_in_sample(run: tuple[Case, Way]) -> bool:
    is_drawn = zlib.crc32(_name(run).encode()) % SAMPLE == 0
    return run[0].is_quick or (is_drawn and not run[0].is_slow)


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sabotage")
    project.write(folder)
    return folder


@pytest.fixture(scope="session")
def prepared():
    with Prepared() as processes:
        yield processes


@pytest.fixture(scope="session")
def remove():
    """Removes copies in the background: some disks take longer for it than the run takes."""
    with ThreadPoolExecutor(1) as executor:
        removals = []
        yield lambda place: removals.append(executor.submit(runner.removed, place))
        for removal in removals:
            removal.result()


@pytest.mark.parametrize(
    "run",
    [pytest.param(run, id=_name(run), marks=() if _is_in_sample(run) else pytest.mark.slow) for run in RUNS],
)
def test_broken_cases_are_not_green_and_harmless_ones_not_red(run, template, prepared, remove, tmp_path):
    case, way = run
    ended = runner.run(case, way, template, tmp_path, None if _is_in_sample(run) else prepared, remove=remove)
    assert not ended.problems, f"{ended}\n{ended.ended.output}"


def test_the_sample_has_every_way():
    assert {way for case, way in RUNS if _is_in_sample((case, way))} == set(Way)


def test_the_matrix_has_at_least_300_cases():
    assert len(every_case()) >= 300
