"""Nothing is sent or fetched: no process of riskguard opens a connection or looks up a name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import CHECKOUT

#: Each starts processes of its own.
pytestmark = pytest.mark.slow

EXAMPLE = CHECKOUT / "examples" / "help_center"

#: Read by every Python process that starts with its folder on the path, so also by pytest-xdist's workers.
WATCH = """
import os, sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request"):
        with open(os.environ["NETWORK_LOG"], "a") as log:
            print(event, arguments, file=log)

sys.addaudithook(watch)
"""


def watched(tmp_path: Path, *command: str) -> str:
    """Run a command in the example; the network calls that it made."""
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    log = tmp_path / "network.log"
    log.touch()
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run(
        [sys.executable, *command],
        cwd=EXAMPLE,
        env={**os.environ, "PYTHONPATH": path, "NETWORK_LOG": str(log)},
        capture_output=True,
        check=True,
    )
    return log.read_text()


@pytest.mark.parametrize(
    "command",
    [
        ("-m", "pytest", "-p", "no:cacheprovider", "--help"),
        ("-m", "pytest", "-p", "no:cacheprovider", "--riskguard", "--riskguard-report={reports}/r.json"),
        ("-m", "pytest", "-p", "no:cacheprovider", "--riskguard", "--riskguard-report={reports}/r.html"),
        ("-c", "from pytest_riskguard.cli import main; main()", "baseline", "verify"),
    ],
    ids=["help", "json", "html", "verify"],
)
def test_no_connection_is_opened(tmp_path, command):
    assert watched(tmp_path, *(argument.format(reports=tmp_path) for argument in command)) == ""


def test_a_connection_would_be_noticed(tmp_path):
    with_connection = "import socket; s = socket.socket(); s.settimeout(0.1); s.connect_ex(('127.0.0.1', 9))"
    assert "socket.connect" in watched(tmp_path, "-c", with_connection)
