"""What teams copy into their CI, and the action: they parse, may do no more than they must, and do what they say."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_riskguard.reports.comparisons import Report
from tests.house import CHECKOUT
from tests.reports.hostile import STRINGS, verdict_with

#: Each starts processes of its own.
pytestmark = pytest.mark.slow

CI = CHECKOUT / "examples" / "ci"
OWN_ACTION = "pytest-riskguard/pytest-riskguard@v1"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def workflow(name: str) -> Any:
    return yaml.safe_load((CI / name).read_text(encoding="utf-8"))


ACTION = yaml.safe_load((CHECKOUT / "action.yml").read_text(encoding="utf-8"))
GITHUB, COMMENTING, REFRESHING, GITLAB = map(
    workflow, ("riskguard.yml", "riskguard-comment.yml", "refresh-baseline.yml", "gitlab-ci.yml")
)
JENKINS = (CI / "Jenkinsfile").read_text(encoding="utf-8")
#: What `on` is in YAML 1.1.
ON = True


def all_steps() -> Iterator[dict[str, Any]]:
    yield from ACTION["runs"]["steps"]
    for found in (GITHUB, COMMENTING, REFRESHING):
        for job in found["jobs"].values():
            yield from job["steps"]


def script(steps: list[dict[str, Any]], name: str) -> str:
    (found,) = [step["run"] for step in steps if step.get("name") == name]
    return str(found)


def using(steps: list[dict[str, Any]], action: str) -> list[dict[str, Any]]:
    return [step for step in steps if action in step.get("uses", "")]


# ---- GitHub: what may be done


def test_actions_of_others_are_pinned_to_a_commit():
    used = [step["uses"] for step in all_steps() if "uses" in step]
    assert OWN_ACTION in used
    assert [
        name for name in used if name != OWN_ACTION and not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", name)
    ] == []
    texts = [
        (CHECKOUT / "action.yml"),
        *(CI / name for name in ("riskguard.yml", "riskguard-comment.yml", "refresh-baseline.yml")),
    ]
    lines = [
        line for path in texts for line in path.read_text(encoding="utf-8").splitlines() if "uses: actions/" in line
    ]
    assert all(re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line) for line in lines)
    commits: dict[str, set[str]] = {}
    for name in used:
        commits.setdefault(name.split("@")[0], set()).add(name)
    assert all(len(names) == 1 for names in commits.values())


def test_no_script_has_text_of_others_pasted_into_it():
    scripts = [step["run"] for step in all_steps() if "run" in step]
    assert len(scripts) >= 8
    assert [script for script in scripts if "${{" in script] == []


def test_the_token_of_the_gate_may_only_read():
    assert GITHUB["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in GITHUB["jobs"].values())
    assert set(GITHUB[ON]) == {"pull_request", "merge_group"}
    assert GITHUB["concurrency"]["group"].startswith("riskguard-${{ github.event.pull_request.number")
    assert "pull_request" in GITHUB["concurrency"]["cancel-in-progress"]
    assert all(step["with"]["persist-credentials"] is False for step in using(list(all_steps()), "checkout"))


def test_the_job_that_judges_runs_nothing_of_the_pull_request():
    jobs = GITHUB["jobs"]
    search, gate = jobs["search"]["steps"], jobs["gate"]["steps"]
    (checkout,) = using(gate, "checkout")
    assert checkout["with"]["ref"] == "${{ env.BASE }}"
    assert "base.sha" in GITHUB["env"]["BASE"]
    assert "base_sha" in GITHUB["env"]["BASE"]
    assert jobs["gate"]["needs"] == "search"
    (handed,), (fetched,) = using(search, "upload-artifact"), using(gate, "download-artifact")
    assert handed["with"]["name"] == fetched["with"]["name"]
    assert handed["with"]["path"] == "candidate.run"
    assert fetched["with"]["path"] == "handed-over"
    assert not using(gate, "actions/cache")  # the other job could have written it
    assert not any("cache" in step.get("with", {}) for step in gate)


def test_the_job_that_judges_fails_if_the_search_did_not_succeed(tmp_path):
    # a job that `needs` skips is a required check that passed
    gate = GITHUB["jobs"]["gate"]
    assert gate["if"] == "always()"
    assert gate["steps"][0]["if"] == "needs.search.result != 'success'"
    ended = run_step(tmp_path, gate["steps"][0]["run"])
    assert ended.returncode == 1
    assert ended.stdout.startswith("::error::there is no run to judge")


def test_the_workflow_that_may_comment_runs_nothing_of_the_pull_request():
    assert COMMENTING["permissions"] == {}
    job = COMMENTING["jobs"]["comment"]
    assert job["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert COMMENTING[ON] == {"workflow_run": {"workflows": [GITHUB["name"]], "types": ["requested", "completed"]}}
    assert not using(job["steps"], "checkout")
    (fetched,) = using(job["steps"], "download-artifact")
    assert fetched["with"]["name"] == ACTION["inputs"]["artifact"]["default"]
    assert fetched["with"]["path"] == "handed-over"
    assert fetched["continue-on-error"] is True
    assert "head_sha" in COMMENTING["concurrency"]["group"]


def test_the_action_keeps_no_cache_unless_asked():
    assert ACTION["inputs"]["cache"]["default"] == "false"
    (cache,) = using(ACTION["runs"]["steps"], "actions/cache")
    assert cache["if"] == "inputs.cache == 'true'"
    assert all(step["shell"] == "bash" for step in ACTION["runs"]["steps"] if "run" in step)
    given = using(GITHUB["jobs"]["gate"]["steps"], OWN_ACTION)[0]["with"]
    assert set(given) <= set(ACTION["inputs"])


# ---- GitHub: what is done


@pytest.fixture
def workspace(tmp_path):
    """Two checkouts side by side, as the workflow makes them."""
    for side in ("base", "candidate"):
        shutil.copytree(CHECKOUT / "examples", tmp_path / side / "examples")
    (tmp_path / "temp").mkdir()
    return tmp_path


def path(folder: Path) -> str:
    """Where programs are looked for."""
    return os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])


def program(folder: Path, name: str, text: str = "#!/bin/sh\n") -> None:
    """Stands for a program: found in a folder before the one of this machine."""
    file = folder / "bin" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


def run_step(folder: Path, text: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(CHECKOUT),
        "GITHUB_OUTPUT": str(folder / "output.txt"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "RUNNER_TEMP": str(folder / "temp"),
        "RUNNER_OS": "Linux",
        "PATH": path(folder),
        "COLUMNS": "120",
        "PYTEST_ADDOPTS": "-p no:hypothesispytest",
        **more,
    }
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", text], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def judge(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step of the action that judges."""
    given = {"CHECK": "", "COMPARE": "", "PYTEST": "", **inputs}
    return run_step(folder, script(ACTION["runs"]["steps"], "Judge"), **given)


