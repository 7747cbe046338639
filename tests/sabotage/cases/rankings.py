"""Runs that can be read, but whose ids or order are not what they seem."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_riskguard.baselines.store import Store
from tests.sabotage.case import CLI, EVERY, Case, Sabotage, harmless
from tests.sabotage.project import BASELINES, DEPTH, TOPICS
from tests.sabotage.sabotages import CANDIDATE, QRELS, on_columns, on_text, prefix_ids

MISMATCH = ["expected document ids of qrels.txt", "no judged document in any topic"]
ORDER = [
    "the order of equal scores decides",
    "pass as scored and fail as written",
    "topics that is not the order as written",
]
UPSIDE_DOWN = ["candidate.run:2: expected scores that fall as ranks rise", "upside down"]
PROD_RUN = "runs/prod.run"


def prefix_in(count: int) -> Sabotage:
    """Document ids of the candidate prefixed in the first topics."""
    first = TOPICS[:count]
    return on_columns(CANDIDATE, lambda c: [*c[:2], f"kb:{c[2]}" if c[0] in first else c[2], *c[3:]])


def score_ranks(score: Callable[[int], object], path: str = CANDIDATE, topics: Sequence[str] = TOPICS) -> Sabotage:
    """Scores of some topics of a run made from its ranks."""
    return on_columns(path, lambda c: [*c[:4], f"{score(int(c[3]))}", c[5]] if c[0] in topics else c)


def number_ranks(rank: Callable[[int], object]) -> Sabotage:
    """Another rank column in the candidate."""
    return on_columns(CANDIDATE, lambda c: [*c[:3], f"{rank(int(c[3]))}", *c[4:]])


def unpack_prod(folder: Path) -> None:
    """The run of the baseline as a file beside the candidate's."""
    (folder / PROD_RUN).write_bytes(gzip.decompress((folder / "baselines/prod/run.gz").read_bytes()))


def mirror_ids(folder: Path) -> None:
    """Documents numbered from the other end, in qrels, runs and store: ties then favour the relevant ones."""

    def mirrored(text: str) -> str:
        return re.sub(r"(doc-t\d\d)-(\d\d)", lambda match: f"{match[1]}-{DEPTH + 1 - int(match[2]):02d}", text)

    for path in (folder / QRELS, folder / CANDIDATE):
        path.write_text(mirrored(path.read_text()))
    for name in BASELINES:
        store_again(name, lambda text: mirrored(text))(folder)


def store_again(name: str, change: Callable[[str], str]) -> Sabotage:
    """A baseline stored anew from its changed run."""

    def sabotage(folder: Path) -> None:
        run = folder / "runs" / f"{name}.run"
        run.write_text(change(gzip.decompress((folder / "baselines" / name / "run.gz").read_bytes()).decode()))
        shutil.rmtree(folder / "baselines" / name)
        qrels, topics = folder / QRELS, folder / "topics.tsv"
        Store(folder / "baselines").add(name, run, qrels=qrels, topics=topics, measures=["nDCG@10"])
        run.unlink()

    return sabotage


def tied(run: str) -> str:
    """A run with one score throughout."""
    return re.sub(r"(\S+) (\S+)\n", r"1 \2\n", run)


def coarse(run: str) -> str:
    """A run whose scores are cut to their tens, as where they are tied by design."""
    return re.sub(r"(\S+) (\S+)\n", lambda match: f"{float(match[1]) // 10:g} {match[2]}\n", run)


TIED_BY_DESIGN = [mirror_ids, store_again("prod", coarse), on_text(CANDIDATE, coarse)]

CASES = [
    Case("ids-prefixed", prefix_ids(CANDIDATE, "web:"), words=[*MISMATCH, "begin with 'web:'"], ways=EVERY),
    Case("ids-upper-case", on_columns(CANDIDATE, lambda c: [*c[:2], c[2].upper(), *c[3:]]), words=["upper and"]),
    Case("ids-prefixed-in-most-topics", prefix_in(40), words=["in 40 of the 60 topics", "begin with 'kb:'"]),
    Case("qrels-prefixed", prefix_ids(QRELS, "web:"), words=[*MISMATCH, "judgements begin with 'web:'"]),
    Case("ids-prefixed-stored", prefix_in(60), command=f"baseline add next {CANDIDATE}", words=MISMATCH),
    Case("scores-equal", [mirror_ids, score_ranks(lambda _: 1)], words=ORDER, ways=EVERY),
    Case("scores-large", [mirror_ids, score_ranks(lambda rank: 1699999999 - rank)], words=ORDER),
    Case(
        "scores-equal-of-the-baseline",
        [unpack_prod, score_ranks(lambda _: 1, PROD_RUN)],
        command=f"compare {CANDIDATE} --baseline {PROD_RUN}",
        words=ORDER,
    ),
    Case("scores-tied-by-design-lose", TIED_BY_DESIGN, status=1, words=["got worse", "ranked by document id"]),
    harmless(
        "scores-tied-by-design",
        TIED_BY_DESIGN,
        words=["the candidate has equal scores", "the baseline has equal scores"],
        options="-v",
        ways=CLI,
    ),
    Case("scores-are-ranks", score_ranks(lambda rank: rank), words=UPSIDE_DOWN, ways=EVERY),
    Case("scores-are-distances", score_ranks(lambda rank: 0.3 + rank / 97), words=UPSIDE_DOWN),
    Case("scores-are-ranks-in-most-topics", score_ranks(lambda r: r, topics=TOPICS[:31]), words=UPSIDE_DOWN),
    Case(
        "scores-are-ranks-in-some-topics",
        score_ranks(lambda rank: rank, topics=TOPICS[:20]),
        status=1,
        words=["scores of the candidate do not fall with the rank in 20 topics"],
    ),
    harmless("ranks-all-0", number_ranks(lambda _: 0), absent=["fall with the rank"]),
    harmless("ranks-of-a-longer-run", number_ranks(lambda rank: 3 * rank), absent=["fall with the rank"]),
    harmless("ranks-that-are-none", number_ranks(lambda _: "-"), absent=["fall with the rank"]),
    harmless("ties-below-the-cutoff", score_ranks(lambda rank: 100 - min(rank, 11)), absent=["as written"]),
]
