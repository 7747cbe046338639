"""Addresses of clusters."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from pytest_riskguard.errors import UsageError

_DASK = ("tcp", "tls", "ucx", "ws", "wss")
_SPARK = ("spark", "k8s", "yarn", "mesos")


def engine_at(address: str) -> Literal["dask", "spark"]:
    """Whose cluster an address names: ``tcp://HOST:PORT`` and others of dask, ``spark://...`` and other masters.

    ``UsageError`` for an address of neither, and for one of dask without a port, for which dask would wait.
    """
    scheme = address.partition(":")[0]
    if scheme in _DASK and _has_port(address):
        return "dask"
    if scheme in _SPARK or address.startswith("local"):
        return "spark"
    raise UsageError(
        f"{address}: expected the address of a scheduler of dask (tcp://HOST:PORT) or the master of a cluster of "
        "Spark (spark://HOST:PORT)"
    )


def _has_port(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and parts.port is not None
    except ValueError:  # a port that is not a number
        return False
