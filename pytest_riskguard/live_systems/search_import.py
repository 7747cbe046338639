"""Imports the search that a riskguard.yaml names, and nothing else: YAML must not be able to run any other code.

It accepts functions that the project defines in Python files below its root, and functions that ``retrieve_from``
lists, for search code that is installed. Functions that come with Python or with riskguard's own dependencies are
never accepted, listed or not. Importing runs code, so modules are looked up and checked before they are imported, and
the function once more afterwards, since a module may have imported it from elsewhere.
"""

from __future__ import annotations

import functools
import importlib
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from operator import attrgetter
from pathlib import Path
from types import CodeType
from typing import Any

#: Top-level modules of riskguard, its dependencies and its installers: none of their functions is a search.
NEVER = frozenset(
    [
        "__editable___",
        "_distutils_hack",
        "_pytest",
        "_yaml",
        "annotated_types",
        "attr",
        "attrs",
        "click",
        "colorama",
        "cwl_eval",
        "debian",  # of the setuptools that Debian packages
        "execnet",
        "filelock",
        "iniconfig",
        "ir_measures",
        "jinja2",
        "jsonschema",
        "jsonschema_specifications",
        "markdown_it",
        "markupsafe",
        "mdurl",
        "narwhals",
        "numpy",
        "packaging",
        "pip",
        "pkg_resources",
        "pluggy",
        "py",
        "pydantic",
        "pydantic_core",
        "pygments",
        "pytest",
        "pytest_riskguard",
        "pytrec_eval",
        "pytrec_eval_ext",
        "referencing",
        "rich",
        "rpds",
        "scipy",
        "setuptools",
        "tomli",
        "typing_extensions",
        "typing_inspection",
        "uv",
        "wheel",
        "xdist",
        "yaml",
    ]
)
#: Folders of installed packages.
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_STANDARD_LIBRARY = tuple(
    Path(path).resolve() for name in ("stdlib", "platstdlib") if (path := sysconfig.get_path(name))
)
#: How many wrappers are unwrapped.
_MAX_WRAPPERS = 100


class RefusedSearchError(ValueError):
    """A function that riskguard does not call; the message says why and what to do instead."""


def import_search(target: str, *, root: Path, listed: Sequence[str] = ()) -> Callable[..., Any]:
    """Import ``package.module:function``, which the project below ``root`` must define or ``listed`` must name.

    ``RefusedSearchError`` if it must not be called; also any error that importing it raises. An entry of ``listed``
    names one function, or every function of one module.
    """
    module, _, function = target.partition(":")
    is_listed = module in listed or target in listed
    root = root.resolve()
    _check_name(target, module)
    for spec in _specs(module):
        if not is_listed and not _is_of_project(spec, root):
            where = f"found at {spec.origin}" if spec.has_location else "which is not a Python file"
            raise _refused(target, f"module {spec.name!r} is not part of the project ({where})", root)
    search: Any = attrgetter(function)(importlib.import_module(module))
    if not callable(search):
        raise RefusedSearchError(f"{target!r} is not a function")
    wanted: Callable[..., Any] = search
    layers = list(_layers(search))
    if not any(_is_project_code(layer, root) for layer in layers):
        owner = _owner(layers[-1])
        if owner is None or _is_never(owner):
            raise _refused(target, f"{_called(layers[-1])} comes with Python or with riskguard's dependencies", root)
        if not is_listed:
            raise _refused(target, f"{_called(layers[-1])} is defined in {owner!r}, outside the project", root)
    return wanted


def _refused(target: str, why: str, root: Path) -> RefusedSearchError:
    return RefusedSearchError(
        f"{target!r} is not called: {why}; name a function that a Python file of the project (below {root}) defines, "
        "or list an installed search in `retrieve_from`"
    )


