"""Every target of the fuzzer runs: its seeds are read, and seeds with changed bytes or values are read or refused."""

import random
import subprocess
import sys

import pytest

from tests.fuzz.mutation import mutated_json
from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS, replay


@pytest.mark.parametrize("reader", TARGETS)
def test_each_seed_is_read(reader):
    for seed in seeds(reader):
        assert replay(reader, seed)


def changed_bytes(content: bytes, rng: random.Random) -> bytes:
    """Some bytes exchanged, taken out or repeated."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 8)):
        start = rng.randrange(len(changed) + 1)
        end = start + rng.randrange(6)
        new = rng.choice(
            [b"", rng.randbytes(rng.randrange(4)), bytes(changed[start:end]) * 2, b"\n", b"\t", b'"', b"-"]
        )
        changed[start:end] = new
    return bytes(changed)


@pytest.mark.parametrize("reader", TARGETS)
def test_changed_bytes_are_read_or_refused(reader):
    rng = random.Random(12)
    outcomes = {
        replay(reader, changed_bytes(rng.choice(seeds(reader)), rng)) for _ in range(5 if reader == "report" else 150)
    }
    assert False in outcomes
    assert True in outcomes or reader in ("manifest", "report")


@pytest.mark.parametrize("reader", ["manifest", "report"])
def test_changed_values_are_read_or_refused(reader):
    rng = random.Random(12)
    known = seeds(reader)
    changed = [mutated_json(rng.choice(known), 100_000, rng.randrange(2**32)) for _ in range(40)]
    assert {replay(reader, content) for content in changed} == {True, False}


def test_a_finding_is_raised(monkeypatch):
    def broken(content: bytes) -> bool:
        raise ZeroDivisionError

    monkeypatch.setitem(TARGETS, "runs", (broken, TARGETS["runs"][1]))
    with pytest.raises(ZeroDivisionError):
        replay("runs", b"")


@pytest.mark.slow
def test_the_command_replays_a_file(tmp_path):
    path = tmp_path / "input"
    path.write_bytes(b"q1 0 d1 2\n")
    ended = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "qrels", "--replay", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ended.returncode, ended.stdout) == (0, "read\n"), ended.stderr
