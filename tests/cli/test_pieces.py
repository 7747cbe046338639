"""``riskguard score`` and ``merge``, processes and clusters: the report is the same, byte for byte."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from pytest_riskguard import run_context
from pytest_riskguard.evaluation.shards import on_dask, on_spark, score_shards, whole_runs
from tests.evaluation.shards import clusters, generated

MEASURES = ("--measure", "nDCG@10", "--measure", "SetP", "--qrels", "qrels.txt")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A folder with a candidate, a baseline and judgements; reports say one date."""
    tmp_path = tmp_path / "mine"
    tmp_path.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    monkeypatch.setenv("RISKGUARD_CACHE", "off")
    generated.written(tmp_path)
    generated.written(tmp_path, seed=2, name="base.run")
    return tmp_path


@pytest.fixture
def command(command):
    """The command, given its arguments one by one."""
    return lambda *arguments: command(shlex.join(arguments))


@pytest.fixture
def report(world, command):
    """The JSON report of a comparison with the baseline."""

    def compared(candidate: str, *options: str) -> bytes:
        against = ("--baseline", "base.run", "--missing", "zero", "--json", "report.json")
        command("compare", candidate, *against, *MEASURES, *options)
        return (world / "report.json").read_bytes()

    return compared


def test_pieces_by_hand(world, command, report):
    expected = report("cand.run")
    for number in (1, 2, 3):
        ended = command("score", "cand.run", *MEASURES, "--shard", f"{number}/3", "-o", f"{number}.rgpart")
        assert ended.status == 0
        assert f"wrote {number}.rgpart: piece {number}/3 of the run, " in ended.out
    ended = command("merge", "3.rgpart", "1.rgpart", "2.rgpart", "--qrels", "qrels.txt", "-o", "cand.rgpart")
    assert ended.status == 0
    assert ended.out.startswith("wrote cand.rgpart: cand, 55 topics, nDCG@10 0.")
    assert report("cand.rgpart") == expected


def test_merged_scores_are_those_of_the_run(world, command):
    command("score", "cand.run", *MEASURES, "-o", "cand.rgpart")
    assert command("merge", "cand.rgpart", "--qrels", "qrels.txt", "--scores", "cand.tsv").status == 0
    ended = command("compare", "cand.tsv", "--baseline", "cand.tsv", "--scores", "--measure", "SetP")
    assert ended.status == 2  # the same file
    from pytest_riskguard.evaluation import read_qrels, read_scores, score_run

    written = read_scores(world / "cand.tsv")
    expected = score_run(world / "cand.run", read_qrels(world / "qrels.txt"), ["nDCG@10", "SetP"])
    assert [one.values.tolist() for one in written] == [one.values.tolist() for one in expected]


def test_folders_and_addresses(world, report):
    expected = report("cand.run")
    (world / "in" / "cand").mkdir(parents=True)
    (world / "cand.run").rename(world / "in" / "cand" / "part.run")
    assert report("in/cand") == expected
    assert report(f"file://{world}/in/cand") == expected
    assert report("in/cand", "--workers", "2") == expected


@pytest.mark.parametrize("candidate", ["cand", "{folder}/cand"])
def test_a_folder_in_riskguard_yaml(world, command, candidate):
    (world / "cand").mkdir()
    (world / "cand.run").rename(world / "cand" / "part.run")
    candidate = candidate.format(folder=f"file://{world}")
    (world / "riskguard.yaml").write_text(
        f"collection: {{qrels: qrels.txt}}\ncandidate: {candidate}\nstore: baselines\nmeasures: [nDCG@10]\n"
        "gates: [{name: no-risk, kind: not_significantly_risky, baseline: prod}]\n"
    )
    assert command("baseline", "add", "prod", "cand", "--allow-unanswered").status == 0
    assert command("baseline", "verify").status == 0
    ended = command("check")
    assert (ended.status, "PASS" in ended.out) == (0, True)


def test_processes_change_nothing(world, report, monkeypatch):
    expected = report("cand.run")
    monkeypatch.setattr(whole_runs, "PIECE_BYTES", 5000)
    read = []
    monkeypatch.setattr(
        whole_runs, "score_shards", lambda shards, *a, **k: read.append(len(shards)) or score_shards(shards, *a, **k)
    )
    assert report("cand.run", "--workers", "2") == expected
    assert read
    assert min(read) > 2


def test_an_error_names_the_line_whoever_reads(world, command, monkeypatch):
    monkeypatch.setattr(whole_runs, "PIECE_BYTES", 5000)
    with (world / "cand.run").open("a") as file:
        file.write("q1 Q0 d1 x\n")
    lines = len((world / "cand.run").read_text().splitlines())
    errors = {
        command("compare", "cand.run", "--baseline", "base.run", *MEASURES, *options).out.partition("  reproduce")[0]
        for options in ((), ("--workers", "2"))
    }
    (error,) = errors
    assert f"cand.run:{lines}: expected 6 columns" in error


def test_interleaved_topics_are_read_by_one_process(world, report, monkeypatch):
    lines = (world / "cand.run").read_text().splitlines(keepends=True)
    (world / "cand.run").write_text("".join([*lines[::2], *lines[1::2]]))
    expected = report("cand.run")
    monkeypatch.setattr(whole_runs, "PIECE_BYTES", 5000)
    assert report("cand.run", "--workers", "2") == expected