def _check_name(target: str, module: str) -> None:
    top = module.partition(".")[0]
    if _is_never(top) and not _standard_name_of_project(top):
        source = "riskguard or its dependencies" if top in NEVER else "Python's standard library"
        raise RefusedSearchError(
            f"{target!r} is not called: {top!r} is a module of {source}, where no function is a search; "
            "name a function of your own"
        )


def _is_never(module: str) -> bool:
    top = module.partition(".")[0]
    return top in NEVER or top in sys.stdlib_module_names or top.startswith("__editable__")


def _standard_name_of_project(top: str) -> bool:
    """Whether a name of the standard library is another module here, as a ``queue.py`` first on the path is."""
    if top in NEVER or top in sys.builtin_module_names:
        return False
    spec = _spec(top, None)
    return spec is not None and spec.has_location and not _in_standard_library(Path(str(spec.origin)).resolve())


def _specs(module: str) -> Iterator[ModuleSpec]:
    """Specs of a module and the packages around it, not imported; ``ModuleNotFoundError`` if one is missing."""
    path: Sequence[str] | None = None
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        spec = None if end > 1 and path is None else _spec(name, path)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        yield spec
        path = None if spec.submodule_search_locations is None else list(spec.submodule_search_locations)


def _spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """As ``importlib.util.find_spec``, which would import the packages around a module."""
    for finder in sys.meta_path:
        if (find := getattr(finder, "find_spec", None)) is not None and (spec := find(name, path)) is not None:
            return spec if isinstance(spec, ModuleSpec) else None
    return None


def _is_of_project(spec: ModuleSpec, root: Path) -> bool:
    if spec.has_location and spec.origin is not None:
        return _is_project_file(Path(spec.origin), root)
    folders = [Path(folder).resolve() for folder in spec.submodule_search_locations or ()]  # of a namespace package
    return spec.origin is None and bool(folders) and all(_below(folder, root) for folder in folders)


def _is_project_file(path: Path, root: Path) -> bool:
    path = path.resolve()
    return path.suffix == ".py" and path.is_file() and _below(path, root)


def _below(path: Path, root: Path) -> bool:
    """Whether a path is one of the project: not in a virtual environment, a folder of packages or Python itself."""
    if not path.is_relative_to(root) or _in_standard_library(path) or _INSTALLED & set(path.parts):
        return False
    between = [folder for folder in (path, *path.parents) if folder.is_relative_to(root) and folder != root]
    return not any((folder / "pyvenv.cfg").exists() for folder in between)


def _in_standard_library(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in _STANDARD_LIBRARY) and not _INSTALLED & set(path.parts)


def _layers(search: Any) -> Iterator[Any]:
    """What is called in the end: through partials, bound methods, decorators, and the class of a callable object."""
    for _ in range(_MAX_WRAPPERS):
        if isinstance(search, functools.partial):
            search = search.func
            continue
        function = getattr(search, "__func__", search)
        yield function
        if (wrapped := getattr(function, "__wrapped__", None)) is not None:
            search = wrapped
        elif isinstance(function, type):
            yield function.__init__  # type: ignore[misc]
            return
        elif _code(function) is None and _code(call := vars(_defining(function)).get("__call__")) is not None:
            search = call
        else:
            return


def _defining(called: Any) -> type:
    """The class that defines how an object is called."""
    return next((cls for cls in type(called).__mro__ if "__call__" in vars(cls)), type(called))


def _code(function: Any) -> CodeType | None:
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _is_project_code(function: Any, root: Path) -> bool:
    code = _code(function)
    return code is not None and _is_project_file(Path(code.co_filename), root)


def _owner(function: Any) -> str | None:
    """The module that defines a function."""
    code = _code(function)
    if code is not None and _in_standard_library(Path(code.co_filename).resolve()):
        return "builtins"
    for owner in (function, getattr(function, "__objclass__", None), type(getattr(function, "__self__", None))):
        if isinstance(module := getattr(owner, "__module__", None), str):
            return module
    return None


def _called(function: Any) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', None) or 'builtins'}.{name}"
