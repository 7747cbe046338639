"""Files at addresses: copied whole or refused, and named by their address."""

import sys
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from pytest_riskguard.data.input_files import address_of, is_address, local_copy
from pytest_riskguard.errors import FileError, MissingFileError, RunFormatError, UsageError
from pytest_riskguard.limits import RUN_BYTES


@pytest.fixture
def bucket():
    files = fsspec.filesystem("memory")
    files.pipe({"/bucket/run.txt": b"text", "/bucket/parts/b.run": b"bb", "/bucket/parts/a.run": b"a"})
    files.pipe("/bucket/parts/inner/c.run", b"c")
    yield Path("memory://bucket")
    files.rm("/bucket", recursive=True)


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("s3://bucket/a@b/run.gz", "s3://bucket/a@b/run.gz"),
        ("GS://bucket/run", "gs://bucket/run"),
        *((f"{scheme}:///data/run", f"{scheme}:///data/run") for scheme in ("file", "local")),
        ("memory:/a", "memory://a"),
    ],
)
def test_addresses_survive_being_a_path(path, address):
    assert is_address(path)
    assert is_address(Path(path))
    assert address_of(Path(path)) == address


@pytest.mark.parametrize("path", ["run.txt", "/data/run", "irds:vaswani", "C:/runs/a", "a:b", "s3:", "x/s3://b/c"])
def test_paths_are_not_addresses(path):
    assert not is_address(path)


@pytest.mark.parametrize(
    "address", ["s3://user:secret@bucket/run", "https://host/run?token=secret", "simplecache::s3://b/run"]
)
def test_addresses_that_hold_secrets_or_open_others_are_refused_without_naming_them(address):
    if not is_address(address):
        assert "::" in address  # a path, which leads nowhere
        return
    with pytest.raises(UsageError, match="expected") as refused:
        address_of(address)
    assert "secret" not in str(refused.value)


def test_a_file_is_copied_under_its_name_and_the_copy_goes(bucket):
    with local_copy(bucket / "run.txt", RUN_BYTES) as copy:
        assert (copy.name, copy.read_bytes()) == ("run.txt", b"text")
    assert not copy.exists()
    assert not copy.parent.exists()


def is_refused(path: Path, match: str, error: type[Exception] = MissingFileError) -> None:
    with pytest.raises(error, match=match), local_copy(path, RUN_BYTES):
        pytest.fail("it was copied")


def test_a_large_file_is_refused_while_it_is_copied(bucket, set_limit):
    set_limit("RUN_BYTES", 4)
    with local_copy(bucket / "run.txt", RUN_BYTES) as copy:
        assert copy.read_bytes() == b"text"
    set_limit("RUN_BYTES", 3)
    is_refused(bucket / "run.txt", r"^memory://bucket/run\.txt: expected at most 3 bytes", FileError)


def test_errors_about_the_copy_name_the_address(bucket):
    with pytest.raises(RunFormatError) as refused, local_copy(bucket / "run.txt", RUN_BYTES) as copy:
        raise RunFormatError(copy, 3, "expected another line", "mend it")
    assert str(refused.value) == "memory://bucket/run.txt:3: expected another line; mend it"
    assert refused.value.problem == "run.txt:3: expected another line; mend it"
    with pytest.raises(RunFormatError, match=r"^else\.run: other"), local_copy(bucket / "run.txt", RUN_BYTES):
        raise RunFormatError(Path("else.run"), None, "other")


def test_what_a_package_raises_is_an_error_of_the_file(bucket, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("no permission")

    monkeypatch.setattr(MemoryFileSystem, "open", refuse)
    is_refused(bucket / "run.txt", r"memory://bucket/run\.txt: cannot be read \(RuntimeError: no permission")


def test_a_file_or_a_package_that_is_missing_is_named(bucket, monkeypatch):
    is_refused(bucket / "gone.run", r"memory://bucket/gone\.run: no such file")
    is_refused(Path("zzz://bucket/run"), r"zzz://bucket/run: cannot be read \(ValueError: Protocol not known: zzz")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    is_refused(Path("memory://bucket/run"), r"needs fsspec: pip install 'pytest-riskguard\[remote\]'", UsageError)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "s3fs", None)
    is_refused(Path("s3://bucket/run"), r"^s3://bucket/run: Install s3fs", UsageError)
