"""What the judged commit changed is said beside the outcome in every format, changes no verdict, and is data."""

import json

import jsonschema
import pytest

from pytest_riskguard.reports.ci import comment, github, junit
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.html import render as html
from pytest_riskguard.reports.json import dumps, read
from pytest_riskguard.reports.markdown import render as markdown
from tests.reports.hostile import verdict_with
from tests.reports.schema import SCHEMA_FILE

SAID = (
    "changed by this pull request: gate no-collapse removed; tolerance of no-risk 0.01 -> 0.05; "
    "baseline prod replaced"
)
VERDICT = verdict_with("calm")
RUN = comment.Run("abc1234")


def in_markdown(*said: str) -> str:
    return markdown(Report([VERDICT], policy_changes=said))


def in_a_short_markdown(*said: str) -> str:
    return markdown(Report([VERDICT] * 40, policy_changes=said), limit=3000)


def in_html(*said: str) -> str:
    return html(Report([VERDICT], policy_changes=said))


def in_a_comment(*said: str) -> str:
    return comment.verdict(RUN, Report([VERDICT], policy_changes=said))


def in_junit(*said: str) -> str:
    return junit.render(Report([VERDICT], policy_changes=said))


TEXTS = [in_markdown, in_a_short_markdown, in_html, in_a_comment, in_junit]


@pytest.mark.parametrize("write", TEXTS)
def test_every_format_says_it(write):
    said = write(SAID).replace("-&gt;", "->").replace("→", "->")
    assert SAID in said


def test_a_comment_says_it_before_what_happened():
    lines = in_a_comment(SAID).splitlines()
    (place,) = [place for place, line in enumerate(lines) if line.startswith("⚠️ changed by this pull request")]
    assert place <= 5


def test_github_gets_a_notice_and_no_error(monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    report = Report([VERDICT], policy_changes=[SAID, "half of it"])
    assert github.told(report, []) == [
        f"::notice title=riskguard::{SAID}",
        "::notice title=riskguard::half of it",
    ]
    assert github.told(report._replace(verdicts=[]), []) == []


def test_json_has_it_at_the_top_with_the_same_verdicts_and_gives_it_back(tmp_path):
    without, text = json.loads(dumps(Report([VERDICT]))), dumps(Report([VERDICT], policy_changes=[SAID]))
    document = json.loads(text)
    assert document["policy_changes"] == [SAID]
    assert {key: value for key, value in document.items() if key != "policy_changes"} == without
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    assert read(tmp_path / "r.json").policy_changes == (SAID,)
