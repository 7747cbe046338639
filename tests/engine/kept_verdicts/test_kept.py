"""Kept verdicts: every report is the same to the byte, and nothing is answered that was not asked before."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_riskguard import run_context
from pytest_riskguard.engine.sources import RunFile
from pytest_riskguard.errors import UsageError
from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder
from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.gates.kinds import KINDS
from tests.engine.kept_verdicts.asked_project import (
    Judged,
    gate,
    settable,
    shown,
    with_option,
    write_gates,
    write_project,
)
from tests.plugin import world

COMPUTED = {"mean": ["prod", "third"], "candidate_inside": True}

pytestmark = pytest.mark.usefixtures("at_rest")


def verdict_entries(cache: CacheFolder) -> list[Path]:
    return [entry.path for entry in cache.entries() if entry.path.parent.name == "verdicts"]


def gates_of(kind: str) -> list[dict[str, Any]]:
    """A gate without options, one with each option set, and some with other baselines, where the kind takes such."""
    options = settable(kind)
    options.remove("max_latency_p95_ms")  # only a live candidate has a latency
    gates = [gate(kind), *(gate(kind, **with_option(kind, option)) | {"name": option} for option in options)]
    if kind != "georisk_not_worse":
        gates.append(gate(kind, baselines=["prod", "third", "second"]) | {"name": "several"})
        gates.append(gate(kind) | {"name": "computed", "baseline": COMPUTED})
    return gates


@pytest.mark.parametrize("report", [False, True], ids=["shown", "reported"])
@pytest.mark.parametrize("candidate", ["loss", "churn", "good"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_kept_verdict_shows_the_same_bytes(cache, project, kind, candidate, report):
    """For every kind of gate, with every option that a riskguard.yaml can set."""
    folder = project(candidate)
    write_gates(folder, gates_of(kind))
    first, second = Judged(folder, report=report), Judged(folder, report=report)
    judged, kept = first.verdicts(), second.verdicts()
    assert first.anew == [item.id for item in first.items]
    assert second.anew == [item.id for item, verdict in zip(first.items, judged, strict=True) if not is_kept(verdict)]
    assert len(second.anew) <= 3  # some option leaves this candidate without an answer
    for one, other in zip(judged, kept, strict=True):
        assert shown(one, report_wanted=report) == shown(other, report_wanted=report)


def is_kept(verdict: Any) -> bool:
    return bool(verdict.outcome != "incomparable")


def test_the_table_has_gates_of_every_outcome(cache, project):
    folder = project("good")
    yes, no = gate("not_significantly_risky"), gate("not_significantly_risky", baseline="third")
    unsure = gate("not_significantly_risky", max_mde=0.00001)
    write_gates(folder, [yes | {"name": "yes"}, no | {"name": "no"}, unsure | {"name": "unsure"}])
    outcomes = [verdict.outcome for verdict in Judged(folder).verdicts()]
    assert [verdict.outcome for verdict in Judged(folder).verdicts()] == outcomes
    assert len(verdict_entries(cache)) == len(outcomes)
    assert set(outcomes) >= {"pass", "inconclusive"}


@pytest.mark.parametrize("correction", ["holm", "benjamini_hochberg"])
def test_gates_of_a_family_are_kept_with_their_levels(cache, project, correction):
    folder = project("churn")
    gates = [gate("not_significantly_risky") | {"name": f"g{alpha}", "alpha": alpha} for alpha in (1, 5)]
    write_gates(folder, gates, family=correction)
    first, second = Judged(folder, report=True), Judged(folder, report=True)
    judged, kept = first.verdicts(), second.verdicts()
    assert second.anew == []
    assert all(verdict.family is not None and verdict.family.size == 2 for verdict in kept)
    assert [shown(v, report_wanted=True) for v in kept] == [shown(v, report_wanted=True) for v in judged]


def test_a_verdict_for_a_screen_is_not_one_for_a_report(cache, project):
    folder = project("good")
    write_gates(folder, [gate("not_significantly_risky")])
    Judged(folder).verdicts()
    reported = Judged(folder, report=True)
    (verdict,) = reported.verdicts()
    assert reported.anew
    assert verdict.exhibits is not None
    assert verdict.diagnostics is not None


def test_another_candidate_or_baseline_on_the_command_line_is_another_question(cache, project):
    folder = project("loss")
    write_gates(folder, [gate("not_significantly_risky")])
    world.write_run(folder / "other.run", world.GOOD)
    other = RunFile(folder / "other.run")
    plain = shown(Judged(folder).verdicts()[0], report_wanted=False)
    for replaced in ({"candidate": other}, {"runs": {"prod": RunFile(folder / "other.run", "prod")}}):
        first, second = Judged(folder, **replaced), Judged(folder, **replaced)
        expected = shown(first.verdicts()[0], report_wanted=False)
        assert first.anew
        assert shown(second.verdicts()[0], report_wanted=False) == expected != plain
        assert second.anew == []


def test_nothing_is_kept_that_cannot_be_compared(cache, project):
    folder = project("good")
    write_gates(folder, [gate("not_significantly_risky")])
    (folder / "candidate.run").write_text("no run\n")
    for _ in range(2):
        judged = Judged(folder)
        assert [verdict.outcome for verdict in judged.verdicts()] == ["incomparable"]
        assert judged.anew
    assert verdict_entries(cache) == []


def test_a_verdict_about_which_riskguard_had_to_report_something_is_not_kept(cache, project):
    """A documents file that cannot be read is said in each run."""
    folder = project("good")
    write_gates(folder, [gate("not_significantly_risky")])
    (folder / "documents.jsonl").write_text("no json\n")
    for _ in range(2):
        lines: list[str] = []
        with run_context.changed(failure_listeners=(lines.append,)):
            judged = Judged(folder)
            judged.verdicts()
        assert judged.anew
        assert any("documents.jsonl" in line for line in lines)
    assert verdict_entries(cache) == []


def test_what_changes_while_a_gate_is_judged_is_judged_again(cache, project):
    folder = project("good")
    write_gates(folder, [gate("not_significantly_risky")])
    judged = Judged(folder)

    def judge():
        verdict = judged.judge(judged.items[0])
        world.write_run(folder / "candidate.run", world.LOSS)
        return verdict

    assert judged.kept.verdict(judged.items[0].id, judge).outcome == "pass"
    assert verdict_entries(cache) == []
    assert [verdict.outcome for verdict in Judged(folder).verdicts()] == ["fail"]


@pytest.mark.parametrize(
    "place", ["candidate.run", "documents.jsonl", "baselines/prod/run.gz", "baselines/prod/scores.tsv"]
)
def test_what_changes_between_two_gates_is_not_kept_as_what_was_read(cache, project, place):
    """What is read for the first gate is held for the second: its verdict is not about the files as they are then."""
    folder = project("churn")
    gates = [{**gate("not_significantly_risky", alpha=alpha), "name": f"at-{alpha}"} for alpha in (1, 2)]
    write_gates(folder, gates)
    judged, path = Judged(folder, report=True), folder / place
    judged.kept.verdict(judged.items[0].id, lambda: judged.judge(judged.items[0]))
    content, status = path.read_bytes(), path.stat()
    path.write_bytes(content.replace(b"bad1", b"bad0").replace(b"About", b"Above").replace(b"0.", b"1."))
    if place.endswith(".gz"):
        path.write_bytes(content[:-4] + b"gzip")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.read_bytes() != content
    assert path.stat().st_size == status.st_size
    judged.kept.verdict(judged.items[1].id, lambda: judged.judge(judged.items[1]))
    again = [shown(verdict, report_wanted=True) for verdict in Judged(folder, report=True).verdicts()]
    with run_context.changed(cached=False):
        anew = [shown(verdict, report_wanted=True) for verdict in Judged(folder, report=True).verdicts()]
    assert again == anew


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_copy_of_a_stored_run_is_not_the_stored_run(cache, project, link):
    """What is said of a copy is not said of a link, which is refused."""
    folder = project("good")
    write_gates(folder, [gate("not_significantly_risky")])
    stored, copy = folder / "baselines" / "prod" / "run.gz", folder / "copy.run.gz"
    shutil.copy(stored, copy)
    candidate = RunFile(copy, None, given=GivenFile.of(copy))
    assert Judged(folder, candidate=candidate).verdicts()
    copy.unlink()
    link(stored, copy)
    with pytest.raises(UsageError, match=r"is the stored prod/run\.gz"):
        Judged(folder, candidate=candidate).verdicts()


def test_slices_that_were_looked_up_in_other_topics_are_another_question(cache, project):
    """A gate on several slices is a family: those that can be judged decide the level of each."""
    folder = project("churn")

    def write_topics(**sizes: int) -> None:
        values = [value for value, size in sizes.items() for _ in range(size)]
        rows = [f"{t}\t{world.QUERIES[t]}\t{value}" for t, value in zip(world.TOPICS, values, strict=True)]
        (folder / "topics.tsv").write_text("\n".join(["topic\tquery\tpart", *rows]) + "\n")

    write_topics(one=10, two=20)
    write_gates(folder, [gate("not_significantly_risky", slice="part", smallest_slice=10)])
    early = Judged(folder)
    write_topics(one=10, two=9, three=11)
    assert sorted(item.id for item in early.items) == ["a-gate[one]", "a-gate[two]"]
    early.verdicts()
    late = Judged(folder)
    assert sorted(item.id for item in late.items) == ["a-gate[one]", "a-gate[three]"]
    late.verdicts()
    assert len(late.anew) == 2


@pytest.mark.parametrize("off", ["no-cache", "RISKGUARD_CACHE"])
def test_nothing_is_kept_or_found_where_the_cache_is_off(cache, project, monkeypatch, off):
    folder = project("good")
    write_gates(folder, [gate("not_significantly_risky")])
    Judged(folder).verdicts()
    entries = cache.entries()
    if off == "RISKGUARD_CACHE":
        monkeypatch.setenv(off, "off")
    with run_context.changed(cached=off != "no-cache"):
        judged = Judged(folder)
        judged.verdicts()
    assert judged.anew
    assert cache.entries() == entries


def test_an_entry_of_another_question_is_not_taken(cache, project):
    """Somebody renames an entry: it says itself what it answers."""
    folder = project("loss")
    write_gates(
        folder, [gate("not_significantly_risky"), gate("no_topic_collapse", max_loss=0.99) | {"name": "other"}]
    )
    expected = [verdict.outcome for verdict in Judged(folder).verdicts()]
    assert expected == ["fail", "pass"]
    one, other = verdict_entries(cache)
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    judged = Judged(folder)
    assert [verdict.outcome for verdict in judged.verdicts()] == expected
    assert len(judged.anew) == 2
    assert (one.read_bytes(), other.read_bytes()) == (first, second)


@pytest.fixture(scope="session")
def one_gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one_gate")
    write_project(folder)
    write_gates(folder, [gate("not_significantly_risky")])
    return folder


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_entries_are_judged_again_and_rewritten(cache, one_gate, data):
    shutil.rmtree(cache.root / "verdicts", ignore_errors=True)
    expected = shown(Judged(one_gate).verdicts()[0], report_wanted=False)
    (entry,) = verdict_entries(cache)
    whole = entry.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1), label="place")
    if data.draw(st.booleans(), label="cut"):
        damaged = whole[:place]
    else:
        other = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[place]), label="byte")
        damaged = whole[:place] + bytes([other]) + whole[place + 1 :]
    entry.write_bytes(damaged)
    judged = Judged(one_gate)
    assert shown(judged.verdicts()[0], report_wanted=False) == expected
    assert judged.anew
    assert entry.read_bytes() == whole
