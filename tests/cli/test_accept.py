"""What a report judged becomes the baseline: that run and no other, with what it costs in words."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_riskguard.build import CI_VARIABLES
from tests.plugin.world import edit

SEARCH = """
def ask(query):
    number = int(query.split()[-1])
    first, second = ("good", "bad1") if number < 12 else ("bad1", "good")
    return [(first, 1.0), (second, 1.0), ("bad2", 0.5)]
"""


@pytest.fixture
def live(folder, monkeypatch):
    """The candidate is a function."""
    monkeypatch.delitem(sys.modules, "live_accept", raising=False)
    (folder / "live_accept.py").write_text(SEARCH)
    edit(folder / "riskguard.yaml", "candidate.run", "{retrieve: 'live_accept:ask'}")
    return folder


def stored(folder: Path, name: str = "prod") -> bytes:
    return (folder / "baselines" / name / "manifest.json").read_bytes()


def test_a_loss_is_accepted_with_what_it_costs(command, folder):
    command("check --candidate loss.run -o r.json")
    before = stored(folder)
    ended = command("accept r.json --dry-run")
    first, would, mean, heading, worst, *rest = ended.out.splitlines()
    assert (ended.status, ended.err) == (0, "")
    assert first == "prod: 1 gate failed"
    assert mean == "  AP 0.5000 -> 0.3383 (-0.1617)"
    assert heading == "  12 of 30 queries lose, the most first:"
    assert worst == "    0.5000 -> 0.0500  t07  query number 07"
    assert (len(rest), rest[-1]) == (5, "    and 7 more")
    assert would == "would replace prod; nothing was written"
    assert stored(folder) == before
    ended = command("accept r.json --note 'labels first'")
    assert ended.out.splitlines()[2:-1] == [mean, heading, worst, *rest]
    assert ended.out.splitlines()[1].startswith("replaced prod: 30 topics; AP 0.3383;")
    assert ended.out.splitlines()[-1] == "kept the old run as prod/0001"
    assert json.loads(stored(folder))["note"] == "labels first"
    assert command("accept r.json --note again").out.endswith("prod already holds this run; nothing was written\n")


def test_gains_are_shown(command):
    command("check -o r.json")
    out = command("accept r.json prod --dry-run").out
    assert out.startswith("prod: 1 gate passed\n")
    assert "  9 of 30 queries gain, the most first:\n    0.5000 -> 1.0000  t01  query number 01\n" in out


def test_a_baseline_whose_run_was_not_kept_keeps_none_afterwards(done, folder):
    done("baseline add small prod.run --no-run")
    edit(folder / "riskguard.yaml", "baseline: prod", "baseline: small")
    done("check -o r.json")
    done("accept r.json --note why")
    assert not folder.joinpath("baselines/small/run.gz").exists()


def test_a_note_is_needed(command, refused):
    command("check -o r.json")
    refused("accept r.json", "needs --note")


def test_a_run_that_changed_since_is_refused(command, refused, folder):
    command("check -o r.json")
    shutil.copy("churn.run", "candidate.run")
    before = stored(folder)
    refused("accept r.json --note why", "candidate.run: not the run that was judged: it changed since", status=3)
    assert stored(folder) == before


def test_a_baseline_that_was_replaced_since_is_not_replaced_again(command, refused):
    command("check -o r.json")
    command("baseline update prod churn.run --note other")
    refused("accept r.json --note why", "holds another run than was judged against", status=3)


def test_judgements_that_changed_since_are_told(command, done, folder):
    command("check -o r.json")
    with (folder / "qrels.txt").open("a") as file:
        file.write("t01 0 bad9 1\n")
    out = done("accept r.json --note why")
    assert out.startswith("the judgements changed since the report: ")


def test_what_could_not_be_compared_is_refused(command, refused, folder):
    (folder / "candidate.run").write_text("t01 Q0 nothing 1 1 x\n")
    assert command("check -o r.json").status == 3
    refused("accept r.json --note why", "no-risk could not be compared", status=3)


# ---- answers of a live system


def test_answers_are_kept_beside_the_report_and_stored_as_judged(command, done, live):
    done("check -o r.json")
    (kept,) = (live / "r.runs").iterdir()
    (live / "live_accept.py").unlink()  # nothing is asked again
    out = done("accept r.json --note why")
    assert out.startswith("prod: 1 gate passed\nreplaced prod: ")
    assert "\n  AP 0.5000 -> 0.6833 (+0.1833)" in out
    assert " lose" not in out
    assert (live / "baselines" / "prod" / "run.gz").is_file()
    assert command("baseline verify").out == "prod: ok\n"
    kept.unlink()
    assert command("accept r.json --note why").status == 3


def test_answers_that_were_kept_go_with_their_report(command, live):
    command("check -o r.json")
    (live / "r.runs" / "mine.txt").write_text("")
    (live / "live_accept.py").write_text(SEARCH.replace("12", "9"))
    sys.modules.pop("live_accept")
    command("check -o r.json")
    assert len(list((live / "r.runs").glob("*.run.gz"))) == 1
    command("check --candidate good.run -o r.json")
    assert [file.name for file in (live / "r.runs").iterdir()] == ["mine.txt"]


def test_answers_are_not_kept_through_a_link(command, live, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (live / "r.runs").symlink_to(tmp_path / "elsewhere")
    command("check -o r.json")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert "does not say where 'candidate' is" in command("accept r.json --note why").err


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["-n", "2"]])
def test_pytest_keeps_the_answers_too(done, refused, live, options):
    (live / "test_gate.py").write_text(
        "import live_accept\n"
        "def test_own(riskguard):\n"
        "    riskguard.assert_not_significantly_risky(riskguard.retrieve(lambda q: live_accept.ask(q)[:2]), 'prod')\n"
    )
    words = [sys.executable, "-m", "pytest", "--riskguard", "--riskguard-report=r.json", "-p", "no:cacheprovider"]
    ended = subprocess.run([*words, *options], cwd=live, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    refused(
        "accept r.json --dry-run",
        "the report judged prod=candidate, no-risk, test_gate.py::test_own: name the one to accept",
    )
    done("accept r.json no-risk --dry-run")
    out = done("accept r.json test_gate.py::test_own --note why")
    assert "AP 0.5000 -> 0.6833" in out


# ---- which of several


def test_a_name_tells_several_candidates_apart(command, done):
    command("compare prod good.run churn.run --measure AP -o r.json")
    ended = command("accept r.json --note why")
    assert (ended.status, ended.err) == (
        2,
        "Error: the report judged prod=good, prod=churn: name the one to accept\n",
    )
    assert (
        "the report compares nothing with 'goood'; there are prod, good, prod=good, no-risk"
        in command("accept r.json goood --note why").err
    )
    assert command("accept r.json prod=churn --dry-run").out.startswith("prod: ")
    done("accept r.json good --note why")


def test_without_a_riskguard_yaml_it_says_what_replaces_the_baseline(command, folder):
    (folder / "riskguard.yaml").unlink()
    command("compare prod good.run --qrels qrels.txt --measure AP -o r.json")
    assert "`riskguard baseline update prod RUN --qrels QRELS --note WHY`" in command("accept r.json --note why").err


def test_a_report_without_a_stored_baseline_has_nothing_to_replace(command):
    command("compare churn.run good.run --measure AP -o r.json")
    assert "compares nothing with a stored baseline" in command("accept r.json --note why").err


def test_the_report_of_several_services_updates_each_store(command, done, folder):
    for name in ("a", "b"):
        shutil.copytree(folder, folder / "services" / name, ignore=shutil.ignore_patterns("services"))
    done("check services -o all.json")
    before = stored(folder)
    ended = command("accept all.json --config services/b/riskguard.yaml --note one")
    assert (ended.status, ended.out.count("replaced prod")) == (0, 1), ended.err
    out = done("accept all.json --note both")
    first, *_, second, _, already = out.splitlines()
    assert (first, second) == ("services/a/riskguard.yaml:", "services/b/riskguard.yaml:")
    assert "\nkept the old run as prod/0001\nservices/b" in out
    assert already.startswith("prod already holds")
    assert "a: no-risk: candidate against prod: identical to prod" in command("check services -q").out
    assert json.loads(stored(folder / "services" / "a"))["note"] == "both"
    assert json.loads(stored(folder / "services" / "b"))["note"] == "one"
    assert stored(folder) == before
    ended = command("accept all.json services/a --dry-run")
    assert (ended.status, ended.err.endswith("; of one riskguard.yaml alone: --config FILE\n")) == (2, True)
    (folder / "elsewhere").mkdir()
    shutil.move("services", "elsewhere/services")
    assert (
        "services/a/riskguard.yaml, whose gates were judged, is not here" in command("accept all.json --dry-run").err
    )


# ---- in CI


@pytest.mark.parametrize("line", ["accept r.json --note why", "baseline update prod good.run --note why"])
def test_ci_replaces_no_baseline_unless_told(command, done, refused, folder, monkeypatch, line):
    command("check -o r.json")
    before = stored(folder)
    assert {"CI", "GITHUB_ACTIONS", "TRAVIS", "DRONE", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID"} <= {*CI_VARIABLES}
    for variable in CI_VARIABLES:
        with monkeypatch.context() as patch:
            patch.setenv(variable, "true")
            refused(line, f"this is CI ({variable} is set)", "--in-ci")
            assert stored(folder) == before
    monkeypatch.setenv("CI", "1")
    done(f"{line} --dry-run")
    done(f"{line} --in-ci")
    assert stored(folder) != before


def test_a_variable_that_says_no_is_no_ci(done, monkeypatch):
    monkeypatch.setenv("CI", "false")
    done("baseline update prod good.run --note why")
