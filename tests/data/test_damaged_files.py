"""Files that are damaged, or have other values than their format allows, are read, or refused by name."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import Kind
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import RiskguardError
from tests.data.test_every_format import CASES
from tests.data.world import WORLD, Case

READERS: dict[Kind, Callable[[GivenFile], object]] = {
    "judgements": read_qrels,
    "rankings": read_run,
    "topics": read_topics,
    "scores": read_scores,
}
VALUES: tuple[Any, ...] = (None, True, -1, 1e308, "", "\x1b[2Jx", "\ud800", "a\nb", [], {}, [[]], {"a": {}})
TRIALS = 60


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_damaged_file_is_read_or_refused(case: Case, tmp_path: Path):
    for module in case.needs:
        pytest.importorskip(module)
    whole = case.content(WORLD)
    chance = random.Random(case.id)
    damaged = [*_other_values(whole, chance), *(_other_bytes(whole, chance) for _ in range(TRIALS))]
    for content in damaged:
        path = tmp_path / case.file
        path.write_bytes(content)
        refusal = _refusal(GivenFile(path, format=case.known, part=case.part), case.kind)
        assert refusal.startswith((str(path), "read"))
        assert "\x1b" not in refusal


def _refusal(given: GivenFile, kind: Kind) -> str:
    """What is said of a file; ``read`` of one that is read."""
    try:
        READERS[kind](given)
    except RiskguardError as error:
        return str(error)
    return "read"


def _other_bytes(whole: bytes, chance: random.Random) -> bytes:
    """A piece cut out, doubled, or replaced."""
    start = chance.randrange(len(whole))
    end = min(len(whole), start + chance.choice((1, 3, 40, 1000, len(whole))))
    return whole[:start] + chance.choice((b"", whole[start:end] * 2, b'"', b"\n", b"\xff", b",")) + whole[end:]


def _other_values(whole: bytes, chance: random.Random) -> Iterator[bytes]:
    """JSON, or JSON Lines, in which one value has another type, or is not there."""
    try:
        json.loads(whole)
    except ValueError:
        lines = whole.splitlines()
        try:
            json.loads(lines[0])
        except (ValueError, IndexError):
            return
        for _ in range(TRIALS):
            yield b"\n".join([_altered(lines[0], chance), *lines[1:]])
        return
    for _ in range(TRIALS):
        yield _altered(whole, chance)


def _altered(content: bytes, chance: random.Random) -> bytes:
    data = json.loads(content)
    places: list[tuple[Any, Any]] = []
    level = [data]
    while level:
        places += [(node, key) for node in level for key in (node if isinstance(node, dict) else range(len(node)))]
        inner = [value for node in level for value in (node.values() if isinstance(node, dict) else node)]
        level = [value for value in inner if isinstance(value, dict | list)]
    # as many of the few places at the top as of the many below
    node, key = chance.choice(chance.choice((places[:10], places[:100], places)))
    if chance.random() < 0.3:
        del node[key]
    else:
        node[key] = chance.choice(VALUES)
    return json.dumps(data).encode()
