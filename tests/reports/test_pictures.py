"""Charts as files beside a Markdown report."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import files
from pytest_riskguard.reports.comparisons import Report

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "a](x) ![b](c) <script>alert(1)</script> @octocat \x1b[31m\u202e\ud800"


def judged(topic: str = "", **options: object) -> Verdict:
    """A verdict with the data of its charts, as a report has it."""
    from pytest_riskguard.gates.judge import judge
    from pytest_riskguard.gates.kinds import gate_of
    from tests.plugin.world import LOSS, differences

    pairs = {f"{topic}{name}": pair for name, pair in differences(LOSS).items()}
    topics = tuple(sorted(pairs))
    ours, theirs = (
        TopicScores("x", None, topics, np.array([pairs[name][side] for name in topics])) for side in (1, 0)
    )
    return judge(gate_of(f"gate {topic}", **options), ours, theirs, report=True)  # type: ignore[arg-type]


def test_the_pictures_are_there_and_the_markdown_shows_them(tmp_path):
    path = tmp_path / "my report.md"
    files.write(path, Report([judged(), judged("other ", tolerance=0.5)]), charts=True)
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"^!\[[^\n]*\]\(([\w.-]+)\)$", text, re.MULTILINE)
    assert named == ["my-report.gate-1.svg", "my-report.gate-2.svg", "my-report.gate-other-3.svg"]  # the last passed
    assert {found.name for found in tmp_path.iterdir()} == {path.name, *named}
    for name in named:
        root = ET.parse(tmp_path / name).getroot()  # noqa: S314
        assert float(root.attrib["width"]) > 100
        assert root.find(f"{SVG}rect").attrib["fill"] == "#ffffff"
        assert len(list(root.iter(f"{SVG}text"))) > 3


def test_a_picture_that_several_alphas_share_is_there_once(tmp_path):
    path = tmp_path / "r.md"
    files.write(path, Report([judged(alpha=alpha) for alpha in (0, 1, 5, 10)]), charts=True)
    drawn = [picture.read_text(encoding="utf-8") for picture in tmp_path.glob("*.svg")]
    assert len(drawn) == len({*drawn})
    assert path.read_text(encoding="utf-8").count("![") == len(drawn)


def test_hostile_text_is_data_in_a_picture_and_its_words(tmp_path):
    from tests.reports.test_hostile import MARKDOWN, Page, assert_plain

    path = tmp_path / "r.md"
    files.write(path, Report([judged(HOSTILE)]), charts=True)
    text = path.read_text(encoding="utf-8")
    assert_plain(text)
    tags = Page(MARKDOWN.render(text)).tags
    assert sum(tag == "img" for tag, _ in tags) == 2
    assert not {"script", "a"} & {tag for tag, _ in tags}
    assert all(set(attributes) == {"src", "alt"} for tag, attributes in tags if tag == "img")
    for name in tmp_path.glob("*.svg"):
        assert re.fullmatch(r"[\w.-]+", name.name)
        drawn = name.read_text(encoding="utf-8")
        assert "\x1b" not in drawn
        root = ET.fromstring(drawn)  # noqa: S314
        assert not {"script", "a", "foreignObject", "image"} & {each.tag.removeprefix(SVG) for each in root.iter()}
        assert not any(key.startswith("on") or "href" in key for each in root.iter() for key in each.attrib)


@pytest.mark.slow
def test_charts_need_no_extra(tmp_path):
    code = (
        "import sys\n"
        "for name in ('jinja2', 'markupsafe'): sys.modules[name] = None\n"
        "from pathlib import Path\n"
        "from pytest_riskguard.reports import files\n"
        "from pytest_riskguard.reports.comparisons import Report\n"
        "from tests.reports.test_pictures import judged\n"
        "files.write(Path(sys.argv[1]), Report([judged()]), charts=True)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "r.md")], check=True)
    assert len(list(tmp_path.glob("*.svg"))) == 2
