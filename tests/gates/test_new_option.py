"""An option that is declared in gates/kinds.py is everywhere: tried on a copy of the package with one more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_riskguard

ROOT = Path(__file__).parents[2]
#: The lines that declare it: on the kind that offers it, and what the other kinds read.
DECLARED = '    patience: int = option(3, Number(0, 9), "How many failures are forgiven.")\n\n    is_tested = True\n'
NOT_OFFERED = "    patience: int = 0\n    method: Method"
SEEN = """
import inspect, json
from click.testing import CliRunner
from pytest_riskguard import assert_not_inferior, assert_not_significantly_risky, check
from pytest_riskguard.cli.main import cli
from pytest_riskguard.config.schema import GateModel
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.plugin.fixture import Riskguard
from pytest_riskguard.reports.json import SCHEMA_FILE
from tests.reports.schema import with_new_options

scores = {str(topic): topic / 20 for topic in range(12)}
tested = check("not_significantly_risky", scores, scores, patience=2)
fixture = inspect.signature(Riskguard.assert_not_significantly_risky).parameters
print(json.dumps({
    "assertion": "patience" in inspect.signature(assert_not_significantly_risky).parameters,
    "other assertion": "patience" in inspect.signature(assert_not_inferior).parameters,
    "fixture": fixture["patience"].default,
    "command line": "--patience" in CliRunner().invoke(cli, ["compare", "--help"]).output,
    "yaml": GateModel.model_fields["patience"].default,
    "schema": with_new_options(json.loads(SCHEMA_FILE.read_text()))["$defs"]["verdict"]["properties"]["patience"],
    "report": tested.to_dict()["patience"],
    "read back": Verdict.from_dict(tested.to_dict()).patience,
    "report of another kind": check("not_inferior", scores, scores, tolerance=0.1).to_dict()["patience"],
}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("copy")
    package = folder / "pytest_riskguard"
    shutil.copytree(Path(pytest_riskguard.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    kinds = package / "gates" / "kinds.py"
    text = kinds.read_text(encoding="utf-8")
    for old, new in (("    is_tested = True\n", DECLARED), ("    method: Method", NOT_OFFERED)):
        assert old in text
        text = text.replace(old, new, 1)
    kinds.write_text(text, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT)))}
    run = subprocess.run(
        [sys.executable, "-c", SEEN], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    shown: dict[str, object] = json.loads(run.stdout)
    return shown


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("assertion", True),
        ("other assertion", False),
        ("fixture", 3),
        ("command line", True),
        ("yaml", 3),
        ("schema", {"description": "How many failures are forgiven.", "maximum": 9, "minimum": 0, "type": "number"}),
        ("report", 2),
        ("read back", 2),
        ("report of another kind", 0),
    ],
)
def test_a_declared_option_is_taken_and_shown_everywhere(seen, place, value):
    assert seen[place] == value
