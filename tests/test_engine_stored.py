"""What the engine checks about stored baselines besides scores: their runs, replicates and topics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.sources import Computed, Question, RunFile, Stored
from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.gates.kinds import gate_of

TOPICS = [f"q{i:02d}" for i in range(30)]


def write_run(path: Path, rank_of: dict[str, int]) -> None:
    """A run with the relevant document of each topic at a rank, 1 where none is given."""
    lines = []
    for topic in TOPICS:
        others = [f"bad{n}" for n in range(1, 10)]
        others.insert(rank_of.get(topic, 1) - 1, "good")
        lines += [f"{topic} Q0 {document} {rank} {20 - rank} x\n" for rank, document in enumerate(others, start=1)]
    path.write_text("".join(lines))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A collection, a store with ``prod``, a candidate that loses in 15 topics and a run as noisy as ``prod``."""
    tmp_path.joinpath("qrels.txt").write_text("".join(f"{t} 0 good 1\n{t} 0 bad1 0\n" for t in TOPICS))
    tmp_path.joinpath("topics.tsv").write_text("".join(f"{t}\tquery {t}\n" for t in TOPICS))
    write_run(tmp_path / "prod.run", {})
    write_run(tmp_path / "loss.run", dict.fromkeys(TOPICS[:15], 9))
    write_run(tmp_path / "noisy.run", {"q29": 2})
    add(tmp_path, "prod")
    return tmp_path


def add(folder: Path, name: str, *, replace: bool = False, keep_run: bool = True) -> None:
    Store(folder / "store").add(
        name,
        folder / "prod.run",
        qrels=folder / "qrels.txt",
        topics=folder / "topics.tsv",
        measures=["RR"],
        replace=replace,
        keep_run=keep_run,
        allow_ci=True,
    )


def replicate(folder: Path, run: str) -> None:
    Store(folder / "store").add_replicate(
        "prod", folder / run, qrels=folder / "qrels.txt", topics=folder / "topics.tsv", allow_ci=True
    )


def verdict(folder: Path, candidate: str = "loss.run", *, kind: str = "not_significantly_risky", **options):
    engine = Engine(
        qrels=folder / "qrels.txt", topics=folder / "topics.tsv", store=Store(folder / "store"), **options
    )
    return engine.verdict(Question(gate_of("g", kind=kind), RunFile(folder / candidate), Stored("prod"), "RR"))


def codes(judged) -> list[str]:
    return [warning.code for warning in judged.warnings]


def test_a_loss_fails_and_says_nothing_of_the_store(folder):
    judged = verdict(folder)
    assert judged.outcome == "fail"
    assert not {"unbacked_scores", "judgements_shrank"} & {*codes(judged)}


def test_scores_without_a_run_are_said_to_be_unbacked(folder):
    add(folder, "prod", replace=True, keep_run=False)
    judged = verdict(folder, "prod.run")
    assert (judged.outcome, codes(judged).count("unbacked_scores")) == ("pass", 1)
    (warning,) = [warning for warning in judged.warnings if warning.code == "unbacked_scores"]
    assert warning.message.startswith("prod was stored without the run")


def test_a_rescored_baseline_shows_its_mean_before_and_after(folder):
    lines = (folder / "qrels.txt").read_text().replace("q00 0 good 1", "q00 0 bad1 1").replace("q00 0 bad1 0\n", "")
    (folder / "qrels.txt").write_text(lines)
    (warning,) = [warning for warning in verdict(folder).warnings if warning.code == "rescored"]
    now = (29 + 1 / 2) / 30  # in q00 the relevant document is second now
    assert warning.message.endswith(f"(mean of prod 1.0000 when stored, {now:.4f} now)")


def test_an_old_format_says_what_is_not_checked_until_it_is_rescored(folder):
    path = folder / "store/prod/manifest.json"
    data = json.loads(path.read_text())
    for key in ("name", "queries", "judged", "replicates", "kind", "history"):
        del data[key]
    path.write_text(json.dumps(data | {"format": 1}))
    (folder / "store/prod/queries.tsv").unlink()
    judged = verdict(folder, "prod.run")
    assert (judged.outcome, codes(judged).count("old_format")) == ("pass", 1)
    Store(folder / "store").rescore("prod", qrels=folder / "qrels.txt", topics=folder / "topics.tsv", allow_ci=True)
    assert "old_format" not in codes(verdict(folder, "prod.run"))


def test_changed_tags_and_weights_are_said_where_a_gate_uses_them(folder):
    table = ["topic\tquery\tkind\tweight\n", *(f"{topic}\tquery {topic}\tcode\t1\n" for topic in TOPICS)]
    (folder / "topics.tsv").write_text("".join(table))
    add(folder, "prod", replace=True)
    gates = [gate_of("g"), gate_of("g", slice="kind=code"), gate_of("g", weighted=True)]

    def warned() -> list[bool]:
        engine = Engine(qrels=folder / "qrels.txt", topics=folder / "topics.tsv", store=Store(folder / "store"))
        questions = [Question(gate, RunFile(folder / "prod.run"), Stored("prod"), "RR") for gate in gates]
        return ["topics_changed" in codes(engine.verdict(question)) for question in questions]

    assert warned() == [False, False, False]
    (folder / "topics.tsv").write_text("".join(table).replace("q29\tquery q29\tcode\t1", "q29\tquery q29\tword\t2"))
    assert warned() == [False, True, True]


