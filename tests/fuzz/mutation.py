"""Changes of JSON: a value replaced, repeated or taken out."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

#: What stands in place of a value: every type, the ends of their ranges, and words that have a meaning.
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    0.5,
    1e308,
    -1e308,
    5e-324,
    2**63 - 1,
    -(2**63) + 1,
    "",
    "x",
    "any",
    "\ud800",
    "pass",
    "fail",
    "incomparable",
    [],
    {},
    [None],
    [0],
    [[]],
    [1e308, -1e308],
    {"x": 1},
)


def mutated_json(content: bytes, max_size: int, seed: int) -> bytes:
    """The content with one to three of its values changed; bytes that are no JSON become an empty object."""
    rng = random.Random(seed)
    try:
        data: Any = [json.loads(content)]
    except (ValueError, RecursionError):
        data = [{}]
    for _ in range(rng.randint(1, 3)):
        change(data, rng)
    changed = json.dumps(data[0] if data else None).encode()
    return changed if len(changed) <= max_size else content[:max_size]


def change(data: list[Any], rng: random.Random) -> None:
    """One value anywhere in a list of JSON values changed."""
    places = list(_places(data))
    if not places:
        return
    node, key = rng.choice(places)
    value = node[key]
    kind = rng.randrange(6)
    if kind == 0 and node is not data:
        del node[key]
    elif kind == 1 and isinstance(value, list) and value:
        node[key] = value * 2
    elif kind == 2 and isinstance(value, int | float):
        node[key] = value * rng.choice([-1, 0.5, 2, 1e6, 1e-6])
    elif kind == 3:
        container, place = rng.choice(places)
        node[key] = copy.deepcopy(container[place])
    else:
        node[key] = copy.deepcopy(rng.choice(ODD_VALUES))


def _places(node: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """Every value inside, down to a level that no reader takes, as its container and its key or place there."""
    if depth > 30:  # deeper than any format
        return
    inner = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    for key, value in inner:
        yield node, key
        yield from _places(value, depth + 1)
