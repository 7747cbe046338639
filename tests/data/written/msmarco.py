"""MS MARCO's runs: three columns without a header, and ColBERT's, which add the score."""

from tests.data.world import Case, World


def _ranked(world: World) -> bytes:
    rows = (f"{t}\t{d}\t{rank}\n" for t, ids in world.candidate.items() for rank, d in enumerate(ids, 1))
    return "".join(rows).encode()


def _scored(world: World) -> bytes:
    rows = (
        f"{topic}\t{document}\t{rank}\t{score}\n"
        for topic, scored in world.scored.items()
        for rank, (document, score) in enumerate(scored.items())
    )
    return "".join(rows).encode()


CASES = (
    Case("msmarco", "rankings", "candidate.tsv", _ranked),
    Case("msmarco", "rankings", "colbert.tsv", _scored),
)