def compared(workspace: Path, system: str) -> subprocess.CompletedProcess[str]:
    """All steps of the workflow up to the gate, as one machine."""
    search, gate = GITHUB["jobs"]["search"]["steps"], GITHUB["jobs"]["gate"]["steps"]
    for text in (
        script(search, "Run the candidate").replace("improved", system),
        script(gate, "Run the baseline"),
        "mkdir handed-over && mv candidate.run handed-over/",
        script(gate, "Take the candidate's run"),
    ):
        step = run_step(workspace, text)
        assert step.returncode == 0, step.stderr
    return judge(workspace, CHECK=using(gate, OWN_ACTION)[0]["with"]["check"])


@pytest.mark.parametrize(
    ("system", "status", "said"),
    [("improved", 0, "Ship: 3 gates passed\n"), ("synonyms", 1, "Don't ship: 2 of 3 gates failed\n")],
)
def test_both_branches_are_compared_and_the_report_is_kept(workspace, system, status, said):
    ended = compared(workspace, system)
    assert ended.returncode == status, ended.stdout + ended.stderr
    annotation = r"^::error file=\S+/riskguard.yaml,line=\d+,title=riskguard%3A (tail|no-collapse)::"
    assert len(re.findall(annotation, ended.stdout, re.MULTILINE)) == 2 * status
    assert "candidate against prod" in ended.stdout
    assert (workspace / "summary.md").read_text(encoding="utf-8").startswith(f"## riskguard: {said}")
    assert (workspace / "output.txt").read_text() == f"status={status}\n"
    kept = workspace / "temp" / "riskguard-report"
    assert sorted(path.name for path in kept.iterdir()) == ["verdict.html", "verdict.json"]


