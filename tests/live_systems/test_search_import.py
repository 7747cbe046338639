"""Which functions a riskguard.yaml may name: those of the project and those it lists, and no others."""

from __future__ import annotations

import importlib.metadata
import re
import sys

import pytest

from pytest_riskguard.config.load import load_config
from pytest_riskguard.live_systems.candidates import project_of
from pytest_riskguard.live_systems.search_import import NEVER, RefusedSearchError, import_search

PROJECT = """
import functools, os, subprocess
from os import system as imported_system
from builtins import exec as imported_exec
from vendor import decorated, search as vendored, Client, through

def ask(query):
    return []

@functools.lru_cache
def cached(query):
    return []

@functools.wraps(os.system)
def wrapping(query):
    return []

@through
def hidden(query):
    return []

@decorated
def library_decorated(query):
    return []

class Engine:
    def query(self, query):
        return []
    def __call__(self, query):
        return []

class Own(Client):
    pass

engine = Engine()
partial = functools.partial(ask)
cached_system = functools.lru_cache(os.system)
partial_system = functools.partial(functools.partial(os.system))
client = Client()
own = Own()
number = 3
exec("def generated(query): return []")
"""
VENDOR = """
import functools

def search(query):
    return []

def decorated(function):
    @functools.wraps(function)
    def inner(query):
        return function(query)
    return inner

def through(function):
    return lambda query: function(query)

class Client:
    def query(self, query):
        return []
    def __call__(self, query):
        return []
"""
RAISES = "raise AssertionError('imported')"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project with modules ``own``, ``bag.inner``, an installed ``vendor``, and files that are none of its."""
    root = tmp_path / "project"
    (root / "bag").mkdir(parents=True)
    (root / "spaces").mkdir()
    site = root / ".venv" / "lib" / "site-packages"
    site.mkdir(parents=True)
    plain = root / "environment"
    plain.mkdir()
    (plain / "pyvenv.cfg").touch()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for path, text in {
        root / "own.py": PROJECT,
        root / "bag" / "__init__.py": "",
        root / "bag" / "inner.py": "def ask(query): return []",
        root / "spaces" / "inner.py": "def ask(query): return []",
        root / "queue.py": "def ask(query): return []",
        site / "vendor.py": VENDOR,
        site / "installed.py": RAISES,
        plain / "in_environment.py": RAISES,
        elsewhere / "outside.py": RAISES,
    }.items():
        path.write_text(text)
    (root / "linked.py").symlink_to(elsewhere / "outside.py")
    (root / "compiled.pyc").write_bytes(b"")
    for folder in (site, plain, elsewhere, root):
        monkeypatch.syspath_prepend(folder)
    kept = dict(sys.modules)
    for name in ("queue", "antigravity", "this"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield root
    for name in set(sys.modules) - set(kept):
        del sys.modules[name]


@pytest.mark.parametrize(
    "target",
    [
        "own:ask",
        "own:cached",
        "own:wrapping",
        "own:library_decorated",
        "own:engine",
        "own:engine.query",
        "own:partial",
        "bag.inner:ask",
        "spaces.inner:ask",
        "queue:ask",
    ],
)
def test_functions_that_the_project_defines_are_accepted(root, target):
    assert import_search(target, root=root)("query") == []


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("builtins:exec", "'builtins' is a module of Python's standard library"),
        ("builtins:eval", "standard library"),
        ("os:system", "'os' is a module of Python's standard library"),
        ("os.path:join", "standard library"),
        ("posix:system", "standard library"),
        ("subprocess:getoutput", "standard library"),
        ("antigravity:fly", "standard library"),
        ("this:s", "standard library"),
        ("__main__:run", "not called|not part|No module"),
        ("numpy:load", "'numpy' is a module of riskguard or its dependencies"),
        ("pip:main", "riskguard or its dependencies"),
        ("pytest:main", "riskguard or its dependencies"),
        ("pytest_riskguard.cli:main", "riskguard or its dependencies"),
        ("own:imported_exec", "builtins.exec comes with Python"),
        ("own:imported_system", r"(posix|nt).system comes with Python"),
        ("own:os.system", "comes with Python"),
        ("own:subprocess.getoutput", "subprocess.getoutput comes with Python"),
        ("own:cached_system", "comes with Python"),
        ("own:partial_system", "comes with Python"),
        ("own:generated", "generated is defined in 'own', outside the project"),
        ("own:hidden", "is defined in 'vendor', outside the project"),
        ("own:vendored", "vendor.search is defined in 'vendor', outside the project"),
        ("own:client", "vendor.Client.__call__ is defined in 'vendor'"),
        ("own:client.query", "Client.query is defined in 'vendor'"),
        ("own:own", "is defined in 'vendor'"),
        ("own:Client", "comes with Python|is defined in 'vendor'"),
        ("own:number", "is not a function"),
        ("vendor:search", "module 'vendor' is not part of the project"),
        ("installed:search", "module 'installed' is not part of the project"),
        ("in_environment:search", "module 'in_environment' is not part of the project"),
        ("outside:search", "module 'outside' is not part of the project"),
        ("linked:search", "module 'linked' is not part of the project"),
        ("compiled:search", "module 'compiled' is not part of the project"),
    ],
)
def test_everything_else_is_refused_and_modules_elsewhere_are_not_even_imported(root, target, why):
    with pytest.raises((RefusedSearchError, ModuleNotFoundError), match=why):
        import_search(target, root=root)
    top = target.partition(":")[0]
    if top in ("installed", "in_environment", "outside", "linked", "compiled", "antigravity", "this"):
        assert top not in sys.modules


@pytest.mark.parametrize("listed", ["vendor", "vendor:search"])
def test_a_listed_function_is_accepted(root, listed):
    assert import_search("vendor:search", root=root, listed=[listed])("query") == []
    assert import_search("own:vendored", root=root, listed=["own:vendored"])("query") == []
    with pytest.raises(RefusedSearchError, match="list an installed search in `retrieve_from`"):
        import_search("vendor:decorated", root=root, listed=["vendor:search", "vend", "vendor.search"])


@pytest.mark.parametrize(
    "target", ["builtins:exec", "os:system", "numpy:load", "own:imported_exec", "own:partial_system"]
)
def test_functions_of_python_or_riskguard_are_refused_even_if_listed(root, target):
    with pytest.raises(RefusedSearchError):
        import_search(target, root=root, listed=[target, target.partition(":")[0]])


def test_a_missing_module_or_function_is_an_import_error(root):
    for target in ("nowhere:ask", "own.inner:ask", "bag.nowhere:ask"):
        with pytest.raises(ModuleNotFoundError, match=re.escape(f"No module named {target.partition(':')[0]!r}")):
            import_search(target, root=root)
    with pytest.raises(AttributeError, match="nothing"):
        import_search("own:nothing", root=root)


def test_every_dependency_of_riskguard_is_named():
    names, todo = set(), ["pytest-riskguard", "pip", "setuptools", "wheel"]
    while todo:
        try:
            distribution = importlib.metadata.distribution(name := todo.pop())
        except importlib.metadata.PackageNotFoundError:
            continue
        if name in names:
            continue
        names.add(name)
        wanted = [r for r in distribution.requires or () if "extra ==" not in r or "'report'" in r or '"report"' in r]
        todo += [re.match(r"[A-Za-z0-9._-]+", requirement).group() for requirement in wanted]
    by_module = importlib.metadata.packages_distributions()
    normal = {re.sub(r"[-_.]+", "-", name).lower() for name in names}
    modules = {
        module
        for module, owners in by_module.items()
        if normal & {re.sub(r"[-_.]+", "-", owner).lower() for owner in owners}
    }
    # Python 3.13 lists the folder of compiled files too.
    modules = {module for module in modules if module.isidentifier() and module != "__pycache__"}
    installed = {module for module in modules if not module.endswith("__mypyc")}
    assert {"numpy", "pytest", "yaml"} <= installed
    assert installed <= NEVER | set(sys.stdlib_module_names), sorted(installed - NEVER)


def test_the_project_is_the_repository_around_riskguard_yaml(tmp_path):
    folder = tmp_path / "repository" / "evaluation"
    folder.mkdir(parents=True)
    (folder / "riskguard.yaml").write_text("collection: {qrels: qrels.txt}\nstore: baselines\n")
    settings = load_config(folder / "riskguard.yaml", require_gates=False)
    assert project_of(settings) == folder
    assert project_of(settings, rootdir=tmp_path) == tmp_path
    assert project_of(settings, rootdir=tmp_path / "elsewhere") == folder
    (tmp_path / "repository" / ".git").mkdir()
    assert project_of(settings) == project_of(settings, rootdir=tmp_path) == tmp_path / "repository"
