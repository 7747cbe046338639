"""Runs and judgements with ties, gaps, odd rank columns, topics without judgements and topics that nobody answers."""

from __future__ import annotations

import random
from pathlib import Path

#: With kernels and without.
MEASURES = ("nDCG@10", "AP", "RR", "P@5", "SetP", "infAP")


def run_rows(rng: random.Random, topics: int) -> dict[str, list[str]]:
    """The rows of a run by topic."""
    rows: dict[str, list[str]] = {}
    for topic in range(topics):
        if topic % 7 == 3:
            continue  # not answered
        name = f"q{topic}" if topic % 9 else f"other-{topic}"  # the latter without judgements
        documents = rng.sample(range(60), rng.randint(1, 40))
        scores = sorted((rng.choice((rng.random(), round(rng.random(), 1))) for _ in documents), reverse=True)
        ranks = list(range(1, len(documents) + 1))
        if topic % 5 == 1:
            rng.shuffle(ranks)
        pairs = zip(documents, ranks, scores, strict=True)
        rows[name] = [f"{name} Q0 d{document} {rank} {score} tag\n" for document, rank, score in pairs]
    return rows


def judgement_rows(rng: random.Random, topics: int) -> str:
    """Judgements of as many topics; one of eleven has no relevant document."""
    rows = []
    for topic in range(topics):
        for document in rng.sample(range(60), 25):
            grade = 0 if topic % 11 == 5 else rng.choice((0, 0, 1, 1, 2, 3))
            rows.append(f"q{topic} 0 d{document} {grade}\n")
    return "".join(rows)


def written(folder: Path, *, topics: int = 60, seed: int = 1, name: str = "cand.run") -> tuple[Path, Path]:
    """A run and its judgements on disk."""
    rng = random.Random(seed)
    run, qrels = folder / name, folder / "qrels.txt"
    run.write_text("".join(row for rows in run_rows(rng, topics).values() for row in rows), encoding="utf-8")
    qrels.write_text(judgement_rows(random.Random(0), topics), encoding="utf-8")
    return run, qrels
