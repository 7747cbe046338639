"""``riskguard baseline``."""

import os
import shutil
import subprocess
import sys

import pytest


def test_a_baseline_is_added_listed_shown_verified_updated_and_removed(command, folder):
    ended = command("baseline add new loss.run --note 'why not'")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("stored new: 30 topics; AP 0.3383; 20% judged; ")
    listed = command("baseline list").out.splitlines()[:-1]
    assert [line.split("\t")[0] for line in listed] == ["new", "prod"]
    assert "why not" in listed[0]
    shown = command("baseline show new").out
    for text in ("why not", "AP (", "sha256:", "30 topics"):
        assert text in shown
    assert command("baseline verify").out.splitlines() == ["new: ok", "prod: ok"]
    assert command("compare prod.run --baseline new --measure AP").status == 0

    ended = command("baseline add new prod.run")
    assert ended.status == 2
    assert "riskguard baseline update new RUN" in ended.err
    assert command("baseline update new good.run --note why").out.startswith("replaced new: ")
    assert command("compare prod.run --baseline new --measure AP --alpha 5").status == 1

    assert command("baseline remove new").out.startswith("removed new: 30 topics; AP 0.6361; ")
    assert [line.split("\t")[0] for line in command("baseline list").out.splitlines()[:-1]] == ["prod"]


@pytest.fixture
def again(folder):
    """Runs that differ from ``prod.run`` in a few documents, as those of a noisy system do."""
    lines = folder.joinpath("prod.run").read_text().splitlines(keepends=True)
    paths = [folder / f"again-{number}.run" for number in (1, 2)]
    for number, path in enumerate(paths, start=1):
        path.write_text("".join(line for position, line in enumerate(lines) if position % 50 != number))
    return paths


def test_replicates_are_added_shown_verified_and_removed(command, folder, again):
    before = folder.joinpath("baselines/prod/manifest.json").read_bytes()
    for number in (1, 2):
        ended = command(f"baseline add prod again-{number}.run --replicate --note 'day {number}'")
        assert (ended.status, ended.err) == (0, "")
        assert ended.out.startswith(f"stored replicate {number} of prod: 30 topics; AP; ")
    line, digest = command("baseline list").out.splitlines()
    assert digest.startswith("digest of all: sha256:")
    assert line.startswith("prod\t30 topics; AP 0.5000; 20% judged; ")
    assert "; 2 replicates" in line
    shown = command("baseline show prod").out.splitlines()
    assert shown[-3].split() == ["replicates", "2"]
    for number, line in enumerate(shown[-2:], start=1):
        assert line.startswith(f"replicate {number}  30 topics; AP; ")
        assert line.endswith(f"; day {number}")
    assert command("baseline verify").out == "prod: ok\n"
    assert command("compare good.run --baseline prod --measure AP").status == 0

    assert command("baseline remove prod --replicate 1").out.startswith(
        "removed replicate 1 of prod: 30 topics; AP; "
    )
    assert command("baseline show prod").out.splitlines()[-1].startswith("replicate 2  ")
    ended = command("baseline remove prod --replicate 1")
    assert ended.status == 3
    assert "no replicate 1 (it has 2)" in ended.err
    assert command("baseline remove prod --replicate 2").status == 0
    assert command("baseline show prod").out.splitlines()[-1].split() == ["replicates", "none"]
    assert folder.joinpath("baselines/prod/manifest.json").read_bytes() == before


def test_an_update_says_which_replicates_it_removes(command, again):
    for path in again:
        assert command(f"baseline add prod {path.name} --replicate").status == 0
    ended = command("baseline update prod prod.run --measure nDCG@10 --note why")  # the same run
    assert ended.out.startswith("replaced prod: 30 topics; nDCG@10 0.6309; ")
    assert ended.out.splitlines()[0].endswith("; 2 replicates; why")
    ended = command("baseline update prod good.run --note why")
    first, *changes, last = ended.out.splitlines()
    assert first.startswith("replaced prod: ")
    assert "replicate" not in first
    assert changes == [
        "  AP 0.5000 -> 0.6361 (+0.1361)",
        "    2 of 30 topics fall: t30 0.5000 -> 0.2500, t29 0.5000 -> 0.3333",
    ]
    assert last == "removed 2 replicates of prod: they were stored for the run that was replaced"
    assert command("baseline add prod again-1.run --replicate").status == 0
    assert "removed 1 replicate of prod: " in command("baseline update prod prod.run --note why").out


def test_git_keeps_the_line_ends_of_a_new_store(command, folder):
    file = folder / "riskguard.yaml"
    file.write_text(file.read_text().replace("store: baselines", "store: of/search"))
    assert command("baseline add prod prod.run").status == 0
    assert folder.joinpath("of/search/.gitattributes").read_bytes() == b"* -text\n"
    assert folder.joinpath("of/search/.gitignore").read_bytes() == b".lock\n.tmp-*\n"
    folder.joinpath("of/search/.gitattributes").unlink()
    assert command("baseline add next good.run").status == 0
    assert not folder.joinpath("of/search/.gitattributes").exists()  # a user may have removed it
    assert command("baseline list").out == command("baseline list --store of/search").out