def test_changed_clusters_and_strata_are_said_too(folder):
    table = ["topic\tquery\tcluster\tstratum\n"]
    table += [f"{topic}\tquery {topic}\t{place // 2}\t{'ab'[place % 4 // 2]}\n" for place, topic in enumerate(TOPICS)]
    (folder / "topics.tsv").write_text("".join(table))
    add(folder, "prod", replace=True)

    def warned(**how: Any) -> list[str]:
        given = GivenFile(folder / "topics.tsv", **how)
        engine = Engine(qrels=folder / "qrels.txt", topics=given, store=Store(folder / "store"))
        verdict = engine.verdict(Question(gate_of("g"), RunFile(folder / "prod.run"), Stored("prod"), "RR"))
        return [warning.message for warning in verdict.warnings if warning.code == "topics_changed"]

    assert warned() == []
    (folder / "topics.tsv").write_text("".join(table).replace("q29\t14", "q29\t15"))
    assert "the clusters" in warned()[0]
    assert "the strata" in warned(strata=(("a", 0.5), ("b", 0.5)))[0]


def test_a_computed_baseline_names_the_unbacked_systems(folder):
    add(folder, "other", keep_run=False)
    engine = Engine(qrels=folder / "qrels.txt", store=Store(folder / "store"))
    computed = Computed("mean", (Stored("prod"), Stored("other")))
    judged = engine.verdict(Question(gate_of("g"), RunFile(folder / "prod.run"), computed, "RR"))
    (warning,) = [warning for warning in judged.warnings if warning.code == "unbacked_scores"]
    assert warning.message.startswith("other was stored")


def test_lowered_scores_are_incomparable(folder):
    path = folder / "store/prod/scores.tsv"
    path.write_text(path.read_text().replace("1.0", "0.05"))
    manifest = folder / "store/prod/manifest.json"
    data = json.loads(manifest.read_text())
    from pytest_riskguard.baselines.atomic_folder import sha256

    data["digests"]["scores"] = sha256(path.read_bytes())
    manifest.write_text(json.dumps(data))
    judged = verdict(folder)
    assert (judged.outcome, judged.reason) == ("incomparable", "bad_baseline")
    assert "RR of topic 'q00' is stored as 0.05, the run scores 1 (the worst of 30 topics)" in judged.problem


@pytest.mark.parametrize("kind", ["not_significantly_risky", "not_inferior"])
def test_a_candidate_stored_as_replicate_of_its_baseline_is_refused(folder, kind):
    replicate(folder, "noisy.run")
    assert verdict(folder, kind=kind).outcome == "fail"
    assert verdict(folder, "prod.run").outcome == "pass"  # the run of the baseline itself
    replicate(folder, "loss.run")
    judged = verdict(folder, kind=kind)
    assert (judged.outcome, judged.reason) == ("incomparable", "bad_baseline")
    assert "loss is the run stored as replicate 2 of prod" in judged.problem
    assert "`riskguard baseline remove prod --replicate 2`" in judged.problem


def test_a_pass_does_not_rest_on_a_replicate_of_another_system(folder):
    write_run(folder / "nearly.run", dict.fromkeys(TOPICS[:15], 9) | {"q28": 2})  # the candidate but for one topic
    replicate(folder, "nearly.run")
    judged = verdict(folder)
    assert (judged.outcome, judged.reason) == ("incomparable", "bad_baseline")
    assert "the mean of replicate 1 is far below the baseline's (0.5389, that of prod 1.0000)" in judged.problem
    assert "`riskguard baseline remove prod --replicate 1`" in judged.problem
    assert verdict(folder, "noisy.run").outcome == "pass"  # as it would without replicates


def test_a_replicate_that_loses_as_much_in_every_topic_is_another_system(folder):
    """No variation, so that no test of the mean exists: the mean alone says it."""
    write_run(folder / "ninth.run", dict.fromkeys(TOPICS, 9))
    write_run(folder / "eighth.run", dict.fromkeys(TOPICS, 8))
    replicate(folder, "ninth.run")
    judged = verdict(folder, "eighth.run")
    assert (judged.outcome, judged.reason) == ("incomparable", "bad_baseline")
    assert "the mean of replicate 1 is far below the baseline's (0.1111, that of prod 1.0000)" in judged.problem


