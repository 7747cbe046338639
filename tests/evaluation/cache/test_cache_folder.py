"""The folder of the cache: where it is, when it is not used, what it holds, and that nothing else is touched."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_riskguard import run_context
from pytest_riskguard.errors import UsageError
from pytest_riskguard.evaluation.cache import cache_folder as module
from pytest_riskguard.evaluation.cache.cache_folder import (
    SIZE,
    VARIABLE,
    CacheFolder,
    cache_folder,
    location,
    unusable,
)

NAMES = ["a" * 64, "b" * 64, "c" * 64]
HAS_OWNERS = hasattr(os, "geteuid")
needs_owners = pytest.mark.skipif(not HAS_OWNERS, reason="this system has no owners of files")


@pytest.fixture
def home(tmp_path, monkeypatch):
    for variable in (VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("platform", "variable", "place"),
    [
        ("linux", None, ".cache/riskguard"),
        ("linux", "XDG_CACHE_HOME", "named/riskguard"),
        ("darwin", None, "Library/Caches/riskguard"),
        ("darwin", "XDG_CACHE_HOME", "Library/Caches/riskguard"),
        ("win32", None, "AppData/Local/riskguard/Cache"),
        ("win32", "LOCALAPPDATA", "named/riskguard/Cache"),
    ],
)
def test_the_folder_is_where_each_system_keeps_caches(home, monkeypatch, platform, variable, place):
    monkeypatch.setattr(sys, "platform", platform)
    if variable is not None:
        monkeypatch.setenv(variable, str(home / "named"))
    assert location() == home / place


def test_a_relative_xdg_folder_is_ignored(home, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "named")
    assert location() == home / ".cache" / "riskguard"


def test_without_a_home_there_is_no_cache(home, monkeypatch):
    def fails():
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", fails)
    assert location() is None
    assert cache_folder() is None


def test_the_environment_names_another_folder_or_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "here")
    assert location() == tmp_path / "here"
    assert cache_folder() == CacheFolder(tmp_path / "here")
    for text in ("off", " OFF "):
        monkeypatch.setenv(VARIABLE, text)
        assert cache_folder() is None


def test_the_context_switches_it_off(folder):
    with run_context.changed(cached=False):
        assert cache_folder() is None
    assert cache_folder() == folder


def test_entries_come_back_and_belong_to_this_user_alone(folder):
    assert folder.read("scores", NAMES[0]) is None
    folder.write("scores", NAMES[0], b"one")
    folder.write("scores", NAMES[0], b"two")
    assert folder.read("scores", NAMES[0]) == b"two"
    assert folder.read("runs", NAMES[0]) is None
    if HAS_OWNERS:
        for path in (folder.root, folder.root / "scores", folder.root / "scores" / NAMES[0]):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert [path.name for path in (folder.root / "scores").iterdir()] == [NAMES[0]]


def test_the_folder_keeps_itself_out_of_repositories_and_backups(folder):
    folder.write("scores", NAMES[0], b"one")
    assert (folder.root / ".gitignore").read_text() == "*\n"
    assert (folder.root / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


@needs_owners
@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_a_folder_that_others_may_write_to_is_not_used(folder, mode):
    folder.root.chmod(mode)
    assert unusable(folder.root) == "other users may write to it"
    assert cache_folder() is None


@needs_owners
def test_a_folder_of_another_user_is_not_used(folder, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert unusable(folder.root) == "it belongs to another user"
    assert cache_folder() is None


@needs_owners
def test_a_file_of_another_user_is_not_read(folder, monkeypatch):
    folder.write("scores", NAMES[0], b"one")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert folder.read("scores", NAMES[0]) is None


def test_a_folder_that_cannot_be_written_is_not_used(folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert unusable(folder.root) == "it cannot be written"


@pytest.mark.parametrize("text", ["file", "file/below", "nul\0"])
def test_what_is_no_folder_is_not_used(tmp_path, monkeypatch, text):
    (tmp_path / "file").write_text("x")
    monkeypatch.setattr(module, "location", lambda: tmp_path / text)
    assert "it cannot be used" in unusable(tmp_path / text)
    assert cache_folder() is None


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="this system follows links")
def test_a_link_is_not_followed(folder, tmp_path):
    folder.write("scores", NAMES[0], b"one")
    (tmp_path / "other").write_bytes(b"two")
    path = folder.root / "scores" / NAMES[0]
    path.unlink()
    path.symlink_to(tmp_path / "other")
    assert folder.read("scores", NAMES[0]) is None
    folder.write("scores", NAMES[0], b"three")
    assert folder.read("scores", NAMES[0]) == b"three"
    assert (tmp_path / "other").read_bytes() == b"two"


def test_a_folder_in_the_place_of_an_entry_is_no_entry(folder):
    (folder.root / "scores" / NAMES[0]).mkdir(parents=True)
    assert folder.read("scores", NAMES[0]) is None
    folder.write("scores", NAMES[0], b"one")
    assert folder.read("scores", NAMES[0]) is None
    assert [path.name for path in (folder.root / "scores").iterdir()] == [NAMES[0]]


def test_an_entry_that_cannot_be_written_leaves_nothing(folder, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    folder.write("scores", NAMES[0], b"one")
    monkeypatch.setattr(Path, "replace", full)
    folder.write("scores", NAMES[0], b"two")
    folder.write("scores", NAMES[1], b"two")
    assert [path.name for path in (folder.root / "scores").iterdir()] == [NAMES[0]]
    assert folder.read("scores", NAMES[0]) == b"one"


def used(folder, name, seconds_ago):
    path, then = folder.root / "scores" / name, time.time() - seconds_ago
    os.utime(path, (then, then))


def test_what_was_not_used_for_longest_goes_first(folder, monkeypatch):
    for place, name in enumerate(NAMES):
        folder.write("scores", name, bytes(10_000))
        used(folder, name, 100 - place)
    folder.read("scores", NAMES[0])  # which was written first, but is in use
    assert [entry.path.name for entry in folder.entries()] == [NAMES[1], NAMES[2], NAMES[0]]
    monkeypatch.setenv(SIZE.variable, "20000")
    folder.trim()
    assert [entry.path.name for entry in folder.entries()] == [NAMES[2], NAMES[0]]


def test_small_entries_take_a_block_each(folder, monkeypatch):
    for name in NAMES:
        folder.write("scores", name, b"")
    monkeypatch.setenv(SIZE.variable, "8192")
    folder.trim()
    assert len(folder.entries()) == 2


def test_an_entry_that_would_fill_the_cache_is_not_kept(folder, monkeypatch):
    monkeypatch.setenv(SIZE.variable, "20000")
    folder.write("scores", NAMES[0], bytes(10_001))
    folder.write("scores", NAMES[1], bytes(10_000))
    assert [entry.path.name for entry in folder.entries()] == [NAMES[1]]
    monkeypatch.setenv(SIZE.variable, "9999")
    assert folder.read("scores", NAMES[1]) is None


def test_a_size_that_is_no_number_is_said(folder, monkeypatch):
    monkeypatch.setenv(SIZE.variable, "1 GB")
    with pytest.raises(UsageError, match="RISKGUARD_CACHE_SIZE: expected a whole number"):
        folder.write("scores", NAMES[0], b"one")


def test_clearing_and_trimming_leave_what_is_not_ours(folder, tmp_path, monkeypatch):
    for name in NAMES:
        folder.write("runs", name, b"x")
    others = [folder.root / "mine", folder.root / "runs" / "mine", folder.root / "runs" / ("A" * 64)]
    for path in others:
        path.write_text("x")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / NAMES[0]).write_text("x")
    (folder.root / "scores").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    monkeypatch.setenv(SIZE.variable, "1")
    folder.trim()
    assert folder.entries() == []
    folder.clear()
    assert all(path.exists() for path in (*others, tmp_path / "elsewhere" / NAMES[0]))


def test_unfinished_files_go_when_nobody_can_be_writing_them(folder):
    folder.write("scores", NAMES[0], b"one")
    fresh, old = (folder.root / "scores" / f".{digit * 32}" for digit in "ab")
    for path in (fresh, old):
        path.write_bytes(b"x")
    os.utime(old, (0, 0))
    folder.trim()
    assert fresh.exists()
    assert not old.exists()
    assert folder.read("scores", NAMES[0]) == b"one"
    assert len(folder.clear()) == 1
    assert list((folder.root / "scores").iterdir()) == []


HOLDER = """
import sys, time
from pathlib import Path
from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder
with CacheFolder(Path(sys.argv[1])).alone("a" * 64):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(folder):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder.root)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_lock_that_another_process_holds_is_waited_for(folder, holder, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.3)
    started = time.monotonic()
    with folder.alone(NAMES[0]):  # without the lock, in the end
        assert time.monotonic() - started >= 0.3
    with folder.alone(NAMES[1]):
        pass
    assert holder.poll() is None


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_process_that_is_killed_lets_go_of_its_lock(folder, holder):
    holder.send_signal(signal.SIGKILL)
    with folder.alone(NAMES[0]):
        assert holder.wait() == -signal.SIGKILL


def test_where_nothing_can_be_locked_work_goes_on(folder):
    (folder.root / "locks").write_text("in the way")
    with folder.alone(NAMES[0]):
        pass
    with pytest.raises(ZeroDivisionError), folder.alone(NAMES[1]):
        raise ZeroDivisionError


def test_clearing_works_while_others_hold_locks(folder, holder):
    folder.write("scores", NAMES[0], b"one")
    assert len(folder.clear()) == 1
    assert holder.poll() is None
