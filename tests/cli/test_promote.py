"""Kinds of baselines, ``riskguard baseline promote``, ``rescore``, and what ``show`` and ``list`` say of a chain."""

from __future__ import annotations

import json
import shutil

import pytest

from pytest_riskguard.baselines import environment
from tests.plugin import world


@pytest.fixture
def days(monkeypatch):
    """Set the clock."""

    def days(date):
        monkeypatch.setattr(environment, "now", lambda: f"{date}T12:00:00Z")

    return days


@pytest.fixture
def slide(folder, command, days):
    """A baseline in whose place four runs were accepted, each a little worse: a relevant document falls by a rank."""
    days("2024-01-01")
    assert command("baseline add chain prod.run --kind previous --note 'the first'").status == 0
    ranks: dict[str, int] = {}
    for number in range(1, 5):
        days(f"2024-0{number + 1}-01")
        ranks |= dict.fromkeys(world.TOPICS[3 * number - 3 : 3 * number], 3)
        world.write_run(folder / f"step{number}.run", ranks)
        ended = command(f"baseline promote chain step{number}.run --note 'change {number}'")
        assert (ended.status, ended.err) == (0, "")
    days("2025-02-16")
    return ended


def test_a_kind_is_given_and_shown(command):
    for kind in ("fixed", "previous", "release", "best"):
        assert command(f"baseline add my-{kind} good.run --kind {kind}").status == 0
        assert f"\nkind         {kind}: " in command(f"baseline show my-{kind}").out
    listed = {line.split("\t")[0]: line for line in command("baseline list").out.splitlines()[:-1]}
    assert "; best, stored today" in listed["my-best"]
    assert "; fixed, stored " in listed["prod"]
    assert command("baseline update my-best prod.run --kind release --note why").out.count("; release") == 1
    assert "kind         release: " in command("baseline show my-best").out


def test_promoting_tells_what_changed_and_where_the_former_run_is(slide):
    first, figures, falls, kept = slide.out.splitlines()
    line = (
        "promoted chain: 30 topics; AP 0.4333; 20% judged; 2024-05-01T12:00:00Z; previous; 4 earlier runs; change 4"
    )
    assert first == line
    assert figures == "  AP 0.4500 -> 0.4333 (-0.0167)"
    topics = ", ".join(f"{topic} 0.5000 -> 0.3333" for topic in world.TOPICS[9:12])
    assert falls == f"    3 of 30 topics fall: {topics}"
    assert kept == "kept the old run as chain/history/0004; 4 changes accepted since 2024-01-01T12:00:00Z"


def test_show_prints_the_chain_in_80_columns(command, slide):
    out = command("baseline show chain").out
    assert "\nkind         previous: moves with every accepted change\nage          stored 291 days ago\n" in out
    chain, table = out.partition("\nhistory")[2].split("\n\n")
    lines = chain.splitlines()
    assert lines[0].strip() == "4 changes accepted since 2024-01-01"
    assert [line.split()[0] for line in lines[1:]] == ["0001", "0002", "0003", "0004", "now"]
    assert lines[1].split(maxsplit=3)[1:] == ["2024-01-01", "-", "the first"]
    assert lines[-1].split(maxsplit=3)[1:] == ["2024-05-01", "-", "change 4"]
    rows = table.splitlines()
    assert rows[0] == "AP, 30 topics: in total, URisk(alpha=1) and its 95% interval are against 0001"
    assert rows[1].split() == ["run", "mean", "change", "in", "all", "URisk", "interval", "losses"]
    assert rows[2].split() == ["0001", "0.5000"]
    assert rows[3].split()[:5] == ["0002", "0.4833", "-0.0167", "-0.0167", "-0.0333"]
    assert rows[6].split()[:5] == ["now", "0.4333", "-0.0167", "-0.0667", "-0.1333"]
    assert rows[6].split()[-1] == "12"
    assert rows[7:] == [
        "  significantly risky against 0001: the mean itself is significantly down; no",
        "    single change was significantly risky against the run before it: a slow",
        "    slide",
    ]
    assert max(len(line) for line in (*lines, *rows)) <= 80


def test_show_takes_alphas_and_judgements(command, slide, folder):
    out = command("baseline show chain --alpha 0 --alpha 5").out
    assert out.count("URisk(alpha=0) and its 95% interval are against 0001") == 1
    assert out.count("URisk(alpha=5) and its 95% interval are against 0001") == 1
    assert command("baseline show chain --alpha -1").status == 2
    folder.joinpath("qrels.txt").write_text("".join(f"{topic} 0 good 1\n" for topic in world.TOPICS[:15]))
    assert "\nAP, 15 topics" in command("baseline show chain").out


