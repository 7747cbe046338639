"""Eight people come from an empty folder to a verdict, each by at most five commands or lines of Python."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import Player, blocks
from tests.first_hour.starts import STARTS

PAGES = {page.stem: page for page in sorted(Path(__file__).parent.glob("*.md"))}
#: What pages need besides the package.
PEERS = {"pandas": "pandas", "ranx": "ranx", "beir": "bm25s", "postgresql": "psycopg", "qdrant": "qdrant_client"}
#: The others take more than half a second.
QUICK = ("elasticsearch", "no_labels")


@pytest.fixture
def postgresql(monkeypatch):
    """A server on loopback, and the variables by which clients find it. It refuses to run as root."""
    programs = [*sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")), shutil.which("pg_ctl")]
    if (program := programs[0]) is None:
        assert os.environ.get("RISKGUARD_REQUIRE_POSTGRES") != "1", "no PostgreSQL: apt-get install postgresql"
        pytest.skip("no PostgreSQL: apt-get install postgresql")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    monkeypatch.setenv("PGPORT", str(port))
    for name in ("PGUSER", "PGDATABASE"):
        monkeypatch.setenv(name, "postgres")
    folder = tempfile.mkdtemp()  # pytest's own folders are closed to other users
    somebody: dict[str, Any] = {}
    if os.getuid() == 0:
        import pwd  # not on every system

        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        somebody = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    def pg_ctl(*words):
        command = [program, "--pgdata", f"{folder}/data", "--silent", *words]
        subprocess.run(command, cwd=folder, check=True, timeout=60, **somebody)

    try:
        pg_ctl("initdb", "--options", "--username=postgres --auth=trust --no-sync --encoding=UTF8")
        pg_ctl("start", "--wait", "--log", f"{folder}/log", "--options", f"-p {port} -h 127.0.0.1 -k '' -F")
        yield
        pg_ctl("stop", "--mode", "immediate")
    finally:
        shutil.rmtree(folder)


@pytest.mark.filterwarnings(  # what pages open is closed as their processes end
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PAGES]
)
def test_the_first_hour_ends_in_a_verdict_that_names_a_query(name, tmp_path, request):
    if name in PEERS:
        pytest.importorskip(PEERS[name])
    if name == "postgresql":
        request.getfixturevalue("postgresql")
    (start,) = [block.argument for block in blocks(PAGES[name]) if block.action == "start"]
    STARTS[start](tmp_path)
    Player(tmp_path, PAGES[name]).play()


@pytest.mark.parametrize("name", PAGES)
def test_it_takes_at_most_five_commands_or_lines_of_python(name):
    text = PAGES[name].read_text(encoding="utf-8")
    beginning = text[: text.index("## The first hour")].count("\n")
    lines = [
        line
        for block in blocks(PAGES[name])
        if block.line > beginning
        for line in block.text.splitlines()
        if line.startswith("$ ") or (block.action != "run" and line.strip())
    ]
    assert 1 <= len([line for line in lines if line != "$ echo $?"]) <= 5


def test_there_are_eight():
    assert len(PAGES) == 8