def test_runs_without_a_riskguard_yaml_are_compared(workspace):
    folder = workspace / "base" / "examples" / "help_center"
    made = run_step(workspace, f"cd {folder} && python help_search.py prod queries.tsv > ../../../base.run")
    assert made.returncode == 0, made.stderr
    text = f"base.run --baseline other=base.run --qrels {folder}/qrels.txt"
    assert judge(workspace, COMPARE=text).returncode == 2  # a file cannot be compared with itself
    (workspace / "copy.run").write_bytes((workspace / "base.run").read_bytes())
    ended = judge(workspace, COMPARE=text.replace("base.run", "copy.run", 1))
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_pytest_must_judge_every_gate(workspace):
    folder = workspace / "base" / "examples" / "help_center"
    (folder / "temp").mkdir()
    assert judge(folder, PYTEST="-k tail").returncode == 1


@pytest.mark.parametrize(
    "given",
    [
        {"CHECK": "--help"},
        {"COMPARE": "a.run -h"},
        {"PYTEST": "--help"},
        {"PYTEST": "-p ends", "PYTHONPATH": "."},
    ],
)
def test_a_command_that_succeeds_without_a_verdict_is_red(workspace, given):
    folder = workspace / "base" / "examples" / "help_center"
    (folder / "temp").mkdir()
    (folder / "ends.py").write_text("def pytest_cmdline_main():\n    return 0\n")
    ended = judge(folder, **given)
    assert ended.returncode == 1
    assert ended.stdout.splitlines()[-1].startswith("::error::no verdict: ")
    assert not (folder / "output.txt").exists()


@pytest.mark.parametrize(
    "given", [{"PYTEST": "-k 'no-risk"}, {"COMPARE": 'a.run --baseline "b.run'}, {"CHECK": "'a"}]
)
def test_nothing_is_judged_with_arguments_that_cannot_be_split(workspace, given):
    ended = judge(workspace / "base" / "examples" / "help_center", RUNNER_TEMP=str(workspace / "temp"), **given)
    assert ended.returncode == 1
    assert "No closing quotation" in ended.stderr
    assert ended.stdout == ""
    assert not (workspace / "output.txt").exists()


def test_only_a_file_is_taken_from_what_was_handed_over(workspace):
    take = script(GITHUB["jobs"]["gate"]["steps"], "Take the candidate's run")
    handed = workspace / "handed-over"
    handed.mkdir()
    (handed / "candidate.run").symlink_to("/etc/passwd")
    (handed / "conftest.py").write_text("")
    assert run_step(workspace, take).returncode == 1
    (handed / "candidate.run").unlink()
    (handed / "candidate.run").write_text("1 Q0 d 1 1.0 x\n")
    assert run_step(workspace, take).returncode == 0
    assert (workspace / "candidate.run").is_file()
    assert not handed.exists()


