"""`check`, `compare`, `show` and `comment` say what the judged commit changed about how it is judged."""

import json

import pytest

from tests.plugin.world import edit
from tests.repositories import NEEDS_GIT, commit

pytestmark = NEEDS_GIT
SAID = "changed by this commit: tolerance of no-risk 0 -> 0.05"


@pytest.fixture(autouse=True)
def loosened(folder):
    """The working folder is a repository whose last commit raises the tolerance of its gate."""
    commit(folder, "first")
    edit(folder / "riskguard.yaml", "tolerance: 0,", "tolerance: 0.05,")
    commit(folder, "second")
    return folder


@pytest.mark.parametrize("line", ["check", "check -q", "check -v", "compare good.run --baseline prod"])
def test_the_terminal_lists_the_changes_with_q_too_and_the_status_is_that_of_the_verdicts(done, line):
    out = done(line)
    assert out.splitlines().count(SAID) == 1


def test_a_run_of_files_alone_has_nothing_to_do_with_a_riskguard_yaml(command):
    ended = command("compare good.run --baseline prod.run --qrels qrels.txt")
    assert "changed by" not in ended.out


def test_show_report_and_comment_list_the_changes_of_a_json_report(command, done, loosened, monkeypatch):
    done("check -q -o r.json -o r.md -o r.html -o r.xml")
    for name in ("r.md", "r.html", "r.xml"):
        assert "tolerance of no-risk" in (loosened / name).read_text(encoding="utf-8"), name
    head = commit(loosened, "third")
    for line in ("show r.json", "show r.json -q"):
        assert SAID in command(line).out.splitlines()
    judged = json.loads((loosened / "r.json").read_text(encoding="utf-8"))["provenance"]["commit"]
    assert "tolerance of no-risk" in command(f"comment r.json --commit {judged}").out
    command("report r.json -o again.md")
    assert (loosened / "again.md").read_bytes() == (loosened / "r.md").read_bytes()
    monkeypatch.chdir(loosened.parent)
    report = json.loads(command(f"check --config {loosened}/riskguard.yaml -o -").out)
    assert report["provenance"]["commit"] == head


def test_json_on_standard_output_stays_json(command):
    ended = command("check -o -")
    assert json.loads(ended.out)["policy_changes"]
    assert SAID in ended.err.splitlines()