def test_show_counts_clusters_of_the_topics_file(command, slide, folder):
    rows = [f"{topic}\t{topic}\tc{place // 2}\n" for place, topic in enumerate(world.TOPICS)]
    plain = command("baseline show chain").out.splitlines()
    (folder / "topics.tsv").write_text("topic\tquery\tcluster\n" + "".join(rows))
    shown = command("baseline show chain").out.splitlines()
    assert [line for line in shown if line.startswith("  now ")] != [
        line for line in plain if line.startswith("  now ")
    ]
    folder.joinpath("topics.tsv").write_text(
        "topic\tquery\tcluster\n" + "".join(f"{topic}\t{topic}\ta\n" for topic in world.TOPICS)
    )
    assert "too few topics" in command("baseline show chain").out


def test_without_judgements_show_compares_what_is_stored(command, slide, folder):
    expected = command("baseline show chain").out
    folder.joinpath("riskguard.yaml").unlink()
    folder.joinpath("qrels.txt").rename(folder / "moved.txt")
    assert command("baseline show chain").out == expected
    for path in folder.joinpath("moved.txt"), folder.joinpath("changed.txt"):
        path.write_text("".join(f"{topic} 0 good 1\n" for topic in world.TOPICS[:20]))
    assert command("baseline update chain prod.run --qrels changed.txt --measure AP --note why").status == 0
    ended = command("baseline show chain")
    assert ended.status == 3
    assert "`riskguard baseline rescore chain`" in ended.err
    assert command("baseline rescore chain --qrels changed.txt").status == 0
    assert "\nAP, 20 topics" in command("baseline show chain").out


def test_a_yardstick_that_is_left_behind_is_called_stale(command, slide, days, folder):
    days("2025-02-16")
    listed = {line.split("\t")[0]: line for line in command("baseline list").out.splitlines()[:-1]}
    assert listed["chain"].endswith("; previous, stored 291 days ago; 4 earlier runs; change 4")
    assert command("baseline add release step2.run --kind release").status == 0
    days("2025-02-17")
    assert command("baseline promote chain good.run --note why").status == 0
    assert "; release, stored 1 day ago, 1 change accepted since" in command("baseline list").out
    assert "age          stored 1 day ago, 1 change accepted since\n" in command("baseline show release").out


def test_a_baseline_older_than_allowed_fails_verify(command, slide, days):
    days("2025-02-16")
    assert command("baseline verify chain --max-age 291").status == 0
    ended = command("baseline verify chain --max-age 290")
    assert ended.status == 3
    assert ended.out == (
        "chain: baselines/chain: stored 291 days ago, --max-age allows 290 days; store the run of today's system "
        "with `riskguard baseline update chain RUN --note WHY`, or promote it\n"
    )
    assert command("baseline rescore chain").status == 0
    assert command("baseline verify chain --max-age 290").status == 3  # new scores make the run no younger
    assert command("baseline verify chain --max-age -1").status == 2


def test_an_oldest_run_that_all_others_beat_is_no_yardstick(command, folder):
    for number, count in enumerate((12, 16, 20), start=1):
        world.write_run(folder / f"up{number}.run", dict.fromkeys(world.TOPICS[:count], 1))
        kind = "--kind best" if number == 1 else ""
        assert command(f"baseline promote prod up{number}.run {kind} --note why").status == 0
    out = " ".join(command("baseline show prod").out.split())
    assert out.endswith("0001 is no longer a yardstick: every run since 0002 is significantly better")


def test_the_best_stays_and_says_why(command, folder):
    assert command("baseline add top good.run --kind best").status == 0
    before = folder.joinpath("baselines/top/manifest.json").read_bytes()
    ended = command("baseline promote top loss.run --note why")
    assert ended.status == 0
    assert ended.out.splitlines()[0] == "top stays as it is: its kind is best, and a mean would fall"
    assert ended.out.splitlines()[1].startswith("  AP 0.6")
    assert folder.joinpath("baselines/top/manifest.json").read_bytes() == before


