"""``riskguard check`` of several files: one report, in which each verdict says whose it is."""

import re
import shutil
from pathlib import Path

import pytest

from pytest_riskguard.cli.check import sorted_out
from pytest_riskguard.cli.main import run
from tests.plugin import world
from tests.plugin.world import read_report


@pytest.fixture
def services(folder, tmp_path, monkeypatch):
    """Two services, of which the shop's candidate loses; the working folder is a repository around both."""
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    for name, candidate in (("help", "good"), ("shop", "loss")):
        shutil.copytree(folder, root / "services" / name)
        shutil.copy(folder / f"{candidate}.run", root / "services" / name / "candidate.run")
    monkeypatch.chdir(root)
    return root / "services"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["services"], []),
        (["services/*", "no-risk"], ["no-risk"]),
        (["**/riskguard.yaml"], []),
        (["services/help", "services/shop/riskguard.yaml", "services"], []),
    ],
)
def test_files_folders_and_patterns_are_told_from_gates_and_each_file_counts_once(services, words, names):
    assert sorted_out(words) == ([services / name / "riskguard.yaml" for name in ("help", "shop")], names)


@pytest.mark.usefixtures("services")
def test_all_files_are_judged_in_one_report(command):
    ended = command("check services -q -o r.json")
    assert ended.status == 1
    help_, shop = ended.out.splitlines()
    assert help_.startswith("PASS help: no-risk: candidate against prod: ")
    assert shop.startswith("FAIL shop: no-risk: candidate against prod: ")
    report = read_report(Path("r.json"))
    assert [gate["id"] for gate in report["gates"]] == [
        "services/help/riskguard.yaml::no-risk",
        "services/shop/riskguard.yaml::no-risk",
    ]
    assert [verdict["gate"] for verdict in report["verdicts"]] == ["no-risk", "no-risk"]


def test_every_report_says_whose_a_verdict_is_and_one_service_is_not_held_against_another(
    command, services, monkeypatch
):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for name in ("help", "shop"):  # two names: they are no candidates for one place
        (services / name / "candidate.run").rename(services / name / f"{name}.run")
        world.edit(services / name / "riskguard.yaml", "candidate.run", f"{name}.run")
    out = command("check services -o r.json -o r.md -o r.xml -o r.html").out
    assert out.startswith("Don't ship: 1 of 2 gates failed\n")
    assert "  shop: no-risk: shop against prod\n" in out
    assert "accept r.json prod --note" in out
    assert "--config services/help/riskguard.yaml" in out
    assert re.search(
        r"^::error file=.*services/shop/riskguard.yaml,line=6,title=riskguard%3A shop%3A no-risk", out, re.M
    )
    markdown, page = Path("r.md").read_text(encoding="utf-8"), Path("r.html").read_text(encoding="utf-8")
    assert "<code>shop&#58; no-risk</code>" in markdown
    assert "baseline shop&#58; prod stored today" in markdown.replace(": ", "&#58; ")
    assert "shop: Don&#39;t ship: the mean fell" in page
    assert "<code>services/shop/riskguard.yaml:6</code>" in page or "services/shop/riskguard.yaml:6" in page
    assert 'name="shop: no-risk"' in Path("r.xml").read_text(encoding="utf-8")
    assert "Don't ship <code>0123456</code>: shop: the mean fell" in command("comment r.json --commit 0123456").out
    assert command("show r.json -q").out.splitlines()[1].startswith("FAIL shop: no-risk: shop against prod: ")


def test_a_mistake_in_one_file_is_said_and_nothing_is_judged(command, services):
    world.edit(services / "shop" / "riskguard.yaml", "alpha:", "alhpa:")
    ended = command("check services")
    assert (ended.status, ended.out) == (2, "")
    assert "services/shop/riskguard.yaml:6: unknown key 'alhpa'" in ended.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("'none/*'", "none/*: expected riskguard.yaml, or folders with"),
        ("services/none", "services/none: expected riskguard.yaml, or folders with"),
        ("./.git", "./.git: expected riskguard.yaml, or folders with"),
        ("services .git", "there is no gate '.git'"),
        ("services no-rsk", "there is no gate 'no-rsk'; did you mean 'no-risk'?"),
        ("services --candidate a.run", "--candidate and --baseline are about one riskguard.yaml, found 2; name one"),
    ],
)
@pytest.mark.usefixtures("services")
def test_what_names_nothing_is_refused(refused, words, problem):
    refused(f"check {words}", problem)


@pytest.mark.usefixtures("services")
def test_a_gate_may_have_the_name_of_a_folder(command, services, monkeypatch):
    monkeypatch.chdir(services / "help")
    Path("no-risk").mkdir()
    assert command("check no-risk -q").out.startswith("PASS no-risk: candidate against prod: ")


@pytest.mark.usefixtures("services")
def test_where_files_lie_below_they_are_named(refused):
    found = "found services/help/riskguard.yaml, services/shop/riskguard.yaml"
    refused("check no-risk", f"{found}: name one with --config")


def test_an_error_says_where_riskguard_yaml_names_the_file(command, services):
    (services / "help" / "qrels.txt").unlink()
    named = "(the qrels named in services/help/riskguard.yaml:1)"
    config = "--config services/help/riskguard.yaml"
    for line in (
        "baseline add new services/help/candidate.run",
        "compare services/help/candidate.run --baseline prod",
    ):
        ended = command(f"{line} {config}")
        assert ended.status == 3
        assert named in " ".join((ended.err + ended.out).split())
    world.write_collection(services / "help")


def test_each_service_asks_its_own_search_though_both_are_called_alike(pytester, services):
    for name, first in (("help", "good"), ("shop", "bad1")):
        world.edit(services / name / "riskguard.yaml", "candidate.run", "{retrieve: 'own_search:ask'}")
        (services / name / "own_search.py").write_text(f"def ask(query):\n    return [{first!r}, 'other']\n")
    assert run(["check", "services", "-q", "-o", "r.json"]) == 1
    pytester.chdir()
    result = pytester.runpytest(
        "--riskguard", str(services), f"--rootdir={services.parent}", "--riskguard-report=r.json"
    )
    result.assert_outcomes(passed=1, failed=1)
    for folder in (services.parent, pytester.path):
        means = [one["estimates"]["candidate_mean"] for one in read_report(folder / "r.json")["verdicts"]]
        assert means == [1, 0]
