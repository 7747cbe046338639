"""Pieces on a cluster of Spark."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from pytest_riskguard.errors import RiskguardError, UsageError
from pytest_riskguard.evaluation.shards.schedulers import Scheduler, Work, WorkersDiedError
from pytest_riskguard.formats.extras import imported

if TYPE_CHECKING:
    import pandas as pd

_NAME = "riskguard"


def on_spark(master: str | None = None) -> Scheduler:
    """The cluster of the session that is running, else one at ``master``, such as ``spark://10.0.0.5:7077``.

    Its workers need this package, pandas and pyarrow too. Spark gives a piece whose worker died to another one.
    ``UsageError`` without PySpark or where no cluster answers, ``WorkersDiedError`` if a piece keeps failing.
    """
    sql = imported("pyspark.sql", extra="spark", what="a cluster of Spark")
    errors = imported("pyspark.errors", extra="spark", what="a cluster of Spark")

    def run(work: Work, pieces: Sequence[Any], shared: bytes) -> Iterator[tuple[int, bytes]]:
        with ExitStack() as closing:
            session = sql.SparkSession.getActiveSession()
            if session is None:
                builder = sql.SparkSession.builder.appName(_NAME)
                try:
                    session = (builder if master is None else builder.master(master)).getOrCreate()
                except Exception as problem:  # of Java, of the gateway, of the network
                    raise UsageError(
                        f"{master or 'Spark'}: expected a cluster of Spark, found none ({problem})"
                    ) from None
                closing.callback(session.stop)
            try:
                yield from _collected(session, work, pieces, shared)
            except errors.PySparkException as problem:
                raise WorkersDiedError(f"Spark could not score a piece: {problem}"[:2000]) from None

    return run


def _collected(session: Any, work: Work, pieces: Sequence[Any], shared: bytes) -> Iterator[tuple[int, bytes]]:
    def outcomes(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import pandas as pd

        for frame in frames:
            for place in frame["id"]:
                part, problem = b"", b""
                try:
                    part = work(pieces[place], shared)
                except RiskguardError as error:  # Spark would try the same three times more
                    problem = pickle.dumps(error)
                yield pd.DataFrame({"place": [place], "part": [part], "problem": [problem]})

    with warnings.catch_warnings():  # what Spark says of versions of pandas concerns none of these columns
        warnings.simplefilter("ignore", FutureWarning)
        places = session.range(0, len(pieces), 1, len(pieces))  # one in each partition, which is one task
        for row in places.mapInPandas(outcomes, "place long, part binary, problem binary").collect():
            if row["problem"]:
                raise pickle.loads(row["problem"])  # noqa: S301 - of our own code
            yield int(row["place"]), bytes(row["part"])