def test_the_run_of_a_stored_baseline_is_promoted_with_its_note(command, folder):
    assert command("baseline add release good.run --kind release").status == 0
    assert command("baseline update prod loss.run --note 'from Tuesday'").status == 0
    assert command("baseline promote release prod").out.splitlines()[0].endswith("; from Tuesday")
    assert command("baseline add other good.run").status == 0
    assert command("baseline promote release other --note mine").out.splitlines()[0].endswith("; mine")
    digests = [
        json.loads(folder.joinpath(f"baselines/{name}/manifest.json").read_text())["digests"]["run"]
        for name in ("release", "other")
    ]
    assert digests[0] == digests[1]

    shutil.copy("loss.run", "prod")
    ended = command("baseline promote release prod --note why")
    assert ended.status == 2
    assert "prod is both a file and a stored baseline: write ./prod" in ended.err
    assert command("baseline promote release ./prod --note why").status == 0


def test_the_measures_of_riskguard_yaml_are_added(command, folder):
    text = folder.joinpath("riskguard.yaml").read_text()
    folder.joinpath("riskguard.yaml").write_text(text.replace("measures: [AP]", "measures: [RR]"))
    assert "; AP 0.3383, RR 0.3383; " in command("baseline promote prod loss.run --kind previous --note why").out


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("promote prod loss.run --kind fixed --note why", 2, "--kind"),
        ("promote prdo loss.run --kind best --note why", 3, "did you mean 'prod'?"),
        ("promote prod nowhere --kind best --note why", 3, "nowhere: no such file, and no baseline of that name"),
        ("add prod loss.run --replicate --kind best", 2, "a replicate is only another run"),
        ("rescore prdo", 3, "did you mean 'prod'?"),
    ],
)
def test_mistakes_have_a_status_and_a_message(command, line, status, message):
    ended = command(f"baseline {line}")
    assert ended.status == status
    assert message in ended.err.replace("\n", " ")
    assert ended.out == ""


def test_an_update_says_what_becomes_of_the_history(command, slide):
    ended = command("baseline update chain good.run --note why")
    assert ended.out.splitlines()[-1] == (
        "kept 4 earlier runs of chain; the run that was replaced is not among them (baseline promote keeps it)"
    )
    ended = command("baseline update chain good.run --note why")  # the same run, so that nothing was replaced
    assert ended.out.splitlines()[-1] == "kept 4 earlier runs of chain"


def test_a_damaged_history_is_said_and_the_rest_is_shown(command, slide, folder):
    folder.joinpath("baselines/chain/history/0002/scores.tsv").write_text("x")
    ended = command("baseline show chain")
    assert ended.status == 3
    assert "0002       2024-02-01  -         change 1" in ended.out
    assert "chain/history/0002: scores.tsv was changed after it was stored" in ended.err
    ended = command("baseline verify")
    assert ended.status == 3
    assert ended.out.splitlines()[0].startswith("chain: baselines/chain/history/0002: scores.tsv was changed")
    assert command("baseline promote chain good.run --note why").status == 3
    # A gate that is about the baseline alone still judges.
    assert command("compare good.run --baseline chain --measure AP").status == 0
    folder.joinpath("baselines/chain/manifest.json").write_text("{")
    ended = command("baseline update chain good.run --note why")
    assert ended.status == 3
    assert "`riskguard baseline remove chain`" in ended.err
    assert command("baseline remove chain").status == 0
    assert command("baseline verify").status == 0


def test_rescoring_names_what_it_could_not_score(command, folder):
    assert command("baseline update prod prod.run --no-run --kind previous --note why").status == 0
    assert command("baseline rescore prod").status == 3
    assert command("baseline promote prod loss.run --note why").status == 0
    ended = command("baseline rescore prod --measure AP --measure RR")
    assert ended.out.splitlines()[0].startswith("rescored prod: 30 topics; AP 0.3383, RR 0.3383; ")
    assert ended.out.splitlines()[-1] == "prod/history/0001 keeps its old scores: its run was not kept"
    out = command("baseline show prod")
    assert out.status == 3
    assert "prod/history/0001: it has scores of AP, not of RR" in out.err
    assert "\nAP, 30 topics" in out.out


def test_notes_of_other_people_stay_on_their_line(command, folder):
    world.write_run(folder / "next.run", world.GOOD)
    assert (
        command("baseline update prod prod.run --kind previous --note 'a\n::error::b \x1b[31m and more'").status == 0
    )
    assert command("baseline promote prod next.run --note why").status == 0
    line = next(line for line in command("baseline show prod").out.splitlines() if line.startswith("  0001  "))
    assert line.endswith("a : :error::b [31m and more")