GH = """#!/usr/bin/env bash
# Stands for GitHub's own command: notes what it was asked, answers what the test says.
printf '%s\\n' "$*" | head -n 1 >> calls.txt
case "$*" in
  *"/artifacts"*) printf '%s' "$ARTIFACT" ;;
  *"/pulls"*) printf '%s' "$PULL" ;;
  *"--paginate"*) printf '%s' "$FOUND" ;;
  *) cp comment.md posted.md ;;
esac
"""
EVENT = {
    "REPOSITORY": "team/search",
    "RUN": "5",
    "RUN_URL": "https://github.com/team/search/actions/runs/5",
    "OWNER": "fork",
    "BRANCH": "x; touch owned #",
    "COMMIT": COMMIT,
    "STATE": "completed",
    "ENDED": "failure",
    "ARTIFACT": "99\n",
    "PULL": "7\n",
    "FOUND": "",
}
STEPS = COMMENTING["jobs"]["comment"]["steps"]


@pytest.fixture
def trusted(tmp_path):
    """A folder as the workflow that comments has it: a verdict, and GitHub's command."""
    from pytest_riskguard.reports.json import dumps

    program(tmp_path, "gh", GH)
    program(tmp_path, "pip")
    (tmp_path / "handed-over").mkdir()
    (tmp_path / "handed-over" / "verdict.json").write_text(dumps(Report([verdict_with(STRINGS["mention"])])))
    return tmp_path


def commented(trusted: Path, **more: str) -> str:
    """What is posted; empty if nothing is."""
    for name in ("Write the comment", "Post it"):
        step = run_step(trusted, script(STEPS, name), **{**EVENT, **more})
        assert step.returncode == 0, step.stderr
    posted = trusted / "posted.md"
    return posted.read_text(encoding="utf-8") if posted.exists() else ""


@pytest.mark.parametrize(
    ("found", "call"),
    [
        ("", "--method POST repos/team/search/issues/7/comments"),
        ("11\n12\n", "--method PATCH repos/team/search/issues/comments/11"),
    ],
)
def test_there_is_one_comment_which_is_replaced(trusted, found, call):
    text = commented(trusted, FOUND=found)
    assert call in (trusted / "calls.txt").read_text().splitlines()[-1]
    assert text.startswith("<!-- riskguard -->\n### ❌ Don't ship <code>0123456</code>: ")
    assert "[full report](<https://github.com/team/search/actions/runs/5/artifacts/99>)" in text
    assert "@octocat" not in text
    assert len(text) < 65_536
    assert not (trusted / "owned").exists()


def test_the_comment_says_that_gates_are_judged(trusted):
    text = commented(trusted, STATE="requested", ENDED="", ARTIFACT="")
    assert text.startswith("<!-- riskguard -->\n### ⏳ Judging <code>0123456</code>\n")


def test_the_comment_says_that_a_run_died(trusted):
    shutil.rmtree(trusted / "handed-over")
    text = commented(trusted, ENDED="cancelled", ARTIFACT="")
    assert text.startswith("<!-- riskguard -->\n### ⚠️ No verdict for <code>0123456</code>\n")
    assert "The run ended with <code>cancelled</code>" in text


def test_what_is_no_report_is_not_posted(trusted):
    (trusted / "handed-over" / "verdict.json").write_text("@octocat")
    text = commented(trusted)
    assert "No verdict for" in text
    assert "octocat" not in text


# ---- the pull request with a refreshed baseline


def refreshed(clone: Path) -> subprocess.CompletedProcess[str]:
    """All steps of the workflow, as one machine."""
    given = {name: str(value) for name, value in REFRESHING["env"].items()}
    (clone.parent / "temp").mkdir(exist_ok=True)
    for name in ("Judge", "Accept", "Open the pull request"):
        text = script(REFRESHING["jobs"]["refresh"]["steps"], name)
        given |= {"RUNNER_TEMP": str(clone.parent / "temp"), "PATH": path(clone.parent)}
        step = run_step(clone, text, **given)
        assert step.returncode == 0, step.stdout + step.stderr
    return step


