"""Gates on runs that were scored before: nothing is read again, and every report is the same to the byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_riskguard.evaluation.cache.cache_folder import VARIABLE, CacheFolder
from tests.plugin import world

YAML = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP, nDCG@10]
candidate: candidate.run
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod, alpha: 1}
  - {name: not-inferior, kind: not_inferior, baseline: prod, tolerance: 0.1}
  - {name: no-collapse, kind: no_topic_collapse, baseline: prod, max_loss: 0.45}
  - {name: pool, kind: georisk_not_worse, baselines: [prod, second, third], measure: AP}
"""
#: Writes down each process that opens a run; files that have just been written count as having rested.
CONFTEST = """
import os, sys
from pathlib import Path
from pytest_riskguard.evaluation.cache import file_digests

file_digests.RESTING_NS = -10**15
log = Path(__file__).with_name("opened.txt")

def hook(event, arguments):
    if event == "open" and str(arguments[0]).endswith("candidate.run"):
        with os.fdopen(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "a") as file:
            file.write(f"{os.getpid()}\\n")

sys.addaudithook(hook)
"""
REPORTS = ("r.json", "r.md", "r.html", "r.xml")


@pytest.fixture
def cache(tmp_path, monkeypatch) -> CacheFolder:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return CacheFolder(tmp_path / "cache")


@pytest.fixture
def gates(pytester, project, monkeypatch):
    """Four gates on one candidate and three stored baselines, of which some fail."""
    folder = project("loss")
    world.store(folder, "second", world.GOOD)
    world.store(folder, "third", world.CHURN)
    (folder / "riskguard.yaml").write_text(YAML)
    pytester.makeconftest(CONFTEST)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    return folder


def run(pytester: pytest.Pytester, *options: str) -> tuple[pytest.RunResult, dict[str, str]]:
    """A whole run of pytest, and what it writes."""
    chosen = [f"--riskguard-report={name}" for name in REPORTS[:3]]
    result = pytester.runpytest_subprocess("--riskguard", f"--junitxml={REPORTS[3]}", *chosen, *options)
    written = {name: (pytester.path / name).read_text(encoding="utf-8") for name in REPORTS}
    written["r.xml"] = re.sub(r' (time|timestamp|hostname)="[^"]*"', "", written["r.xml"])
    return result, written


def opened(folder: Path) -> list[str]:
    """The processes that opened the candidate since this was last asked, once for each time."""
    log = folder / "opened.txt"
    processes = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return processes


def test_a_second_run_opens_no_run_and_reports_the_same(pytester, gates, cache):
    first, uncached = run(pytester, "--riskguard-no-cache")
    outcomes = first.parseoutcomes()
    assert outcomes.keys() >= {"passed", "failed"}
    assert not cache.entries()
    assert opened(gates)
    _, cold = run(pytester)
    assert opened(gates)
    assert cache.entries()
    second, warm = run(pytester)
    assert opened(gates) == []
    assert uncached == cold == warm
    assert second.parseoutcomes() == outcomes
    assert '"rankings"' in warm["r.json"]


def test_a_gate_that_is_judged_anew_needs_no_run_either(pytester, gates, cache):
    """What a report shows of rankings comes from the cache also where the gate passed before."""
    settings = gates / "riskguard.yaml"
    settings.write_text(YAML.replace("tolerance: 0.1", "tolerance: 0.9"))
    pytester.runpytest_subprocess("--riskguard", "-k", "not-inferior").assert_outcomes(passed=2, deselected=5)
    opened(gates)
    settings.write_text(YAML)
    pytester.runpytest_subprocess("--riskguard", "-k", "not-inferior").assert_outcomes(failed=2, deselected=5)
    assert opened(gates) == []


def test_a_run_that_changed_is_read_again(pytester, gates, cache):
    run(pytester)
    opened(gates)
    world.write_run(gates / "candidate.run", world.GOOD)
    _, found = run(pytester)
    assert opened(gates)
    assert found == run(pytester, "--riskguard-no-cache")[1]


@pytest.mark.parametrize("kind", ["scores", "runs", "files", "settings", "verdicts"])
def test_damaged_entries_change_nothing(pytester, gates, cache, kind):
    _, expected = run(pytester)
    for entry in cache.entries():
        if entry.path.parent.name == kind:
            entry.path.write_bytes(b"riskguard-arrays/1 scores\n")
        elif entry.path.parent.name == "verdicts":
            entry.path.unlink()
    _, found = run(pytester)
    assert found == expected


