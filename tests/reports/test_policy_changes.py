"""What the judged commit changed is said beside the outcome in every format, changes no verdict, and is data."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import jsonschema
import pytest

from pytest_riskguard.reports.ci import comment, github, junit
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.html import render as html
from pytest_riskguard.reports.json import dumps, read
from pytest_riskguard.reports.markdown import render as markdown
from pytest_riskguard.reports.policy_changes import Change, PolicyChanges
from tests.reports.hostile import NAMES, STRINGS, verdict_with
from tests.reports.schema import SCHEMA_FILE
from tests.reports.test_hostile import assert_plain

POLICY = PolicyChanges(
    pull_request=True,
    changes=(
        Change("riskguard.yaml", "gate no-collapse removed"),
        Change("riskguard.yaml", "tolerance of no-risk 0.01 -> 0.05"),
        Change("riskguard.yaml", "baseline prod replaced"),
        Change("riskguard.yaml", "4 looks added to the ledger"),
    ),
)
SAID = (
    "changed by this pull request: gate no-collapse removed; tolerance of no-risk 0.01 -> 0.05; "
    "baseline prod replaced; 4 looks added to the ledger"
)
VERDICT = verdict_with("calm")
RUN = comment.Run("abc1234")


def in_markdown(policy: PolicyChanges) -> str:
    return markdown(Report([VERDICT], policy_changes=policy.lines))


def in_a_short_markdown(policy: PolicyChanges) -> str:
    return markdown(Report([VERDICT] * 40, policy_changes=policy.lines), limit=3000)


def in_html(policy: PolicyChanges) -> str:
    return html(Report([VERDICT], policy_changes=policy.lines))


def in_a_comment(policy: PolicyChanges) -> str:
    return comment.verdict(RUN, Report([VERDICT], policy_changes=policy.lines))


def in_junit(policy: PolicyChanges) -> str:
    return junit.render(Report([VERDICT], policy_changes=policy.lines))


TEXTS = [in_markdown, in_a_short_markdown, in_html, in_a_comment, in_junit]


@pytest.mark.parametrize("write", TEXTS)
def test_every_format_says_it(write):
    said = write(POLICY).replace("-&gt;", "->").replace("→", "->")
    assert SAID in said


def test_a_comment_says_it_before_what_happened():
    lines = in_a_comment(POLICY).splitlines()
    (place,) = [place for place, line in enumerate(lines) if line.startswith("⚠️ changed by this pull request")]
    assert place <= 5


def test_github_gets_a_notice_at_each_file_and_no_error():
    other = Change("b/riskguard.yaml", "b/riskguard.yaml added")
    first, second, third = github.notices(replace(POLICY, changes=(*POLICY.changes, other), unknown="half of it"))
    assert first.startswith(
        "::notice file=riskguard.yaml,line=1,title=riskguard::changed by this pull request: gate "
    )
    assert second == (
        "::notice file=b/riskguard.yaml,line=1,title=riskguard::changed by this pull request: b/riskguard.yaml added"
    )
    assert third == "::notice title=riskguard::half of it"


def test_json_has_it_at_the_top_with_the_same_verdicts_and_gives_it_back(tmp_path):
    without, text = json.loads(dumps(Report([VERDICT]))), dumps(Report([VERDICT], policy_changes=POLICY.lines))
    document = json.loads(text)
    assert document["policy_changes"] == [SAID]
    assert {key: value for key, value in document.items() if key != "policy_changes"} == without
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    assert read(tmp_path / "r.json").policy_changes == (SAID,)


def test_where_nothing_changed_nothing_is_said():
    assert "policy_changes" not in dumps(Report([VERDICT]))
    assert "changed by this" not in markdown(Report([VERDICT])) + html(Report([VERDICT])) + junit.render(
        Report([VERDICT])
    )


@pytest.mark.parametrize("name", NAMES)
def test_text_of_others_is_data_in_every_format(name):
    text = STRINGS[name]
    change = Change(text or "f", f"tolerance of {text} 0 -> {text}")
    policy = PolicyChanges(pull_request=False, changes=(change,), unknown=f"because {text}")
    for line in policy.lines:
        assert_plain(line)
    for notice in github.notices(policy):
        assert notice.startswith("::notice ")
        assert "\n" not in notice
    assert_plain(in_markdown(policy).replace("## riskguard", ""))
    assert_plain(in_a_comment(policy).replace("### ", ""))
    ElementTree.fromstring(in_junit(policy))  # noqa: S314
    assert json.loads(dumps(Report([VERDICT], policy_changes=policy.lines)))
