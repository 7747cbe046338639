"""Runs that can be read, but whose ids or order are not what they seem."""

import gzip
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from pytest_riskguard.baselines.store import Store
from tests.sabotage.case import Sabotage
from tests.sabotage.project import BASELINES, DEPTH, TOPICS
from tests.sabotage.sabotages import CANDIDATE, QRELS, on_columns, on_text, spelt_out

PROD_RUN = "runs/prod.run"


def prefix_in(count: int) -> Sabotage:
    """Document ids of the candidate prefixed in the first topics."""
    first = TOPICS[:count]
    return on_columns(CANDIDATE, lambda c: [*c[:2], f"kb:{c[2]}" if c[0] in first else c[2], *c[3:]])


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


def coarse(run: str) -> str:
    """A run whose scores are cut to their tens, as where they are tied by design."""
    return re.sub(r"(\S+) (\S+)\n", lambda match: f"{float(match[1]) // 10:g} {match[2]}\n", run)


def upper_ids(folder: Path) -> None:
    """Document ids of the candidate in capitals."""
    on_columns(CANDIDATE, lambda c: [*c[:2], c[2].upper(), *c[3:]])(folder)


def score_ranks(base: float, step: float, path: str = CANDIDATE, topics: str = "t01-t60", ends: int = 99) -> Sabotage:
    """Scores of some topics of a run made from its ranks, the same from one rank on."""

    def change(c: list[str]) -> list[str]:
        score = base + step * min(int(c[3]), ends)
        return [*c[:4], f"{score:.17g}", c[5]] if c[0] in spelt_out([topics]) else c

    return on_columns(path, change)


def tied_by_design(folder: Path) -> None:
    """Scores cut to their tens on both sides, in whose ties the relevant documents come first."""
    mirror_ids(folder)
    store_again("prod", coarse)(folder)
    on_text(CANDIDATE, coarse)(folder)
