"""The example that trains rankers: plain LambdaMART fails its gate, a safer ranker passes, and the README says so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import blocks
from tests.shared_data import SHARED

#: Each starts processes of its own.
pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "ltr"
SMALL = ("--queries", "3000", "--trees", "20", "--sample", "nowhere")
NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?")


def trained(folder: Path, *arguments: str, first_on_path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command, in a fresh copy of the example."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", "built", ".pytest_cache"))
    path = [str(place) for place in (first_on_path, EXAMPLE.parents[1], os.environ.get("PYTHONPATH")) if place]
    env = {**os.environ, "COLUMNS": "100", "PYTHONPATH": os.pathsep.join(path), "NO_COLOR": "1"}
    env["PYTEST_ADDOPTS"] = "-p no:hypothesispytest -p no:cacheprovider"
    command = [sys.executable, "train_rankers.py", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The folder that a small run of the command leaves, and what it prints."""
    pytest.importorskip("lightgbm")
    pytest.importorskip("numba")
    folder = tmp_path_factory.mktemp("examples") / "ltr"
    done = trained(folder, *SMALL)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def test_plain_lambdamart_fails_the_gate_and_a_safer_ranker_passes(small):
    folder, printed = small
    verdicts = json.loads((folder / "built/verdicts.json").read_text())["verdicts"]
    found = {verdict["gate"]: verdict for verdict in verdicts}
    assert {name: verdict["outcome"] for name, verdict in found.items()} == {
        "lambdamart": "fail",
        "safer-ranker": "pass",
    }
    means = found["lambdamart"]["estimates"]
    assert means["candidate_mean"] > means["baseline_mean"]
    assert "kind=tail queries got worse" in printed
    assert "LightGBM's example data are not in nowhere: left out." in printed


def test_the_report_compares_all_models_with_the_stored_baseline(small):
    folder, printed = small
    (compared,) = json.loads((folder / "built/log/models.json").read_text())["comparisons"]
    assert compared["measure"] == "nDCG(dcg='exp-log2')@10"
    names = [model["model"] for model in compared["models"]]
    assert len(set(names)) == len(names) == 17
    assert (folder / "built/log/test/chosen.run").read_bytes() in {
        (folder / f"built/log/test/{name}.run").read_bytes() for name in set(names) - {"lambdamart"}
    }
    kinds = printed[printed.index("Mean by kind of query:") :].splitlines()[1:5]
    assert [line.split()[0] for line in kinds[:3]] == ["head", "prod", "lambdamart"]


@pytest.mark.nightly
def test_the_command_makes_the_same_files_again(small):
    folder, printed = small
    again = trained(folder.with_name("again"), *SMALL)
    assert numbers_only(again.stdout) == numbers_only(printed)
    made = sorted(path.relative_to(folder) for path in (folder / "built").rglob("*.run"))
    assert len(made) > 20
    for path in [*made, Path("built/log/models.json")]:
        assert (folder.with_name("again") / path).read_bytes() == (folder / path).read_bytes(), path


@pytest.mark.nightly
def test_plain_lambdamart_passes_where_the_tail_is_judged_like_the_rest(tmp_path):
    pytest.importorskip("lightgbm")
    pytest.importorskip("numba")
    done = trained(tmp_path / "ltr", "--sample", "nowhere", "--tail-judged", "1")
    assert done.returncode == 1
    assert "2 passed in" in done.stdout
    (compared,) = json.loads((tmp_path / "ltr/built/log/models.json").read_text())["comparisons"]
    rows = {model["model"]: model for model in compared["models"]}
    plain, safe = rows["lambdamart"], rows["u-cro-50"]
    assert plain["mean"] == pytest.approx(0.928, abs=0.004)
    assert plain["mean"] - safe["mean"] == pytest.approx(0.008, abs=0.004)
    assert safe["losses_over_20_percent"] < 0.65 * plain["losses_over_20_percent"]


def numbers_only(text: str) -> str:
    """Without folders and the seconds that tests took."""
    return re.sub(r"rootdir: .*|in \d+\.\d\ds|=+", "", text)


# ---- the README


@pytest.mark.nightly  # CI runs the command once, and does not compare its numbers
def test_the_readme_shows_what_the_command_prints(tmp_path):
    pytest.importorskip("lightgbm")
    pytest.importorskip("numba")
    (block,) = blocks(EXAMPLE / "README.md")
    command, _, shown = block.text.partition("\n")
    assert command == "$ python train_rankers.py"
    sample = SHARED / "data/ltr_lightgbm"
    done = trained(tmp_path / "ltr", "--sample", str(sample))
    assert done.returncode == 0, done.stderr
    assert missing(shown, done.stdout) == []
    if sample.is_dir():
        assert "86 topics, 17 models against prod" in done.stdout
        assert "17 of 17 models pass the gate" in done.stdout


def missing(shown: str, printed: str) -> list[str]:
    """The lines shown that are not printed in this order, with numbers that are nearly the same.

    Another processor rounds differently, and a tree may then split elsewhere.
    """
    lines = iter(printed.splitlines())
    expected = [line for line in shown.splitlines() if line not in ("...", "")]
    return [line for line in expected if not any(alike(line, other) for other in lines)]


def alike(line: str, other: str) -> bool:
    if NUMBER.sub("#", line).split() != NUMBER.sub("#", other).split():
        return False
    pairs = zip(NUMBER.findall(line), NUMBER.findall(other), strict=True)
    return all(
        float(a.replace(",", "")) == pytest.approx(float(b.replace(",", "")), rel=0.2, abs=0.01) for a, b in pairs
    )


@pytest.mark.parametrize(
    ("option", "value", "least"), [("--queries", "20", 100), ("--trees", "0", 1), ("--seed", "-1", 0)]
)
def test_a_number_that_is_too_small_is_refused(tmp_path, option, value, least):
    done = trained(tmp_path / "ltr", f"{option}={value}")
    assert done.returncode == 2
    assert f"{option}: expected a whole number of at least {least}, got '{value}'" in done.stderr
