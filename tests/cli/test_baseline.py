"""``riskguard baseline``: what each command prints, and with which status it ends."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from pytest_riskguard.baselines import git as version_control
from pytest_riskguard.baselines import manifest as manifests
from pytest_riskguard.baselines.manifest import GitState
from tests.baselines.conftest import content
from tests.plugin import world


@pytest.fixture
def days(monkeypatch):
    """Set the clock."""

    def days(date):
        monkeypatch.setattr(manifests, "now", lambda: f"{date}T12:00:00Z")

    return days


@pytest.fixture
def again(folder):
    """Runs that differ from ``prod.run`` in a few documents, as those of a noisy system do."""
    lines = folder.joinpath("prod.run").read_text().splitlines(keepends=True)
    for number in (1, 2):
        text = "".join(line for position, line in enumerate(lines) if position % 50 != number)
        (folder / f"again-{number}.run").write_text(text)


@pytest.fixture
def slide(folder, done, days, monkeypatch):
    """A baseline in whose place four runs were accepted, each a little worse: a relevant document falls by a rank."""
    monkeypatch.setattr(version_control.Repository, "around", version_control.Repository)
    monkeypatch.setattr(version_control.Repository, "state", lambda *_: GitState("b" * 40, dirty=True))
    days("2024-01-01")
    done("baseline add chain prod.run --note 'the first'")
    ranks: dict[str, int] = {}
    for number in range(1, 5):
        days(f"2024-0{number + 1}-01")
        ranks |= dict.fromkeys(world.TOPICS[3 * number - 3 : 3 * number], 3)
        world.write_run(folder / f"step{number}.run", ranks)
        out = done(f"baseline update chain step{number}.run --note 'change {number}'")
    days("2024-05-02")
    return out


def test_a_baseline_is_added_listed_shown_verified_updated_and_removed(command, done, refused, folder):
    out = done("baseline add new loss.run --note 'why not'")
    assert out.startswith("stored new: 30 topics; AP 0.3383; 20% judged; ")
    listed = command("baseline list").out.splitlines()
    assert [line.split("\t")[0] for line in listed] == ["new", "prod"]
    assert listed[0].endswith("; why not; stored today")
    shown = command("baseline show new").out
    for text in (
        "30 topics; AP 0.3383; 20% judged",
        "  note                   why not\n",
        "digests.run            sha256:",
    ):
        assert text in shown
    assert command("baseline verify").out.splitlines() == ["new: ok", "prod: ok"]
    done("compare prod.run --baseline new --measure AP")

    refused("baseline add new prod.run", "riskguard baseline update new prod.run --note WHY")
    ended = command("baseline update new good.run --note why")
    assert ended.out.startswith("replaced new: 30 topics; AP 0.6361; ")
    assert ended.out.splitlines()[-1] == "kept the old run as new/0001"
    assert "history: 1 change accepted since " in command("baseline show new").out
    assert command("compare prod.run --baseline new --measure AP --alpha 5").status == 1

    assert command("baseline remove new").out == "removed new\n"
    assert [line.split("\t")[0] for line in command("baseline list").out.splitlines()] == ["prod"]


def test_replicates_are_added_shown_and_verified(command, done, folder, again):
    for number in (1, 2):
        out = done(f"baseline add prod again-{number}.run --replicate --note 'day {number}'")
        assert out.startswith(f"stored replicate {number} of prod: 30 topics; AP; ")
    assert "; 2 replicates" in command("baseline list").out
    shown = command("baseline show prod").out.splitlines()
    for number, line in enumerate(shown[-2:], start=1):
        assert line.startswith(f"replicate {number}: 30 topics; AP; ")
        assert line.endswith(f"; day {number}")
    assert command("baseline verify").out == "prod: ok\n"
    done("compare good.run --baseline prod --measure AP")

    manifest = json.loads(folder.joinpath("baselines/prod/manifest.json").read_text())
    manifest["replicates"] |= {"10": manifest["replicates"].pop("1")}
    folder.joinpath("baselines/prod/manifest.json").write_text(json.dumps(manifest))
    folder.joinpath("baselines/prod/replicates/2/manifest.json").write_text("{")
    ended = command("baseline show prod")
    assert (ended.status, ended.out.splitlines()[-2:]) == (3, ["replicate 2: damaged", "replicate 10: damaged"])
    assert "prod/replicates/2: manifest.json was changed" in ended.err
    ended = command("baseline verify")
    assert ended.out.index("prod/replicates/2: ") < ended.out.index("prod/replicates/10: ")
    assert (ended.status, "2 problems found" in ended.err) == (3, True)


def test_an_update_says_what_changes_and_where_the_old_run_is(command, done, folder, again):
    done("baseline add prod again-1.run --replicate")
    world.edit(folder / "riskguard.yaml", "[AP]", "[P@5]")
    with folder.joinpath("qrels.txt").open("a") as file:
        file.write("t01 0 new 1\n")  # both are scored with what is judged now
    first, *changes, last = command("baseline update prod good.run --note why").out.splitlines()
    assert first.startswith("replaced prod: 30 topics; AP 0.6194, P@5 0.2000; 17% judged; ")
    assert "replicate" not in first
    assert changes[:5] == [
        "  AP 0.4917 -> 0.6194 (+0.1278)",
        "  2 of 30 queries lose, the most first:",
        "    0.5000 -> 0.2500  t30",
        "    0.5000 -> 0.3333  t29",
        "  9 of 30 queries gain, the most first:",
    ]
    assert last == "kept the old run as prod/0001 with 1 replicate"


@pytest.mark.parametrize(
    ("run", "lines"),
    [
        ("prod.run", ["prod already holds this run; nothing was written"]),
        (
            "loss.run",
            [
                "would replace prod; nothing was written",
                "  AP 0.5000 -> 0.3383 (-0.1617)",
                "  12 of 30 queries lose, the most first:",
                "    0.5000 -> 0.0500  t07",
                *(f"    0.5000 -> 0.1000  t{number:02d}" for number in (1, 2, 3, 4)),
                "    and 7 more",
            ],
        ),
    ],
)
def test_a_dry_run_says_what_would_change_and_writes_nothing(done, folder, run, lines):
    before = content(folder)
    out = done(f"baseline update prod {run} --dry-run")
    assert out.splitlines()[: len(lines)] == lines
    assert content(folder) == before


def test_git_keeps_the_line_ends_of_a_new_store(command, folder):
    file = folder / "riskguard.yaml"
    text = file.read_text().replace("store: baselines", "store: of/search")
    file.write_text(text.replace("on_churn", "measure: RR, on_churn"))
    assert "; P@5 0.2000; " in command("baseline add prod prod.run --measure P@5").out
    assert folder.joinpath("of/search/.gitattributes").read_bytes() == b"* -text\n"
    assert folder.joinpath("of/search/.gitignore").read_bytes() == b".lock\n.tmp-*\n"
    folder.joinpath("of/search/.gitattributes").unlink()
    assert "; AP 0.6361, RR 0.6361; " in command("baseline add next good.run").out
    assert not folder.joinpath("of/search/.gitattributes").exists()  # a user may have removed it


def test_damage_is_named_and_the_rest_is_still_shown(command, folder):
    shutil.copytree("baselines/prod", "baselines/a-copy")
    ended = command("baseline verify")
    assert ended.status == 3
    assert ended.out.startswith(
        "a-copy: baselines/a-copy: manifest.json belongs to a baseline named 'prod': the folder was renamed or "
        "copied, so this is not what was stored as 'a-copy'"
    )
    assert ended.out.splitlines()[-1] == "prod: ok"
    assert "1 problem found" in ended.err
    assert command("baseline verify prod").out == "prod: ok\n"
    ended = command("baseline list")
    assert ended.status == 3
    assert [line.split("\t")[0] for line in ended.out.splitlines()] == ["a-copy", "prod"]
    assert command("compare good.run --baseline a-copy --measure AP").status == 3
    folder.joinpath("baselines/prod/scores.tsv").write_text("x")
    ended = command("baseline show prod")
    assert ended.status == 3
    assert "  name                   prod\n" in ended.out
    assert "a-copy" in command("baseline list").err  # the first of two
    assert "scores.tsv was changed after it was stored" in ended.err


def test_commands_of_a_remedy_have_the_options_that_they_know(command, folder):
    folder.joinpath("baselines/prod/scores.tsv").write_text("x")
    said = " ".join(command("compare good.run --baseline prod --qrels qrels.txt --measure AP").out.split())
    assert "`riskguard baseline remove prod` and `riskguard baseline add prod RUN --qrels qrels.txt`" in said


def test_without_a_riskguard_yaml_the_files_are_given(command, done, folder, again):
    folder.joinpath("riskguard.yaml").unlink()
    assert command("baseline add prod again-1.run --replicate").status == 2
    done("baseline add prod again-1.run --replicate --qrels qrels.txt --no-run")
    assert not folder.joinpath("baselines/prod/replicates/1/run.gz").exists()
    assert "; AP; " in command("baseline show prod").out.splitlines()[-1]
    shutil.rmtree(folder / "baselines")
    assert command("baseline add new loss.run").status == 2
    assert command("baseline list").out == ""
    assert "; 20% judged; " in command("baseline add new loss.run --qrels qrels.txt --measure AP --no-run").out
    assert not folder.joinpath("baselines/new/run.gz").exists()
    assert "  run_kept               false\n" in command("baseline show new").out
    done("compare loss.run --baseline new --qrels qrels.txt --measure AP")


def test_rescoring_says_what_changes(command, folder):
    text = folder.joinpath("qrels.txt").read_text()
    folder.joinpath("qrels.txt").write_text(
        text.replace("t02 0 good 1\n", "").replace("t03 0 bad1 0", "t03 0 bad1 1") + "t04 0 new 1\n"
    )
    ended = command("baseline rescore prod")
    assert ended.out.splitlines()[1:] == [
        "  AP 0.5000 -> 0.5086 (+0.0086)",
        "  1 of 29 queries lose, the most first:",
        "    0.5000 -> 0.2500  t04",
        "  1 of 29 queries gain, the most first:",
        "    0.5000 -> 1.0000  t03",
        "  no longer scored: t02",
    ]
    folder.joinpath("qrels.txt").write_text(text)
    assert command("baseline rescore prod").out.splitlines()[1:] == [
        "  AP 0.5086 -> 0.5000 (-0.0086)",
        "  1 of 29 queries lose, the most first:",
        "    1.0000 -> 0.5000  t03",
        "  1 of 29 queries gain, the most first:",
        "    0.2500 -> 0.5000  t04",
        "  scored from now on: t02",
    ]
    nothing = "  nothing to compare with: the old scores are from other judgements or measures"
    assert command("baseline rescore prod --measure P@5").out.splitlines()[1:] == [nothing]


# Baselines whose run was replaced.


def test_show_prints_the_history(command, slide):
    first, figures, heading, *lost, kept = slide.splitlines()
    assert first == (
        "replaced chain: 30 topics; AP 0.4333; 20% judged; 2024-05-01T12:00:00Z; 4 earlier runs; change 4"
    )
    assert figures == "  AP 0.4500 -> 0.4333 (-0.0167)"
    assert heading == "  3 of 30 queries lose, the most first:"
    assert lost == [f"    0.5000 -> 0.3333  {topic}" for topic in world.TOPICS[9:12]]
    assert kept == "kept the old run as chain/0004"
    assert command("baseline list").out.splitlines()[0].endswith("; stored 1 day ago")
    heading, *lines = command("baseline show chain").out.partition("\nhistory:")[2].splitlines()
    assert heading.strip() == "4 changes accepted since 2024-01-01"
    assert [line.split()[0] for line in lines] == ["0001", "0002", "0003", "0004", "now"]
    assert lines[0].split(maxsplit=3)[1:] == ["2024-01-01", "bbbbbbb+", "the first"]
    assert lines[-1].split(maxsplit=3)[1:] == ["2024-05-01", "bbbbbbb+", "change 4"]


def test_a_damaged_history_is_said_and_the_rest_is_shown(command, done, refused, slide, folder):
    folder.joinpath("baselines/chain/history/0002/scores.tsv").write_text("x")
    assert "0002       2024-02-01  bbbbbbb+  change 1" in command("baseline show chain").out
    ended = command("baseline verify")
    assert ended.status == 3
    assert ended.out.splitlines()[0].startswith("chain: baselines/chain/history/0002: scores.tsv was changed")
    refused("baseline update chain good.run --note why", "`riskguard baseline remove chain`", status=3)
    # A gate that is about the baseline alone still judges.
    done("compare good.run --baseline chain --measure AP")
    folder.joinpath("baselines/chain/manifest.json").write_text("{")
    assert command("baseline update chain good.run --note why").status == 3
    done("baseline remove chain")
    done("baseline verify")


def test_notes_of_other_people_stay_on_their_line(command, done, folder):
    done("baseline update prod good.run --note 'a\n::error::b \x1b[31m and more'")
    done("baseline update prod prod.run --note why")
    line = next(line for line in command("baseline show prod").out.splitlines() if line.startswith("  0002  "))
    assert line.endswith("a : :error::b [31m and more")


@pytest.mark.slow
def test_a_console_without_the_letters_shows_them_escaped(done, folder):
    folder.joinpath("topics.tsv").write_text(
        "".join(f"t{n:02d}\tkäse 寿司\n" for n in range(1, 31)), encoding="utf-8"
    )
    done("baseline rescore prod")  # its run is of these texts too
    code = "from pytest_riskguard.cli import main; main()"
    line = ["compare", "loss.run", "--baseline", "prod", "--measure", "AP"]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    result = subprocess.run([sys.executable, "-c", code, *line], capture_output=True, check=False, env=environment)
    assert (result.returncode, result.stderr) == (1, b"")
    assert "käse \\u5bff\\u53f8" in result.stdout.decode("cp1252")
