"""Every table of the study can be made again, and agrees with what the docs show."""

import pytest

from tests.benchmarks.calibration.studies import STUDIES
from tests.benchmarks.calibration.tables import TABLES, Study, Table, disagreements, processes, read
from tests.shared_data import SHARED

#: Data sets for each row of a table made again; 80 for the others.
AGAIN = {"few-changes": 40, "losses-seen": 100, "plain-cases": 100, "families": 20}
AGAIN |= {"georisk": 20, "georisk-few-changes": 20, "clusters": 60, "no-drift": 40}
NEEDS_RUNS = {"few-changes", "losses-seen", "families", "not-inferior", "equivalent", "unequal-sizes", "no-drift"}
SHOWN: Table = [["topics", "rule", "skewness"], ["few", "2.5", "1"], ["many", "3.0", "2"]]


@pytest.mark.parametrize(
    ("again", "said"),
    [
        ([["few", "2.6", "9"], ["many", "3.4", "9"]], []),
        ([["few", "2.6", ""], ["many", "3.4", ""]], []),
        ([["few", "9.9", "1"], ["many", "3.0", "2"]], ["few, rule: 9.9, shown as 2.5"]),
        ([["few", "nan", "1"], ["many", "3.0", "2"]], ["few, rule: nan, shown as 2.5"]),
    ],
)
def test_shares_further_apart_than_chance_are_told(again, said):
    study = Study(lambda *_: {}, 4000, 1, no_share=("skewness",))
    assert disagreements(study, [SHOWN[0], *again], SHOWN, 1000) == said


def skip_without_runs(name):
    if name in NEEDS_RUNS and not SHARED.is_dir():
        pytest.skip("no folder 'shared' with the real runs")


def test_every_table_has_a_study_that_makes_it():
    assert sorted(STUDIES) == sorted(path.stem for path in TABLES.iterdir())


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_simulates_a_data_set(name):
    skip_without_runs(name)
    study, (header, *_, shown) = STUDIES[name], read(name)
    row = study.row(shown[: study.places], header, 1, 0)
    assert disagreements(study, [header, [*shown[: study.places], *row]], [header, shown], 1) == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", STUDIES)
def test_made_again_every_table_agrees_with_the_one_shown(name):
    skip_without_runs(name)
    again = AGAIN.get(name, 80)
    with processes(2) as pool:
        table = STUDIES[name].again(name, pool, simulations=again, seed=1)
    assert disagreements(STUDIES[name], table, read(name), again) == []
