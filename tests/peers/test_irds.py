"""Collections of ir_datasets: what is on this machine is read, and ir_datasets downloads what is not."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.data import read_qrels, read_topics
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.errors import UsageError
from tests.strict import STRICT_LINE

pytest.importorskip("ir_datasets")
TOPICS = range(1, 31)
COMMAND = "from pytest_riskguard.cli.main import main; main()"
#: Whoever looks for a host ends the process, which says so.
OFFLINE = """\
import os, socket
def refuse(*_, **__):
    print("CONNECTS", flush=True)
    os._exit(9)
socket.getaddrinfo = socket.socket.connect = refuse
"""


@pytest.fixture
def home(tmp_path):
    """The folder of ir_datasets, with Vaswani's files as the package keeps them, and a run."""
    folder = tmp_path / "home" / "vaswani"
    folder.mkdir(parents=True)
    (folder / "qrels.txt").write_text("".join(f"{topic}\n {topic} 1{topic}\n   /\n" for topic in TOPICS))
    (folder / "queries.txt").write_text("".join(f"{topic}\nRED SHOES {topic}\n/\n" for topic in TOPICS))
    for name, documents in (("good", "{t} x"), ("bad", "x {t}")):
        rows = (
            f"{t} Q0 {d} {rank} {9 - rank} x\n"
            for t in TOPICS
            for rank, d in enumerate(documents.format(t=t).split(), 1)
        )
        (tmp_path / f"{name}.run").write_text("".join(rows))
    return tmp_path


def riskguard(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", OFFLINE + COMMAND, *arguments],
        cwd=home,
        env=os.environ | {"IR_DATASETS_HOME": str(home / "home")},
        capture_output=True,
        text=True,
        timeout=120,
    )


def verdicts(report: str) -> Any:
    """Those of a report, without digests: in TREC's format they are those of the text."""
    return json.loads(re.sub("sha256:[0-9a-f]{64}", "", report))["verdicts"]


@pytest.mark.slow
def test_a_collection_on_this_machine_is_judged_by_its_name(home):
    line = [
        "compare",
        "bad.run",
        "--baseline",
        "good.run",
        "--measure",
        "AP",
        *STRICT_LINE.split(),
        "--qrels",
        "irds:vaswani",
    ]
    done = riskguard(home, *line, "--topics", "irds:vaswani", "-o", "-")
    assert done.returncode == 1, done.stderr
    (by_name,) = verdicts(done.stdout)
    (home / "qrels.txt").write_text(
        "".join(f"{topic} 0 {prefix}{topic} 1\n" for topic in TOPICS for prefix in ("", "1"))
    )
    (home / "topics.tsv").write_text("".join(f"{topic}\tRED SHOES {topic}\n" for topic in TOPICS))
    done = riskguard(home, *line[:-1], "qrels.txt", "--topics", "topics.tsv", "-o", "-")
    assert verdicts(done.stdout) == [by_name]
    assert by_name["responsible_topics"][0]["query"].startswith("RED SHOES")


@pytest.mark.slow
def test_ir_datasets_downloads_what_is_not_on_this_machine(home):
    done = riskguard(home, "compare", "bad.run", "--baseline", "good.run", "--qrels", "irds:cranfield")
    assert (done.returncode, "CONNECTS" in done.stdout) == (9, True)


@pytest.mark.slow
def test_what_is_no_collection_is_refused(home):
    for name, problem in [
        ("irds:vasvani", "ir_datasets has no collection 'vasvani'; did you mean 'vaswani'"),
        ("irds:beir", "its qrels cannot be read (AttributeError: "),
    ]:
        done = riskguard(home, "compare", "bad.run", "--baseline", "good.run", "--qrels", name)
        assert (done.returncode, problem in " ".join(done.stdout.split())) == (3, True)


def test_a_file_of_that_name_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("irds:mine").write_text("1 0 d1 1\n")
    assert read_qrels(Path("irds:mine")).topics == ("1",)


def test_the_package_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    for read in (read_qrels, read_topics):
        with pytest.raises(UsageError, match="irds:vaswani needs ir_datasets: pip install ir_datasets"):
            read(GivenFile(Path("irds:vaswani")))