def test_dask_with_a_dead_worker_gives_the_same_report(world, report, monkeypatch, tmp_path):
    expected = report("cand.run")
    monkeypatch.setattr(whole_runs, "PIECE_BYTES", 5000)
    (tmp_path / "cluster").mkdir()
    with clusters.dask_cluster(tmp_path / "cluster") as address:
        assert report("cand.run", "--scheduler", address) == expected
        dying = clusters.with_a_death(on_dask(address), tmp_path / "pids")
        schedulers = [dying, on_dask(address)]
        monkeypatch.setattr(whole_runs, "cluster_at", lambda _: schedulers.pop(0))
        assert report("cand.run", "--scheduler", address) == expected
        assert not schedulers


@pytest.mark.slow
def test_spark_with_a_dead_executor_gives_the_same_report(world, report, monkeypatch, tmp_path):
    expected = report("cand.run")
    monkeypatch.setattr(whole_runs, "PIECE_BYTES", 5000)
    (tmp_path / "cluster").mkdir()
    with clusters.spark_cluster(tmp_path / "cluster") as master:
        schedulers = [clusters.with_a_death(on_spark(), tmp_path / "pids", generation=2), on_spark()]
        monkeypatch.setattr(whole_runs, "cluster_at", lambda _: schedulers.pop(0) if schedulers else on_spark())
        assert report("cand.run", "--scheduler", master) == expected
        assert not schedulers


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("score", "cand.run", "--shard", "3/2", "-o", "a"), "expected a piece from 1/2 to 2/2"),
        (("score", "cand.run", "--shard", "x", "-o", "a"), "'x' is not a piece such as 2/8"),
        (("score", "cand.run", "-o", "cand.run", "--qrels", "qrels.txt"), "--out cand.run would overwrite"),
        (("score", "cand.run", "-o", "a"), "a run needs qrels to be scored with"),
        (("merge", "a.rgpart"), "nothing to write: give --out, --scores, or both"),
        (("merge", "a.rgpart", "-o", "a.rgpart"), "--out a.rgpart would overwrite"),
        (("compare", "cand.run", "--baseline", "base.run", "--workers", "0", *MEASURES), "found '0'"),
        (("compare", "cand.run", "--baseline", "base.run", "--workers", "many", *MEASURES), "from 1 to 1024 or auto"),
        (("score", "cand.run", "--shard", "1/0", "-o", "a"), "'1/0' is not a piece such as 2/8"),
        (("score", "cand.run", "-o", "qrels.txt", "--qrels", "qrels.txt"), "--out qrels.txt would overwrite"),
        (("merge", "a.rgpart", "-o", "qrels.txt", "--qrels", "qrels.txt"), "--out qrels.txt would overwrite"),
        (("merge", "a.rgpart", "--scores", "qrels.txt", "--qrels", "qrels.txt"), "qrels.txt would overwrite"),
        (
            ("compare", "cand.run", "--baseline", "base.run", "--scheduler", "ftp://a", *MEASURES),
            "ftp://a: expected the address of a scheduler of dask",
        ),
        (
            ("compare", "cand.run", "--baseline", "base.run", "--scheduler", "tcp://10.0.0.5", *MEASURES),
            "tcp://10.0.0.5: expected the address of a scheduler of dask (tcp://HOST:PORT)",
        ),
    ],
)
def test_wrong_usage(world, command, arguments, problem):
    (world / "a.rgpart").touch()
    ended = command(*arguments)
    assert ended.status == 2
    assert problem in ended.err


def test_a_part_cannot_be_stored_and_a_piece_is_not_a_run(world, command):
    command("score", "cand.run", *MEASURES, "--shard", "1/2", "-o", "a.rgpart")
    ended = command("compare", "a.rgpart", "--baseline", "base.run", *MEASURES)
    assert ended.status == 3
    assert "expected a whole run, found piece 1/2 of it" in ended.out
    ended = command("baseline", "add", "prod", "a.rgpart", "--qrels", "qrels.txt", "--store", "store")
    assert ended.status in (2, 3)
    assert not list(Path("store").glob("prod"))


@pytest.mark.parametrize(
    ("size", "measure", "processors", "expected"),
    [
        (299_999_999, "AP", 4, 1),
        (300_000_000, "AP", 4, 4),
        (300_000_000, "AP", 3, 1),
        (99_999_999, "SetP", 2, 1),
        (100_000_000, "SetP", 2, 2),
        (100_000_000, "SetP", 1, 1),
        (100_000_000, "SetP", 64, 6),
    ],
)
def test_when_processes_are_started_without_being_asked_for(monkeypatch, size, measure, processors, expected):
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setattr(whole_runs, "_processors", lambda: processors)
    monkeypatch.setattr(whole_runs, "_program", lambda: "pytest")
    assert whole_runs.processes_for(size, ["nDCG@10", measure]) == expected
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    assert whole_runs.processes_for(size, ["nDCG@10", measure]) == 1
    monkeypatch.delenv("PYTEST_XDIST_WORKER")
    monkeypatch.setattr(whole_runs, "_program", lambda: "my_script")
    assert whole_runs.processes_for(size, ["nDCG@10", measure]) == 1


def test_a_cluster_gets_more_pieces_than_a_few_processes(monkeypatch):
    size = 100 * whole_runs.PIECE_BYTES - 1
    with run_context.changed(workers=2):
        assert whole_runs._pieces(size, ["AP"]) == 2 * whole_runs.PIECES_EACH
        assert whole_runs._pieces(3 * whole_runs.PIECE_BYTES, ["AP"]) == 3
    with run_context.changed(scheduler="tcp://127.0.0.1:1"):
        assert whole_runs._pieces(size, ["AP"]) == 100


def test_reports_are_json(report):
    assert json.loads(report("cand.run"))["verdicts"]


def test_nobody_starts_processes_for_a_library():
    assert run_context.RunContext().workers == 1
