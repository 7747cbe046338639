"""The tables that the tests of this folder expect are those of ``tests/data/published``, typed a second time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.published import test_airs2019, test_ecir2014, test_sigir2014, test_sigir2016
from tests.published.web2012 import rows


def numbers(reference_data: Path, name: str, *columns: str) -> list[tuple[float, ...]]:
    """The named columns of a published table, one tuple per line."""
    return [tuple(float(line[column]) for column in columns) for line in rows(reference_data / "published" / name)]


def names(reference_data: Path, name: str, column: str) -> list[str]:
    return [line[column] for line in rows(reference_data / "published" / name)]


def test_sigir_2014_tables_1_and_2(reference_data: Path) -> None:
    name = "sigir2014_web2012_urisk_trisk.csv"
    runs = names(reference_data, name, "run")
    table = numbers(reference_data, name, "alpha", "urisk", "se", "trisk", "p_value")
    printed = {(run, line[0]): line[1:] for run, line in zip(runs, table, strict=True)}
    expected = {(run, alpha): tuple(cells) for run, alpha, *cells in test_sigir2014.PUBLISHED}
    others = {(run, alpha): (urisk, trisk) for run, alpha, urisk, trisk in test_sigir2014.FROM_OTHER_FILES}
    assert {key: cells for key, cells in printed.items() if key not in others} == expected
    assert {key: (printed[key][0], printed[key][2]) for key in others} == others


def test_ecir_2014_table_2(reference_data: Path) -> None:
    name = "ecir2014_web2012_every_run_as_baseline_a10.csv"
    table = numbers(reference_data, name, *test_ecir2014.TABLE_2)
    assert dict(zip(names(reference_data, name, "run"), table, strict=True)) == test_ecir2014.AGAINST_EACH


@pytest.mark.parametrize("kind", ["mean", "median", "max"])
def test_ecir_2014_table_3(reference_data: Path, kind: str) -> None:
    name = "ecir2014_web2012_reference_baselines.csv"
    assert names(reference_data, name, "run") == list(test_ecir2014.POOL)
    at_5, at_10 = zip(*numbers(reference_data, name, f"{kind}_a5", f"{kind}_a10"), strict=True)
    assert {5: at_5, 10: at_10} == getattr(test_ecir2014, kind.upper())


def test_sigir_2016_tables_3_to_5(reference_data: Path) -> None:
    topics = [f"t{number}" for number in range(1, 6)]
    assert np.array_equal(numbers(reference_data, "sigir2016_example_matrix.csv", *topics), test_sigir2016.EXAMPLE)
    name = "sigir2016_single_baseline_z.csv"
    pairs = [
        (int(system.removeprefix("s")), int(baseline.removeprefix("s")))
        for system, baseline in zip(
            names(reference_data, name, "system"), names(reference_data, name, "baseline"), strict=True
        )
    ]
    values = numbers(reference_data, name, *topics, "zrisk")
    assert [
        (*pair, line[:-1], line[-1]) for pair, line in zip(pairs, values, strict=True)
    ] == test_sigir2016.ONE_BASELINE
    name = "sigir2016_example_zrisk_georisk.csv"
    assert numbers(reference_data, name, "mean") == [(mean,) for mean in test_sigir2016.MEANS]
    for kind, expected in (("zrisk", test_sigir2016.ZRISK), ("georisk", test_sigir2016.GEORISK)):
        columns = [f"{kind}_a{alpha}" for alpha in test_sigir2016.ALPHAS]
        assert tuple(numbers(reference_data, name, *columns)) == expected


def test_sigir_2016_table_6(reference_data: Path) -> None:
    name = "sigir2016_web2012.csv"
    columns = ["err20", "trisk_mean_baseline_a0", "zrisk_a0", "georisk_a0"]
    columns += ["trisk_mean_baseline_a5", "zrisk_a5", "georisk_a5", "georisk_a20"]
    printed = {
        line["run"]: tuple(float(line[column]) if line[column] else None for column in columns)
        for line in rows(reference_data / "published" / name)
    }
    assert printed == test_sigir2016.WEB_2012


def test_airs_2019_table_2(reference_data: Path) -> None:
    name = "airs2019_web2012_minus.csv"
    columns = [f"{risk}_minus_{kind}" for risk in ("urisk", "trisk", "zrisk") for kind in ("linear", "smooth")]
    columns += [f"georisk_minus_{kind}_as_printed" for kind in ("linear", "smooth")]
    table = numbers(reference_data, name, *columns)
    assert dict(zip(names(reference_data, name, "run"), table, strict=True)) == test_airs2019.PUBLISHED
