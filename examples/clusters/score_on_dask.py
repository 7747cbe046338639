"""Per-topic scores on a cluster of Dask: ``python score_on_dask.py SCHEDULER RANKINGS JUDGEMENTS SCORES``.

RANKINGS and JUDGEMENTS are Parquet files, or folders of them, whose queries are in a column ``query_id`` of the same
type. SCORES is the folder to write.
"""

import sys

import dask.dataframe as dd
from distributed import Client

from pytest_riskguard.data import score_frame

MEASURES = ["nDCG@10", "AP", "Bpref"]
PARTS = 16


def main(scheduler: str, rankings: str, judgements: str, out: str) -> None:
    """Bring the rows of each query together, and score them there."""
    with Client(scheduler):
        found, judged = (
            # by tasks, which are done again if a worker is lost; the default may then wait forever
            dd.read_parquet(path).shuffle("query_id", npartitions=PARTS, shuffle_method="tasks")
            for path in (rankings, judgements)
        )
        scored = dd.map_partitions(
            score_frame,
            found,
            judged,
            MEASURES,
            meta={"topic": "string", "measure": "string", "value": "float64"},
            align_dataframes=False,
        )
        scored.repartition(npartitions=4).to_parquet(out)  # each part needs rows


if __name__ == "__main__":
    main(*sys.argv[1:])
