"""Per-topic scores of rankings on a cluster of Spark: ``spark-submit score_on_spark.py RANKINGS JUDGEMENTS SCORES``.

RANKINGS and JUDGEMENTS are Parquet files, or folders of them, whose queries are in a column ``query_id`` of the same
type. SCORES is the folder to write.
"""

import sys

import pandas as pd
from pyspark.sql import SparkSession

from pytest_riskguard.data import score_frame

MEASURES = ["nDCG@10", "AP", "Bpref"]


def scores(rankings: pd.DataFrame, judgements: pd.DataFrame) -> pd.DataFrame:
    """The scores of one query."""
    return score_frame(rankings, judgements, MEASURES)


def main(rankings: str, judgements: str, out: str) -> None:
    """Score each query on whatever worker has its rows."""
    session = SparkSession.builder.appName("per-topic scores").getOrCreate()
    found, judged = (session.read.parquet(path).groupBy("query_id") for path in (rankings, judgements))
    scored = found.cogroup(judged).applyInPandas(scores, "topic string, measure string, value double")
    scored.coalesce(4).write.parquet(out)  # each part needs rows
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
