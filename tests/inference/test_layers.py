"""Inside the laws imports point one way: a module imports only what stands above it in its table."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_riskguard.inference import _bootstrap, _flips

BOOTSTRAP = {
    "sample": set(),
    "inversion": set(),
    "replicates": set(),
    "tilting": {"sample"},
    "resamples": {"sample", "tilting"},
    "convolution": {"inversion", "sample", "tilting"},
    "far_tail": {"convolution", "inversion", "resamples", "sample", "tilting"},
    "laws": {"far_tail", "sample"},
    "enumeration": {"laws", "resamples", "sample"},
    "fft_law": {"convolution", "inversion", "laws", "sample"},
    "few_values_law": {"convolution", "fft_law", "laws", "sample"},
    "inversion_law": {"inversion", "laws", "sample"},
    "studentized_inversion": {"inversion", "sample"},
    "studentized_replicates": {"laws", "replicates", "sample"},
    "choice": {
        "enumeration",
        "few_values_law",
        "fft_law",
        "inversion_law",
        "laws",
        "sample",
        "studentized_inversion",
        "studentized_replicates",
    },
    "georisk_resampling": {"replicates"},
    "large_pools": {"georisk_resampling", "replicates"},
}
FLIPS = {
    "bets": set(),
    "counting": {"bets"},
    "line": {"bets"},
    "swings": {"bets"},
    "bounds": set(),
    "few_swings": {"bets", "bounds", "line", "swings"},
    "tilted": {"bets", "bounds", "few_swings", "line", "swings"},
    "chosen_method": {"bets", "counting", "tilted"},
}
TABLES = pytest.mark.parametrize(
    ("package", "table"), [(_bootstrap, BOOTSTRAP), (_flips, FLIPS)], ids=["_bootstrap", "_flips"]
)


@TABLES
def test_imports_point_one_way(package, table):
    above: set[str] = set()
    for module, imports in table.items():
        assert imports <= above, module
        above.add(module)


@TABLES
def test_nothing_outside_inference_imports_a_law(package, table):
    inference = Path(str(package.__file__)).parents[1]
    for path in inference.parent.rglob("*.py"):
        if inference not in path.parents:
            assert package.__name__ not in path.read_text(encoding="utf-8"), path
