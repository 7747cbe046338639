"""The order of a topic's documents and what its rank column says, in plain Python, to compare with columns."""

from array import array
from collections.abc import Sequence

from pytest_riskguard.data.runs import Order

Ranks = Sequence[int | None] | None


def in_32_bits(scores: Sequence[float]) -> list[float]:
    """Scores as trec_eval holds them."""
    return array("f", scores).tolist()


def numbers(ranks: Ranks) -> Sequence[int] | None:
    """The ranks, if they number the documents: all whole numbers, each once."""
    if ranks is None:
        return None
    whole = [rank for rank in ranks if rank is not None]
    return whole if len(set(whole)) == len(ranks) else None


def ranked(order: Order, docids: Sequence[str], scores: Sequence[float], ranks: Ranks = None) -> list[str]:
    """The documents from rank 1 on; all three stand in the order of the lines."""
    compared = in_32_bits(scores) if order is Order.SINGLE_DESCENDING else list(scores)
    places = list(range(len(docids)))
    if order is Order.WRITTEN and (of_lines := numbers(ranks)) is not None:
        places.sort(key=of_lines.__getitem__)
    elif order in (Order.SINGLE_DESCENDING, Order.DESCENDING):
        places.sort(key=docids.__getitem__, reverse=True)
    elif order is Order.ASCENDING:
        places.sort(key=docids.__getitem__)
    places.sort(key=compared.__getitem__, reverse=True)  # stable
    return [docids[place] for place in places]
