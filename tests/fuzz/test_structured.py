"""Inputs built to look right: columns, JSON and YAML of the right kind, filled with anything; and valid ones."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS, replay

TABLES = ("runs", "qrels", "topics", "scores")

ids = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)
cells = st.one_of(
    ids,
    st.integers(-5, 5).map(str),
    st.floats(width=32).map(repr),
    st.sampled_from(
        ["topic", "query", "weight", "nDCG@10", "AP", "Q0", "1e400", "-0", "0x1", '"', "'", "\ufeff", "#", ""]
    ),
)
separators = st.sampled_from([" ", "\t", ",", "  ", " \t"])
ends = st.sampled_from(["\n", "\r\n", "\n\n", "\r", ""])


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """Rows of a few columns, mostly as many in each."""
    columns, separator = draw(st.integers(1, 7)), draw(separators)
    rows = draw(st.lists(st.lists(cells, min_size=columns, max_size=columns + draw(st.integers(0, 1))), max_size=6))
    return "".join(separator.join(row) + draw(ends) for row in rows).encode("utf-8", "replace")


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=12,
)

KEYS = [
    "collection",
    "qrels",
    "topics",
    "store",
    "measures",
    "candidate",
    "gates",
    "name",
    "kind",
    "baseline",
    "alpha",
]
yaml_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(), st.sampled_from(KEYS), st.text(max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)),
    max_leaves=15,
)


@pytest.mark.parametrize("reader", TARGETS)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(reader, content):
    replay(reader, content)


@pytest.mark.parametrize("reader", TABLES)
@given(content=tables())
def test_any_table_is_read_or_refused(reader, content):
    replay(reader, content)


@pytest.mark.parametrize("reader", ["manifest", "report"])
@given(value=json_values, place=st.integers(0, 30))
def test_a_file_with_any_value_in_any_place_is_read_or_refused(reader, value, place):
    data = json.loads(seeds(reader)[0])
    target = data["verdicts"][0] if reader == "report" else data
    target[sorted(target)[place % len(target)]] = value
    replay(reader, json.dumps(data).encode("utf-8", "surrogatepass"))


@given(yaml_values)
def test_any_settings_are_read_or_refused(value):
    replay("yaml", yaml.safe_dump(value, allow_unicode=True).encode())
