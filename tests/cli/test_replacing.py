"""Commands that replace baselines need a reason, say what changes, and can be tried without writing anything."""

import pytest

from tests.plugin import world


def content(folder):
    """Every file of the store, with its bytes."""
    return {path: path.read_bytes() for path in folder.joinpath("baselines").rglob("*") if path.is_file()}


@pytest.mark.parametrize("line", ["update prod good.run", "promote prod good.run --kind previous"])
def test_a_baseline_is_not_replaced_without_a_reason(command, folder, line):
    before = content(folder)
    for note in ("", "--note ''", "--note '  '"):
        ended = command(f"baseline {line} {note}")
        assert (ended.status, ended.out) == (2, "")
        assert f"riskguard baseline {line.split()[0]} needs --note: say why" in ended.err
    assert content(folder) == before
    assert command(f"baseline {line} --note because").status == 0


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("update prod loss.run", "would replace prod; nothing was written"),
        ("update prod prod.run", "would replace prod with the run that it already has; nothing was written"),
        ("promote prod loss.run --kind previous", "would promote prod; nothing was written"),
        ("promote prod loss.run --kind best", "prod stays as it is: its kind is best, and a mean would fall"),
    ],
)
def test_a_dry_run_says_what_would_change_and_writes_nothing(command, folder, line, first):
    before = content(folder)
    ended = command(f"baseline {line} --dry-run")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith(first)
    assert content(folder) == before
    if "loss.run" in line:
        assert ended.out.splitlines()[1:] == [
            "  AP 0.5000 -> 0.3383 (-0.1617)",
            "    12 of 30 topics fall: t07 0.5000 -> 0.0500, t01 0.5000 -> 0.1000, t02 0.5000 -> 0.1000, "
            "t03 0.5000 -> 0.1000, t04 0.5000 -> 0.1000 and 7 more",
        ]


def test_a_dry_run_says_which_replicates_would_go(command, folder):
    world.write_run(folder / "again.run", {"t30": 3})
    assert command("baseline add prod again.run --replicate").status == 0
    line = "would remove 1 replicate of prod: they were stored for the run that was replaced"
    assert command("baseline update prod good.run --dry-run").out.splitlines()[-1] == line
    assert "remove" not in command("baseline update prod prod.run --dry-run").out
    assert "replicates   1" in command("baseline show prod").out


def test_rescoring_tells_what_changes(command, folder):
    text = folder.joinpath("qrels.txt").read_text()
    folder.joinpath("qrels.txt").write_text(
        text.replace("t02 0 good 1\n", "").replace("t03 0 bad1 0", "t03 0 bad1 1")
    )
    ended = command("baseline rescore prod")
    assert ended.out.splitlines()[1:] == ["  AP 0.5000 -> 0.5172 (+0.0172)", "  no longer scored: t02"]
    folder.joinpath("qrels.txt").write_text(text)
    assert command("baseline rescore prod").out.splitlines()[1:] == [
        "  AP 0.5172 -> 0.5000 (-0.0172)",
        "    1 of 29 topics falls: t03 1.0000 -> 0.5000",
        "  scored from now on: t02",
    ]


def test_list_and_show_print_means_and_the_share_judged(command, folder):
    assert "\t30 topics; AP 0.5000; 20% judged; " in command("baseline list").out
    out = command("baseline show prod").out
    assert "\nmeans        AP 0.5000\n" in out
    judged = "30 of 30 topics retrieve a judged document; 20% of the first 10 documents are judged"
    assert f"\njudged       {judged}\n" in out
    folder.joinpath("baselines/prod/scores.tsv").write_text("x")
    for line in ("list", "show prod"):
        ended = command(f"baseline {line}")
        assert ended.status == 3
        assert "30 topics" in ended.out
        assert "scores.tsv was changed after it was stored" in ended.err


def test_verify_says_what_it_could_not_check(command, folder):
    assert command("baseline verify --qrels qrels.txt").out == "prod: ok\n"
    folder.joinpath("other.txt").write_text(folder.joinpath("qrels.txt").read_text().replace("t01 0 bad1 0\n", ""))
    assert command("baseline verify --qrels other.txt").out == (
        "prod: ok (scores not compared with the run: other.txt has changed since they were computed)\n"
    )
    assert command("baseline update prod prod.run --no-run --note small").status == 0
    expected = "prod: ok (its run was not kept, so nothing backs its scores)\n"
    assert command("baseline verify").out == expected
    folder.joinpath("riskguard.yaml").unlink()
    assert command("baseline update prod prod.run --qrels qrels.txt --measure AP --note kept").status == 0
    assert command("baseline verify").out == "prod: ok (scores not compared with the run: no qrels, give --qrels)\n"


def test_a_run_with_other_ids_is_not_stored(command, folder):
    lines = folder.joinpath("good.run").read_text().splitlines(keepends=True)
    folder.joinpath("ids.run").write_text("".join(line.replace(" Q0 ", " Q0 web-") for line in lines))
    before = content(folder)
    for line in ("add new ids.run", "update prod ids.run --note x", "promote prod ids.run --kind previous --note x"):
        ended = command(f"baseline {line}")
        assert ended.status == 3
        assert "web-" in ended.err
    assert content(folder) == before
