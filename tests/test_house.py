"""The counts of ``python -m tests.house``."""

from __future__ import annotations

import pytest

from tests import house

MODULE = '''
class Result:
    """A number."""

    value: float
    name: str = ""

    def shown(self) -> str:
        """In a line."""
        return self.name
'''


@pytest.fixture
def counted(tmp_path, monkeypatch):
    package = tmp_path / "pytest_riskguard"
    for name in ("a/result.py", "b/result.py", "b/other.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(MODULE if name == "a/result.py" else "", encoding="utf-8")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "page.md").write_text("# Two words\n", encoding="utf-8")
    for name, value in (("CHECKOUT", tmp_path), ("PACKAGE", package), ("DOCS", docs)):
        monkeypatch.setattr(house, name, value)
    house._nodes.cache_clear()
    yield
    house._nodes.cache_clear()


@pytest.mark.usefixtures("counted")
def test_counts_name_what_they_count():
    assert {name: str(limit.largest) for name, limit in house.limits().items()} == {
        "modules": "3 (pytest_riskguard)",
        "lines": "10 (pytest_riskguard)",
        "largest module": "10 (pytest_riskguard/a/result.py)",
        "longest function": "3 (pytest_riskguard/a/result.py: shown)",
        "fields of a class": "2 (pytest_riskguard/a/result.py: Result)",
        "largest folder": "2 (pytest_riskguard/b)",
        "words of docs": "3 (docs)",
    }
    assert house.repeated_names() == {"result.py": ["pytest_riskguard/a/result.py", "pytest_riskguard/b/result.py"]}


@pytest.mark.parametrize(
    "name", ["largest module", "longest function", "fields of a class", "largest folder", "words of docs"]
)
def test_a_count_stays_within_its_limit(name):
    limit = house.limits()[name]
    assert limit.holds, limit


def test_a_file_name_occurs_twice_only_where_folders_mirror_each_other():
    mirrored = [{"gates", "gates/pool"}, {"reports/html", "reports/markdown"}]
    for name, paths in house.repeated_names().items():
        folders = {path.removeprefix("pytest_riskguard/").removesuffix(f"/{name}") for path in paths}
        assert folders in mirrored, name


def test_a_limit_holds_up_to_its_maximum():
    assert house.Limit(house.Count(20, "a"), 20).holds
    assert not house.Limit(house.Count(21, "a"), 20).holds
