"""Which changes of an expression does no test notice? A pytest plugin, for any tests and any part of the package.

``python -m pytest -p tests.mutants -p no:xdist --mutate risk tests/risk`` runs the tests, to see which functions each
enters; then it changes one expression after another and runs the tests that enter its function in a forked process,
the quickest first, until one fails. Changes that none notices are printed, and the run fails if they are more than a
tenth. A test that starts other processes notices nothing there: these run the package as it is.
"""

from __future__ import annotations

import ast
import gc
import importlib
import os
import pkgutil
import random
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

PACKAGE = Path(__file__).resolve().parents[1] / "pytest_riskguard"
#: The share of changes that tests must notice; a change whose tests take longer than so many seconds is noticed.
MIN_NOTICED, SECONDS = 0.9, 60
OTHER: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.USub: ast.UAdd},
}
#: A function by its file, first line and name.
Place = tuple[str, int, str]


def pytest_addoption(parser: pytest.Parser) -> None:
    """What is changed, and how often."""
    parser.addoption("--mutate", default="", help="a folder or file of the package, or the beginning of its path")
    parser.addoption("--mutants", type=int, default=100, help="so many changes, drawn with --seed")
    parser.addoption("--seed", type=int, default=0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run the tests as they are, then on each change."""
    settings.register_profile("mutants", parent=settings(), phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutants")  # a failure need not be made small to be one
    for module in pkgutil.walk_packages([str(PACKAGE)], "pytest_riskguard."):
        importlib.import_module(module.name)
    tests: dict[Place, list[tuple[float, pytest.Item]]] = defaultdict(list)
    for item in session.items:
        entered: set[Place] = set()
        sys.setprofile(lambda frame, *_, into=entered: into.add(place(frame.f_code)))
        started = time.process_time()
        failed = has_failed(item)
        sys.setprofile(None)
        if failed:
            raise session.Failed(f"{item.nodeid} fails as it is")
        for function in entered:
            tests[function].append((time.process_time() - started, item))
    functions = defaultdict(list)
    for found in gc.get_objects():
        if isinstance(found, FunctionType) and place(found.__code__) in tests:
            functions[place(found.__code__)].append(found)
    option = session.config.option
    drawn = [change for path in sorted(PACKAGE.rglob(f"{option.mutate}*")) for change in changes_below(path)]
    random.Random(option.seed).shuffle(drawn)
    survivors, tried = [], 0
    for path, number in drawn:
        said, tree = changed(path, number)
        new = [code for code in codes(compile(tree, str(path), "exec")) if place(code) in functions]
        pairs = [(old, code) for code in new for old in functions[place(code)] if old.__code__ != code]
        waiting = {item: seconds for old, _ in pairs for seconds, item in tests[place(old.__code__)]}
        if not waiting or tried == option.mutants:
            continue
        tried += 1
        if not is_noticed(pairs, sorted(waiting, key=lambda item: waiting[item])):
            survivors.append(said)
    print(*survivors, f"{len(survivors)} of {tried} changes survive", sep="\n")
    session.testsfailed = int(len(survivors) > (1 - MIN_NOTICED) * tried)
    return True


def place(code: CodeType) -> Place:
    return code.co_filename, code.co_firstlineno, code.co_qualname


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes(inner)


def changes_below(path: Path) -> Iterator[tuple[Path, int]]:
    for file in sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.suffix == ".py" else []:
        yield from ((file, number) for number in range(len(expressions(ast.parse(file.read_text("utf-8"))))))


def expressions(tree: ast.AST) -> list[Any]:
    """What can be changed: comparisons, operators, numbers, conditions and results."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare | ast.If | ast.IfExp)
        or (isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp) and type(node.op) in OTHER)
        or (isinstance(node, ast.Constant) and isinstance(node.value, int | float))
        or (isinstance(node, ast.Return) and node.value is not None)
    ]


def changed(path: Path, number: int) -> tuple[str, ast.Module]:
    """The line and what became of it, and the whole module."""
    tree = ast.parse(path.read_text("utf-8"))
    node: Any = expressions(tree)[number]
    before = ast.unparse(node).split("\n")[0]
    if isinstance(node, ast.Compare):
        node.ops[0] = OTHER[type(node.ops[0])]()
    elif isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Constant):
        value: Any = node.value
        node.value = not value if isinstance(value, bool) else value + 1
    elif isinstance(node, ast.Return):
        node.value = ast.Constant(None)
    else:
        node.op = OTHER[type(node.op)]()
    after = ast.unparse(ast.fix_missing_locations(node)).split("\n")[0]
    return f"{path.relative_to(PACKAGE)}:{node.lineno}: {before}  ->  {after}", ast.fix_missing_locations(tree)


def is_noticed(pairs: list[tuple[FunctionType, CodeType]], tests: list[pytest.Item]) -> bool:
    """Whether a test fails in a process of its own, in which functions have this code."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            for function, code in pairs:
                function.__code__ = code
            os._exit(any(map(has_failed, tests)))
        except BaseException:  # whatever a change does to the process that tries it, it was noticed
            os._exit(1)
    return os.waitpid(child, 0)[1] != 0


def has_failed(item: pytest.Item) -> bool:
    return any(report.failed for report in runtestprotocol(item, nextitem=None, log=False))
