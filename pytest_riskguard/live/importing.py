"""Where code that a riskguard.yaml names is imported from: the same folders in pytest and on the command line."""

from __future__ import annotations

import os
import shlex
import sys
import sysconfig
import tomllib
from collections.abc import Iterable, Iterator
from configparser import ConfigParser
from configparser import Error as ConfigParserError
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

#: The files that may configure pytest, in the order in which it looks, and the table of each.
_CONFIGURATIONS = {
    **dict.fromkeys(("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"), "pytest"),
    **{"pyproject.toml": "tool.pytest", "tox.ini": "pytest", "setup.cfg": "tool:pytest"},
}


def code_folders(folder: Path) -> list[Path]:
    """For the folder of a riskguard.yaml: those of pytest's ``pythonpath``, the folder itself, and its ``src``."""
    source = folder / "src"
    is_package = not source.is_dir() or (source / "__init__.py").exists()
    return list(dict.fromkeys([*_pythonpath(folder), folder, *([] if is_package else [source])]))


#: The folders that code was imported for in this process, and those of libraries and this package, which they share.
_SERVICES = set[Path]()
LIBRARIES = (
    Path(__file__).parents[1],
    *(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
)


@contextmanager
def importable_from(folder: Path) -> Iterator[None]:
    """Import modules from the ``code_folders`` first, until the block ends.

    Meanwhile those that were imported from the folders of other riskguard.yaml are not there: two services may have
    modules of one name.
    """
    paths = list(map(str, code_folders(folder)))
    _SERVICES.add(folder)
    others, shared = _inside(_SERVICES - {folder}), _inside((folder, *LIBRARIES))
    files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
    of_python = (name for name, file in files.items() if file.endswith(".py") and not file.startswith(shared))
    hidden = {name: sys.modules[name] for name in of_python if files[name].startswith(others)}
    for name in hidden:
        del sys.modules[name]
    sys.path[:0] = paths
    try:
        yield
    finally:
        sys.modules.update(hidden)
        for path in paths:
            with suppress(ValueError):  # imported code may have changed it
                sys.path.remove(path)


def _inside(folders: Iterable[Path]) -> tuple[str, ...]:
    """How paths in these folders begin."""
    return tuple(os.path.join(folder, "") for folder in folders)  # noqa: PTH118


def _pythonpath(folder: Path) -> list[Path]:
    """What the nearest configuration of pytest, in this folder or above, adds to Python's path."""
    for base in (folder, *folder.parents):
        for name, table in _CONFIGURATIONS.items():
            if (settings := _settings(base / name, table)) is not None:
                given = settings.get("pythonpath", ())
                paths = shlex.split(given) if isinstance(given, str) else given
                return [Path(os.path.normpath(base / str(path))) for path in paths]
    return []


def _settings(path: Path, table: str) -> Any:
    """A table of a file; None if the file or the table is not there, or cannot be read, as pytest will say."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".toml":
            parser = ConfigParser(interpolation=None)
            parser.read_string(text)
            return parser[table]
        settings = tomllib.loads(text)
        for key in table.split("."):
            settings = settings[key]
        return settings.get("ini_options", settings)
    except (OSError, ValueError, LookupError, AttributeError, ConfigParserError):
        return None