def test_a_damaged_replicate_is_named_and_can_be_removed(command, folder, again):
    for path in again:
        assert command(f"baseline add prod {path.name} --replicate").status == 0
    folder.joinpath("baselines/prod/replicates/1/manifest.json").write_text("{")
    ended = command("baseline show prod")
    assert ended.status == 3
    assert ended.out.splitlines()[-2] == "replicate 1  damaged"
    assert ended.out.splitlines()[-1].startswith("replicate 2  30 topics")
    assert "prod/replicates/1: manifest.json: line 1: not JSON" in ended.err
    ended = command("baseline verify")
    assert ended.status == 3
    assert ended.out.startswith("prod: baselines/prod/replicates/1: manifest.json")
    assert "1 problem found" in ended.err
    assert command("baseline remove prod --replicate 1").status == 0
    assert command("baseline verify").status == 0


def test_a_replicate_without_a_riskguard_yaml_has_the_measures_of_its_baseline(command, folder, again):
    folder.joinpath("riskguard.yaml").unlink()
    assert command("baseline add prod again-1.run --replicate").status == 2
    assert command("baseline add prod again-1.run --replicate --qrels qrels.txt --no-run").status == 0
    assert not folder.joinpath("baselines/prod/replicates/1/run.gz").exists()
    assert "; AP; " in command("baseline show prod").out.splitlines()[-1]


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("add prdo loss.run --replicate", 3, "did you mean 'prod'?"),
        ("remove prod --replicate 1", 3, "no replicate 1 (it has none)"),
        ("remove prod --replicate 0", 2, "--replicate"),
        ("add new loss.run --measure nDGC@10", 2, "nDCG@10"),
        ("add new loss.run --qrels nowhere.txt", 3, "nowhere.txt"),
        ("show prdo", 3, "did you mean 'prod'?"),
    ],
)
def test_mistakes_have_a_status_and_a_message(command, line, status, message):
    ended = command(f"baseline {line}")
    assert ended.status == status
    assert message in ended.err
    assert ended.out == ""


def test_a_damaged_baseline_is_named_and_the_others_are_still_shown(command, folder):
    shutil.copytree("baselines/prod", "baselines/a-copy")
    with folder.joinpath("baselines/a-copy/scores.tsv").open("a") as file:
        file.write("t99\t0.5\n")
    ended = command("baseline verify")
    assert ended.status == 3
    assert ended.out.splitlines()[-1] == "prod: ok"
    assert "a-copy" in ended.out.splitlines()[0]
    assert "1 problem found" in ended.err
    folder.joinpath("baselines/a-copy/manifest.json").write_text("{")
    ended = command("baseline list")
    assert ended.status == 3
    assert [line.split("\t")[0] for line in ended.out.splitlines()][-2] == "prod"
    assert command("compare good.run --baseline a-copy --measure AP").status == 3


def test_without_a_riskguard_yaml_the_files_are_given(command, folder):
    folder.joinpath("riskguard.yaml").unlink()
    shutil.rmtree(folder / "baselines")
    assert command("baseline add new loss.run").status == 2
    assert command("baseline list").out == ""
    assert command("baseline add new loss.run --qrels qrels.txt --measure AP --no-run").status == 0
    assert not folder.joinpath("baselines/new/run.gz").exists()
    assert "not kept" in command("baseline show new").out
    line = "compare loss.run --baseline new --qrels qrels.txt --measure AP"
    assert command(line).status == 0


def test_rescoring_says_which_topics_it_accepts_otherwise(command, folder):
    rows = [line.split("\t") for line in folder.joinpath("topics.tsv").read_text().splitlines()]
    rows[2][1] = "something else"
    table = ["topic\tquery\tweight", *(f"{topic}\t{text}\t{3 if topic < 't03' else 1}" for topic, text in rows)]
    folder.joinpath("topics.tsv").write_text("\n".join(table) + "\n")
    said = command("baseline rescore prod").out
    assert "  another text of 1 topic: t03\n" in said
    assert "  another weight of 30 topics: t01, t02, t03, t04, t05 and 25 more\n" in said
    assert "another" not in command("baseline rescore prod").out


@pytest.mark.slow
def test_a_console_without_the_letters_shows_them_escaped(command, folder):
    folder.joinpath("topics.tsv").write_text(
        "".join(f"t{n:02d}\tkäse 寿司\n" for n in range(1, 31)), encoding="utf-8"
    )
    assert command("baseline rescore prod").status == 0  # its run is of these texts too
    code = "from pytest_riskguard.cli import main; main()"
    line = ["compare", "loss.run", "--baseline", "prod", "--measure", "AP"]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    result = subprocess.run([sys.executable, "-c", code, *line], capture_output=True, check=False, env=environment)
    assert (result.returncode, result.stderr) == (1, b"")
    assert "käse \\u5bff\\u53f8" in result.stdout.decode("cp1252")
