"""Reports in the format that their name asks for."""

from pathlib import Path

import pytest

from pytest_riskguard.errors import UsageError
from pytest_riskguard.reports import files
from pytest_riskguard.reports.json import read
from tests.reports.cases import CASES


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


@pytest.mark.parametrize("name", ["r.txt", "r", ".json", "r.md.gz", "r."])
def test_an_unknown_suffix_is_refused_with_those_there_are(name):
    with pytest.raises(UsageError, match=r"expected \.json, \.md, \.html, \.htm or \.xml"):
        files.check(Path(name))


def test_a_folder_that_is_not_there_and_one_in_place_of_the_file_are_refused(tmp_path):
    (tmp_path / "r.md").mkdir()
    for path, problem in (
        (tmp_path / "nowhere" / "r.md", "there is no folder"),
        (tmp_path / "r.md", "Is a directory"),
    ):
        with pytest.raises(UsageError, match=rf"cannot write \({problem}"):
            files.check(path)


def test_a_verdict_saves_itself_and_errors_name_the_file(tmp_path):
    for suffix in (".json", ".md", ".html", ".xml"):
        CASES["explained"]().save(str(tmp_path / f"r{suffix}"))
        assert (
            "look at the ranking first" in (tmp_path / f"r{suffix}").read_text(encoding="utf-8") or suffix == ".json"
        )
    assert [verdict.outcome for verdict in read(tmp_path / "r.json").verdicts] == ["fail"]
    for name, problem in (("nowhere/r.md", r"cannot write \(there is no folder"), ("r.txt", r".*expected \.json")):
        with pytest.raises(UsageError, match=f"{tmp_path / name}: {problem}"):
            CASES["pass"]().save(tmp_path / name)