def test_a_second_run_loads_neither_what_judges_nor_what_checks_settings(pytester, gates, cache):
    # a command that is advised is built by what judges; nothing is advised where no document is unjudged
    (gates / "riskguard.yaml").write_text(YAML.replace("topics.tsv}", "topics.tsv, judgements: complete}"))
    written = "Path(__file__).with_name('loaded.txt').write_text(' '.join(sys.modules))"
    pytester.makeconftest(f"{CONFTEST}\nimport atexit\natexit.register(lambda: {written})\n")
    loaded = []
    for _ in range(2):
        pytester.runpytest_subprocess("--riskguard", "-p", "no:hypothesispytest")
        loaded.append({name.partition(".")[0] for name in (gates / "loaded.txt").read_text().split()})
    assert loaded[0] - loaded[1] >= {"numpy", "pydantic", "yaml"}


def test_a_file_that_takes_the_place_of_a_part_is_judged(pytester, gates, cache):
    """``FILE#PART`` is a part of FILE until there is a file of the whole name."""
    rows = ["Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position"]
    for query in map(world.QUERIES.__getitem__, world.TOPICS):
        rows += [f"{name},2026-08-01,1,{query},{document},1" for name, document in (("old", "good"), ("new", "bad1"))]
    (gates / "snapshots.csv").write_text("\n".join(rows) + "\n")
    (gates / "riskguard.yaml").write_text(YAML.replace("candidate.run", '"snapshots.csv#new"'))
    before = run(pytester)[1]
    world.write_run(gates / "snapshots.csv#new", world.GOOD)
    found = run(pytester)[1]
    assert before["r.md"] != found["r.md"]
    assert found == run(pytester, "--riskguard-no-cache")[1]


def test_numbers_that_cannot_be_written_in_digits_are_judged(pytester, gates, cache):
    (gates / "riskguard.yaml").write_text(YAML.replace("topics.tsv}", f"topics.tsv, shrink: 0x{4000 * 'f'}}}"))
    result, found = run(pytester)
    assert result.parseoutcomes().keys() >= {"passed", "failed"}
    assert found == run(pytester, "--riskguard-no-cache")[1]


@pytest.mark.parametrize("number", [1, 2])
def test_a_wrong_size_of_the_cache_stops_no_other_test(pytester, gates, cache, monkeypatch, number):
    pytester.makepyfile("def test_of_the_project(): pass")
    if number == 2:
        run(pytester)
    monkeypatch.setenv("RISKGUARD_CACHE_SIZE", "much")
    result = pytester.runpytest_subprocess("--riskguard")
    result.assert_outcomes(passed=1, failed=7)
    result.stdout.fnmatch_lines(["*RISKGUARD_CACHE_SIZE: expected a whole number from 1, found 'much'*"])


@pytest.mark.slow
def test_of_several_workers_one_reads_a_run(pytester, gates, cache):
    alone = run(pytester, "-n", "4", "--riskguard-no-cache")[1]
    assert len(set(opened(gates))) > 1
    together = run(pytester, "-n", "4")[1]
    readers = opened(gates)
    assert len(set(readers)) >= 1
    warm = run(pytester, "-n", "4")[1]
    assert opened(gates) == []
    assert alone["r.json"] == together["r.json"] == warm["r.json"]


def test_a_run_in_memory_and_a_live_system_are_not_kept(pytester, gates, cache):
    (gates / "riskguard.yaml").write_text(world.YAML % "1")
    pytester.makepyfile(
        """
        from tests.plugin.world import TOPICS

        ANSWERS = {topic: ["bad1", "good"] for topic in TOPICS}

        def test_in_memory(riskguard):
            riskguard.assert_not_significantly_risky(riskguard.run(ANSWERS), riskguard.run(ANSWERS, name="b"))

        def test_live(riskguard):
            live = riskguard.retrieve(lambda query: ["bad1", "good"])
            riskguard.assert_not_significantly_risky(live, riskguard.run(ANSWERS, name="b"))
        """
    )
    pytester.runpytest_subprocess("--riskguard", "--riskguard-no-yaml").assert_outcomes(passed=2)
    assert cache.entries() == []
