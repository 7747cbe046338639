"""Runs scored piece by piece, in several processes or on several machines, and put together to the same result."""

from pytest_riskguard.evaluation.shards.schedulers.dask_cluster import on_dask
from pytest_riskguard.evaluation.shards.schedulers.spark_cluster import on_spark
from pytest_riskguard.evaluation.shards.shard_plan import Shard, shards_of
from pytest_riskguard.evaluation.shards.sharded_scores import score_shards

__all__ = ["Shard", "on_dask", "on_spark", "score_shards", "shards_of"]
