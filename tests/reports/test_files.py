"""Reports in the format that their name asks for."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest

from pytest_riskguard.errors import UsageError
from pytest_riskguard.reports import files
from tests.plugin.world import LOSS
from tests.reports.terminal.test_failure import verdict


@pytest.fixture
def without_extra(monkeypatch):
    def ensure_available() -> None:
        raise UsageError("HTML needs the extra [report]: pip install 'pytest-riskguard[report]'")

    module = types.ModuleType("pytest_riskguard.reports.html")
    module.ensure_available = ensure_available  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pytest_riskguard.reports.html", module)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("r.json", files.JSON),
        ("r.md", files.MARKDOWN),
        ("r.html", files.HTML),
        ("r.htm", files.HTML),
        ("R.HTML", files.HTML),
        ("a.json.md", files.MARKDOWN),
    ],
)
def test_the_suffix_chooses(name, kind):
    assert files.format_of(Path(name)) is kind


@pytest.mark.parametrize("name", ["r.xml", "r", ".json", "r.md.gz", "r."])
def test_an_unknown_suffix_is_refused_with_those_there_are(name):
    with pytest.raises(UsageError, match=r"expected \.json, \.md, \.html or \.htm"):
        files.check(Path(name))


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no folder"):
        files.check(tmp_path / "nowhere" / "r.md")


def test_html_without_its_extra_is_refused_and_the_others_are_not(tmp_path, without_extra):
    with pytest.raises(UsageError, match=r"pip install 'pytest-riskguard\[report\]'"):
        files.check(tmp_path / "r.html")
    for name in ("r.json", "r.md"):
        files.check(tmp_path / name)
        files.write(tmp_path / name, [verdict(LOSS)])
    assert json.loads((tmp_path / "r.json").read_text())["verdicts"][0]["outcome"] == "fail"
    assert (tmp_path / "r.md").read_text().startswith("## riskguard: Don't ship: 1 gate failed\n")


def test_a_format_can_be_given_for_any_name(tmp_path):
    files.write(tmp_path / "comment.txt", [], kind=files.MARKDOWN)
    assert "no gate was judged" in (tmp_path / "comment.txt").read_text()
