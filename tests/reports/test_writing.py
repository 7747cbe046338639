"""Files are written whole or not at all."""

import os
import threading
from pathlib import Path

import pytest

from pytest_riskguard.reports.files import write_text


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_no_remains(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    write_text(path, "new")
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_text(path, "newer")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_keeps_pointing_and_its_file_keeps_its_mode(tmp_path):
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    write_text(target, "old")
    os.umask(mask := os.umask(0))
    assert target.stat().st_mode & 0o777 == 0o666 & ~mask
    target.chmod(0o600)
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["../precious", "../new", "deep/report.json", "/dev/null"])
def test_a_link_that_leads_elsewhere_is_refused(tmp_path, name):
    (tmp_path / "precious").write_text("old")
    (tmp_path / "reports" / "deep").mkdir(parents=True)
    link = tmp_path / "reports" / "report.json"
    link.symlink_to(name)
    with pytest.raises(OSError, match="leads out of its folder"):
        write_text(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "precious").read_text() == "old"
    assert not (tmp_path / "new").exists()


def test_a_link_to_itself_is_replaced(tmp_path):
    link = tmp_path / "report.json"
    link.symlink_to("report.json")
    write_text(link, "new")
    assert link.read_text() == "new"


@pytest.mark.skipif(not Path("/dev/stdout").is_symlink(), reason="this system has no such link")
def test_the_links_of_the_system_are_followed(capfd):
    write_text(Path("/dev/stdout"), "new")
    assert capfd.readouterr().out in ("new", "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "new")
    reader.join(timeout=10)
    assert received == ["new"]
    assert pipe.is_fifo()
