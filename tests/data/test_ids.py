import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_riskguard.data.ids import Ids, begins_of, places_among

#: Few letters, so that ids often begin alike; zero bytes and letters of several bytes.
IDS = st.lists(st.text(alphabet="ab\0é", max_size=20) | st.text(max_size=5), max_size=12)


def scattered(ids: list[str], *, between: str) -> Ids:
    """The ids in reverse in a text with other bytes between and none after the last."""
    whole = Ids.of([part for name in reversed(ids) for part in (between, name)])
    return whole.at(np.arange(len(whole))[1::2][::-1])


@given(IDS, st.sampled_from(["", "a", "long between them"]))
def test_ids_are_the_same_wherever_their_text_is(ids, between):
    plain, other = Ids.of(ids), scattered(ids, between=between)
    assert plain.strings() == other.strings() == ids
    np.testing.assert_array_equal(plain.hashes, other.hashes)
    assert plain.same(np.arange(len(ids)), other, np.arange(len(ids))).all()
    compact = other.compact()
    assert compact.strings() == ids
    assert len(compact.text) == len("".join(ids).encode())
    none = other.at(np.zeros(0, dtype=np.int64))  # as of a block of blank lines
    assert Ids.joined([plain, none, other]).strings() == ids * 2


#: Alike in their first bytes, or but for their lengths, about the ends of words.
ALIKE = [
    "long-topic-1",
    "long-topic-2",
    "topic-lo",
    "topic-lo1",
    "topic-lo2",
    "topic-l",
    "a-very-long-topic-1",
    "a-very-long-topic-2",
]


@given(IDS)
@example(ALIKE)
def test_only_equal_ids_are_the_same(ids):
    here, there = Ids.of(ids), scattered(ids, between="a")
    one, other = np.divmod(np.arange(len(ids) ** 2), max(len(ids), 1))
    expected = [ids[a] == ids[b] for a, b in zip(one, other, strict=True)]
    assert here.same(one, there, other).tolist() == expected
    in_pairs = here.at(np.stack([one, other], axis=1).ravel())
    assert begins_of(in_pairs)[1::2].tolist() == [not same for same in expected]
    assert (here.hashes[one] == there.hashes[other]).tolist() == expected  # no such short ids share a hash
    assert [int(Ids.of([name]).hashes[0]) for name in ids] == here.hashes.tolist()


@given(IDS, IDS.map(lambda ids: [*dict.fromkeys(ids)]), st.data())
@example(ALIKE, ALIKE[::-1], None)
def test_documents_are_found_among_those_of_their_own_topic(ids, others, data):
    topics, other_topics = (np.zeros(len(names), dtype=np.int64) for names in (ids, others))
    if data:
        other_topics[:] = data.draw(st.lists(st.integers(0, 1), min_size=len(others), max_size=len(others)))
    expected = [others.index(name) if name in others and not other_topics[others.index(name)] else -1 for name in ids]
    found = places_among(topics, scattered(ids, between="a"), other_topics, Ids.of(others))
    assert found.tolist() == expected
