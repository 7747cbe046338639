"""A small collection, and an environment that is not that of a CI service."""

import json
from pathlib import Path

import numpy as np
import pytest

from pytest_riskguard.baselines.entry import sha256
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.data.qrels import read_qrels

MEASURES = ("nDCG@10", "AP")


class Collection:
    """Files of a collection with 14 judged topics, of which ``t13`` has no relevant document."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.qrels, self.topics, self.run = folder / "qrels.txt", folder / "topics.tsv", folder / "old.run"
        rows = [f"t{t} 0 d{d} {(t + d) % 3}" for t in range(1, 13) for d in range(1, 8)]
        self.qrels.write_text("\n".join([*rows, "t13 0 d1 0", "t14 0 d9 1", ""]))
        self.topics.write_text("".join(f"t{t}\tquery {t}\n" for t in range(1, 15)))
        # Every topic has its own order of documents; t14 is not answered, t99 is judged nowhere.
        self.run.write_text(
            "".join(
                f"t{t} Q0 d{d} {rank} {10 - rank / 7} old\n"
                for t in (*range(1, 13), 99)
                for rank, d in enumerate(sorted(range(1, 10), key=lambda d: d * (t + 1) * 7 % 101)[:6], start=1)
            )
        )

    def other_run(self, name: str = "new.run") -> Path:
        """A run with other scores."""
        path = self.folder / name
        path.write_text("".join(f"t{t} Q0 d{d} {d} {10 - d} new\n" for t in range(1, 13) for d in range(1, 4)))
        return path

    def noisy_run(self, seed: int) -> Path:
        """What the system gives another time: some neighbours in the ranking have changed places."""
        path = self.folder / f"noisy-{seed}.run"
        rng = np.random.default_rng(seed)
        lines = []
        for t in range(1, 13):
            ranks = np.argsort(np.arange(9) + rng.normal(0, 1, 9))
            lines += [f"t{t} Q0 d{d + 1} {rank} {10 - rank / 7} old\n" for rank, d in enumerate(ranks[:6], start=1)]
        path.write_text("".join(lines))
        return path

    def other_qrels(self) -> Path:
        """Judgements with one grade changed."""
        path = self.folder / "qrels-new.txt"
        path.write_text(self.qrels.read_text().replace("t1 0 d1 2", "t1 0 d1 0"))
        return path


def content(root: Path) -> dict[str, bytes]:
    """Every file below a folder, with its bytes."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def qrels(collection):
    return read_qrels(collection.qrels)


@pytest.fixture
def collection(tmp_path):
    return Collection(tmp_path)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "baselines")


@pytest.fixture
def link():
    """Make a symbolic link, or skip where that is not allowed."""

    def link(path: Path, target: Path) -> None:
        try:
            path.symlink_to(target)
        except OSError:
            pytest.skip("this system does not allow symbolic links")

    return link


@pytest.fixture
def add(store, collection):
    """Store the collection's run."""

    def add(name="prod", run=None, **options):
        options = {"qrels": collection.qrels, "topics": collection.topics, "measures": MEASURES} | options
        return store.add(name, run or collection.run, **options)

    return add


@pytest.fixture
def update(store, collection):
    """Accept another run in the place of the stored one."""

    def update(run=None, **options):
        options = {"qrels": collection.qrels, "topics": collection.topics} | options
        return store.update("prod", run or collection.other_run(), **options)

    return update


@pytest.fixture
def replicate(store, collection):
    """Store a replicate."""
    own = store

    def replicate(name="prod", run=None, *, store=own, **options):
        options = {"qrels": collection.qrels, "topics": collection.topics} | options
        return store.add_replicate(name, run or collection.noisy_run(1), **options)

    return replicate


@pytest.fixture
def lie():
    """Write other scores into a stored entry, with a manifest that agrees; an attacker needs no more."""

    def lie(folder: Path, topic: str, value: float) -> None:
        lines = folder.joinpath("scores.tsv").read_text().splitlines()
        lines = ["\t".join([topic, *[repr(value)] * 2]) if line.startswith(f"{topic}\t") else line for line in lines]
        folder.joinpath("scores.tsv").write_text("".join(f"{line}\n" for line in lines))
        manifest = json.loads(folder.joinpath("manifest.json").read_text())
        manifest["digests"]["scores"] = sha256(folder.joinpath("scores.tsv").read_bytes())
        folder.joinpath("manifest.json").write_text(json.dumps(manifest))

    return lie