def test_a_pull_request_offers_what_the_main_branch_answers_as_the_baseline(project):
    clone = project.parent / "clone"
    subprocess.run(["git", "clone", "-q", str(project.parent / "origin"), str(clone)], check=True)
    shutil.copy(CHECKOUT / ".gitignore", clone / ".git" / "info" / "exclude")  # a new store has one of its own
    program(project.parent, "gh", '#!/bin/sh\necho "$@" >> ../calls.txt\n')
    refreshed(clone)
    assert [line[:40] for line in (project.parent / "calls.txt").read_text().splitlines()] == [
        "auth setup-git",
        "pr list --head riskguard/refresh-baselin",
        "pr create --head riskguard/refresh-basel",
    ]
    body = (project.parent / "temp" / "body.md").read_text(encoding="utf-8")
    assert body.startswith("    prod: 3 gates passed\n    replaced prod: ")
    assert "\n## riskguard: Ship: 3 gates passed\n" in body
    git = ["git", "-C", str(project.parent / "origin")]
    changed = subprocess.run(
        [*git, "diff", "--name-only", "main", "riskguard/refresh-baseline"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert all(path.startswith("examples/help_center/baselines/prod/") for path in changed)
    assert len(changed) > 3
    assert refreshed(clone).stdout == "the baseline is up to date\n"


def test_only_the_last_step_of_the_refresh_has_the_token():
    assert REFRESHING["permissions"] == {"contents": "write", "pull-requests": "write"}
    *others, last = REFRESHING["jobs"]["refresh"]["steps"]
    assert last["env"] == {"GH_TOKEN": "${{ github.token }}"}
    assert "token" not in repr(others)
    assert "--in-ci" in script(others, "Accept")


# ---- GitLab and Jenkins


@pytest.fixture
def project(tmp_path):
    """A repository with the examples on the branch main, and a folder of CI with a run that was handed over."""
    origin = tmp_path / "origin"
    shutil.copytree(CHECKOUT / "examples", origin / "examples")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", str(origin)]
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    folder = tmp_path / "project"
    program(folder, "pip")
    help_center = CHECKOUT / "examples" / "help_center"
    for system in ("synonyms", "improved"):
        command = [sys.executable, "help_search.py", system, "queries.tsv"]
        run = subprocess.run(command, cwd=help_center, check=True, capture_output=True)
        (folder / f"{system}.run").write_bytes(run.stdout)
    return folder


def without_venv(text: str) -> str:
    """The script, with the environment of these tests instead of a new one."""
    return re.sub(r"python -m venv .*", "true", text)


def judged_by_gitlab(project: Path, repository: Path) -> subprocess.CompletedProcess[str]:
    return run_step(
        project,
        without_venv("\n".join(GITLAB["ranking risk"]["script"])),
        CI_PROJECT_DIR=str(project),
        CI_REPOSITORY_URL=str(repository),
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main",
    )


@pytest.mark.parametrize(("system", "status"), [("improved", 0), ("synonyms", 1)])
def test_gitlab_judges_the_run_with_the_files_of_the_target_branch(project, system, status):
    job = GITLAB["ranking risk"]
    shutil.move(project / f"{system}.run", project / "candidate.run")
    (project / "conftest.py").write_text("raise SystemExit('owned')")
    ended = judged_by_gitlab(project, project.parent / "origin")
    assert ended.returncode == status, ended.stdout + ended.stderr
    assert job["artifacts"]["paths"] == ["riskguard/"]
    kept = {path.name for path in (project / "riskguard").iterdir()}
    assert kept == {"junit.xml", "verdict.json", "verdict.html", "ended"}
    assert (project / "riskguard" / "ended").read_text() == ("failed\n" if status else "success\n")
    assert "<testcase " in (project / job["artifacts"]["reports"]["junit"]).read_text(encoding="utf-8")
    assert job["artifacts"]["when"] == "always"


def test_gitlab_keeps_no_report_that_the_job_did_not_write(project):
    (project / "riskguard").mkdir()
    (project / "riskguard" / "verdict.json").write_text("of an earlier pipeline, or of the merge request's code")
    assert judged_by_gitlab(project, project / "nothing").returncode != 0
    assert list((project / "riskguard").iterdir()) == []


CURL = """#!/usr/bin/env bash
# Stands for curl: notes what it was asked, keeps what it was to send; the list of notes is what the test says.
printf '%s\\n' "$*" >> calls.txt
for argument; do case "$argument" in body@*) cp "${argument#body@}" posted.md ;; esac; done
case "$*" in *"per_page"*) printf '%s' "$NOTES" ;; esac
"""


def noted(project: Path, notes: str = "[]") -> None:
    """Run the job that writes the note."""
    program(project, "curl", CURL)
    ended = run_step(
        project,
        without_venv("\n".join(GITLAB["note"]["script"])),
        NOTES=notes,
        RISKGUARD_TOKEN="secret",  # noqa: S106
        CI_COMMIT_SHA=COMMIT,
        CI_PIPELINE_URL="https://gitlab.example/p/1",
        CI_API_V4_URL="https://gitlab.example/api/v4",
        CI_PROJECT_ID="1",
        CI_MERGE_REQUEST_IID="2",
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("ended", "said"), [("success", "Ship <code>0123456</code>"), ("failed", "No verdict for <code>0123456")]
)
def test_the_note_says_ship_only_if_the_job_passed(project, ended, said):
    from pytest_riskguard.reports.json import dumps
    from tests.plugin import world
    from tests.reports.cases import judged

    (project / "riskguard").mkdir()
    (project / "riskguard" / "verdict.json").write_text(dumps(Report([judged(world.GOOD)])))
    (project / "riskguard" / "ended").write_text(f"{ended}\n")
    noted(project)
    assert said in (project / "posted.md").read_text(encoding="utf-8")


def test_gitlab_has_the_stages_apart():
    assert GITLAB["search"]["stage"] != GITLAB["ranking risk"]["stage"]
    # `none` would leave what earlier jobs wrote into the folder
    assert {GITLAB[job]["variables"]["GIT_STRATEGY"] for job in ("ranking risk", "note")} == {"empty"}
    assert "cache" in GITLAB["search"]
    assert "cache" not in GITLAB["ranking risk"]
    assert GITLAB["note"]["rules"][0]["when"] == "always"


def jenkins_scripts() -> list[str]:
    return [text.replace("\\\\", "\\") for text in re.findall(r"'''\n(.*?)'''", JENKINS, re.DOTALL)]


def test_jenkins_judges_the_run_and_names_the_commit_in_the_description(project):
    _, judging, describing = jenkins_scripts()
    workspace = project.parent / "workspace"
    shutil.copytree(CHECKOUT / "examples", workspace / "examples")
    (workspace / "handed-over").mkdir()
    (workspace / "temp").mkdir()
    (workspace / "bin").symlink_to(project / "bin")
    bin_folder = workspace / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "activate").write_text("")
    (bin_folder / "riskguard").symlink_to(Path(sys.executable).parent / "riskguard")
    environment = {"WORKSPACE": str(workspace), "COMMIT": "0123456"}
    assert run_step(workspace, describing, **environment).stdout.strip() == "0123456: No verdict"
    shutil.move(project / "synonyms.run", workspace / "handed-over" / "candidate.run")
    ended = run_step(workspace, without_venv(judging), **environment)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert run_step(workspace, describing, **environment).stdout.strip() == "0123456: Don't ship: 2 of 3 gates failed"
    (results,) = re.findall(r"junit testResults: '([^']+)', allowEmptyResults", JENKINS)
    assert "<failure " in (workspace / results).read_text(encoding="utf-8")
    (kept,) = re.findall(r"archiveArtifacts artifacts: '([^']+)'", JENKINS)
    assert {path.suffix for path in workspace.glob(kept)} == {".json", ".html"}
