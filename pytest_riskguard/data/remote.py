"""Files at addresses such as ``s3://bucket/run.gz``: copied to this machine while they are read.

fsspec opens them, with the package that the user has installed for the address. Credentials are found where that
package looks for them, never in an address.
"""

from __future__ import annotations

import atexit
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pytest_riskguard.data.input_files import imported
from pytest_riskguard.errors import FileError, MissingFileError, UsageError
from pytest_riskguard.limits import Limit

#: ``pathlib`` leaves one of the two slashes. One letter before the colon is a drive.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+-]+):/+([^/].*)", re.DOTALL)
_BLOCK = 2**20


def is_address(path: Path | str) -> bool:
    """Whether a path is an address: a scheme, a colon and a slash."""
    return _ADDRESS.fullmatch(Path(path).as_posix()) is not None


def address_of(path: Path | str) -> str:
    """The address that a path was made of; ``UsageError`` for one that hands over secrets or opens others."""
    found = _ADDRESS.fullmatch(Path(path).as_posix())
    assert found is not None
    scheme, rest = found[1].lower(), found[2]
    if "::" in rest:
        raise UsageError(f"{scheme}: expected one address, found several joined by '::'; name the file itself")
    if "@" in rest.split("/")[0] or "?" in rest:  # reports name files
        raise UsageError(
            f"{scheme}: expected an address without user, password or query, since reports name files; give "
            "credentials as the package for this address expects them"
        )
    return f"{scheme}:///{rest}" if scheme in ("file", "local") else f"{scheme}://{rest}"


@contextmanager
def local_copy(path: Path, limit: Limit) -> Iterator[Path]:
    """A copy of the file at an address, under its own name, until the block ends.

    ``FileError`` if it has more bytes than the limit allows, ``MissingFileError`` if it cannot be read. Each
    ``FileError`` about the copy names the address instead.
    """
    address = address_of(path)
    with tempfile.TemporaryDirectory(prefix="riskguard-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, path.name)
        try:
            _copy(address, copy, limit)
            yield copy
        except FileError as error:
            if error.where != copy:
                raise
            raise type(error)(address, error.line, error.fault, error.remedy) from None


def kept_copy(path: Path, limit: Limit) -> Path:
    """A copy of the file at an address that is there until this process ends; errors as ``local_copy``."""
    copies = ExitStack()
    atexit.register(copies.close)
    return copies.enter_context(local_copy(path, limit))


def _copy(address: str, copy: Path, limit: Limit) -> None:
    """Copy what is at an address; what packages raise becomes ``MissingFileError`` of the address."""
    core = imported("fsspec.core", extra="remote", what=f"{address}: an address")
    total = 0
    try:
        files, place = core.url_to_fs(address)
        with files.open(place, "rb") as source, copy.open("wb") as target:
            while block := source.read(_BLOCK):
                total += target.write(block)
                if total > limit.value:
                    raise FileError(copy, None, limit.problem(total))
    except FileError:
        raise
    except FileNotFoundError:
        raise MissingFileError(address, None, "no such file") from None
    except ImportError as problem:  # it names the package for this address
        raise UsageError(f"{address}: {problem}") from None
    except Exception as problem:
        raise MissingFileError(address, None, f"cannot be read ({type(problem).__name__}: {problem})") from None
