"""Questions that have only one answer: gates that cannot fail, and the same thing on both sides."""

from __future__ import annotations

import gzip
from pathlib import Path

from tests.sabotage.case import CLI, EVERY, PYTEST, SERIAL, Case, Sabotage, harmless
from tests.sabotage.sabotages import CANDIDATE, CONFIG, KEPT_RUN, link, on_columns, replace_text, riskguard

NO_RISK = "kind: not_significantly_risky, baseline: prod, alpha: 1"


def unpack(path: str, name: str) -> Sabotage:
    """A copy of a compressed file, unpacked."""
    return lambda folder: (folder / name).write_bytes(gzip.decompress((folder / path).read_bytes()))


def weigh(weight: float) -> Sabotage:
    """A column of weights in the topics file: this one for the 45 topics that lost, 1 for the others."""

    def column(columns: list[str]) -> list[str]:
        topic = columns[0]
        return [*columns, "weight" if topic == "topic" else str(weight if topic <= "t45" else 1)]

    return on_columns("topics.tsv", column, "\t")


def better_where_it_did_not_lose(folder: Path) -> None:
    """The candidate ranks the best document first in the topics that the planted regression leaves alone."""
    lines = []
    for line in (folder / CANDIDATE).read_text().splitlines(keepends=True):
        topic, q0, document, _, _, tag = line.split()
        best = topic > "t45" and document == f"doc-{topic}-01"
        lines.append(f"{topic} {q0} {document} 0 999 {tag}\n" if best else line)
    (folder / CANDIDATE).write_text("".join(sorted(lines, key=lambda line: (line[:3], -float(line.split()[4])))))


def in_yaml(keys: str) -> Sabotage:
    """Further keys of the first gate of riskguard.yaml, which is on line 6."""
    return replace_text(CONFIG, NO_RISK, f"{NO_RISK}, {keys}")


def refused(name: str, keys: str, *words: str) -> Case:
    """A gate that riskguard.yaml refuses at its line."""
    return Case(name, in_yaml(keys), ways=SERIAL, words=[f"{CONFIG}:6", "gate 'no-risk'", *words])


#: Somebody has accepted the weights.
ACCEPTED = riskguard("baseline rescore prod")

CASES = [
    refused("yaml-tolerance", "tolerance: 2", "tolerance", "the gate could never fail"),
    Case(
        "yaml-tolerance-at-alpha-0",
        replace_text(CONFIG, NO_RISK, NO_RISK.replace("alpha: 1", "alpha: 0, tolerance: 1")),
        ways=SERIAL,
        words=[f"{CONFIG}:6", "gate 'no-risk'", "the most that can be lost (1)"],
    ),
    refused("yaml-max-mde", "max_mde: 2", "max_mde", "it would have no effect"),
    refused("yaml-measure-NumQ", "measure: NumQ", "'NumQ' counts topics", "no ranking is better"),
    refused("yaml-one-of-many-measures", "measure: [nDCG@10, NumQ]", "'NumQ' counts topics"),
    Case(
        "yaml-max-loss",
        replace_text(CONFIG, "max_loss: 0.5", "max_loss: 1.0"),
        ways=PYTEST,
        words=[f"{CONFIG}:9", "max_loss", "the gate could never fail"],
    ),
    Case(
        "yaml-max-share",
        replace_text(CONFIG, "max_loss: 0.5", "max_loss: null, max_share: 1"),
        ways=SERIAL,
        words=[f"{CONFIG}:9", "max_share", "the gate could never fail"],
    ),
    Case(
        "yaml-not-inferior-tolerance",
        replace_text(CONFIG, "tolerance: 0.02", "tolerance: 2.0"),
        ways=SERIAL,
        words=[f"{CONFIG}:8", "tolerance", "the gate could never fail"],
    ),
    Case(
        "scores-of-0-on-both-sides",
        options="--measure AP(rel=1000)",
        ways=CLI,
        words=["cannot_fail", "every score of every system is 0, so AP(rel=1000) says nothing about these runs"],
    ),
    Case(
        "tolerance-beyond-the-baseline",
        options="--tolerance 1.8",
        ways=CLI,
        words=["cannot_fail", "tolerance 1.8: even a candidate that scores 0 on every topic would pass"],
    ),
    Case(
        "pool-tolerance-beyond-georisk",
        options="--gate georisk_not_worse --tolerance 0.8",
        ways=CLI,
        words=["cannot_fail", "tolerance 0.8: even a candidate that scores 0 on every topic would pass"],
    ),
    Case(
        "pool-tolerance-beyond-the-reference",
        options="--gate georisk_not_worse --tolerance 0.95",
        ways=CLI,
        words=["cannot_fail", "GeoRisk cannot fall that far"],
    ),
    Case(
        "weights-that-hide-the-loss-in-yaml",
        [weigh(0.001), ACCEPTED, better_where_it_did_not_lose, in_yaml("weighted: true")],
        status=1,
        ways=SERIAL,
        words=["of the weight, so their loss does not count"],
    ),
    Case(
        "fixture-tolerance",
        replace_text("test_ranking.py", "alpha=1", "alpha=1, tolerance=2"),
        ways=SERIAL,
        status=1,
        words=["tolerance: 2 is at least the most that can be lost", "5 failed"],
    ),
    Case(
        "candidate-is-the-stored-run",
        replace_text(CONFIG, f"candidate: {CANDIDATE}", f"candidate: {KEPT_RUN}"),
        ways=SERIAL,
        passes=1,
        words=[f"{CONFIG}:4: candidate: run.gz is the stored prod/run.gz"],
    ),
    Case(
        "candidate-links-to-the-stored-run",
        link(CANDIDATE, f"../{KEPT_RUN}"),
        status=2,
        ways=EVERY,
        words=["candidate.run is the stored prod/run.gz"],
    ),
    Case(
        "the-stored-scores-on-the-command-line",
        status=2,
        command="compare --scores baselines/prod/scores.tsv --baseline b=./baselines/prod/scores.tsv",
        words=["scores.tsv is both the candidate and the baseline b"],
    ),
    harmless(
        "the-baseline-s-run-again",
        unpack(KEPT_RUN, CANDIDATE),
        ways=EVERY,
        words=["identical to prod"],
    ),
    harmless(
        "the-same-run-in-another-format",
        [unpack(KEPT_RUN, CANDIDATE), on_columns(CANDIDATE, lambda columns: [*columns[:5], "other"])],
        ways=CLI,
        words=["nothing changed", "no topic changed"],
        absent=["identical"],
    ),
]
