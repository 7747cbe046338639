"""A search engine judged over HTTP with one block of riskguard.yaml: the help centre's, and its failures."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from examples.help_center.help_search import search
from tests.house import CHECKOUT
from tests.live.http.servers import INDEX, KEY, Instead, Server, serving

EXAMPLE = CHECKOUT / "examples" / "help_center"
CANDIDATE = 'candidate: {retrieve: "help_search:retrieve", depth: 100}'


@pytest.fixture
def improved():
    with serving("elasticsearch", lambda query, depth: search(query, system="improved", depth=depth)) as server:
        yield server


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "help", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "help"


def settings(folder: Path, candidate: str) -> str:
    """The example's riskguard.yaml with another candidate."""
    text = (folder / "riskguard.yaml").read_text(encoding="utf-8")
    assert CANDIDATE in text
    return text.replace(CANDIDATE, candidate)


def judged(folder: Path, candidate: str, *command: str, **environment: str) -> tuple[int, str]:
    """Exit status and output of a command, by default pytest, once riskguard.yaml has this candidate."""
    (folder / "riskguard.yaml").write_text(settings(folder, candidate), encoding="utf-8")
    command = command or ("pytest", "--riskguard", "-q", "-p", "no:cacheprovider", "--riskguard-report=report.json")
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=os.environ | {"NO_PROXY": "127.0.0.1", "COLUMNS": "80"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def verdicts(folder: Path) -> Any:
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def with_key(server: Server) -> str:
    """A candidate whose secret is in the environment."""
    url = f"{server.url}/indexes/{INDEX}"
    return f"candidate: {{http: {{preset: meilisearch, url: '{url}', headers: {{Authorization: '${{MEILI_KEY}}'}}}}}}"


@pytest.mark.slow
def test_the_example_is_judged_over_http_with_one_block(folder, improved):
    block = f"candidate:\n  http: {{preset: elasticsearch, url: '{improved.url}/{INDEX}'}}\n  workers: 4"
    status, said = judged(folder, block)
    over_http = verdicts(folder)
    assert (status, over_http["verdicts"][0]["outcome"]) == (0, "pass"), said
    shutil.copy(EXAMPLE / "riskguard.yaml", folder)
    judged(folder, CANDIDATE)
    assert verdicts(folder)["verdicts"] == over_http["verdicts"]  # as the function inside pytest gives it


@pytest.mark.slow
def test_a_secret_is_in_no_output(folder):
    with serving("meilisearch") as server:
        server.instead = [Instead(403, f"key {KEY}".encode())] * 3
        command = ["pytest", "--riskguard", "-vv", "-p", "no:cacheprovider", "--showlocals", "--tb=long"]
        command += ["--riskguard-report=report.json", "--riskguard-report=report.html"]
        status, said = judged(folder, with_key(server), *command, MEILI_KEY=KEY)
        assert server.seen[0].headers["authorization"] == KEY
    assert status == 1
    assert "key ***" in " ".join(said.split())
    assert KEY not in said
    for report in folder.glob("report.*"):
        assert KEY not in report.read_text(encoding="utf-8")
