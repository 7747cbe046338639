"""Every page does what it says: its files are written, its commands run, its output compared."""

import shutil

import pytest

from tests.docs.exports import EXPORTS
from tests.docs.pages import DOCS, PAGES, Player, as_pattern, blocks, normalised, played

TUTORIAL = DOCS / "tutorial.md"
#: Played by the quick tests; CI plays all.
QUICK = ("how-to/use-per-topic-scores.md",)
PLAYED = [page.relative_to(DOCS).as_posix() for page in PAGES if page != TUTORIAL and played(page)]


@pytest.mark.slow
def test_the_tutorial_does_what_it_says(tutorial):
    assert (tutorial / "baselines/prod/manifest.json").is_file()


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PLAYED]
)
def test_a_page_does_what_it_says(name, tmp_path, request):
    page = DOCS / name
    folder = tmp_path / "page"
    starts = [block.argument for block in blocks(page) if block.action == "start"]
    if starts:
        (start,) = starts
        assert start in ("tutorial", "help_center", *EXPORTS)
        is_example = start == "help_center"
        source = DOCS.parent / "examples/help_center" if is_example else request.getfixturevalue("tutorial")
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
        EXPORTS.get(start, lambda _: None)(folder)
    else:
        folder.mkdir()
    Player(folder, page).play()


@pytest.mark.parametrize(
    ("said", "printed", "same"),
    [
        ("a 0.1\n", "a 0.1\n", True),
        ("a 0.1\n", "a 0.2\n", False),
        ("a ...\n", "a 0.2\n", True),
        ("a\n...\nb\n", "a\nx\ny\nb\n", True),
        ("a\n...\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nx\nb\n", False),
        ("", "a\n", False),
        ("==== 1 passed in 0.12s ====\n", "======= 1 passed in 1.34s =====\n", True),
    ],
)
def test_output_is_compared_to_the_letter_but_for_what_differs_each_time(said, printed, same):
    import re

    assert bool(re.fullmatch(as_pattern(said), normalised(printed))) is same


def test_a_page_that_says_something_else_is_found_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- run -->\n```console\n$ echo one\ntwo\n```\n")
    with pytest.raises(AssertionError, match="the page says"):
        Player(tmp_path, page).play()
    page.write_text("<!-- run -->\n```console\n$ exit 3\n```\n")
    with pytest.raises(AssertionError, match="status 3"):
        Player(tmp_path, page).play()
    page.write_text("<!-- run -->\n```console\n$ exit 3\n$ echo $?\n3\n```\n")
    Player(tmp_path, page).play()


def test_a_script_is_left_out_where_a_module_is_not_installed(tmp_path):
    page = tmp_path / "page.md"
    script = "```python\nprint(1)\n```\n<!-- output -->\n```text\n2\n```\n"
    page.write_text(f"<!-- python: json no_such_module -->\n{script}")
    Player(tmp_path, page).play()
    page.write_text(f"<!-- python: json -->\n{script}")
    with pytest.raises(AssertionError, match="the page says"):
        Player(tmp_path, page).play()
