"""What the engine checks about stored baselines besides scores: their runs, replicates and topics."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.question import Question, RunFile, Stored
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.text import listed

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
def folder(tmp_path):
    """A collection, a store with ``prod``, a candidate that loses in 15 topics and a run as noisy as ``prod``."""
    tmp_path.joinpath("qrels.txt").write_text("".join(f"{t} 0 good 1\n{t} 0 bad1 0\n" for t in TOPICS))
    tmp_path.joinpath("topics.tsv").write_text("".join(f"{t}\tquery {t}\n" for t in TOPICS))
    write_run(tmp_path / "prod.run", {})
    write_run(tmp_path / "loss.run", dict.fromkeys(TOPICS[:15], 9))
    write_run(tmp_path / "noisy.run", {"q29": 2})
    add(tmp_path, "prod")
    return tmp_path


def add(folder: Path, name: str, *, replace: bool = False, keep_run: bool = True, **options: Any) -> None:
    store = Store(folder / "store")
    if replace and name in store.names():
        store.remove(name)
    store.add(
        name,
        folder / "prod.run",
        qrels=folder / "qrels.txt",
        topics=folder / "topics.tsv",
        measures=["RR"],
        keep_run=keep_run,
        **options,
    )


def replicate(folder: Path, run: str) -> None:
    Store(folder / "store").add_replicate(
        "prod", folder / run, qrels=folder / "qrels.txt", topics=folder / "topics.tsv"
    )


def ask(
    folder: Path,
    candidate: str = "loss.run",
    baseline: Stored | RunFile = Stored("prod"),  # noqa: B008 - it never changes
    *,
    measure: str = "RR",
    on_changed_inputs: Any = "warn",
    **options: Any,
) -> Verdict:
    engine = Engine(
        qrels=folder / "qrels.txt",
        topics=folder / "topics.tsv",
        store=Store(folder / "store"),
        on_changed_inputs=on_changed_inputs,
    )
    return engine.verdict(Question(gate_of("g", **options), RunFile(folder / candidate), baseline, measure))


def stopped(judged: Verdict, reason: str, *words: str) -> None:
    """Check that nothing was compared, and why."""
    assert (judged.outcome, judged.reason) == ("incomparable", reason)
    for text in words:
        assert text in str(judged.error)


def codes(judged) -> list[str]:
    return [warning.code for warning in judged.warnings]


def test_scores_without_a_run_are_said_to_be_unbacked(folder):
    add(folder, "prod", replace=True, keep_run=False)
    judged = ask(folder, "prod.run")
    assert (judged.outcome, codes(judged).count("unbacked_scores")) == ("pass", 1)
    (warning,) = [warning for warning in judged.warnings if warning.code == "unbacked_scores"]
    assert warning.message.startswith("prod: stored without the run")
    assert ask(folder, "prod.run", on_changed_inputs="fail").outcome == "pass"  # no input changed


def test_a_rescored_baseline_shows_its_mean_before_and_after(folder):
    lines = (folder / "qrels.txt").read_text().replace("q00 0 good 1", "q00 0 bad1 1").replace("q00 0 bad1 0\n", "")
    (folder / "qrels.txt").write_text(lines)
    (warning,) = [warning for warning in ask(folder).warnings if warning.code == "changed_inputs"]
    now = (29 + 1 / 2) / 30  # in q00 the relevant document is second now
    assert warning.message.endswith(f"(mean of prod 1.0000 when stored, {now:.4f} now)")


def test_changed_tags_are_said_where_a_gate_is_about_a_slice(folder):
    table = ["topic\tquery\tkind\n", *(f"{topic}\tquery {topic}\tcode\n" for topic in TOPICS)]
    (folder / "topics.tsv").write_text("".join(table))
    add(folder, "prod", replace=True)

    def warned(**options: Any) -> bool:
        return "changed_inputs" in codes(ask(folder, "prod.run", **options))

    assert not warned(slice="kind=code")
    (folder / "topics.tsv").write_text("".join(table).replace("q29\tquery q29\tcode", "q29\tquery q29\tword"))
    assert warned(slice="kind=code")
    assert not warned()


@pytest.mark.parametrize(
    ("column", "before", "after", "options"),
    [
        ("weight", lambda _: "1", lambda place: "9" if place > 14 else "1", {"weighted": True}),
        ("cluster", str, lambda place: "one" if place < 15 else str(place), {}),
    ],
)
def test_weights_and_clusters_that_changed_decide_nothing_until_the_baseline_is_rescored(
    folder, column, before, after, options
):
    """Losses of the first 15 topics would weigh less, or be one loss."""

    def write(value) -> None:
        rows = [f"{topic}\tquery {topic}\t{value(place)}\n" for place, topic in enumerate(TOPICS)]
        (folder / "topics.tsv").write_text("".join([f"topic\tquery\t{column}\n", *rows]))

    write(before)
    add(folder, "prod", replace=True)
    assert ask(folder, "loss.run", **options).outcome == "fail"
    write(after)
    judged = ask(folder, "loss.run", **options)
    stopped(
        judged,
        "inputs_changed",
        f"had another {column} when prod was stored than in topics.tsv now",
        "`riskguard baseline rescore prod`",
    )
    Store(folder / "store").rescore("prod", qrels=folder / "qrels.txt", topics=folder / "topics.tsv")
    assert ask(folder, "loss.run", **options).outcome != "incomparable"


def test_a_new_column_of_clusters_decides_nothing_either(folder):
    rows = [f"{topic}\tquery {topic}\ta\tone\n" for topic in TOPICS[:15]]
    rows += [f"{topic}\tquery {topic}\tb\t\n" for topic in TOPICS[15:]]
    (folder / "topics.tsv").write_text("".join(["topic\tquery\tkind\tcluster\n", *rows]))
    judged = ask(folder, "loss.run")
    stopped(judged, "inputs_changed", "15 topics (q00, q01, q02, q03, q04 and 10 more) had another cluster")
    assert ask(folder, "loss.run", kind="no_topic_collapse", max_loss=0.5).outcome == "fail"  # clusters play no part
    assert ask(folder, "loss.run", slice="kind=b").outcome == "pass"  # of other topics


def against(folder: Path, baseline: str, **options: Any) -> Verdict:
    return ask(folder, baseline=RunFile(folder / baseline), **options)


def leave_out(folder: Path, run: str, topics: Sequence[str]) -> None:
    lines = (folder / run).read_text().splitlines(keepends=True)
    (folder / run).write_text("".join(line for line in lines if line.split()[0] not in topics))


KINDS_AND_OPTIONS: list[dict[str, Any]] = [
    {},
    {"kind": "not_inferior", "tolerance": 0.1},
    {"kind": "no_topic_collapse", "max_loss": 0.5},
    {"kind": "georisk_not_worse"},
]


@pytest.mark.parametrize("options", KINDS_AND_OPTIONS)
@pytest.mark.parametrize("unanswered", [TOPICS[1:], TOPICS[:15], TOPICS[:2]])
def test_a_baseline_that_did_not_answer_what_the_candidate_answers_is_no_baseline(folder, options, unanswered):
    """One topic of 30 answered, all but those that the candidate loses, or all but two of these."""
    leave_out(folder, "prod.run", unanswered)
    judged = against(folder, "prod.run", **options)
    named = listed(tuple(unanswered), most=5)
    stopped(
        judged, "bad_baseline", f"prod did not answer {len(unanswered)} of 30 topics that loss answered ({named})"
    )


def test_a_topic_that_neither_side_answers_is_no_free_win(folder):
    leave_out(folder, "prod.run", TOPICS[:2])
    leave_out(folder, "loss.run", TOPICS[:2])
    assert against(folder, "prod.run").outcome == "fail"


def test_topics_without_a_result_are_answered_if_somebody_says_so(folder):
    leave_out(folder, "prod.run", TOPICS[:15])
    judged = against(folder, "prod.run", missing="zero")
    assert judged.outcome == "pass"
    assert [warning.code for warning in judged.first_warnings] == ["free_wins"]
    with pytest.raises(DataError, match=r"leaves 15 of 30 judged topics unanswered .* pass --allow-unanswered"):
        add(folder, "prod", replace=True)
    add(folder, "prod", replace=True, allow_unanswered=True)
    assert ask(folder, "loss.run").outcome == "pass"


def test_one_topic_more_or_less_decides_only_what_rests_on_it(folder):
    """The candidate has it at rank 9: whatever the baseline scored there, no risk is significant, a fall may be."""
    write_run(folder / "one.run", {"q00": 9})
    leave_out(folder, "prod.run", ["q00"])
    assert against(folder, "prod.run", candidate="one.run").outcome == "pass"
    judged = against(folder, "prod.run", candidate="one.run", kind="no_topic_collapse", max_loss=0.5)
    stopped(judged, "bad_baseline", "the gate would not pass if it did well there")
    write_run(folder / "one.run", {"q00": 2})
    judged = against(folder, "prod.run", candidate="one.run", kind="no_topic_collapse", max_loss=0.5)
    assert judged.outcome == "pass"


def dilute(folder: Path, topics: Sequence[str]) -> None:
    """A grade that no run finds: all scores become small, those of both sides alike."""
    with (folder / "qrels.txt").open("a") as file:
        file.writelines(f"{topic} 0 nowhere 10\n" for topic in topics)


def test_judgements_that_make_the_scores_of_lost_topics_small_decide_nothing(folder):
    def asked(**options: Any) -> Verdict:
        return ask(folder, measure="nDCG", **options)

    Store(folder / "store").rescore("prod", qrels=folder / "qrels.txt", topics=None, measures=["nDCG"])
    collapse = {"kind": "no_topic_collapse", "max_loss": 0.5}
    assert [asked().outcome, asked(**collapse).outcome] == ["fail", "fail"]
    write_run(folder / "loss.run", {"q00": 9})
    dilute(folder, TOPICS[:1])  # few topics: scores as large as they were tell
    judged = asked(**collapse)
    stopped(judged, "inputs_changed", "the judgements of 1 topic (q00) changed since prod was stored")
    assert judged.remedy == ("restore the judgements; once they are reviewed, run `riskguard baseline rescore prod`")
    write_run(folder / "loss.run", {})
    assert asked(**collapse).outcome == "pass"  # nothing was lost there
    dilute(folder, TOPICS[1:15])
    for options in ({}, collapse):
        judged = asked(**options)
        stopped(judged, "inputs_changed", "less than half of the stored score left in 15 topics (q00, q01")


def test_a_replicate_stored_after_judgements_changed_hides_nothing(folder):
    write_run(folder / "four.run", dict.fromkeys(TOPICS[:4], 9))
    Store(folder / "store").rescore("prod", qrels=folder / "qrels.txt", topics=None, measures=["nDCG"])
    asked: dict[str, Any] = {"measure": "nDCG", "alpha": 5, "on_churn": "fail", "tolerance": 0.1}
    assert ask(folder, "four.run", **asked).outcome == "fail"
    dilute(folder, TOPICS[:3])
    (folder / "again.run").write_text((folder / "prod.run").read_text() + "q29 Q0 bad10 11 1 x\n")
    replicate(folder, "again.run")
    stopped(ask(folder, "four.run", **asked), "inputs_changed", "the judgements of 3 topics")


def test_a_drift_gate_without_an_earlier_run_compares_with_nothing(folder):
    judged = ask(folder, baseline=Stored("prod", "oldest"), kind="no_drift")
    stopped(judged, "missing_input", "has no earlier run 'oldest'")


@pytest.mark.parametrize("lost", [[1], [2], [1, 2]])
def test_a_history_with_a_lost_entry_is_damage(folder, lost):
    store = Store(folder / "store")
    for run in ("noisy.run", "loss.run"):
        store.update("prod", folder / run, qrels=folder / "qrels.txt", topics=None)
    for number in lost:
        shutil.rmtree(folder / f"store/prod/history/{number:04d}")
    judged = ask(folder, baseline=Stored("prod", "oldest"), kind="no_drift")
    stopped(judged, "bad_baseline", "manifest.json is missing")


def test_changed_inputs_are_said_first_and_stop_a_gate_where_they_are_to(folder):
    leave_out(folder, "loss.run", ["q29"])
    assert ask(folder, on_changed_inputs="fail").outcome == "fail"
    text = (folder / "qrels.txt").read_text()
    (folder / "qrels.txt").write_text(text + "q00 0 bad2 1\n")
    judged = ask(folder)
    assert codes(judged)[:2] == ["changed_inputs", "missing_topics"]
    assert judged.outcome == "fail"
    judged = ask(folder, on_changed_inputs="fail")
    stopped(judged, "inputs_changed", "the judgements or the scoring library changed since the baseline was stored")
    assert judged.remedy == "once the change is reviewed, run `riskguard baseline rescore prod`"
    replicate(folder, "noisy.run")  # on the judgements of now
    assert codes(ask(folder))[0] == "changed_inputs"


@pytest.mark.parametrize("kind", ["not_significantly_risky", "not_inferior"])
def test_a_candidate_stored_as_replicate_of_its_baseline_is_refused(folder, kind):
    replicate(folder, "noisy.run")
    assert ask(folder, kind=kind).outcome == "fail"
    assert ask(folder, "prod.run").outcome == "pass"  # the run of the baseline itself
    replicate(folder, "loss.run")
    judged = ask(folder, kind=kind)
    stopped(
        judged,
        "bad_baseline",
        "loss is the run stored as replicate 2 of prod",
        "`riskguard baseline remove prod`",
    )


def test_a_pass_does_not_rest_on_a_replicate_of_another_system(folder):
    write_run(folder / "nearly.run", dict.fromkeys(TOPICS[:15], 9) | {"q28": 2})  # the candidate but for one topic
    replicate(folder, "nearly.run")
    judged = ask(folder)
    stopped(
        judged,
        "bad_baseline",
        "the mean of replicate 1 is far below the baseline's (0.5389, that of",
        "`riskguard baseline remove prod`",
    )
    assert ask(folder, "noisy.run").outcome == "pass"  # as it would without replicates


def test_a_replicate_that_loses_as_much_in_every_topic_is_another_system(folder):
    """No variation, so that no test of the mean exists: the mean alone says it."""
    write_run(folder / "ninth.run", dict.fromkeys(TOPICS, 9))
    write_run(folder / "eighth.run", dict.fromkeys(TOPICS, 8))
    replicate(folder, "ninth.run")
    judged = ask(folder, "eighth.run")
    stopped(judged, "bad_baseline", "the mean of replicate 1 is far below the baseline's (0.1111, that of")


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
    judged = ask(folder)
    stopped(judged, "topics_differ", "only because of 60 topics (new00, new01, new02, new03, new04 and 55 more)")


def test_topics_that_a_stored_run_was_never_asked_cannot_make_up_for_too_few(folder):
    qrels = folder.joinpath("qrels.txt").read_text().splitlines(keepends=True)
    folder.joinpath("qrels.txt").write_text("".join(line for line in qrels if line.split()[0] in TOPICS[:8]))
    add(folder, "prod", replace=True)
    assert ask(folder, "noisy.run").reason == "too_few_topics"
    judge_more(folder, ["new00", "new01"])
    judged = ask(folder, "noisy.run")
    stopped(judged, "topics_differ", "Without them the gate's answer is inconclusive")
    lenient = ask(folder, "noisy.run", on_inconclusive="warn")
    assert lenient.outcome == "pass"  # no less green than without them


def test_added_topics_that_decide_nothing_are_harmless(folder):
    judge_more(folder, ["new00", "new01"])
    assert ask(folder, "noisy.run").outcome == "pass"
    assert ask(folder).outcome == "fail"