def test_topics_that_are_gone_are_incomparable_until_they_are_allowed(folder):
    lines = folder.joinpath("qrels.txt").read_text().splitlines(keepends=True)
    folder.joinpath("qrels.txt").write_text("".join(line for line in lines if line.split()[0] not in TOPICS[:15]))
    judged = verdict(folder)
    assert (judged.outcome, judged.reason) == ("incomparable", "inputs_changed")
    assert "15 topics (q00, q01, q02, q03, q04 and 10 more)" in judged.problem
    assert verdict(folder, shrink=14).outcome == "incomparable"
    for shrink in (15, None):
        judged = verdict(folder, shrink=shrink)
        assert (judged.outcome, codes(judged).count("judgements_shrank")) == ("pass", 1)


def test_texts_that_changed_are_incomparable_until_they_are_allowed(folder):
    text = folder.joinpath("topics.tsv").read_text().replace("query q07", "an easier query")
    folder.joinpath("topics.tsv").write_text(text)
    judged = verdict(folder)
    assert (judged.outcome, judged.reason) == ("incomparable", "inputs_changed")
    assert "1 topic (q07) had a different query text when it was stored than in topics.tsv now" in judged.problem
    judged = verdict(folder, shrink=1)
    assert judged.outcome == "fail"
    assert "judgements_shrank" in codes(judged)


def test_a_replicate_that_scores_as_the_candidate_does_is_refused_like_its_own_run(folder):
    lines = folder.joinpath("loss.run").read_text().splitlines(keepends=True)
    folder.joinpath("nearly.run").write_text("".join(lines[:-1]))  # without the last document of the last topic
    replicate(folder, "nearly.run")
    judged = verdict(folder)
    assert (judged.outcome, judged.reason) == ("incomparable", "bad_baseline")
    assert "or scores the same on every topic" in judged.problem


def test_a_replicate_excuses_the_same_run_where_nothing_is_lost(folder):
    replicate(folder, "noisy.run")
    judged = verdict(folder, "noisy.run")
    assert judged.outcome == "pass"
    assert "loss_excused" not in codes(judged)


def test_a_loss_of_the_mean_that_replicates_excuse_gives_a_warning(folder):
    write_run(folder / "other.run", dict.fromkeys(TOPICS[:8], 10))
    write_run(folder / "few.run", dict.fromkeys(TOPICS[:8], 9))
    assert verdict(folder, "few.run").outcome == "fail"
    replicate(folder, "other.run")
    judged = verdict(folder, "few.run")
    assert judged.outcome == "pass"
    (warning,) = [warning for warning in judged.warnings if warning.code == "loss_excused"]
    assert "(mean 1.0000 for the baseline, 0.7600 for prod/replicates/1)" in warning.message


def judge_more(folder: Path, topics: list[str]) -> None:
    """More judged topics, which the candidate answers perfectly and the stored run not at all."""
    with folder.joinpath("qrels.txt").open("a") as qrels, folder.joinpath("topics.tsv").open("a") as texts:
        qrels.writelines(f"{topic} 0 good 1\n" for topic in topics)
        texts.writelines(f"{topic}\tquery {topic}\n" for topic in topics)
    for path in (folder / "loss.run", folder / "noisy.run"):
        with path.open("a") as run:
            run.writelines(f"{topic} Q0 good 1 9 x\n" for topic in topics)


def test_topics_that_a_stored_run_was_never_asked_cannot_make_up_for_a_loss(folder):
    judge_more(folder, [f"new{n:02d}" for n in range(60)])
    judged = verdict(folder)
    assert (judged.outcome, judged.reason) == ("incomparable", "topics_differ")
    assert "only because of 60 topics (new00, new01, new02, new03, new04 and 55 more)" in judged.problem
    computed = Computed("mean", (Stored("prod"), Stored("prod")))
    engine = Engine(qrels=folder / "qrels.txt", store=Store(folder / "store"))
    question = Question(gate_of("g"), RunFile(folder / "loss.run"), computed, "RR")
    assert engine.verdict(question).reason == "topics_differ"


def test_topics_that_a_stored_run_was_never_asked_cannot_make_up_for_too_few(folder):
    qrels = folder.joinpath("qrels.txt").read_text().splitlines(keepends=True)
    folder.joinpath("qrels.txt").write_text("".join(line for line in qrels if line.split()[0] in TOPICS[:8]))
    add(folder, "prod", replace=True)
    assert verdict(folder, "noisy.run").reason == "too_few_topics"
    judge_more(folder, ["new00", "new01"])
    judged = verdict(folder, "noisy.run")
    assert (judged.outcome, judged.reason) == ("incomparable", "topics_differ")
    assert "Without them the gate's answer is inconclusive" in judged.problem
    engine = Engine(qrels=folder / "qrels.txt", store=Store(folder / "store"))
    lenient = gate_of("g", on_inconclusive="warn")
    question = Question(lenient, RunFile(folder / "noisy.run"), Stored("prod"), "RR")
    assert engine.verdict(question).outcome == "pass"  # no less green than without them


def test_added_topics_that_decide_nothing_are_harmless(folder):
    judge_more(folder, ["new00", "new01"])
    assert verdict(folder, "noisy.run").outcome == "pass"
    assert verdict(folder).outcome == "fail"
