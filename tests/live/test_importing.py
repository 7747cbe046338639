"""Where live searches are imported from, in pytest and on the command line, and what is said where they are not."""

import sys

import pytest

from pytest_riskguard.cli.main import run
from pytest_riskguard.errors import DataError
from pytest_riskguard.live.candidates import imported
from pytest_riskguard.live.importing import code_folders, importable_from
from tests.plugin import world


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("pytest.toml", "[pytest]\npythonpath = ['lib']", ["lib", "."]),
        ("pytest.ini", "[pytest]\npythonpath = lib 'my lib'", ["lib", "my lib", "."]),
        ("pyproject.toml", "[tool.pytest]\npythonpath = ['lib']", ["lib", "."]),
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = '.'", ["."]),
        ("pyproject.toml", "[tool.pytest", ["."]),
        ("pyproject.toml", "[project]", ["."]),
        ("tox.ini", "[pytest]\npythonpath = lib", ["lib", "."]),
        ("setup.cfg", "[tool:pytest]\npythonpath =\n  lib\n  more", ["lib", "more", "."]),
        ("../pytest.ini", "[pytest]\npythonpath = lib", ["../lib", "."]),
        ("src/own.py", "", [".", "src"]),
        ("src/__init__.py", "", ["."]),
    ],
)
def test_modules_come_from_the_folders_that_pytest_adds_the_file_s_own_and_src(tmp_path, name, text, found):
    folder = tmp_path / "service"
    folder.mkdir()
    file = (folder / name).resolve()
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    assert code_folders(folder) == [(folder / path).resolve() for path in found]


def test_the_nearest_configuration_of_pytest_counts(tmp_path):
    tmp_path.joinpath("pytest.ini").write_text("[pytest]\npythonpath = lib")
    folder = tmp_path / "service"
    folder.mkdir()
    folder.joinpath("tox.ini").write_text("[pytest]")
    assert code_folders(folder) == [folder]


@pytest.mark.parametrize("place", ["lib", "src", "."])
def test_pytest_and_the_command_import_the_same_search(pytester, place):
    world.write_world(pytester.path, world.GOOD)
    world.edit(pytester.path / "riskguard.yaml", "candidate.run", "{retrieve: 'own:search'}")
    pytester.makepyprojecttoml("[tool.pytest]\npythonpath = ['lib']")
    pytester.path.joinpath(place).mkdir(exist_ok=True)
    code = "def search(query):\n    return ['bad1', 'good']\n"
    pytester.path.joinpath(place, "own.py").write_text(code)
    before = [*sys.path]
    assert run(["check", "-q"]) == 0
    assert sys.path == before
    sys.modules.pop("own")
    pytester.runpytest("--riskguard", "-q").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("absent.engine:search", "No module named 'absent'; expected package.module:function that is installed here"),
        ("needy:search", r"No module named 'redis_of_nobody' \(needy.py:1\); expected .* of pytest's `pythonpath`"),
        ("own_search:serch", "has no attribute 'serch'"),
    ],
)
def test_a_search_that_cannot_be_imported_is_said_with_what_to_write(tmp_path, target, said):
    tmp_path.joinpath("pytest.ini").write_text("[pytest]\npythonpath = lib")
    tmp_path.joinpath("needy.py").write_text("import redis_of_nobody")
    tmp_path.joinpath("own_search.py").write_text("def search(query): pass")
    with importable_from(tmp_path), pytest.raises(DataError, match=said):
        imported(target)
    sys.modules.pop("own_search", None)


@pytest.mark.parametrize("typed", ["engine.py:search", "./src/app/engine.py"])
def test_a_path_in_the_place_of_a_module_is_refused_with_what_to_type(tmp_path, typed, capsys):
    settings = tmp_path / "riskguard.yaml"
    settings.write_text(f"collection: {{qrels: q.txt}}\ncandidate: {{retrieve: '{typed}'}}\ngates: []\n")
    assert run(["check", "--config", str(settings)]) == 2
    said = f"riskguard.yaml:2: candidate.retrieve: expected package.module:function, found '{typed}'"
    assert said in capsys.readouterr().err


def test_two_services_each_import_their_own_module_of_one_name_and_what_was_there_comes_back(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "lib").mkdir(parents=True)
        (tmp_path / name / "service_search.py").write_text("from service_helper import NAME")
        (tmp_path / name / "service_helper.py").write_text(f"NAME = {name!r}")
    found = []
    for name in ("one", "two", "one"):
        with importable_from(tmp_path / name), importable_from(tmp_path / name):
            found.append(imported("service_search:NAME.upper")())
    assert found == ["ONE", "TWO", "ONE"]
    assert sys.modules.pop("service_search").NAME == sys.modules.pop("service_helper").NAME == "one"
